//! BLEU.

use metric_core::Metric;
use metric_record::{FieldError, Message, Record};
use metric_text::Bleu;
use metric_text::bleu::{BleuProfile, BleuState, Smoothing, Tokenizer, unicode_version};
use metric_text::normalize::is_space;
use serde_json::json;

use crate::numbers::named;
use crate::options::finite;
use crate::prepare::{EXTRACT, NORMALIZE};
use crate::shapes::generated::{MOST_ORDERS, has_any, known, read, signature};
use crate::shapes::texts::{OfTexts, note_forms};
use crate::{
    Asked, Chart, ComparedTexts, Counted, Demo, Entry, ExampleView, Facts, Named, Note, Notice,
    Numbers, OptionError, OptionSpec, Options, References, Remarks, Scope, ScoreSpec, Scorer,
    Shape, TextExample, TextMetric,
};

/// The predictions that end in a separate point from which on sacreBLEU warns.
const MANY_TOKENIZED: u64 = 100;
const TOKENIZED: &str = "tokenized";

const SMOOTH: &str = "smooth";
const SMOOTH_VALUE: &str = "smooth-value";
const EFFECTIVE_ORDER: &str = "effective-order";
const SACREBLEU: &[&str] = &[BleuProfile::Sacrebleu.name()];
/// The profiles with a choice of smoothing and of the order.
const ADJUSTABLE: &[&str] = &[
    BleuProfile::Sacrebleu.name(),
    BleuProfile::Evaluate.name(),
    BleuProfile::CodexglueGeneration.name(),
];

pub(crate) const BLEU: Entry = Entry {
    name: "bleu",
    class: "BLEU",
    question: "How many n-grams of a translation are in its references?",
    programs: "sacreBLEU, Hugging Face, CodeXGLUE",
    shapes: &[Shape::Answers.as_is()],
    tried: &[
        &[
            ("tokenize", "intl"),
            ("lowercase", ""),
            ("smooth", "add-k"),
        ],
        &[("effective-order", "")],
        &[("profile", "evaluate")],
        &[("profile", "codexglue-summarization")],
    ],
    help: "BLEU: n-grams of generated texts that are in their references",
    values: ("a text or a list of texts", "a text"),
    known_as: &[(&["sacrebleu", "corpus-bleu", "sentence-bleu"], "")],
    demos: &[Demo::new(
        "translations",
        ["translations.txt", "translated.txt"],
        &["bleu"],
    )],
    options: &[
        EXTRACT,
        NORMALIZE,
        OptionSpec::choice::<BleuProfile>(
            "profile",
            "PROFILE",
            "Program whose tokens and formula to follow",
        )
        .or(BleuProfile::Sacrebleu.name()),
        OptionSpec::choice::<Tokenizer>("tokenize", "NAME",
            "Rules that split texts into tokens: 13a for Western languages, zh for Chinese, char for each character, intl for all punctuation of Unicode, none for tokens separated by white space [default: 13a]")
            .without(&["ja-mecab", "ko-mecab", "spm", "flores101", "flores200", "spBLEU-1K"],
                "this tokenizer needs a model or a dictionary: split the texts with it, and score them with ", "none")
            .only_with("profile", SACREBLEU),
        OptionSpec::flag("lowercase", "Compare texts in lowercase").only_with("profile", SACREBLEU),
        OptionSpec::choice::<Smoothing>(SMOOTH, "METHOD",
            "Treatment of orders without matches. sacrebleu: exp, floor, add-k, none [default: exp]; evaluate: none, add-one [default: none]; codexglue-generation: add-one, none [default: add-one]")
            .also("smooth-method")
            .only_with("profile", ADJUSTABLE),
        OptionSpec::number(SMOOTH_VALUE, "X", f64::MIN..=f64::MAX,
            "With --smooth floor or add-k: what is added [default: 0.1 for floor, 1 for add-k]")
            .only_with(SMOOTH, &[Smoothing::Floor.name(), Smoothing::AddK.name()]),
        OptionSpec::integer("max-order", "N", 1..=MOST_ORDERS as i64, "Greatest length of n-grams [default: 4]")
            .also("max-ngram-order")
            .only_with("profile", ADJUSTABLE),
        OptionSpec::flag(EFFECTIVE_ORDER,
            "Leave out orders of which the predictions have no n-grams, as for short texts")
            .only_with("profile", SACREBLEU),
    ],
    scores: &[
        ScoreSpec::higher("bleu"),
        ScoreSpec::higher("sentence_bleu"),
    ],
    charts: &[Chart::Precisions],
    example: Some(ExampleView::Words),
    build: &build,
    ..Entry::BASE
};

fn build(options: &Options) -> Result<Scorer, OptionError> {
    let profile: BleuProfile = options.require("profile")?;
    let methods = profile.smoothings();
    let smoothing: Option<Smoothing> = options.parse(SMOOTH)?;
    if let Some(other) = smoothing.filter(|method| !methods.contains(method)) {
        let names: Vec<&str> = methods.iter().map(|method| method.name()).collect();
        let reason = Message::from(format!("expected one of {} with ", names.join(", ")));
        let reason = reason.option("profile", profile.name());
        return Err(OptionError::new(SMOOTH, other.name(), reason));
    }
    let value = options.given(SMOOTH_VALUE);
    if options.has(SMOOTH_VALUE) && finite(&value).is_none() {
        return Err(OptionError::new(SMOOTH_VALUE, &value, "expected a number"));
    }
    let order = options.counting("max-order", MOST_ORDERS)?;
    let metric = Bleu::default()
        .with_profile(profile)
        .with_tokenizer(options.parse("tokenize")?.unwrap_or_default())
        .with_lowercase(options.has("lowercase"))
        .with_smoothing(smoothing)
        .with_smooth_value(finite(&value))
        .with_max_order(order.map_or(4, Into::into))
        .with_effective_order(options.has(EFFECTIVE_ORDER));
    let reading = OfTexts {
        facts: Facts {
            // An example is not scored as a corpus of one.
            ranking_score: Some("sentence_bleu".to_owned()),
            example_scores: &[("bleu", "sentence_bleu")],
            ..Facts::default()
        },
        warnings: Some(warnings),
        compared: |bleu: &Bleu, prediction, references| {
            let tokens = |text: &str| bleu.tokens(text).join(" ");
            ComparedTexts::new(prediction, references.texts(), tokens)
        },
        ..OfTexts::new("bleu", metric)
    };
    reading.scorer(options)
}

impl TextMetric for Bleu {
    fn definition(&self) -> Named<String> {
        let smooth = match (self.smoothing_in_use(), self.smooth_value_in_use()) {
            (method, Some(value)) => format!("{method}[{value}]"),
            (method, None) => method.to_string(),
        };
        let of_ngrams = [
            ("smooth", smooth),
            ("max-order", self.max_order.to_string()),
        ];
        let profile = self.profile.name();
        match self.profile {
            BleuProfile::CodexglueSummarization => signature(profile, []),
            BleuProfile::Sacrebleu => {
                let case = if self.lowercase { "lc" } else { "mixed" };
                let effective = if self.effective_order { "yes" } else { "no" };
                let (major, minor, _) = unicode_version();
                let unicode = format!("{major}.{minor}");
                let is_international = self.tokenizer == Tokenizer::International;
                let unicode = is_international.then_some(("unicode", unicode));
                let mut parts = signature(
                    profile,
                    [
                        ("case", case.to_owned()),
                        ("eff", effective.to_owned()),
                        ("tok", self.tokenizer.to_string()),
                    ],
                );
                parts.extend(named(unicode.into_iter().chain(of_ngrams)));
                parts
            }
            _ => signature(profile, of_ngrams),
        }
    }

    fn read<'a>(&self, record: &mut Record<'a>) -> Result<TextExample<'a, Self>, FieldError> {
        read(record)
    }

    fn check(&self, text: &str, references: &[String], note: Note<'_>) -> Result<(), FieldError> {
        /// Hiragana and Katakana.
        const KANA: (char, char) = ('\u{3040}', '\u{30ff}');
        const IDEOGRAPHS: [(char, char); 2] = [('\u{3400}', '\u{4dbf}'), ('\u{4e00}', '\u{9fff}')];
        note_forms(self, text, references, note);
        if self.profile != BleuProfile::Sacrebleu {
            return Ok(());
        }
        let has = |ranges: &[(char, char)]| references.iter().any(|text| has_any(text, ranges));
        let glued = match self.tokenizer {
            Tokenizer::V13a if has(&IDEOGRAPHS) || has(&[KANA]) => Some("zh"),
            Tokenizer::Chinese if has(&[KANA]) => Some("char"),
            _ => None,
        };
        if let Some(instead) = glued {
            let rest = |of: &str| {
                let text = format!(
                    "{of} Chinese or Japanese words that {} leaves in one piece: to split them, use ",
                    self.tokenizer
                );
                Message::from(text).option("tokenize", instead)
            };
            let what = Counted::new(rest("reference has"), rest("references have"));
            note(Notice::Words(&what, Some(1)));
        }
        let ends_apart = text.trim_end_matches(is_space).ends_with(" .");
        if ends_apart && self.tokenizer != Tokenizer::None {
            note(Notice::Tally(TOKENIZED, 1));
        }
        Ok(())
    }

    fn numbers(&self, state: &BleuState, asked: Asked<'_>) -> Numbers {
        let (name, score) = match asked.scope {
            Scope::Example => ("sentence_bleu", self.for_sentences().compute(state)),
            _ => ("bleu", self.compute(state)),
        };
        let of = |index: usize| state.ngrams.iter().map(|ngrams| ngrams[index]).collect();
        let [correct, total]: [Vec<u64>; 2] = [of(0), of(1)];
        let mut counts = vec![
            ("correct", json!(correct)),
            ("total", json!(total)),
            ("precisions", json!(score.precisions)),
        ];
        if self.profile != BleuProfile::CodexglueSummarization {
            counts.push(("brevity_penalty", json!(score.brevity_penalty)));
        }
        counts.push(("prediction_length", json!(state.prediction_length)));
        counts.push(("reference_length", json!(state.reference_length)));
        Numbers {
            scores: named([(name, score.bleu)]),
            counts: named(counts),
            signature: known(asked, state.references),
            ..Numbers::default()
        }
    }
}

/// The warnings that depend on all examples.
fn warnings(bleu: &Bleu, state: &BleuState, remarks: Remarks<'_>) -> Vec<Message> {
    let mut warnings = Vec::new();
    let is_short = bleu.profile == BleuProfile::Sacrebleu && !bleu.effective_order;
    let orders = state.ngrams.iter().take_while(|[_, total]| *total > 0);
    let orders = orders.count();
    if is_short
        && (1..state.ngrams.len()).contains(&orders)
        && bleu.compute(state).bleu == Some(0.0)
    {
        let tokens = orders + 1;
        let text =
            format!("bleu is 0, as no prediction has {tokens} tokens: for short texts, use ");
        warnings.push(Message::from(text).option(EFFECTIVE_ORDER, ""));
    }
    let tokenized = remarks.tally(TOKENIZED);
    if tokenized >= MANY_TOKENIZED {
        let text = format!(
            "{tokenized} predictions end in a point after a space, as if they were split into tokens: BLEU splits texts itself, and is comparable only for texts as people write them"
        );
        warnings.push(Message::from(text));
    }
    warnings
}
