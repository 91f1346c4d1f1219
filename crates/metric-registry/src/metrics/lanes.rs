//! Lane graphs.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use metric_core::{Metric, NamedScores};
use metric_graph::read::{
    Clips, DanglingLanes, ReadLanes, ReadLanesState, Unparsable, is_rule, read_clips,
};
use metric_graph::{
    Alignment, ClassCounts, Duplicates, Equality, LaneCorrespondence, LaneIds, LaneProfile,
    Overall, Parts, VERSION,
};
use metric_record::{FieldError, Message, Record};
use serde_json::json;

use crate::metrics::openlane::totals;
use crate::numbers::named;
use crate::options::comma_separated;
use crate::{
    Asked, Chart, Counted, Demo, Drawing, Entry, Facts, Group, Named, Numbers, OptionError,
    OptionKind, OptionSpec, Reading, Scope, ScoreSpec, Shape, Show, Sink, scorer,
};

pub(crate) const LANES: Entry = Entry {
    name: "lanes",
    question: "Are traffic rules read, and assigned to the correct lanes?",
    programs: "MapDR",
    shapes: &[Shape::Rules.as_is(), Shape::MappedRules.with(&[("dangling-lanes", "drop")])],
    tried: &[
        &[("alignment", "key"), ("lane-ids", "text")],
        &[("alignment", "properties"), ("equality", "case,space"), ("ignore", "LaneType")],
        &[("alignment", "key"), ("ignore", "RuleIndex"), ("duplicates", "merge"), ("overall", "key")],
    ],
    help: "Precision and recall of traffic rules and the lanes they apply to (MapDR)",
    values: (
        "the rules of a clip, {rule: {\"attr_info\": {...}, \"centerline\": [lane]}}, as in MapDR's label files; with MapDR's `data` next to them, lane ids are checked",
        "the same; null and unreadable predictions count as no rules",
    ),
    known_as: &[(&["mapdr"], "")],
    demos: &[
        Demo::new("lane graphs", ["lanes.jsonl", "predicted-lanes.jsonl"], &["rule_f1", "correspondence_f1", "overall_f1"]),
    ],
    options: &[
        OptionSpec::choice::<LaneProfile>("profile", "PROFILE",
            "Convention to follow").or(LaneProfile::MapdrReference.name()),
        OptionSpec::choice::<Alignment>("alignment", "ALIGNMENT",
            "Alignment of predicted rules with reference rules in correspondence_*").or(Alignment::Optimal.name()),
        OptionSpec::choice::<LaneIds>("lane-ids", "WHEN",
            "Comparison of lane ids: strict tells 7 from \"7\", text does not").or(LaneIds::Strict.name()),
        OptionSpec::list("ignore", "NAME,...", &OptionKind::Text,
            "Properties to leave out, such as RuleIndex"),
        OptionSpec::choice::<Duplicates>("duplicates", "HOW",
            "Treatment of repeated rules and pairs: each counts, or they are merged into one").or(Duplicates::Count.name()),
        OptionSpec::choice::<Overall>("overall", "HOW",
            "Condition for a correct pair of rule and lane: equal properties and lane (pairs), or an equal rule id as well (key)").or(Overall::Pairs.name()),
        OptionSpec::list("equality", "LENIENCE,...", &OptionKind::Text,
            "Differences between property values to ignore: strict for none, or a list of none-is-absent, nfc, case, space, text-numbers, list-sets, times (EffectiveTime as intervals)").or("strict"),
        OptionSpec::choice::<DanglingLanes>("dangling-lanes", "HOW",
            "Treatment of lanes that are not centerlines of the map (MapDR's `data`): they count like any other, are left out, or are refused").or(DanglingLanes::Count.name()),
    ],
    scores: &[
        ScoreSpec::higher("rule_precision"),
        ScoreSpec::higher("rule_recall"),
        ScoreSpec::higher("rule_f1"),
        ScoreSpec::higher("correspondence_precision"),
        ScoreSpec::higher("correspondence_recall"),
        ScoreSpec::higher("correspondence_f1"),
        ScoreSpec::higher("overall_precision"),
        ScoreSpec::higher("overall_recall"),
        ScoreSpec::higher("overall_f1"),
        ScoreSpec::higher("rule_precision_by_clip"),
        ScoreSpec::higher("rule_recall_by_clip"),
        ScoreSpec::higher("rule_f1_by_clip"),
        ScoreSpec::higher("correspondence_precision_by_clip"),
        ScoreSpec::higher("correspondence_recall_by_clip"),
        ScoreSpec::higher("correspondence_f1_by_clip"),
        ScoreSpec::higher("overall_precision_by_clip"),
        ScoreSpec::higher("overall_recall_by_clip"),
        ScoreSpec::higher("overall_f1_by_clip"),
        ScoreSpec::higher("rules_exact"),
        ScoreSpec::higher("lanes_exact"),
        ScoreSpec::higher("both_exact"),
        ScoreSpec::higher("accuracy").proportion("correct", "total"),
    ],
    groups: &["LaneType", "property"],
    details: true,
    drawings: &[Drawing::Svg],
    charts: &[Chart::Lanes],
    main: Some("overall_f1"),
    whole_file: is_rule,
    build: &|options| {
        let ignore: BTreeSet<String> = options
            .parts("ignore")?
            .into_iter()
            .filter(|name| !name.is_empty())
            .map(Cow::into_owned)
            .collect();
        let given = options.given("equality");
        let equality: Equality = given
            .parse()
            .map_err(|error| OptionError::new("equality", &given, format!("{error}")))?;
        let metric = LaneCorrespondence::default()
            .with_profile(options.require("profile")?)
            .with_alignment(options.require("alignment")?)
            .with_lane_ids(options.require("lane-ids")?)
            .with_duplicates(options.require("duplicates")?)
            .with_overall(options.require("overall")?)
            .with_ignore(ignore)
            .with_equality(equality);
        let dangling = options.require("dangling-lanes")?;
        let metric = ReadLanes(metric);
        Ok(scorer("lanes", VERSION, Lanes { metric, dangling }))
    },
    ..Entry::BASE
};

struct Lanes {
    metric: ReadLanes,
    dangling: DanglingLanes,
}

impl Reading for Lanes {
    type Metric = ReadLanes;
    type Header = ();

    fn metric(&self) -> &ReadLanes {
        &self.metric
    }

    fn facts(&self) -> Facts {
        let LaneCorrespondence {
            profile,
            alignment,
            lane_ids,
            duplicates,
            overall,
            ignore,
            equality,
            ..
        } = &self.metric.0;
        let ignored: Vec<_> = ignore.iter().map(String::as_str).collect();
        let ignored = if ignored.is_empty() {
            "none".to_owned()
        } else {
            comma_separated(&ignored)
        };
        let signature: [(&str, &dyn fmt::Display); 8] = [
            ("profile", profile),
            ("alignment", alignment),
            ("lane-ids", lane_ids),
            ("duplicates", duplicates),
            ("overall", overall),
            ("ignore", &ignored),
            ("equality", equality),
            ("dangling-lanes", &self.dangling),
        ];
        Facts {
            further_fields: vec!["data".to_owned()],
            ..Facts::signed(signature)
        }
    }

    fn read(&self, record: &mut Record<'_>, sink: &mut Sink<'_, Self>) -> Result<(), FieldError> {
        let Clips {
            prediction,
            reference,
        } = read_clips(record, &self.metric.0, self.dangling)?;
        if let Ok(prediction) = &prediction {
            let checked = self.metric.0.check_size(prediction, &reference);
            checked.map_err(|error| FieldError::prediction(error.to_string()).limit())?;
        }
        sink.example(&prediction, &reference);
        Ok(())
    }

    fn numbers(&self, state: &ReadLanesState, (): &(), asked: Asked<'_>) -> Numbers {
        let mut numbers = Numbers {
            scores: self.metric.compute(state).named_scores(),
            counts: self.counts(state),
            details: asked.details.then(|| details(state)),
            ..Numbers::default()
        };
        if asked.scope == Scope::Total {
            numbers.groups = groups(state);
        }
        if asked.remarks.is_some() {
            numbers.warnings = warnings(state);
        }
        numbers
    }

    fn show(&self) -> &dyn Show {
        self
    }
}

/// The values of each property that were confused.
fn details(state: &ReadLanesState) -> serde_json::Value {
    let properties = state.correspondence.properties.iter();
    let confused: serde_json::Map<_, _> = properties
        .map(|(name, property)| (name.clone(), json!(property.confused)))
        .collect();
    json!({"rows": "truth", "columns": "prediction", "confused": confused})
}

impl Show for Lanes {
    fn picture(&self, record: &mut Record<'_>, _drawing: Drawing) -> Result<String, FieldError> {
        let Clips {
            prediction,
            reference,
        } = read_clips(record, &self.metric.0, self.dangling)?;
        let title = match &prediction {
            Ok(_) => record.id.to_string(),
            Err(_) => format!("{} (prediction not readable)", record.id),
        };
        let prediction = prediction.unwrap_or_default();
        let picture = self.metric.0.picture(&title, &prediction, &reference);
        Ok(picture.svg())
    }
}

impl Lanes {
    fn counts(&self, state: &ReadLanesState) -> Named<serde_json::Value> {
        let (found, checked) = (&state.correspondence, state.with_centerlines > 0);
        let by_side = |[reference, prediction]: [u64; 2]| json!({"reference": reference, "prediction": prediction});
        let given = self.metric.0.alignment == Alignment::Given;
        let unless_given = |counts| if given { json!(null) } else { totals(counts) };
        let sides = [&found.reference_findings, &found.prediction_findings];
        let dangling = sides.map(|side| side.dangling);
        named([
            ("rule", unless_given(&found.counts.rule)),
            ("correspondence", totals(&found.counts.correspondence)),
            ("overall", unless_given(&found.counts.overall)),
            ("clips", json!(found.clips)),
            ("unparsable", json!(state.unparsable)),
            (
                "dangling_lanes",
                if checked {
                    by_side(dangling)
                } else {
                    json!(null)
                },
            ),
            ("duplicate_lanes", by_side(sides.map(|side| side.duplicate))),
        ])
    }
}

fn groups(state: &ReadLanesState) -> Named<Vec<Group>> {
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
        scores: named([("accuracy", property.accuracy.value())]),
        counts: named([
            ("correct", property.accuracy.correct),
            ("total", property.accuracy.total),
        ]),
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

fn warnings(state: &ReadLanesState) -> Vec<Message> {
    let found = &state.correspondence;
    let unreadable = Counted::new(
        "prediction is null or could not be read as rules, and counts as empty",
        "predictions are null or could not be read as rules, and count as empty",
    );
    let unparsable = state.example.iter().map(|Unparsable { id, reason }| {
        let warning = unreadable.warning(state.unparsable);
        warning
            .text(format_args!("; that of {id:?}: "))
            .message(reason)
    });
    let sides = [
        ("reference", &found.reference_findings),
        ("prediction", &found.prediction_findings),
    ];
    let findings = sides.into_iter().flat_map(|(side, found)| {
        let dangling = Counted::new(
            format!("lane id of a {side} is not a centerline of its clip"),
            format!("lane ids of {side}s are not centerlines of their clips"),
        );
        let duplicate = Counted::new(
            format!("lane is more than once in a rule of a {side}"),
            format!("lanes are more than once in a rule of a {side}"),
        );
        Counted::warnings([(found.dangling, dangling), (found.duplicate, duplicate)])
    });
    unparsable.chain(findings).collect()
}

fn parts<T>(parts: &Parts<T>) -> [(&'static str, &T); 3] {
    [
        ("rule", &parts.rule),
        ("correspondence", &parts.correspondence),
        ("overall", &parts.overall),
    ]
}
