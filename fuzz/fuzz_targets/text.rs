//! Edit distances, normalization, answers and tokens of arbitrary texts, against plain rules.
//!
//! An input is two bytes, each counted starting at `a`, and a text in parts, between lines of `@`.
//! The first byte chooses what is tried, the second the profile or the unit. The parts are a
//! prediction and references; for normalization the first part is the list of steps.

#![no_main]

use libfuzzer_sys::fuzz_target;
use metric_core::Metric;
use metric_suite_fuzz::{choose, fraction, parts, pooled};
use metric_text::bleu::Tokenizer;
use metric_text::edit::{Alignment, Edit, EditProfile};
use metric_text::normalize::{Step, is_space};
use metric_text::ter::{Ter, TerProfile};
use metric_text::{
    Anls, EditRate, Edits, ExactMatch, Normalizer, PythonRegex, RelaxedAccuracy, Squad,
    StringAccuracy, Unit, VqaAccuracy, anls, edit_distance, edit_distance_within, rouge, squad,
    vqa,
};

fuzz_target!(|data: &[u8]| {
    let [kind, choice, text @ ..] = data else {
        return;
    };
    let text = String::from_utf8_lossy(text);
    let parts = parts(&text);
    let (first, rest) = (parts[0], &parts[1..]);
    let second = rest.first().copied().unwrap_or_default();
    match kind.wrapping_sub(b'a') % 5 {
        0 => edits(first, second, *choice),
        1 => normalisation(first, rest),
        2 => voted(first, rest, *choice),
        3 => answers(first, rest),
        _ => tokens(first),
    }
});

/// The table of Levenshtein distances, cell by cell.
fn plain_distance<T: PartialEq>(a: &[T], b: &[T]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (above, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = above + 1;
        for (index, y) in b.iter().enumerate() {
            let best = (diagonal + usize::from(x != y)).min(row[index].min(row[index + 1]) + 1);
            diagonal = std::mem::replace(&mut row[index + 1], best);
        }
    }
    row[b.len()]
}

fn edits(prediction: &str, reference: &str, choice: u8) {
    let unit = choose(Unit::ALL, choice);
    let profile = choose(EditProfile::ALL, choice.wrapping_sub(b'a') / 3 + b'a');
    let (rows, columns) = (
        unit.split(reference, profile),
        unit.split(prediction, profile),
    );
    let distance = edit_distance(&rows, &columns);
    assert_eq!(distance, edit_distance(&columns, &rows));
    assert_eq!(
        edit_distance_within(&rows, &columns, distance),
        Some(distance)
    );
    if let Some(less) = distance.checked_sub(1) {
        assert_eq!(edit_distance_within(&rows, &columns, less), None);
    }
    if rows.len() * columns.len() < 1 << 20 {
        assert_eq!(distance, plain_distance(&rows, &columns));
    }

    let alignment = Alignment::new(&rows, &columns);
    let (mut row, mut column, mut last) = (0, 0, None);
    for chunk in &alignment.chunks {
        assert_eq!(
            (chunk.reference.start, chunk.prediction.start),
            (row, column)
        );
        assert_ne!(last, Some(chunk.edit));
        let (from, to) = (
            &rows[chunk.reference.clone()],
            &columns[chunk.prediction.clone()],
        );
        match chunk.edit {
            Edit::Equal => assert_eq!(from, to),
            Edit::Substitute => {
                assert_eq!(from.len(), to.len());
                assert!(from.iter().zip(to).all(|(a, b)| a != b));
            }
            Edit::Delete => assert!(to.is_empty()),
            Edit::Insert => assert!(from.is_empty()),
        }
        (row, column, last) = (chunk.reference.end, chunk.prediction.end, Some(chunk.edit));
    }
    assert_eq!((row, column), (rows.len(), columns.len()));
    let edits = alignment.edits();
    assert_eq!(edits, Edits::between(&rows, &columns));
    assert_eq!(edits.errors(), distance as u64);
    let diff = alignment.diff(&rows, &columns, 40);
    assert_eq!(
        diff.lines().next(),
        diff.lines().find(|line| line.starts_with("REF:"))
    );

    let mut metric = EditRate::default().with_unit(unit).with_profile(profile);
    let examples = [
        (prediction, reference),
        (reference, prediction),
        (reference, reference),
    ];
    let fast = pooled(&metric, &examples);
    assert_eq!(metric.measure(prediction, reference).edits, edits);
    metric.confusions = true;
    let state = pooled(&metric, &examples);
    assert_eq!(state.edits, fast.edits);
    let confused: u64 = state.confusions.iter().map(|(_, _, times)| times).sum();
    assert_eq!(confused, state.edits.errors());
    let scores = metric.compute(&state);
    for score in [scores.error_rate, scores.mean_error_rate]
        .into_iter()
        .flatten()
    {
        assert!(score >= 0.0, "{score}");
    }
    fraction(scores.match_error_rate);
    fraction(scores.information_preserved);
    fraction(scores.information_lost);
}

/// A list of steps is written as it is read, and most steps do no more the second time.
fn normalisation(steps: &str, texts: &[&str]) {
    let text = texts.first().copied().unwrap_or_default();
    for step in Step::ALL {
        let once = step.apply(text);
        let twice = step.apply(&once);
        // Steps of other programs have their rules, which can change a text again.
        if step.version().is_none() {
            assert_eq!(twice, once, "{step}: {text:?}");
        }
    }
    let Ok(normalizer) = steps.parse::<Normalizer>() else {
        return;
    };
    let again: Normalizer = normalizer
        .to_string()
        .parse()
        .expect("steps that were read");
    assert_eq!(again, normalizer);
    let applied = normalizer.apply(text);
    let by_step = normalizer
        .steps
        .iter()
        .fold(text.to_owned(), |text, step| step.apply(&text).into_owned());
    assert_eq!(applied, by_step);
    assert!(normalizer.equal(text, text));
    let other = texts.get(1).copied().unwrap_or_default();
    let equal = normalizer.equal(text, other);
    assert_eq!(equal, normalizer.equal(other, text));
    assert_eq!(equal, applied == normalizer.apply(other));
    let metric = StringAccuracy { normalizer };
    let state = pooled(&metric, &[(text, other), (other, text), (text, text)]);
    assert_eq!((state.correct, state.total), (1 + 2 * u64::from(equal), 3));
}

fn voted(prediction: &str, answers: &[&str], choice: u8) {
    let answers = &answers[..answers.len().min(12)];
    let metric = VqaAccuracy::new(choose(vqa::VqaProfile::ALL, choice));
    let truth: vqa::Answers = answers.iter().copied().collect();
    let mut backwards = truth.clone();
    backwards.answers.reverse();
    let mut russian = truth.clone();
    russian.language = Some(vqa::Language::Russian);
    let one = metric.measure(prediction, &truth);
    assert_eq!(one, metric.measure(prediction, &backwards));
    let examples = [
        (prediction, &truth),
        (prediction, &russian),
        ("yes", &backwards),
    ];
    fraction(metric.compute(&pooled(&metric, &examples)));
    for answer in answers {
        fraction(metric.compute(&metric.measure(answer, &truth)));
    }
    let agreement = vqa::agreement(prediction, answers);
    // Ten answers, each left out once: the agreeing ones among the others, 3 at most.
    let agreeing = answers
        .iter()
        .filter(|answer| **answer == prediction)
        .count() as u64;
    let all = answers.len() as u64;
    let thirds = agreeing * agreeing.saturating_sub(1).min(3) + (all - agreeing) * agreeing.min(3);
    assert_eq!((agreement.annotators, agreement.thirds), (all, thirds));
    let once = vqa::normalize_english(prediction);
    let _ = vqa::normalize_english(&once);
    let _ = vqa::normalize_russian(prediction, str::to_uppercase);
    let _ = vqa::punctuation(prediction);
}

fn answers(prediction: &str, answers: &[&str]) {
    let owned: Vec<String> = answers.iter().map(|&answer| answer.to_owned()).collect();
    let mut backwards = owned.clone();
    backwards.reverse();
    for &profile in squad::SquadProfile::ALL {
        let metric = Squad::default().with_profile(profile);
        let (exact, f1) = metric.values(prediction, answers);
        assert_eq!((exact, f1), metric.values(prediction, &backwards));
        fraction(Some(f1));
        let score = metric.compute(&pooled(
            &metric,
            &[(prediction, &owned[..]), ("", &backwards)],
        ));
        fraction(score.f1);
        fraction(score.exact_match);
        for answer in answers {
            let empty = squad::normalize(answer).is_empty();
            if !(empty && profile == squad::SquadProfile::V2) {
                assert!(metric.values(answer, answers).0, "{profile}: {answer:?}");
            }
        }
    }
    for &profile in anls::AnlsProfile::ALL {
        let metric = Anls { profile };
        let value = metric.value(prediction, answers);
        fraction(value);
        assert_eq!(value, metric.value(prediction, &backwards));
        assert!(value.is_none_or(|value| value == 0.0 || value >= 0.5));
        fraction(metric.compute(&pooled(
            &metric,
            &[(prediction, &owned[..]), ("", &backwards)],
        )));
    }
    let metric = RelaxedAccuracy::default();
    fraction(metric.compute(&pooled(
        &metric,
        &[(prediction, &owned[..]), ("1", &backwards)],
    )));

    let Some((pattern, rest)) = answers.split_first() else {
        return;
    };
    let reference = rest.first().copied().unwrap_or_default();
    let regexes: Vec<PythonRegex> = pattern.parse().into_iter().collect();
    for switches in 0..8 {
        let metric = ExactMatch::default()
            .with_regexes_to_ignore(regexes.clone())
            .with_ignore_case(switches & 1 > 0)
            .with_ignore_punctuation(switches & 2 > 0)
            .with_ignore_numbers(switches & 4 > 0);
        assert!(metric.equal(prediction, prediction));
        let equal = metric.equal(prediction, reference);
        assert_eq!(equal, metric.equal(reference, prediction));
        // A pattern may need more steps than a text is worth.
        if let (Ok(one), Ok(other)) = (metric.apply(prediction), metric.apply(reference)) {
            assert_eq!(equal, one == other);
        }
    }
}

/// Tokens are never empty and have no white space, and where nothing is replaced, they are the rest of the text.
fn tokens(text: &str) {
    let words = |tokens: &[String], rule: &str| {
        let is_word = |token: &String| !token.is_empty() && !token.contains(is_space);
        assert!(tokens.iter().all(is_word), "{rule}: {tokens:?}");
    };
    let spaceless: String = text.chars().filter(|c| !is_space(*c)).collect();
    for &tokenizer in Tokenizer::ALL {
        let tokens = tokenizer.tokens(text);
        words(&tokens, tokenizer.name());
        if tokenizer != Tokenizer::V13a {
            assert_eq!(tokens.concat(), spaceless, "{tokenizer}");
        }
    }
    assert_eq!(metric_text::chrf::words(text).concat(), spaceless);
    for switches in 0..16 {
        let ter = Ter::default()
            .with_normalized(switches & 1 > 0)
            .with_no_punct(switches & 2 > 0)
            .with_asian_support(switches & 4 > 0)
            .with_case_sensitive(switches & 8 > 0);
        words(&ter.tokens(text), "ter");
        words(&ter.reference_tokens(text), "ter");
        let corrected = ter.with_profile(TerProfile::Corrected);
        assert_eq!(corrected.reference_tokens(text), corrected.tokens(text));
    }
    for stemmer in [false, true] {
        for token in rouge::tokens(text, stemmer) {
            let is_plain = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit();
            assert!(
                !token.is_empty() && token.bytes().all(is_plain),
                "{token:?}"
            );
        }
    }
    for word in text.split_whitespace() {
        assert!(!rouge::stem(word).is_empty(), "{word:?}");
    }
}
