//! Lane graphs.

use std::collections::BTreeSet;

use metric_core::{Counts, Merge, Metric};
use metric_graph::{
    Alignment, Centerlines, ClassCounts, Clip, CorrespondenceScore, CorrespondenceState,
    Duplicates, Equality, Finding, FindingKind, Form, LaneCorrespondence, LaneIds, Overall, Parts,
    Profile, Ratios, Side, VERSION,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use metric_record::json::{json, kind, string, typed};
use crate::scorer::Adapter;
use crate::{
    Drawing, Entry, FieldError, Group, Input, Named, Notes, OptionError, OptionSpec, Options,
    Reading, Record, Sink, Value,
};

pub(crate) const LANES: Entry = Entry {
    name: "lanes",
    help: "Precision and recall of traffic rules and the lanes they hold for (MapDR)",
    values: (
        "the rules of a clip, {rule: {\"attr_info\": {...}, \"centerline\": [lane]}}, as in MapDR's label files; MapDR's `data` may stand beside it, for a check of the lane ids",
        "the same; null or what cannot be read counts as no rules",
    ),
    options: &[
        OptionSpec {
            name: "profile",
            kind: OptionKind::Choice(|| Profile::ALL.iter().map(|choice| choice.name()).collect()),
    value: "PROFILE",
            default: Profile::MapdrReference.name(),
            help: "Whose conventions",
        },
        OptionSpec {
            name: "alignment",
            kind: OptionKind::Choice(|| Alignment::ALL.iter().map(|choice| choice.name()).collect()),
    value: "ALIGNMENT",
            default: Alignment::Optimal.name(),
            help: "How predicted rules stand for true ones in correspondence_*",
        },
        OptionSpec {
            name: "lane-ids",
            kind: OptionKind::Choice(|| LaneIds::ALL.iter().map(|choice| choice.name()).collect()),
    value: "WHEN",
            default: LaneIds::Strict.name(),
            help: "When two lane ids are the same: strict tells 7 from \"7\", text does not",
        },
        OptionSpec {
            name: "ignore",
            kind: OptionKind::List(&OptionKind::Text),
            value: "NAME,...",
            default: "",
            help: "Properties that are left out, for example RuleIndex",
        },
        OptionSpec {
            name: "duplicates",
            kind: OptionKind::Choice(|| Duplicates::ALL.iter().map(|choice| choice.name()).collect()),
    value: "HOW",
            default: Duplicates::Count.name(),
            help: "Whether repeated rules and pairs count or are merged into one",
        },
        OptionSpec {
            name: "overall",
            kind: OptionKind::Choice(|| Overall::ALL.iter().map(|choice| choice.name()).collect()),
    value: "HOW",
            default: Overall::Pairs.name(),
            help: "When a pair of rule and lane is right as a whole: if properties and lane are equal (pairs), or the id of the rule is too (key)",
        },
        OptionSpec {
            name: "equality",
            kind: OptionKind::List(&OptionKind::Text),
            value: "LENIENCE,...",
            default: "strict",
            help: "What property values are equal in spite of: strict, or some of none-is-absent, nfc, case, space, text-numbers, list-sets, times (EffectiveTime as intervals)",
        },
        OptionSpec {
            name: "dangling-lanes",
            kind: OptionKind::Choice(|| vec!["count", "drop", "error"]),
    value: "HOW",
            default: "count",
            help: "What becomes of lanes that are no centerlines of the map, MapDR's `data`: they count like any other, are left out, or are refused",
        },
    ],
    input: Input::Records,
    whole_file: |value| {
        // A map of clips has rules one level further down.
        #[derive(Deserialize)]
        struct RuleKeys {
            #[serde(default)]
            attr_info: Option<serde::de::IgnoredAny>,
            #[serde(default)]
            centerline: Option<Vec<serde::de::IgnoredAny>>,
        }
        typed::<RuleKeys>(value)
            .is_ok_and(|rule| rule.attr_info.is_some() || rule.centerline.is_some())
    },
    build: |options| {
        let ignore: BTreeSet<String> = options
            .get("ignore")
            .into_iter()
            .flat_map(|names| names.split(','))
            .map(|name| name.trim().to_owned())
            .filter(|name| !name.is_empty())
            .collect();
        let metric = LaneCorrespondence {
            profile: options.require("profile")?,
            alignment: options.require("alignment")?,
            lane_ids: options.require("lane-ids")?,
            duplicates: options.require("duplicates")?,
            overall: options.require("overall")?,
            ignore,
            equality: equality(options)?,
        };
        let dangling = match options.get("dangling-lanes") {
            Some("drop") => Dangling::Drop,
            Some("error") => Dangling::Error,
            _ => Dangling::Count,
        };
        let metric = ReadLanes(metric);
        Ok(Adapter::boxed("lanes", VERSION, Lanes { metric, dangling }))
    },
};

/// A lenience of the equality of values, with its name.
type Lenience = (&'static str, fn(&mut Equality));

const LENIENCES: &[Lenience] = &[
    ("none-is-absent", |equality| equality.none_is_absent = true),
    ("nfc", |equality| equality.nfc = true),
    ("case", |equality| equality.fold_case = true),
    ("space", |equality| equality.collapse_space = true),
    ("text-numbers", |equality| equality.text_numbers = true),
    ("list-sets", |equality| equality.list_sets = true),
    ("times", |equality| {
        equality
            .forms
            .insert("EffectiveTime".to_owned(), Form::Times);
    }),
];

fn equality(options: &Options) -> Result<Equality, OptionError> {
    let given = options.get("equality").unwrap_or_default();
    let mut equality = Equality::default();
    if given == "strict" {
        return Ok(equality);
    }
    for name in given.split(',').map(str::trim) {
        let Some((_, set)) = LENIENCES.iter().find(|(known, _)| *known == name) else {
            let names: Vec<_> = LENIENCES.iter().map(|(name, _)| *name).collect();
            let reason = format!("expected strict, or some of {}", names.join(", "));
            return Err(OptionError::new("equality", given, reason));
        };
        set(&mut equality);
    }
    Ok(equality)
}

/// The names that make this equality of the strict one.
fn leniences(equality: &Equality) -> String {
    let has = |set: fn(&mut Equality)| {
        let mut with = equality.clone();
        set(&mut with);
        with == *equality
    };
    let names: Vec<_> = LENIENCES
        .iter()
        .filter(|(_, set)| has(*set))
        .map(|(name, _)| *name)
        .collect();
    if names.is_empty() {
        "strict".to_owned()
    } else {
        names.join(",")
    }
}

struct Lanes {
    metric: ReadLanes,
    dangling: Dangling,
}

/// What becomes of lanes that are no centerlines.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Dangling {
    Count,
    Drop,
    Error,
}

/// [`LaneCorrespondence`] with the count of predictions that could not be read.
struct ReadLanes(LaneCorrespondence);

/// A prediction that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Unparsable {
    id: String,
    reason: String,
}

#[derive(Clone, Default, Serialize, Deserialize)]
struct ReadLanesState {
    correspondence: CorrespondenceState,
    unparsable: u64,
    /// Of the unparsable predictions the one with the least id.
    example: Option<Unparsable>,
    /// Clips whose lane ids could be checked.
    with_centerlines: u64,
}

impl Merge for ReadLanesState {
    fn merge(&mut self, other: Self) {
        self.correspondence.merge(other.correspondence);
        self.unparsable += other.unparsable;
        self.example = self.example.take().into_iter().chain(other.example).min();
        self.with_centerlines += other.with_centerlines;
    }
}

impl Metric for ReadLanes {
    /// What could not be read counts as an empty clip.
    type Prediction = Result<Clip, Unparsable>;
    type Reference = Clip;
    type State = ReadLanesState;
    type Score = CorrespondenceScore;

    fn update(
        &self,
        state: &mut ReadLanesState,
        prediction: &Result<Clip, Unparsable>,
        reference: &Clip,
    ) {
        let empty = Clip::default();
        let clip = prediction.as_ref().unwrap_or(&empty);
        self.0.update(&mut state.correspondence, clip, reference);
        if let Err(unparsable) = prediction {
            state.unparsable += 1;
            let examples = state.example.take().into_iter();
            state.example = examples.chain([unparsable.clone()]).min();
        }
        state.with_centerlines += u64::from(reference.centerlines().is_some());
    }

    fn compute(&self, state: &ReadLanesState) -> CorrespondenceScore {
        self.0.compute(&state.correspondence)
    }
}

/// The prediction, if it can be read, and the reference.
type Clips = (Result<Clip, Unparsable>, Clip);

impl Lanes {
    fn clips(&self, record: &Record<'_>) -> Result<Clips, FieldError> {
        let reference_json = json(record.reference, "{}");
        let mut reference: Clip = typed(reference_json).map_err(FieldError::reference)?;
        if let Some(Centerlines(centerlines)) = centerlines(record, reference_json)? {
            reference = reference.with_centerlines(centerlines);
        }
        let needs_properties = self.metric.0.alignment != Alignment::Given;
        if needs_properties && let Some(rule) = without_properties(&reference) {
            return Err(FieldError::reference(format!(
                "rule {rule:?} has no \"attr_info\": expected one in each rule, except under --alignment given"
            )));
        }
        let prediction = match record.prediction {
            Value::Missing => Ok(Clip::default()),
            value => prediction(value).and_then(|clip| match without_properties(&clip) {
                Some(rule) if needs_properties => Err(format!(
                    "rule {rule:?} has no \"attr_info\", which only --alignment given goes without"
                )),
                _ => Ok(clip),
            }),
        };
        let prediction = prediction.map_err(|reason| Unparsable {
            id: record.id.to_string(),
            reason,
        });
        self.with_lanes_of_the_map(prediction, reference)
    }

    /// The clips as lanes that are no centerlines leave them.
    fn with_lanes_of_the_map(
        &self,
        prediction: Result<Clip, Unparsable>,
        reference: Clip,
    ) -> Result<Clips, FieldError> {
        if self.dangling == Dangling::Count {
            return Ok((prediction, reference));
        }
        if reference.centerlines().is_none() {
            return Err(FieldError::reference(
                "no centerlines to check lanes against: expected MapDR's `data` beside the rules, except under --dangling-lanes count",
            ));
        }
        let metric = &self.metric.0;
        if self.dangling == Dangling::Error {
            let empty = Clip::default();
            let findings = metric.findings(prediction.as_ref().unwrap_or(&empty), &reference);
            let dangling = |finding: &Finding| finding.kind == FindingKind::Dangling;
            if let Some(Finding {
                side, rule, lane, ..
            }) = findings.into_iter().find(dangling)
            {
                let problem =
                    format!("rule {rule:?}: lane {lane} is no centerline of the map: expected one");
                return Err(match side {
                    Side::Prediction => FieldError::prediction(problem),
                    Side::Reference => FieldError::reference(problem),
                });
            }
            return Ok((prediction, reference));
        }
        let prediction = prediction.map(|clip| metric.without_dangling(&clip, &reference));
        let reference = metric.without_dangling(&reference, &reference);
        Ok((prediction, reference))
    }
}

impl Reading for Lanes {
    type Metric = ReadLanes;

    fn metric(&self) -> &ReadLanes {
        &self.metric
    }

    fn signature(&self) -> Named<String> {
        let LaneCorrespondence {
            profile,
            alignment,
            lane_ids,
            duplicates,
            overall,
            ignore,
            equality,
        } = &self.metric.0;
        let ignored: Vec<_> = ignore.iter().map(String::as_str).collect();
        let ignored = if ignored.is_empty() {
            "none".to_owned()
        } else {
            ignored.join(",")
        };
        let dangling = match self.dangling {
            Dangling::Count => "count",
            Dangling::Drop => "drop",
            Dangling::Error => "error",
        };
        [
            ("profile", profile.to_string()),
            ("alignment", alignment.to_string()),
            ("lane-ids", lane_ids.to_string()),
            ("duplicates", duplicates.to_string()),
            ("overall", overall.to_string()),
            ("ignore", ignored),
            ("equality", leniences(equality)),
            ("dangling-lanes", dangling.to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
    }

    fn read(&self, record: &Record<'_>, sink: &mut Sink<'_, ReadLanes>) -> Result<(), FieldError> {
        let (prediction, reference) = self.clips(record)?;
        sink.example(&prediction, &reference);
        Ok(())
    }

    fn draws(&self, drawing: Drawing) -> bool {
        drawing == Drawing::Svg
    }

    fn picture(&self, record: &Record<'_>, _drawing: Drawing) -> Result<String, FieldError> {
        let (prediction, reference) = self.clips(record)?;
        let title = match &prediction {
            Ok(_) => record.id.to_string(),
            Err(_) => format!("{} (prediction not readable)", record.id),
        };
        let prediction = prediction.unwrap_or_default();
        let picture = self.metric.0.picture(&title, &prediction, &reference);
        Ok(picture.svg())
    }

    fn groups(&self, state: &ReadLanesState) -> Named<Vec<Group>> {
        let state = &state.correspondence;
        let of_class = |(name, counts): (&String, &Parts<ClassCounts>)| Group {
            name: name.clone(),
            scores: parts(counts)
                .into_iter()
                .flat_map(|(part, counts)| {
                    [
                        (format!("{part}_precision"), counts.precision()),
                        (format!("{part}_recall"), counts.recall()),
                        (format!("{part}_f1"), counts.f1()),
                    ]
                })
                .collect(),
            counts: parts(counts)
                .into_iter()
                .map(|(part, counts)| {
                    let counts = json!({
                        "tp_predicted": counts.predicted.correct,
                        "predicted": counts.predicted.total,
                        "tp_true": counts.actual.correct,
                        "true": counts.actual.total,
                    });
                    (part.to_owned(), counts)
                })
                .collect(),
        };
        let properties = state.properties.iter().map(|(name, property)| Group {
            name: name.clone(),
            scores: vec![("accuracy".to_owned(), property.accuracy.value())],
            counts: vec![
                ("correct".to_owned(), json!(property.accuracy.correct)),
                ("total".to_owned(), json!(property.accuracy.total)),
            ],
        });
        let groups = [
            ("LaneType", state.classes.iter().map(of_class).collect()),
            ("property", properties.collect::<Vec<_>>()),
        ];
        groups
            .into_iter()
            .filter(|(_, groups)| !groups.is_empty())
            .map(|(kind, groups)| (kind.to_owned(), groups))
            .collect()
    }

    fn details(&self, state: &ReadLanesState) -> Option<serde_json::Value> {
        let properties = state.correspondence.properties.iter();
        let confused: serde_json::Map<_, _> = properties
            .map(|(name, property)| (name.clone(), json!(property.confused)))
            .collect();
        Some(json!({
            "rows": "truth",
            "columns": "prediction",
            "confused": confused,
        }))
    }

    fn scores(&self, state: &ReadLanesState) -> Named<Option<f64>> {
        let score = self.metric.compute(state);
        let mut scores = Vec::new();
        add_ratios(&mut scores, "", &score.micro, |ratio| *ratio);
        add_ratios(&mut scores, "_by_clip", &score.by_clip, |mean| mean.value);
        scores.extend([
            ("rules_exact".to_owned(), score.rules_exact),
            ("lanes_exact".to_owned(), score.lanes_exact),
            ("both_exact".to_owned(), score.both_exact),
        ]);
        scores
    }

    fn counts(&self, state: &ReadLanesState) -> Named<serde_json::Value> {
        let (found, checked) = (&state.correspondence, state.with_centerlines > 0);
        let totals = |counts: &Counts| {
            json!({
                "tp": counts.true_positives,
                "predicted": counts.predicted(),
                "true": counts.actual(),
            })
        };
        let by_side = |reference: u64, prediction: u64| json!({ "reference": reference, "prediction": prediction });
        let given = self.metric.0.alignment == Alignment::Given;
        let unless_given = |counts| if given { json!(null) } else { totals(counts) };
        vec![
            ("rule".to_owned(), unless_given(&found.counts.rule)),
            (
                "correspondence".to_owned(),
                totals(&found.counts.correspondence),
            ),
            ("overall".to_owned(), unless_given(&found.counts.overall)),
            ("clips".to_owned(), json!(found.clips)),
            ("unparsable".to_owned(), json!(state.unparsable)),
            (
                "dangling_lanes".to_owned(),
                if checked {
                    by_side(
                        found.reference_findings.dangling,
                        found.prediction_findings.dangling,
                    )
                } else {
                    json!(null)
                },
            ),
            (
                "duplicate_lanes".to_owned(),
                by_side(
                    found.reference_findings.duplicate,
                    found.prediction_findings.duplicate,
                ),
            ),
        ]
    }

    fn warnings(&self, state: &ReadLanesState, _notes: &Notes) -> Vec<String> {
        let found = &state.correspondence;
        let unparsable = state.example.iter().map(|Unparsable { id, reason }| {
            let times = state.unparsable;
            format!("{times} × a prediction is null or could not be read as rules, and counts as empty; that of {id:?}: {reason}")
        });
        let findings = [
            (
                found.reference_findings.dangling,
                "a lane id of a reference is no centerline of its clip",
            ),
            (
                found.prediction_findings.dangling,
                "a lane id of a prediction is no centerline of its clip",
            ),
            (
                found.reference_findings.duplicate,
                "a lane stands more than once in a rule of a reference",
            ),
            (
                found.prediction_findings.duplicate,
                "a lane stands more than once in a rule of a prediction",
            ),
        ]
        .into_iter()
        .filter(|(times, _)| *times > 0)
        .map(|(times, what)| format!("{times} × {what}"));
        unparsable.chain(findings).collect()
    }
}

fn add_ratios<T>(
    scores: &mut Named<Option<f64>>,
    suffix: &str,
    of_parts: &Parts<Ratios<T>>,
    value: impl Fn(&T) -> Option<f64>,
) {
    for (part, ratios) in parts(of_parts) {
        for (name, ratio) in [
            ("precision", &ratios.precision),
            ("recall", &ratios.recall),
            ("f1", &ratios.f1),
        ] {
            scores.push((format!("{part}_{name}{suffix}"), value(ratio)));
        }
    }
}

fn parts<T>(parts: &Parts<T>) -> [(&'static str, &T); 3] {
    [
        ("rule", &parts.rule),
        ("correspondence", &parts.correspondence),
        ("overall", &parts.overall),
    ]
}

/// The predicted rules: as an object, or as the text of one, which is what language models give.
fn prediction(value: Value<'_>) -> Result<Clip, String> {
    let json = json(value, "null");
    match kind(json) {
        "null" => Err("null".to_owned()),
        "a string" => typed(&string(json)?),
        _ => typed(json),
    }
}

fn without_properties(clip: &Clip) -> Option<&str> {
    clip.rules()
        .find(|(_, rule)| rule.properties.is_none())
        .map(|(id, _)| id)
}

/// The centerlines of the clip's map, where MapDR's `data` stands beside the label.
fn centerlines(record: &Record<'_>, reference: &str) -> Result<Option<Centerlines>, FieldError> {
    #[derive(Deserialize)]
    struct Beside {
        data: Option<Centerlines>,
    }
    // Most records have nothing beside the id and the label, and are not read twice.
    match record.fields {
        Some(fields) if outside(fields, reference).any(|part| part.contains("\"data\"")) => {
            let beside = typed::<Beside>(fields)
                .map_err(|problem| FieldError::reference(format!("\"data\": {problem}")))?;
            Ok(beside.data)
        }
        _ => Ok(None),
    }
}

/// The parts of `text` before and after `part`, which stands in it; all of it if `part` is a copy.
fn outside<'a>(text: &'a str, part: &str) -> impl Iterator<Item = &'a str> {
    let start = part.as_ptr().addr().wrapping_sub(text.as_ptr().addr());
    let before = text.get(..start);
    let after = text.get(start.saturating_add(part.len())..);
    match (before, after) {
        (Some(before), Some(after)) => [before, after],
        _ => [text, ""],
    }
    .into_iter()
}
