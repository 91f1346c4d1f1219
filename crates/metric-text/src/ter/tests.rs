use metric_core::Metric;
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

fn edits(prediction: &str, reference: &str) -> u64 {
    let mut state = TerState::default();
    Ter::default().add(&mut state, prediction, &[reference]);
    state.edits
}

#[test]
fn edits_by_hand() {
    let rows = [
        ("", "", 0),
        ("a b", "", 2),
        ("", "a b", 2),
        ("a b c", "a b c", 0),
        ("A b", "a B", 0),
        ("a x c", "a b c", 1),
        ("b c d a", "a b c d", 1),
        ("e f a b c d", "a b c d e f", 1),
        // Two blocks change places with those next to them.
        ("b a c e d", "a b c d e", 2),
        ("a b c d", "d c b a", 3),
        // A block of more than 10 words moves in two parts.
        (
            "0 1 2 3 4 5 6 7 8 9 10 a b c d e f g h i j k",
            "a b c d e f g h i j k 0 1 2 3 4 5 6 7 8 9 10",
            2,
        ),
    ];
    for (prediction, reference, expected) in rows {
        assert_eq!(
            edits(prediction, reference),
            expected,
            "{prediction:?} {reference:?}"
        );
    }
}

#[test]
fn lengths_are_means_over_references() {
    let ter = Ter::default();
    let mut state = TerState::default();
    ter.add(&mut state, "a b c d", &["a c b d", "a b d"]);
    ter.add(&mut state, "x y", &["x z w", "x y z"]);
    ter.add(&mut state, "", &["a", "b", "c d"]);
    assert_eq!(state.lengths, BTreeMap::from([(2, 13), (3, 4)]));
    assert_eq!(state.reference_length(), (13.0 * 3.0 + 4.0 * 2.0) / 6.0);
    assert_eq!(state.edits, 3);
    assert_eq!(state.references.to_string(), "var");
}

/// The exact fraction is too large for its denominators, so the means are added.
#[test]
fn lengths_of_many_numbers_of_references() {
    let state = TerState {
        lengths: (1..100)
            .map(|references| (references, references))
            .collect(),
        ..TerState::default()
    };
    assert_eq!(state.reference_length(), 99.0);
    let none: Result<TerState, _> = metric_core::from_bytes(&metric_core::to_bytes(&TerState {
        lengths: BTreeMap::from([(0, 1)]),
        ..TerState::default()
    }));
    assert!(none.is_err());
}

#[test]
fn scores_without_reference_words() {
    let ter = Ter::default();
    let score = |prediction, references: &[&str]| {
        let mut state = TerState::default();
        ter.add(&mut state, prediction, references);
        ter.compute(&state).ter
    };
    assert_eq!(score("", &[""]), Some(0.0));
    assert_eq!(score("a b", &[""]), Some(1.0));
    assert_eq!(score("a b", &[]), Some(1.0));
    assert_eq!(score("", &["a"]), Some(1.0));
    assert_eq!(ter.compute(&TerState::default()), TerScore::default());
}

#[test]
fn tokens_by_hand() {
    let normalized = Ter::default().with_normalized(true);
    let rows: &[(Ter, &str, &[&str])] = &[
        (
            normalized,
            "x's; y's, it's\ty",
            &["x", "'s", ";", "y's", ",", "it's", "y"],
        ),
        (
            normalized,
            "it's\u{a0}the cat's",
            &["it's", "the", "cat", "'s"],
        ),
        (normalized, "a\n-b &amp;lt;", &["ab", "<"]),
        (normalized, "漢字。か", &["漢字。か"]),
        (
            normalized.with_asian_support(true),
            "漢字。か",
            &["漢", "字", "。", "か"],
        ),
        (
            Ter::default().with_no_punct(true),
            "a.b, (c) 。",
            &["ab", "c", "。"],
        ),
        (
            Ter::default().with_no_punct(true).with_asian_support(true),
            "a。b",
            &["ab"],
        ),
        (
            Ter::default().with_asian_support(true),
            "漢字。",
            &["漢字。"],
        ),
    ];
    for (ter, text, expected) in rows {
        assert_eq!(ter.tokens(text), *expected, "{text:?}");
    }
    let both = normalized.with_no_punct(true);
    assert_eq!(both.tokens("the cat's."), ["the", "cat's"]);
    assert_eq!(both.reference_tokens("the cat's."), ["the", "cat", "'s"]);
}

#[test]
fn long_texts_are_refused() {
    let ter = Ter::default();
    let words = |numbers: &mut dyn Iterator<Item = u32>| {
        numbers.map(|n| format!("{n} ")).collect::<String>()
    };
    let (a, b) = (words(&mut (0..300)), words(&mut (0..300).rev()));
    let error = ter.measure_within(&a, &[&b, "x"], 1_000_000).unwrap_err();
    assert_eq!((error.prediction, error.reference), (300, 300));
    let state = ter.measure_within(&a, &[&b, "x"], error.enough());
    assert_eq!(
        state.map(|state| state.edits),
        Ok(ter.measure(&a, &[b, "x".to_owned()]).edits)
    );
    assert!(Ter::is_within(100, 100, crate::edit::MAX_CELLS));
    assert!(!Ter::is_within(1 << 20, 1 << 20, crate::edit::MAX_CELLS));
}

/// The search as it is described, without anything that makes it fast.
mod plain {
    const FAR: u64 = 1 << 40;

    /// Gain, size, and the negated position and target.
    type Rank = (i64, usize, i64, i64);

    /// The distance in the band, the words of the prediction that are wrong, those of the reference, and for each of these
    /// the words of the prediction that are consumed.
    pub(super) fn align(
        words: &[char],
        reference: &[char],
    ) -> (u64, Vec<bool>, Vec<bool>, Vec<usize>) {
        let (n, m) = (words.len(), reference.len());
        let ratio = if n == 0 { 1.0 } else { m as f64 / n as f64 };
        let band = if ratio / 2.0 > 25.0 {
            (ratio / 2.0 + 25.0).ceil() as usize
        } else {
            25
        };
        let mut table = vec![vec![(FAR, 'x'); m + 1]; n + 1];
        for (j, cell) in table[0].iter_mut().enumerate() {
            *cell = (j as u64, 'i');
        }
        for i in 1..=n {
            let diagonal = (i as f64 * ratio).floor() as usize;
            let end = if i == n {
                m + 1
            } else {
                (m + 1).min(diagonal + band)
            };
            for j in diagonal.saturating_sub(band)..end {
                let mut best = (FAR * 2, 'x');
                let mut consider = |cost: u64, edit| {
                    if cost < best.0 {
                        best = (cost, edit);
                    }
                };
                if j > 0 {
                    let is_equal = words[i - 1] == reference[j - 1];
                    let cost = table[i - 1][j - 1].0 + u64::from(!is_equal);
                    consider(cost, if is_equal { 'k' } else { 's' });
                }
                consider(table[i - 1][j].0 + 1, 'd');
                if j > 0 {
                    consider(table[i][j - 1].0 + 1, 'i');
                }
                table[i][j] = best;
            }
        }
        let (mut wrong_words, mut wrong, mut consumed) =
            (vec![false; n], vec![false; m], vec![0; m]);
        let (mut i, mut j) = (n, m);
        while i > 0 || j > 0 {
            let edit = table[i][j].1;
            if edit != 'd' {
                j -= 1;
                wrong[j] = edit != 'k';
                consumed[j] = i;
            }
            if edit != 'i' {
                i -= 1;
                wrong_words[i] = edit != 'k';
            }
        }
        (table[n][m].0, wrong_words, wrong, consumed)
    }

    fn shifted(words: &[char], i: usize, k: usize, t: usize) -> Vec<char> {
        let block = &words[i..i + k];
        let rest = [&words[..i], &words[i + k..]].concat();
        let position = if t > i + k { t - k } else { t.min(rest.len()) };
        [&rest[..position], block, &rest[position..]].concat()
    }

    pub(super) fn edits(prediction: &[char], reference: &[char]) -> u64 {
        if reference.is_empty() {
            return prediction.len() as u64;
        }
        let (mut words, mut tried, mut shifts) = (prediction.to_vec(), 0, 0);
        'shift: loop {
            let (distance, wrong_words, wrong, consumed) = align(&words, reference);
            let done = shifts + distance;
            let mut best: Option<(Rank, Vec<char>)> = None;
            for i in 0..words.len() {
                for j in 0..reference.len() {
                    if i.abs_diff(j) > 50 {
                        continue;
                    }
                    for k in 1..=10 {
                        if i + k > words.len()
                            || j + k > reference.len()
                            || words[i + k - 1] != reference[j + k - 1]
                        {
                            break;
                        }
                        let any = |list: &[bool], start| list[start..start + k].contains(&true);
                        let inside = i < consumed[j] && consumed[j] <= i + k;
                        if !any(&wrong_words, i) || !any(&wrong, j) || inside {
                            continue;
                        }
                        let mut targets = vec![if j == 0 { 0 } else { consumed[j - 1] }];
                        targets.extend(&consumed[j..j + k]);
                        targets.dedup();
                        for t in targets {
                            tried += 1;
                            let words = shifted(&words, i, k, t);
                            let gain = distance as i64 - align(&words, reference).0 as i64;
                            let rank = (gain, k, -(i as i64), -(t as i64));
                            if best.as_ref().is_none_or(|best| rank > best.0) {
                                best = Some((rank, words));
                            }
                        }
                        if tried >= 1000 {
                            return done;
                        }
                    }
                }
            }
            match best {
                Some((rank, shifted)) if rank.0 > 0 => {
                    words = shifted;
                    shifts += 1;
                    continue 'shift;
                }
                _ => return done,
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_search_is_the_plain_search(
        (prediction, reference) in (b'a'..=b'y', 0_usize..12, 0_usize..40).prop_flat_map(|(most, short, long)| {
            let words = |len| vec(b'a'..=most, 0..=len);
            prop_oneof![(words(long), words(long)), (words(short), words(2 * long)), (words(2 * long), words(short))]
        }),
    ) {
        let [ours, theirs] = [&prediction, &reference].map(|list| list.iter().map(|c| u32::from(*c)).collect::<Vec<_>>());
        let [plain, other] = [&prediction, &reference].map(|list| list.iter().map(|c| char::from(*c)).collect::<Vec<_>>());
        let expected = plain::edits(&plain, &other);
        let mut cells = Cells::new(shift::most_cells(ours.len(), theirs.len()));
        prop_assert_eq!(shift::edits(&ours, &theirs, &mut cells), Ok(expected));
    }

    #[test]
    fn moved_blocks_are_found_as_in_the_plain_search(
        (words, cuts, changes) in (20_usize..70).prop_flat_map(|len| {
            (Just((0..len as u32).collect::<Vec<_>>()), vec(0..len, 3), vec((0..len, 0..len as u32), 0..8))
        }),
    ) {
        let mut cuts = cuts;
        cuts.sort_unstable();
        let mut moved = words.clone();
        moved[cuts[0]..cuts[2]].rotate_left(cuts[1] - cuts[0]);
        changes.iter().for_each(|&(position, word)| moved[position] = word);
        let [plain, other] = [&moved, &words].map(|list| list.iter().filter_map(|c| char::from_u32(*c)).collect::<Vec<_>>());
        let expected = plain::edits(&plain, &other);
        prop_assert_eq!(shift::edits(&moved, &words, &mut Cells::unlimited()), Ok(expected));
    }

    #[test]
    fn shards_in_any_order_are_the_whole(
        pairs in vec(("[ab ]{0,9}", vec("[ab ]{0,9}", 0..4)), 0..9),
    ) {
        let pool = |pairs: &[(String, Vec<String>)]| {
            let mut state = TerState::default();
            pairs.iter().for_each(|(p, references)| Ter::default().update(&mut state, p, references));
            state
        };
        let single = pairs.chunks(1).map(pool);
        prop_assert_eq!(crate::laws::check(&single.collect::<Vec<_>>()), pool(&pairs));
    }

    #[test]
    fn any_texts_have_a_rate(a in any::<String>(), b in any::<String>(), options in any::<(bool, bool, bool, bool)>()) {
        let (normalized, no_punct, asian_support, case_sensitive) = options;
        for profile in TerProfile::ALL {
            let ter = Ter { profile: *profile, normalized, no_punct, asian_support, case_sensitive };
            let state = ter.measure(&a, std::slice::from_ref(&b));
            prop_assert!(ter.compute(&state).ter.is_some_and(|rate| rate >= 0.0));
            prop_assert_eq!(ter.measure_within(&a, &[&b], u64::MAX), Ok(state));
            if *profile == TerProfile::Corrected {
                prop_assert_eq!(ter.measure(&a, std::slice::from_ref(&a)).edits, 0);
            }
        }
    }
}
