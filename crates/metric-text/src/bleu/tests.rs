use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

fn score(bleu: Bleu, prediction: &str, references: &[&str]) -> BleuScore {
    bleu.compute(&bleu.count(prediction, references))
}

fn percent(bleu: Bleu, prediction: &str, references: &[&str]) -> Option<f64> {
    score(bleu, prediction, references).percent
}

#[test]
fn scores_by_hand() {
    let bleu = Bleu::default();
    let with = |smoothing, value| {
        let bleu = bleu
            .with_smoothing(Some(smoothing))
            .with_smooth_value(value);
        let score = score(
            bleu,
            "the cat the cat on the mat",
            &["the cat sat on the mat"],
        );
        (score.percent_precisions, score.smoothed_ngrams[3])
    };
    let first = [100.0 * 5.0 / 7.0, 50.0, 20.0];
    let all = |last| [&first[..], &[last]].concat();
    assert_eq!(with(Smoothing::Exp, None), (all(12.5), [0.0, 4.0]));
    assert_eq!(with(Smoothing::Floor, Some(0.5)), (all(12.5), [0.0, 4.0]));
    assert_eq!(with(Smoothing::None, None), (all(0.0), [0.0, 4.0]));
    let added = [first[0], 100.0 * 4.0 / 7.0, 100.0 * 2.0 / 6.0, 20.0];
    assert_eq!(with(Smoothing::AddK, None), (added.to_vec(), [1.0, 5.0]));
    assert_eq!(
        percent(
            bleu,
            "the cat the cat on the mat",
            &["the cat sat on the mat"]
        ),
        Some(30.739407647563215) // sacreBLEU 2.6.0
    );
}

#[test]
fn short_and_empty_texts() {
    let bleu = Bleu::default();
    let sentence = bleu.for_sentences();
    let rows = [
        ("", "", Some(0.0), Some(0.0), 1.0),
        ("", "a", Some(0.0), Some(0.0), 0.0),
        ("a", "", Some(0.0), Some(0.0), 1.0),
        ("a b c", "a b c", Some(0.0), Some(100.00000000000004), 1.0),
        ("x", "a b", Some(0.0), Some(0.0), (1.0_f64 - 2.0).exp()),
    ];
    for (prediction, reference, corpus, alone, penalty) in rows {
        assert_eq!(
            percent(bleu, prediction, &[reference]),
            corpus,
            "{prediction} {reference}"
        );
        assert_eq!(
            percent(sentence, prediction, &[reference]),
            alone,
            "{prediction} {reference}"
        );
        assert_eq!(
            score(bleu, prediction, &[reference]).brevity_penalty,
            Some(penalty)
        );
    }
    assert_eq!(score(bleu, "a", &[]), score(bleu, "a", &[""]));
    assert_eq!(bleu.compute(&BleuState::default()), BleuScore::default());
    assert_eq!(percent(bleu.with_max_order(0), "a", &["a"]), None);
}

#[test]
fn the_nearest_reference_has_the_length_and_all_have_ngrams() {
    let references = ["a", "b c d e f", "a b c"];
    let bleu = Bleu::default().with_max_order(1);
    let state = bleu.count("a b", &references);
    assert_eq!((state.reference_length, &*state.ngrams), (1, &[[2, 2]][..]));
    let state = bleu.count("a b c d", &references);
    assert_eq!((state.reference_length, &*state.ngrams), (3, &[[4, 4]][..]));
    let shortest = bleu
        .with_profile(BleuProfile::Evaluate)
        .count("a b c d", &references);
    assert_eq!(shortest.reference_length, 1);
    // A word counts as often as the reference has it that has it most often.
    assert_eq!(
        bleu.count("a a a a", &["a a", "a a a", ""]).ngrams,
        [[3, 4]]
    );
}

#[test]
fn profiles_have_their_own_defaults() {
    for profile in BleuProfile::ALL {
        let bleu = Bleu::default().with_profile(*profile);
        assert_eq!(profile.to_string().parse(), Ok(*profile));
        let default = profile
            .smoothings()
            .first()
            .copied()
            .unwrap_or(Smoothing::None);
        assert_eq!(bleu.smoothing_in_use(), default);
        let other = if default == Smoothing::Exp {
            Smoothing::AddOne
        } else {
            Smoothing::Exp
        };
        assert_eq!(bleu.with_smoothing(Some(other)).smoothing_in_use(), default);
    }
    let bleu = Bleu::default();
    assert_eq!(bleu.smooth_value_in_use(), None);
    assert_eq!(
        bleu.with_smoothing(Some(Smoothing::Floor))
            .smooth_value_in_use(),
        Some(0.1)
    );
}

#[test]
fn profiles_by_hand() {
    let nmt = Bleu::default()
        .with_profile(BleuProfile::Evaluate)
        .with_max_order(2);
    let halves = score(nmt, "a b c d", &["a b d c"]);
    assert_eq!(
        (&*halves.precisions, halves.brevity_penalty),
        (&[1.0, 1.0 / 3.0][..], Some(1.0))
    );
    for (prediction, reference) in [("", "a"), ("a", ""), ("", "")] {
        let undefined = score(nmt, prediction, &[reference]);
        assert_eq!((undefined.bleu, undefined.brevity_penalty), (None, None));
    }
    let generation = nmt.with_profile(BleuProfile::CodexglueGeneration);
    assert_eq!(
        score(generation, "a x", &["a y"]).precisions,
        [2.0 / 3.0, 1.0 / 2.0]
    );

    let summary = Bleu::default().with_profile(BleuProfile::CodexglueSummarization);
    assert_eq!(score(summary, "", &[""]).bleu, Some(1.0));
    assert_eq!(score(summary, "", &["a b"]).bleu, Some((-2.0_f64).exp()));
    let mut state = summary.count("", &[""]);
    state.merge(summary.count("", &["a b"]));
    assert_eq!(
        summary.compute(&state).bleu,
        Some((1.0 + (-2.0_f64).exp()) / 2.0)
    );
}

proptest! {
    #[test]
    fn shards_in_any_order_are_the_whole(
        pairs in vec(("[ab .]{0,6}", vec("[ab .]{0,6}", 0..3)), 0..9),
    ) {
        for profile in BleuProfile::ALL {
            let bleu = Bleu::default().with_profile(*profile);
            let pool = |pairs: &[(String, Vec<String>)]| {
                let mut state = BleuState::default();
                pairs.iter().for_each(|(p, references)| bleu.update(&mut state, p, references));
                state
            };
            let single = pairs.chunks(1).map(pool);
            prop_assert_eq!(crate::laws::check(&single.collect::<Vec<_>>()), pool(&pairs));
        }
    }

    #[test]
    fn any_texts_have_a_score(a in any::<String>(), b in any::<String>(), options in any::<(usize, bool)>()) {
        let (smoothing, lowercase) = options;
        for tokenizer in Tokenizer::ALL {
            let smoothings = BleuProfile::Sacrebleu.smoothings();
            let bleu = Bleu { tokenizer: *tokenizer, lowercase, ..Bleu::default() };
            let bleu = bleu.with_smoothing(smoothings.get(smoothing % 4).copied()).for_sentences();
            let score = percent(bleu, &a, &[&b]);
            prop_assert!(score.is_some_and(|score| (0.0..100.000001).contains(&score)));
            if !bleu.tokens(&a).is_empty() {
                let same = percent(bleu, &a, &[&a]);
                prop_assert!(same.is_some_and(|same| (same - 100.0).abs() < 1e-9));
            }
        }
        for profile in BleuProfile::ALL {
            let bleu = Bleu::default().with_profile(*profile);
            prop_assert!(percent(bleu, &a, &[&b]).is_none_or(|score| (0.0..100.000001).contains(&score)));
        }
    }
}
