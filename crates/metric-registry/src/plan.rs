//! The data of each record that are needed to resample and to slice a data set.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use metric_record::json::{self, Entries};
use metric_record::{FieldError, FieldPath, Kind, Message};
use metric_stats::fnv1a64;

use crate::ranking::Ranking;
use crate::score_spec::{Direction, ScoreSpec};

/// The data that are gathered from each record in addition to the counts: the cluster that it is resampled with, and
/// the slices of the data that it belongs to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// Whether examples are kept, so that they can be resampled.
    pub keeps_examples: bool,
    /// The field whose values tell clusters apart; `None` if each record is a cluster.
    pub cluster_field: Option<String>,
    /// The slices, each of which is a kind of group.
    pub slices: Vec<Slice>,
    /// Whether the examples of each slice are counted, for [`State::slice_counts`](crate::State::slice_counts).
    pub counts_slices: bool,
    /// The hashes of the ids that are scored; `None` for all. Other records are left out as if they had no
    /// prediction.
    pub only: Option<Arc<BTreeSet<u64>>>,
    /// The data to keep of the worst examples; `None` if they are not requested.
    pub ranking: Option<PlannedRanking>,
    /// The score that ranks examples, with its direction; `None` for the first score that has one.
    pub ranked_by: Option<(String, Direction)>,
    /// The places of the files that the references and the predictions name.
    pub places: [Place; 2],
}

/// The place of the files that records name, such as pictures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// None: records from standard input and from archives name no files.
    #[default]
    Nowhere,
    /// The folder of the file that the records are in. Whoever wrote the paths is not trusted.
    Below(PathBuf),
    /// Wherever a path leads: whoever has the records in memory could open the file.
    Anywhere,
}

impl From<Option<PathBuf>> for Place {
    /// Returns the folder of records that are in a file.
    fn from(folder: Option<PathBuf>) -> Self {
        folder.map_or(Self::Nowhere, Self::Below)
    }
}

/// The data that are kept of the worst examples of a data set: see [`State::ranking`](crate::State::ranking).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedRanking {
    /// The scores of the metric, the first of which with a direction ranks the examples unless
    /// [another one](Plan::ranked_by) does.
    pub scores: &'static [ScoreSpec],
    /// The number of examples that are kept.
    pub most: usize,
    /// Whether the values of their records are kept.
    pub inputs: bool,
}

/// A division of the examples into groups.
#[derive(Clone, Debug, PartialEq)]
pub struct Slice {
    /// The kind of group, as it is printed.
    pub name: String,
    /// The lower ends of bins, in rising order, for numbers.
    pub bins: Option<Vec<f64>>,
    /// The values by id; `None` for those of the field of this name.
    pub values: Option<Arc<BTreeMap<String, String>>>,
    /// The value of all ids that `values` does not have; `None` if such an id is an error.
    pub rest: Option<String>,
}

impl Slice {
    /// The option that asks for the slice.
    fn option(&self) -> &'static str {
        match self.bins {
            Some(_) => "slice-bins",
            None => "slice-field",
        }
    }

    /// Returns what states must agree on to merge: the name, and the bins.
    #[must_use]
    pub fn definition(&self) -> String {
        let Some(bins) = &self.bins else {
            return self.name.clone();
        };
        let bins: Vec<String> = bins.iter().map(f64::to_string).collect();
        format!("{}:{}", self.name, bins.join(","))
    }
}

/// The data that a plan needs from the current record.
#[derive(Clone, Debug, Default)]
pub(crate) struct Described {
    /// The hash of the id.
    pub(crate) key: u64,
    /// The hash of the cluster key.
    pub(crate) cluster: u64,
    /// The groups by kind.
    pub(crate) groups: Vec<(String, String)>,
}

impl Described {
    /// The groups that a metric gives an example, with those of the slices. A slice of a kind that the metric
    /// has is the metric's.
    pub(crate) fn groups_with<'g>(
        &'g self,
        groups: &'g [(&'g str, &'g str)],
    ) -> Cow<'g, [(&'g str, &'g str)]> {
        if self.groups.is_empty() {
            return Cow::Borrowed(groups);
        }
        let is_new = |kind: &str| groups.iter().all(|(known, _)| *known != kind);
        let slices = self.groups.iter().filter(|(kind, _)| is_new(kind));
        let slices = slices.map(|(kind, group)| (kind.as_str(), group.as_str()));
        Cow::Owned(groups.iter().copied().chain(slices).collect())
    }
}

impl Plan {
    /// Returns whether the plan wants nothing of a record. A ranking wants something of examples alone.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let Self {
            keeps_examples,
            cluster_field,
            slices,
            counts_slices: _,
            only,
            ranking: _,
            ranked_by: _,
            places: _,
        } = self;
        !keeps_examples && cluster_field.is_none() && slices.is_empty() && only.is_none()
    }

    /// Returns whether the fields of records are needed.
    #[must_use]
    pub fn needs_fields(&self) -> bool {
        self.cluster_field.is_some() || self.slices.iter().any(|slice| slice.values.is_none())
    }

    /// Returns whether the record with this id is scored.
    #[must_use]
    pub fn holds(&self, id: &str) -> bool {
        let mut only = self.only.iter();
        only.all(|only| only.contains(&fnv1a64(id.as_bytes())))
    }

    /// Returns the slices that a record is in, each by its kind and its name. `fields` is the JSON object that has the
    /// fields of the record.
    ///
    /// # Errors
    ///
    /// Returns an error if the record does not say which slice it is in.
    ///
    /// ```
    /// use metric_registry::{Plan, Slice};
    ///
    /// let slice = Slice {
    ///     name: "length".to_owned(),
    ///     bins: Some(vec![0.0, 10.0]),
    ///     values: None,
    ///     rest: None,
    /// };
    /// let plan = Plan { slices: vec![slice], ..Plan::default() };
    /// let groups = plan.groups_of("7", Some(r#"{"length": 3}"#))?;
    /// assert_eq!(groups, [("length".to_owned(), "[0, 10)".to_owned())]);
    /// # Ok::<(), metric_registry::record::Message>(())
    /// ```
    pub fn groups_of(
        &self,
        id: &str,
        fields: Option<&str>,
    ) -> Result<Vec<(String, String)>, Message> {
        let described = self.describe(id, fields);
        described
            .map(|described| described.groups)
            .map_err(|error| error.problem)
    }

    /// Returns an empty ranking of the examples, if the plan wants one.
    pub(crate) fn new_ranking<T>(&self) -> Option<Ranking<T>> {
        let planned = self.ranking?;
        let mut ranking = Ranking::of_scores(planned.most, planned.scores);
        if let Some((score, direction)) = &self.ranked_by {
            ranking.choose(score, *direction);
        }
        Some(ranking)
    }

    /// Returns what the plan wants of a record, or what is wrong with its fields.
    pub(crate) fn describe(&self, id: &str, fields: Option<&str>) -> Result<Described, FieldError> {
        let key = fnv1a64(id.as_bytes());
        let mut described = Described {
            key,
            cluster: key,
            groups: Vec::new(),
        };
        let entries = match (self.needs_fields(), fields) {
            (true, Some(fields)) => {
                json::typed::<Entries<'_>>(fields)
                    .map_err(FieldError::reference)?
                    .0
            }
            _ => Vec::new(),
        };
        let field = |option: &str, name: &str| -> Result<&str, FieldError> {
            let found = entries.iter().find(|(field, _)| field == name);
            let found = found.map(|(_, value)| *value);
            let within = || {
                let path = FieldPath::new(name);
                fields
                    .filter(|_| path.is_path())
                    .and_then(|fields| path.find(fields).ok())
            };
            found.or_else(within).ok_or_else(|| {
                let problem = Message::from(format!("no field {name:?}, which "));
                let problem = problem.option(option, "").text(" names");
                FieldError::reference(problem).of_field(name)
            })
        };
        if let Some(name) = &self.cluster_field {
            let value = text(name, field("cluster-field", name)?)?;
            described.cluster = fnv1a64(value.as_bytes());
        }
        for slice in &self.slices {
            let values: Vec<Cow<'_, str>> = match &slice.values {
                Some(values) => {
                    let value = values.get(id).or(slice.rest.as_ref());
                    let value = value.ok_or_else(|| {
                        let problem = format!("the values of {:?} have no such id", slice.name);
                        FieldError::reference(problem)
                    })?;
                    vec![Cow::Borrowed(value)]
                }
                None => texts(&slice.name, field(slice.option(), &slice.name)?)?,
            };
            for value in values {
                let group = match &slice.bins {
                    None => value.into_owned(),
                    Some(bins) => bin(bins, &slice.name, &value)?,
                };
                let group = (slice.name.clone(), group);
                if !described.groups.contains(&group) {
                    described.groups.push(group);
                }
            }
        }
        Ok(described)
    }
}

/// A value as the text of a key: a string as it is, else a number or a Boolean as it is written.
fn text<'v>(name: &str, value: &'v str) -> Result<Cow<'v, str>, FieldError> {
    match json::kind(value) {
        Kind::String => json::string(value).map_err(|problem| FieldError::field(name, problem)),
        Kind::Number | Kind::Boolean => Ok(Cow::Borrowed(value.trim_ascii())),
        other => {
            let problem = format!("found {other}: expected a string, a number or a Boolean");
            Err(FieldError::field(name, problem))
        }
    }
}

/// The same, and each string of a list.
pub(crate) fn texts<'v>(name: &str, value: &'v str) -> Result<Vec<Cow<'v, str>>, FieldError> {
    if json::kind(value) != Kind::List {
        return Ok(vec![text(name, value)?]);
    }
    let strings: Vec<String> =
        json::typed(value).map_err(|problem| FieldError::field(name, problem))?;
    Ok(strings.into_iter().map(Cow::Owned).collect())
}

/// The bin of a number, such as `[10, 20)`.
fn bin(bins: &[f64], name: &str, value: &str) -> Result<String, FieldError> {
    let number = value.parse::<f64>().ok().filter(|number| !number.is_nan());
    let number = number.ok_or_else(|| {
        let problem = format!("found {value:?}: expected a number, for its bin");
        FieldError::field(name, problem)
    })?;
    let after = bins.partition_point(|&start| start <= number);
    let start = after.checked_sub(1).and_then(|before| bins.get(before));
    Ok(match (start, bins.get(after)) {
        (Some(start), Some(end)) => format!("[{start}, {end})"),
        (Some(start), None) => format!("[{start}, inf)"),
        (None, Some(end)) => format!("(-inf, {end})"),
        (None, None) => "(-inf, inf)".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slice(name: &str) -> Slice {
        Slice {
            name: name.to_owned(),
            bins: None,
            values: None,
            rest: None,
        }
    }

    fn described(plan: &Plan, fields: &str) -> Result<Described, String> {
        plan.describe("7", Some(fields))
            .map_err(|problem| problem.to_string())
    }

    #[test]
    fn keys_are_texts() {
        let plan = Plan {
            cluster_field: Some("speaker".to_owned()),
            ..Plan::default()
        };
        for (value, key) in [
            (r#""a\u0062""#, "ab"),
            ("3", "3"),
            ("true", "true"),
            ("1.50", "1.50"),
        ] {
            let found = described(&plan, &format!("{{\"speaker\": {value} }}"));
            let found = found.expect("a key");
            assert_eq!(
                (found.key, found.cluster),
                (fnv1a64(b"7"), fnv1a64(key.as_bytes()))
            );
        }
        for fields in [
            r#"{"speaker": null}"#,
            r#"{"speaker": [1]}"#,
            r#"{"speaker": {}}"#,
            "{}",
        ] {
            let error = described(&plan, fields).expect_err("no key");
            assert!(error.contains("field \"speaker\""), "{error}");
        }
    }

    #[test]
    fn a_field_may_be_a_path() {
        let plan = Plan {
            cluster_field: Some("doc.page".to_owned()),
            slices: vec![slice("doc.tags.0")],
            ..Plan::default()
        };
        let found = described(&plan, r#"{"doc": {"page": 3, "tags": ["law", "art"]}}"#);
        let found = found.expect("a key and a slice");
        assert_eq!(found.cluster, fnv1a64(b"3"));
        assert_eq!(found.groups, [("doc.tags.0".to_owned(), "law".to_owned())]);
        // A field of that name comes first.
        let found = described(
            &plan,
            r#"{"doc.page": 4, "doc": {"page": 3, "tags": ["law"]}}"#,
        );
        assert_eq!(found.expect("a key").cluster, fnv1a64(b"4"));
        let error = described(&plan, r#"{"doc": {"tags": ["law"]}}"#).expect_err("no page");
        assert!(error.contains("no field \"doc.page\""), "{error}");
    }

    #[test]
    fn a_record_is_in_each_slice_of_a_list_and_in_one_bin() {
        let plan = Plan {
            slices: vec![
                slice("tags"),
                Slice {
                    bins: Some(vec![0.0, 10.0, 20.0]),
                    ..slice("length")
                },
            ],
            ..Plan::default()
        };
        for (length, bin) in [
            ("-1", "(-inf, 0)"),
            ("0", "[0, 10)"),
            ("9.5", "[0, 10)"),
            ("20", "[20, inf)"),
        ] {
            let fields = format!(r#"{{"tags": ["a", "b", "a"], "length": {length}}}"#);
            let groups = described(&plan, &fields).expect("groups").groups;
            let expected = [("tags", "a"), ("tags", "b"), ("length", bin)];
            assert!(
                groups
                    .iter()
                    .map(|(kind, group)| (&**kind, &**group))
                    .eq(expected)
            );
        }
        let error = described(&plan, r#"{"tags": "a", "length": "long"}"#).expect_err("no bin");
        assert!(error.contains("expected a number"), "{error}");
    }
}
