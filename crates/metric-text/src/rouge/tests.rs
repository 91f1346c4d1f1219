use metric_core::Metric;
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

fn triple(overlap: Overlap) -> [u64; 3] {
    [overlap.matches, overlap.prediction, overlap.reference]
}

#[test]
fn overlaps_by_hand() {
    let (prediction, reference) = (
        "A dog barked.\nThe cat runs.",
        "The cats were running.\nA dog barked.",
    );
    let rouge = Rouge::default().with_stemmer(true);
    let overlaps = rouge.overlaps(prediction, &[reference]);
    let triples: Vec<[u64; 3]> = overlaps[0].iter().map(|overlap| triple(*overlap)).collect();
    assert_eq!(triples, [[6, 6, 7], [3, 5, 6], [3, 6, 7], [6, 6, 7]]);
    assert_eq!(overlaps[0][3].f(), 0.923076923076923);

    assert_eq!(triple(rouge_n("a b a", "a a a", 1)), [2, 3, 3]);
    assert_eq!(triple(rouge_n("a b", "a b", 3)), [0, 0, 0]);
    assert_eq!(triple(rouge_n("a b", "a b", 0)), [0, 0, 0]);
    assert_eq!(triple(rouge_l("", "a")), [0, 0, 1]);
    // A carriage return does not end a line, and "b" is used once.
    assert_eq!(triple(rouge_lsum("b\nx", "b\rb\nb")), [1, 2, 3]);
}

#[test]
fn tokens_by_hand() {
    let rows: &[(&str, &[&str])] = &[
        ("", &[]),
        ("café don't", &["caf", "don", "t"]),
        ("A1_b2", &["a1", "b2"]),
        ("\u{130}x \u{212a}x", &["i", "x", "kx"]),
        ("ſ中文", &[]),
    ];
    for (text, expected) in rows {
        assert_eq!(tokens(text, false), *expected, "{text:?}");
    }
    // Only words of more than 3 letters have a stem of their own.
    assert_eq!(tokens("was cats", true), ["was", "cat"]);
}

#[test]
fn each_type_has_its_best_reference() {
    let rouge = Rouge::default().with_types(vec![RougeType::N1, RougeType::N2]);
    let state = rouge.measure(
        "a b c",
        &["c b a".to_owned(), "a b d".to_owned(), "b c a".to_owned()],
    );
    assert_eq!(triple(state.types[0].overlap), [3, 3, 3]);
    assert_eq!(triple(state.types[1].overlap), [1, 2, 2]);
    let none = rouge.compute(&rouge.measure("a", &[]));
    assert_eq!(none.scores[0].f, Some(0.0));
    let empty = rouge.compute(&RougeState::default());
    assert_eq!(empty.scores[0].f, None);
    let names: Vec<String> = empty
        .named_scores()
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    let expected = [
        "rouge1",
        "rouge2",
        "rouge1_precision",
        "rouge1_recall",
        "rouge2_precision",
        "rouge2_recall",
    ];
    assert_eq!(names, expected);
}

#[test]
fn types_are_read_by_both_names() {
    for rouge_type in RougeType::ALL {
        let name = rouge_type.name();
        assert_eq!(name.parse(), Ok(*rouge_type));
        assert_eq!(name.trim_start_matches("rouge").parse(), Ok(*rouge_type));
    }
    assert!("rouge0".parse::<RougeType>().is_err());
    assert_eq!(RougeType::N9.order(), Some(9));
    assert_eq!(RougeType::L.order(), None);
}

#[test]
fn long_texts_are_refused() {
    let rouge = Rouge::default();
    let text = "a b c d\n".repeat(1_000);
    let error = rouge
        .measure_within(&text, &[&text], 1_000_000)
        .unwrap_err();
    assert_eq!((error.prediction, error.reference), (4_000, 4_000));
    assert!(
        rouge
            .measure_within(&text, &[&text], error.enough())
            .is_ok()
    );
    assert!(rouge.is_within(1_000, 1_000, crate::edit::MAX_CELLS));
    assert!(!rouge.is_within(text.len(), text.len(), 1_000_000));
}

proptest! {
    #[test]
    fn one_line_has_the_same_subsequence_with_both_types(a in "[abc ]{0,30}", b in "[abc ]{0,30}") {
        prop_assert_eq!(rouge_lsum(&a, &b), rouge_l(&a, &b));
        // Empty lines do not count.
        let lines = |text: &str| text.replace(' ', "  ");
        prop_assert_eq!(rouge_lsum(&format!("\n{a}\n"), &lines(&b)), rouge_l(&a, &b));
    }

    /// Except for `Lsum`, whose subsequences are chosen by the lines of the reference.
    #[test]
    fn exchanged_texts_have_exchanged_precision_and_recall(a in "[abc ]{0,20}", b in "[abc ]{0,20}") {
        for overlap in [rouge_l, |a: &str, b: &str| rouge_n(a, b, 1), |a: &str, b: &str| rouge_n(a, b, 2)] {
            let (there, back) = (overlap(&a, &b), overlap(&b, &a));
            prop_assert_eq!((there.precision(), there.recall()), (back.recall(), back.precision()));
            let same = overlap(&a, &a);
            prop_assert!(same.f() == 1.0 || same.prediction == 0);
        }
    }

    #[test]
    fn shards_in_any_order_are_the_whole(
        pairs in vec(("[ab \n]{0,9}", vec("[ab \n]{0,9}", 0..3)), 0..6),
    ) {
        let rouge = Rouge::default();
        let pool = |pairs: &[(String, Vec<String>)]| {
            let mut state = RougeState::default();
            pairs.iter().for_each(|(p, references)| rouge.update(&mut state, p, references));
            state
        };
        let single = pairs.chunks(1).map(pool);
        prop_assert_eq!(crate::laws::check(&single.collect::<Vec<_>>()), pool(&pairs));
    }

    #[test]
    fn any_texts_have_scores(a in any::<String>(), b in any::<String>(), near in "[abAB\u{130}\u{212a} \n.]{0,20}", stemmer in any::<bool>()) {
        let rouge = Rouge::default().with_types(RougeType::ALL.to_vec()).with_stemmer(stemmer);
        for (a, b) in [(&a, &b), (&near, &b), (&a, &near), (&near, &near)] {
            for overlap in rouge.overlaps(a, &[b]).concat() {
                prop_assert!(overlap.matches <= overlap.prediction.min(overlap.reference));
            }
            let within = rouge.measure_within(a, &[b], u64::MAX);
            prop_assert_eq!(within, Ok(rouge.measure(a, std::slice::from_ref(b))));
        }
    }
}
