use proptest::prelude::*;

use super::*;

/// The result of a join: ids with their values by the position of the reference, and the records without a partner.
#[derive(Debug, Default, PartialEq, Eq)]
struct Given {
    pairs: BTreeMap<u64, [String; 3]>,
    missing: Vec<String>,
    extra: u64,
}

/// Joins references and predictions of these numbers. Every record holds its side and its number.
fn join(sides: [&[u32]; 2], window: u64, width: usize) -> Result<Given, RunError> {
    join_observed(sides, window, width, |_| {})
}

/// The same, with a look at the join after each step.
fn join_observed(
    [references, predictions]: [&[u32]; 2],
    window: u64,
    width: usize,
    mut look: impl FnMut(&Join),
) -> Result<Given, RunError> {
    let input = |side: &str, numbers: &[u32]| {
        let line = |number: &u32| {
            let value = format!("{side} {number} {}", "x".repeat(*number as usize % 90));
            format!("{{\"id\": \"q{number}\", \"value\": \"{value}\", \"more\": {number}}}\n")
        };
        let text: String = numbers.iter().map(line).collect();
        Input {
            source: Source::memory(side, text.into_bytes(), Format::JsonLines),
            names: FieldNames::new([
                ("id", Role::Id, "id-field"),
                ("value", Role::Value, "reference-field"),
            ]),
            more: None,
            selection: None,
            tally: None,
        }
    };
    let options = JoinOptions {
        policy: JoinPolicy::default(),
        shard: None,
        max_bytes: u64::MAX,
        width,
        is_part: false,
        is_check: false,
        has_fields: true,
        window,
    };
    let (references, predictions) = (input("r", references), input("p", predictions));
    let progress = Arc::default();
    let mut join = Join::new(references, Some(predictions), |_| false, options, &progress)?;
    let mut given = Given::default();
    while let Some(pairs) = join.next()? {
        look(&join);
        join.ahead(|join| {
            for index in 0..pairs.len() {
                pairs.with(join, index, |pair| {
                    let mut record = join.record(pair);
                    let number = record.id.to_string().split_off(1);
                    let fields = record.fields.expect("the record of the reference");
                    assert!(
                        fields.ends_with(&format!("\"more\": {number}}}")),
                        "{fields}"
                    );
                    let text = |value: &mut Value<'_>| value.text().expect("a text").into_owned();
                    let values = [&mut record.reference, &mut record.prediction].map(text);
                    let [reference, prediction] = values;
                    let before = given
                        .pairs
                        .insert(pair.ordinal, [number, reference, prediction]);
                    assert_eq!(before, None);
                });
            }
        });
    }
    let left = join.finish()?;
    for pair in join.missing(&left.missing)? {
        given.missing.push(join.record(&pair).id.to_string());
    }
    given.extra = left.extra;
    Ok(given)
}

/// The same by hand.
fn expected([references, predictions]: [&[u32]; 2]) -> Given {
    let value =
        |side: &str, number: u32| format!("{side} {number} {}", "x".repeat(number as usize % 90));
    let mut given = Given::default();
    for (&number, ordinal) in references.iter().zip(0..) {
        if predictions.contains(&number) {
            let values = [number.to_string(), value("r", number), value("p", number)];
            given.pairs.insert(ordinal, values);
        } else {
            given.missing.push(format!("q{number}"));
        }
    }
    let extra = predictions
        .iter()
        .filter(|number| !references.contains(number));
    given.extra = extra.count() as u64;
    given
}

/// Windows that hold none of the records, some of them with room for some and for all references to be gathered, and all
/// of them, and the numbers of blocks that are read at a time.
const SETTINGS: [(u64, usize); 8] = [
    (0, 1),
    (0, 4),
    (20_000, 1),
    (20_000, 4),
    (100_000, 1),
    (100_000, 4),
    (u64::MAX, 1),
    (u64::MAX, 4),
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// Numbers in any order over several blocks; each side lacks some of them.
    #[test]
    fn partners_are_found_in_any_order(
        references in Just((0..4000).collect::<Vec<u32>>()).prop_shuffle(),
        shuffled in any::<bool>(),
        predictions in Just((0..4000).collect::<Vec<u32>>()).prop_shuffle(),
        first in 0_u32..2,
        step in 500_u32..5000,
    ) {
        let references = if shuffled { references } else { (0..4000).collect() };
        let references: Vec<u32> = references.into_iter().filter(|it| it % step != first).collect();
        let predictions: Vec<u32> = predictions.into_iter().filter(|it| it % step != 7).collect();
        let sides = [references.as_slice(), predictions.as_slice()];
        let expected = expected(sides);
        for (window, width) in SETTINGS {
            let given = join(sides, window, width).expect("a join");
            prop_assert!(given == expected, "{window} {width}");
        }
    }
}

#[test]
fn references_are_gathered_if_there_is_room() {
    let numbers: Vec<u32> = (0..4000).collect();
    let reversed: Vec<u32> = (0..4000).rev().collect();
    for (window, is_gathered, is_packed) in [
        (0, false, true),
        (20_000, false, true),
        (100_000, true, false),
        (u64::MAX, false, false),
    ] {
        for width in [1, 4] {
            let (mut was_gathered, mut was_packed) = (false, false);
            let given = join_observed([&numbers, &reversed], window, width, |join| {
                was_gathered |= join.waiting.has_references();
                was_packed |= join.waiting.is_full() && !join.waiting.has_references();
            });
            assert_eq!(given.expect("a join").pairs.len(), 4000);
            assert_eq!(was_gathered, is_gathered, "{window} {width}");
            assert_eq!(was_packed, is_packed, "{window} {width}");
        }
    }
}

#[test]
fn an_id_that_occurs_twice_is_found_wherever_it_is() {
    let numbers: Vec<u32> = (0..3000).collect();
    let reversed: Vec<u32> = (0..3000).rev().collect();
    for (index, twice) in [(0, 2999), (1500, 1500), (2999, 0), (2999, 2998)] {
        let mut more = reversed.clone();
        more.insert(index, twice);
        for (window, width) in SETTINGS {
            for (sides, file) in [([&*numbers, &*more], "p"), ([&*more, &*numbers], "r")] {
                let error = join(sides, window, width).map(drop).expect_err("an error");
                let problem = error.to_string();
                let id = format!("\"q{twice}\"");
                assert!(problem.contains(file) && problem.contains(&id), "{problem}");
            }
        }
    }
}

#[test]
fn an_unknown_id_that_occurs_twice_is_found_wherever_it_is() {
    let numbers: Vec<u32> = (0..3000).collect();
    let mut reversed: Vec<u32> = (0..3000).rev().collect();
    reversed.insert(2990, 7000);
    for index in [0, 1500, 2980, 3001] {
        let mut predictions = reversed.clone();
        predictions.insert(index, 7000);
        for (window, width) in SETTINGS {
            let error = join([&numbers, &predictions], window, width).map(drop);
            let problem = error.expect_err("an error").to_string();
            assert!(problem.contains("\"q7000\""), "{window} {width}: {problem}");
        }
    }
}
