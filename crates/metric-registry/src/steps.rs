//! The steps of `--normalize` in words, for the help.

/// Each step, as it is written, and its effect.
pub(crate) const STEPS: &[(&str, &str)] = &[
    ("nfc", "compose: e and a combining accent become é"),
    ("nfd", "decompose: é becomes e and a combining accent"),
    ("nfkc", "as nfc, and compatible forms become one: ² is 2"),
    ("nfkd", "as nfd, and compatible forms become one: ² is 2"),
    ("casefold", "fold case, as in Python: ß becomes ss"),
    ("lower", "lowercase, as in Python: ß stays ß"),
    ("strip", "delete white space at both ends"),
    ("collapse", "each run of white space becomes one space"),
    ("whitespace", "collapse, then strip"),
    (
        "punctuation",
        "delete Unicode punctuation, but not $+<=>^`|~",
    ),
    (
        "ascii-punctuation",
        "delete ASCII punctuation and $+<=>^`|~",
    ),
    ("digits", "delete decimal digits of all scripts"),
    ("ascii-digits", "delete 0 to 9"),
    ("remove-spaces", "delete all white space"),
    ("han-spaces", "delete white space between Han or kana"),
    ("last-number", "only the last number, 1,000 as 1000"),
    (
        "whisper-basic",
        "Whisper's normalizer for any language (20250625)",
    ),
    (
        "whisper-basic-split",
        "whisper-basic, and a space between letters",
    ),
    (
        "whisper-basic-nodiacritics",
        "whisper-basic, and delete diacritics",
    ),
    (
        "whisper-basic-nodiacritics-split",
        "whisper-basic, and both of these",
    ),
    (
        "whisper-english",
        "Whisper's normalizer for English (20250625)",
    ),
    ("open-asr-english", "the Open ASR leaderboard's for English"),
    (
        "open-asr-multilingual",
        "the Open ASR leaderboard's for other languages",
    ),
    ("remove(REGEX)", "delete all matches"),
    (
        "replace(REGEX, TEXT)",
        "replace all matches; $1 is the first group",
    ),
    (
        "remove-words(WORD ...)",
        "each of the words becomes a space",
    ),
    (
        "replace-words(WORD=TEXT ...)",
        "each of the words becomes its text",
    ),
];
