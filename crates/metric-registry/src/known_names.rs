//! Names that the field knows and that are not names of metrics here.

use crate::ENTRIES;

/// Metrics that are not offered: their names, and why, with what to use instead.
pub const NOT_OFFERED: &[(&[&str], &str)] = &[
    (
        &["meteor", "meteor-score"],
        "METEOR is not offered, as its synonyms and its tokenizer are data of other projects that change its numbers: chrf also rewards other forms of a word, and rouge --stemmer compares stems",
    ),
    (
        &["bertscore", "bert-score"],
        "BERTScore is not offered, as the weights of a neural network decide its numbers: chrf, bleu and rouge compare texts without a model",
    ),
    (
        &[
            "comet",
            "cometkiwi",
            "comet-kiwi",
            "unbabel-comet",
            "xcomet",
        ],
        "COMET is not offered, as it is a neural network that also reads the source text: chrf, bleu and ter score translations without a model",
    ),
    (
        &["bleurt"],
        "BLEURT is not offered, as it is a neural network: chrf, bleu and rouge compare texts without a model",
    ),
    (
        &["ppl", "perplexity"],
        "perplexity is not offered, as it is computed from the probabilities of a language model and not from the texts that it writes: exact-match, squad and rouge score such texts",
    ),
];

/// Returns what to use for a name that the field knows and that is not the name of a metric, in words. Case does not matter,
/// and underscores and spaces are hyphens.
///
/// ```
/// use metric_registry::meaning;
///
/// assert!(meaning("BERT_Score").is_some_and(|words| words.starts_with("BERTScore is not offered")));
/// assert_eq!(meaning("zebra"), None);
/// ```
#[must_use]
pub fn meaning(name: &str) -> Option<String> {
    let wanted = name.to_lowercase().replace(['_', ' '], "-");
    let of_entries = ENTRIES.iter().flat_map(|entry| {
        let own = move |hint: &str| match hint {
            "" => format!("it is {}", entry.name),
            hint => hint.to_owned(),
        };
        entry
            .known_as
            .iter()
            .map(move |(names, hint)| (*names, own(hint)))
    });
    let not_offered = NOT_OFFERED
        .iter()
        .map(|(names, why)| (*names, (*why).to_owned()));
    let mut all = of_entries.chain(not_offered);
    all.find(|(names, _)| names.contains(&wanted.as_str()))
        .map(|(_, hint)| hint)
}
