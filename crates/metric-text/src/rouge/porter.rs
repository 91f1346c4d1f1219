/// Returns the stem of a word in lowercase, as the `PorterStemmer` of nltk 3.10.4 computes it in its default mode
/// (`NLTK_EXTENSIONS`).
///
/// The word consists of letters from `a` to `z` and digits, as the tokens of ROUGE do. Other characters count as
/// consonants, one for each byte.
///
/// M. F. Porter, *An algorithm for suffix stripping* (1980).
///
/// ```
/// use metric_text::rouge::stem;
///
/// assert_eq!(["relational", "hopping", "hoping", "flies", "dies"].map(stem), ["relat", "hop", "hope", "fli", "die"]);
/// ```
#[must_use]
pub fn stem(word: &str) -> String {
    let mut bytes = word.as_bytes().to_vec();
    stem_bytes(&mut bytes);
    // Stems end before a suffix in ASCII, which is at the boundary of a character.
    String::from_utf8(bytes).unwrap_or_default()
}

/// A suffix and the suffix that replaces it.
type Rule = (&'static str, &'static str);

const PLURALS: &[Rule] = &[("sses", "ss"), ("ies", "i"), ("ss", "ss"), ("s", "")];
const STEP_2: &[Rule] = &[
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("bli", "ble"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
    ("fulli", "ful"),
    ("logi", "log"),
];
const STEP_3: &[Rule] = &[
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ful", ""),
    ("ness", ""),
];
const STEP_4: &[Rule] = &[
    ("al", ""),
    ("ance", ""),
    ("ence", ""),
    ("er", ""),
    ("ic", ""),
    ("able", ""),
    ("ible", ""),
    ("ant", ""),
    ("ement", ""),
    ("ment", ""),
    ("ent", ""),
    ("ion", ""),
    ("ou", ""),
    ("ism", ""),
    ("ate", ""),
    ("iti", ""),
    ("ous", ""),
    ("ive", ""),
    ("ize", ""),
];

/// Replaces a word by its stem.
pub(super) fn stem_bytes(word: &mut Vec<u8>) {
    if let Some(stem) = irregular(word) {
        word.clear();
        word.extend_from_slice(stem);
        return;
    }
    if word.len() <= 2 {
        return;
    }
    // Step 1a.
    if !(word.len() == 4 && replace(word, "ies", "ie")) {
        apply(word, PLURALS, |_, _| true);
    }
    step_1b(word);
    step_1c(word);
    // Step 2.
    while word
        .strip_suffix(b"alli")
        .is_some_and(|stem| measure(stem) > 0)
    {
        word.truncate(word.len() - 2);
    }
    apply(word, STEP_2, |word, suffix| {
        // The l of "logi" belongs to the stem.
        measure(before(word, if suffix == "logi" { "ogi" } else { suffix })) > 0
    });
    apply(word, STEP_3, |word, suffix| {
        measure(before(word, suffix)) > 0
    });
    apply(word, STEP_4, |word, suffix| {
        let stem = before(word, suffix);
        measure(stem) > 1 && (suffix != "ion" || matches!(stem.last(), Some(b's' | b't')))
    });
    // Step 5.
    if let Some(stem) = word.strip_suffix(b"e") {
        let measure = measure(stem);
        if measure > 1 || measure == 1 && !ends_in_short_syllable(stem) {
            word.pop();
        }
    }
    if word
        .strip_suffix(b"l")
        .is_some_and(|stem| stem.ends_with(b"l") && measure(stem) > 1)
    {
        word.pop();
    }
}

fn irregular(word: &[u8]) -> Option<&'static [u8]> {
    Some(match word {
        b"sky" | b"skies" => b"sky",
        b"dying" => b"die",
        b"lying" => b"lie",
        b"tying" => b"tie",
        b"news" => b"news",
        b"inning" | b"innings" => b"inning",
        b"outing" | b"outings" => b"outing",
        b"canning" | b"cannings" => b"canning",
        b"howe" => b"howe",
        b"proceed" => b"proceed",
        b"exceed" => b"exceed",
        b"succeed" => b"succeed",
        _ => return None,
    })
}

/// `ed` and `ing`.
fn step_1b(word: &mut Vec<u8>) {
    if word.ends_with(b"ied") {
        word.truncate(word.len() - if word.len() == 4 { 1 } else { 2 });
        return;
    }
    if let Some(stem) = word.strip_suffix(b"eed") {
        if measure(stem) > 0 {
            word.pop();
        }
        return;
    }
    let stem = word
        .strip_suffix(b"ed")
        .or_else(|| word.strip_suffix(b"ing"));
    let Some(stem) = stem.filter(|stem| vowels(stem).any(|is_vowel| is_vowel)) else {
        return;
    };
    word.truncate(stem.len());
    if [&b"at"[..], b"bl", b"iz"]
        .iter()
        .any(|end| word.ends_with(end))
    {
        word.push(b'e');
    } else if let [.., a, b] = word.as_slice()
        && a == b
        && a.is_ascii() // Other bytes are parts of a character.
        && vowels(word).last() == Some(false)
    {
        if !matches!(a, b'l' | b's' | b'z') {
            word.pop();
        }
    } else if measure(word) == 1 && ends_in_short_syllable(word) {
        word.push(b'e');
    }
}

/// `y` after a consonant.
fn step_1c(word: &mut [u8]) {
    if let [stem @ .., y @ b'y'] = word
        && stem.len() > 1
        && vowels(stem).last() == Some(false)
    {
        *y = b'i';
    }
}

/// Applies the first rule whose suffix the word has, if it fulfills the condition.
fn apply(word: &mut Vec<u8>, rules: &[Rule], condition: impl Fn(&[u8], &str) -> bool) {
    let rule = rules
        .iter()
        .find(|(suffix, _)| word.ends_with(suffix.as_bytes()));
    if let Some((suffix, replacement)) = rule
        && condition(word, suffix)
    {
        replace(word, suffix, replacement);
    }
}

fn replace(word: &mut Vec<u8>, suffix: &str, replacement: &str) -> bool {
    let has_suffix = word.ends_with(suffix.as_bytes());
    if has_suffix {
        word.truncate(word.len() - suffix.len());
        word.extend_from_slice(replacement.as_bytes());
    }
    has_suffix
}

fn before<'w>(word: &'w [u8], suffix: &str) -> &'w [u8] {
    word.strip_suffix(suffix.as_bytes()).unwrap_or(word)
}

/// Whether each letter is a vowel. `y` is one after a consonant.
fn vowels(word: &[u8]) -> impl Iterator<Item = bool> {
    let mut follows_consonant = false;
    word.iter().map(move |letter| {
        let is_vowel = match letter {
            b'a' | b'e' | b'i' | b'o' | b'u' => true,
            b'y' => follows_consonant,
            _ => false,
        };
        follows_consonant = !is_vowel;
        is_vowel
    })
}

/// The number of times that a consonant follows a vowel: Porter's *m*.
fn measure(word: &[u8]) -> usize {
    let mut follows_vowel = false;
    vowels(word)
        .filter(|&is_vowel| std::mem::replace(&mut follows_vowel, is_vowel) && !is_vowel)
        .count()
}

/// Whether a word ends in a consonant, a vowel, and a consonant that is not w, x or y, or consists of a vowel and a
/// consonant: Porter's condition *\*o*, as extended.
fn ends_in_short_syllable(word: &[u8]) -> bool {
    let mut last = [None; 3];
    for is_vowel in vowels(word) {
        last = [last[1], last[2], Some(is_vowel)];
    }
    match last {
        [Some(false), Some(true), Some(false)] => !matches!(word.last(), Some(b'w' | b'x' | b'y')),
        [None, Some(true), Some(false)] => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn stems_by_hand() {
        let rows = [
            // The examples of the paper.
            ("caresses", "caress"),
            ("ponies", "poni"),
            ("cats", "cat"),
            ("feed", "feed"),
            ("agreed", "agre"),
            // The last two bytes of the character are equal, and no letter is doubled.
            ("a\u{2000}ed", "a\u{2000}"),
            ("plastered", "plaster"),
            ("motoring", "motor"),
            ("sing", "sing"),
            ("conflated", "conflat"),
            ("troubling", "troubl"),
            ("sized", "size"),
            ("falling", "fall"),
            ("hissing", "hiss"),
            ("failing", "fail"),
            ("filing", "file"),
            ("happy", "happi"),
            ("triplicate", "triplic"),
            ("adoption", "adopt"),
            ("controll", "control"),
            ("roll", "roll"),
            ("probate", "probat"),
            ("rate", "rate"),
            ("cease", "ceas"),
            // What nltk adds.
            ("ties", "tie"),
            ("died", "die"),
            ("spied", "spi"),
            ("owed", "owe"),
            ("enjoy", "enjoy"),
            ("spy", "spi"),
            ("by", "by"),
            ("is", "is"),
            ("skies", "sky"),
            ("news", "news"),
            ("", ""),
        ];
        for (word, expected) in rows {
            assert_eq!(stem(word), expected, "{word}");
        }
    }

    proptest! {
        #[test]
        fn any_word_has_a_stem(word in any::<String>(), letters in "[a-z]{0,12}") {
            prop_assert!(stem(&word).len() <= word.len() + 1);
            prop_assert_eq!(stem(&letters).is_empty(), letters.is_empty());
            prop_assert_eq!(stem(&word).is_empty(), word.is_empty());
        }
    }
}
