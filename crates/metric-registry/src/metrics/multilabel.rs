//! Several labels per example.

use metric_class::{
    BinaryScores, ClassCounts, Multilabel, MultilabelAverage, MultilabelProfile, MultilabelState,
    NamedScores, VERSION, ZeroDivision,
};
use metric_record::{Message, NAMED_IDS};
use serde_json::Value;

use crate::numbers::named;
use crate::shapes::label_sets::{
    CLASSES, DELIMITER, Form, LabelSetMetric, LabelSpace, OfLabelSets, THRESHOLD, WEIGHT,
};
use crate::shapes::labels::quoted;
use crate::{
    Asked, Demo, Entry, Group, Named, Numbers, OptionSpec, Scope, ScoreSpec, Shape, Weigher, scorer,
};

pub(crate) const MULTILABEL: Entry = Entry {
    name: "multilabel",
    question: "Are the labels of each example correct, where there may be several?",
    programs: "scikit-learn",
    shapes: &[
        Shape::LabelSets.as_is(),
        Shape::ScoredLabels.with(&[("threshold", "0.5")]),
    ],
    tried: &[
        &[("average", "samples"), ("zero-division", "1")],
        &[("groups", "class"), ("average", "weighted"), ("classes", "e,d,c,b,a")],
        &[("average", "micro"), ("classes", "a,b,c,d,e")],
        &[("weight-field", "weight"), ("profile", "sklearn"), ("classes", "a,b,c,d,e")],
        &[("weight-field", "weight"), ("average", "samples")],
    ],
    help: "Several labels per example: precision, recall, F1, Jaccard, Hamming loss; ROC AUC and average precision of scores",
    values: (
        "a list of labels, each an integer or a string",
        "a list of labels, or an object with a score for each label",
    ),
    known_as: &[(
        &["multi-label", "hamming", "hamming-loss", "jaccard-score", "subset-accuracy"],
        "",
    )],
    demos: &[Demo::new(
        "tags",
        ["tags.jsonl", "predicted-tags.jsonl"],
        &["precision", "recall", "f1", "hamming_loss"],
    )],
    options: &[
        OptionSpec::choice::<MultilabelProfile>(
            "profile",
            "PROFILE",
            "With scores: undefined scores stay undefined (textbook), or are 0 as in scikit-learn (sklearn)",
        )
        .or(MultilabelProfile::Textbook.name()),
        OptionSpec::choice::<MultilabelAverage>(
            "average",
            "AVERAGE",
            "How to average over classes, or over examples (samples)",
        )
        .or(MultilabelAverage::Macro.name()),
        OptionSpec::choice::<ZeroDivision>(
            "zero-division",
            "VALUE",
            "Score to report for 0 / 0, such as the precision of a class that is never predicted. scikit-learn uses 0",
        )
        .or(ZeroDivision::Undefined.name()),
        CLASSES,
        THRESHOLD,
        WEIGHT,
        DELIMITER,
        OptionSpec::groups(|| vec!["none", "class"],
            "Tables in addition to the total",
        ),
    ],
    scores: &[
        ScoreSpec::higher("precision"),
        ScoreSpec::higher("recall"),
        ScoreSpec::higher("f1"),
        ScoreSpec::higher("jaccard"),
        ScoreSpec::higher("subset_accuracy").proportion("correct", "total"),
        ScoreSpec::lower("hamming_loss"),
        ScoreSpec::higher("roc_auc"),
        ScoreSpec::higher("average_precision"),
    ],
    groups: &["class"],
    build: &|options| {
        let metric = Multilabel::default()
            .with_profile(options.require("profile")?)
            .with_average(options.require("average")?)
            .with_zero_division(options.require("zero-division")?);
        let by_class = options.is("groups", "class");
        let has_classes = options.has(CLASSES.name);
        let sets = Sets {
            metric,
            by_class,
            has_classes,
        };
        let reading = OfLabelSets::new(sets, options)?;
        Ok(scorer("multilabel", VERSION, reading))
    },
    ..Entry::BASE
};

struct Sets {
    metric: Multilabel,
    by_class: bool,
    /// Whether the number of classes is known before all examples are.
    has_classes: bool,
}

impl LabelSetMetric for Sets {
    fn metric(&self) -> Multilabel {
        self.metric
    }

    fn definition(&self) -> Named<String> {
        named([
            ("profile", self.metric.profile.name()),
            ("average", self.metric.average.name()),
            ("zero-division", self.metric.zero_division.name()),
        ])
    }

    fn numbers(&self, state: &MultilabelState, space: &LabelSpace, asked: Asked<'_>) -> Numbers {
        let of_scores = (space.form == Form::Scores).then(|| self.metric.scores_of_classes(state));
        let classes = space.classes.len();
        let is_known =
            self.has_classes || space.form == Form::Scores || asked.scope != Scope::Example;
        let mut numbers = self.averages(state, is_known.then_some(classes), of_scores);
        let by_class = space.form == Form::Scores && (self.by_class || asked.remarks.is_some());
        let by_class = if by_class {
            self.metric.scores_by_class(state)
        } else {
            Vec::new()
        };
        if self.by_class && asked.scope == Scope::Total {
            numbers.groups = named([("class", self.groups(state, space, &by_class))]);
        }
        if asked.remarks.is_some() {
            numbers.warnings = self.warnings(space, &by_class);
        }
        numbers
    }

    fn weigher<'s>(
        &'s self,
        states: &[&'s MultilabelState],
        space: &'s LabelSpace,
    ) -> Option<Weigher<'s>> {
        if self.by_class {
            return None;
        }
        let scores = self.metric.weighted(states);
        Some(Box::new(move |weights, _| {
            let (merged, of_scores) = scores(weights);
            self.averages(&merged, Some(space.classes.len()), Some(of_scores))
        }))
    }
}

impl Sets {
    /// The scores and the counts of all classes.
    fn averages(
        &self,
        state: &MultilabelState,
        classes: Option<usize>,
        of_scores: Option<BinaryScores>,
    ) -> Numbers {
        let mut numbers = Numbers::default();
        let is_weighted = state.is_weighted();
        if of_scores.is_none() || state.has_sets() {
            let sets = self.metric.scores_of_sets(state, classes);
            numbers.scores = sets.named_scores();
            let counts = cells(state.all_classes()).into_iter();
            let counts = counts.chain([("correct", state.correct())]);
            numbers.counts = named(counts.map(|(name, count)| (name, number(count, is_weighted))));
        }
        if let Some(scores) = of_scores {
            numbers.scores.extend(scores.named_scores());
        }
        let total = number(state.total(), is_weighted);
        numbers.counts.push(("total".to_owned(), total));
        numbers
    }

    fn groups(
        &self,
        state: &MultilabelState,
        space: &LabelSpace,
        by_class: &[BinaryScores],
    ) -> Vec<Group> {
        let is_weighted = state.is_weighted();
        let group = |(index, class): (usize, &metric_core::Key)| {
            let counts = state.class(index as u32);
            let mut group = Group {
                name: class.to_string(),
                scores: Vec::new(),
                counts: Vec::new(),
            };
            if by_class.is_empty() || state.has_sets() {
                let names = ["precision", "recall", "f1", "jaccard"];
                let scores = names.into_iter().zip(self.metric.scores_of_class(counts));
                group.scores = named(scores);
                let cells = cells(counts).map(|(name, count)| (name, number(count, is_weighted)));
                group.counts = named(cells);
            }
            if let Some(scores) = by_class.get(index) {
                group.scores.extend(scores.named_scores());
            }
            let support = number(counts.actual, is_weighted);
            group.counts.push(("support".to_owned(), support));
            group
        };
        space.classes.iter().enumerate().map(group).collect()
    }

    /// The classes whose scores cannot be ranked.
    fn warnings(&self, space: &LabelSpace, by_class: &[BinaryScores]) -> Vec<Message> {
        let undefined = space.classes.iter().zip(by_class);
        let undefined = undefined.filter(|(_, scores)| scores.roc_auc.is_none());
        let names: Vec<String> = undefined.map(|(class, _)| quoted(class)).collect();
        let (count, more) = (
            names.len(),
            if names.len() > NAMED_IDS { ", ..." } else { "" },
        );
        let names = names[..count.min(NAMED_IDS)].join(", ");
        let what = match count {
            0 => return Vec::new(),
            1 => "class occurs",
            _ => "classes occur",
        };
        vec![
            Message::from(format!(
                "{count} {what} in all references or in none, and roc_auc is undefined there: "
            ))
            .data(format!("{names}{more}")),
        ]
    }
}

/// The counts of a class by name.
fn cells(counts: ClassCounts) -> [(&'static str, f64); 3] {
    let ClassCounts {
        tp,
        predicted,
        actual,
        ..
    } = counts;
    [("tp", tp), ("fp", predicted - tp), ("fn", actual - tp)]
}

/// A number of examples, or a sum of their weights.
fn number(value: f64, is_weighted: bool) -> Value {
    if is_weighted {
        value.into()
    } else {
        (value as u64).into()
    }
}
