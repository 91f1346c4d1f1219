use std::collections::{BTreeMap, BTreeSet};
use std::iter;
use std::num::NonZeroUsize;
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use metric_record::{
    Content, DEFAULT_MAX_BYTES, Document, JoinError, JoinPolicy, Message, Missing, ReadError,
    Record, RecordError, Shard, Unmatched, Value,
};
use metric_registry::{
    AddError, Counted, DataSet, Entry, Input as EntryInput, Inputs, OptionValue, Options, Part,
    Place, Plan, PlannedRanking, Sample, Scorer, Selection, Shape, Show, Slice, State,
};
use rayon::prelude::*;

use crate::fields::{FieldNames, ROW_NUMBER, Role};
use crate::formats::Format;
use crate::formats::segments::{self, Reads};
use crate::formats::topics;
use crate::formats::transcript::{self, Prepared};
use crate::grouped;
use crate::interrupt::refuse_interrupted;
use crate::join::{Input, Join, JoinOptions, Pair, Pairs, PairsUnit, Step};
use crate::more_references::MoreReferences;
use crate::observer::{Nobody, Observer};
use crate::scan::is_one_example;
use crate::selecting::{Selected, refuse_without_fields};
use crate::source::{Source, pages, too_long};
use crate::statistics::{Statistics, refuse_kept};
use crate::text_columns::TextColumns;
use crate::threads::{mapped, on_threads, or_cores};
use crate::waiting::WINDOW;
use crate::{Outcome, RunError, ShownScores};

/// A run: one metric or several, and how the data are read and joined.
///
/// A run holds no data. It can score any number of data sets.
pub struct Run {
    pub(crate) metrics: Vec<Chosen>,
    /// The strictness of joining references and predictions.
    pub join: JoinPolicy,
    /// Whether the policy for missing predictions was given, even if it is the default. Dataset files refuse it then: it
    /// has no effect on them.
    pub is_missing_given: bool,
    /// The part of the data that is scored; `None` for all of it.
    pub shard: Option<Shard>,
    /// The number of threads; `None` for one per core. The result does not depend on it.
    pub threads: Option<NonZeroUsize>,
    /// Further files of references, each with a reference or several for every record of the first. They are held in
    /// memory.
    pub more_references: Vec<Source>,
    /// The names of the fields of a record.
    pub fields: Fields,
    /// The conditions that select the records of both sides before they are joined; `None` for all records. An id whose
    /// record was left out on one side is neither missing nor extra on the other; but if references have a field, they
    /// alone say by it what is scored, and a prediction that is left out is missing.
    pub selection: Option<Arc<Selection>>,
    /// Whether a word of a `ctm` file whose middle lies outside the segment that it belongs to is an error.
    /// Otherwise a warning counts such words.
    pub refuse_stray_words: bool,
    /// Whether the scores of each example are requested.
    pub samples: bool,
    /// The data to keep of the worst examples of each metric, for [`State::ranking`]; `None` for nothing.
    pub ranking: Option<RankExamples>,
    /// The score that ranks the examples of each metric that has it; `None` for the first score that has a direction.
    pub ranked_by: Option<String>,
    /// The resampling of scores; `None` for no intervals.
    pub statistics: Option<Statistics>,
    /// Whether outcomes have no intervals yet, because somebody else computes them.
    pub(crate) resamples_later: bool,
    /// Whether the data are a part of a data set, whose outcomes are [merged](crate::merge_parts) with those of
    /// the other parts: a part may have no examples, and its outcomes have no intervals.
    pub is_part: bool,
    /// Divisions of the records into groups, each of which has scores of its own.
    pub slices: Vec<Slice>,
    /// The scores that results show, and the order of their groups.
    pub shown: ShownScores,
    /// Whether the examples of each slice are counted.
    pub counts_slices: bool,
    /// The hashes of the ids that are scored; `None` for all.
    pub(crate) only: Option<Arc<BTreeSet<u64>>>,
    /// The number of bytes of a document, of a line, or of records and ids that wait, that may be held in memory. Data
    /// that stream through are not limited.
    pub max_bytes: u64,
}

/// The number of worst examples that are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankExamples {
    /// The number of examples of each metric.
    pub most: usize,
    /// Whether the values of their records are kept. Long ones are cut.
    pub inputs: bool,
}

/// A metric with its options.
pub(crate) struct Chosen {
    pub(crate) entry: Entry,
    pub(crate) options: Options,
    pub(crate) scorer: Scorer,
}

/// The names of the fields of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fields {
    /// The id: the name of a field or the path to it, or `#row` for the number of the row.
    pub id: String,
    /// The id of predictions, where it has another name.
    pub predictions_id: Option<String>,
    /// The reference; `None` for `reference` or `references`, whichever a record has.
    pub reference: Option<String>,
    /// The prediction.
    pub prediction: String,
    /// The columns whose values are the prediction, as a list, instead of the one field; empty for that one.
    pub prediction_columns: Vec<String>,
}

impl Default for Fields {
    fn default() -> Self {
        Self {
            id: "id".to_owned(),
            predictions_id: None,
            reference: None,
            prediction: "prediction".to_owned(),
            prediction_columns: Vec::new(),
        }
    }
}

impl Fields {
    /// The names that are not the usual ones, with the options that give them and the indices of the sources that are
    /// read with them. Numbers of rows are ids without fields.
    fn named(
        &self,
        last: usize,
    ) -> impl Iterator<Item = (&'static str, &str, RangeInclusive<usize>)> {
        let id = [Some(&self.id), self.predictions_id.as_ref()];
        let mut id = id.into_iter().flatten();
        let id = id.find(|name| !["id", ROW_NUMBER].contains(&name.as_str()));
        let prediction = Some(&self.prediction).filter(|name| *name != "prediction");
        [
            ("id-field", id, 0..=last),
            ("reference-field", self.reference.as_ref(), 0..=0),
            ("prediction-field", prediction, last..=last),
        ]
        .into_iter()
        .filter_map(|(option, name, of)| Some((option, name?.as_str(), of)))
    }

    fn references(&self) -> Vec<&str> {
        match &self.reference {
            Some(name) => vec![name],
            None => vec!["reference", "references"],
        }
    }

    fn id_name(&self) -> (&str, Role, &'static str) {
        (&self.id, Role::Id, "id-field")
    }

    /// The fields of references, in a source that has predictions as well or not.
    fn reference_names(&self, with_prediction: bool) -> FieldNames {
        let references = self.references().into_iter();
        let references = references.map(|name| (name, Role::Value, "reference-field"));
        let prediction = (self.prediction.as_str(), Role::Other, "prediction-field");
        let prediction = with_prediction.then_some(prediction);
        let names = FieldNames::new(
            iter::once(self.id_name())
                .chain(references)
                .chain(prediction),
        );
        if with_prediction {
            names.with_list(Role::Other, &self.prediction_columns)
        } else {
            names
        }
    }

    pub(crate) fn prediction_names(&self) -> FieldNames {
        let prediction = (self.prediction.as_str(), Role::Value, "prediction-field");
        let id = match &self.predictions_id {
            Some(id) => (id.as_str(), Role::Id, "predictions-id-field"),
            None => self.id_name(),
        };
        FieldNames::new([id, prediction]).with_list(Role::Value, &self.prediction_columns)
    }
}

/// The data of a run.
#[derive(Clone, Debug)]
pub enum Data {
    /// References and predictions.
    Sources {
        /// The references.
        references: Source,
        /// The predictions.
        predictions: Source,
    },
    /// One source whose records have both sides, or the only side that the metrics read.
    Pairs(Source),
    /// Documents of a metric's own format, in memory or in folders.
    Documents {
        /// The references.
        references: Document,
        /// The predictions.
        predictions: Document,
    },
}

/// Data in the form in which metrics read them.
pub(crate) enum Opened {
    Records {
        references: Input,
        /// `None` if the references have both sides.
        predictions: Option<Box<Input>>,
        warnings: Vec<(Counted, u64)>,
    },
    Documents {
        references: Document,
        predictions: Document,
    },
}

/// The problem of references of which none was scored, such as all those that are left out.
pub const NOTHING_SCORED: &str = "has no examples that could be scored";

impl Run {
    /// Returns a run of one metric. Data are joined strictly, on all cores.
    ///
    /// # Errors
    ///
    /// Returns an error if the metric does not take the options.
    pub fn new(entry: &Entry, options: &Options) -> Result<Self, RunError> {
        let run = Self {
            metrics: Vec::new(),
            join: JoinPolicy::default(),
            shard: None,
            threads: None,
            more_references: Vec::new(),
            fields: Fields::default(),
            is_missing_given: false,
            selection: None,
            refuse_stray_words: false,
            samples: false,
            ranking: None,
            ranked_by: None,
            statistics: None,
            resamples_later: false,
            is_part: false,
            slices: Vec::new(),
            shown: ShownScores::default(),
            counts_slices: false,
            only: None,
            max_bytes: DEFAULT_MAX_BYTES,
        };
        run.with_metric(entry, options)
    }

    /// Returns the same run with one more metric, which is scored in the same pass over the data.
    ///
    /// # Errors
    ///
    /// Returns an error if the metric does not take the options.
    pub fn with_metric(mut self, entry: &Entry, options: &Options) -> Result<Self, RunError> {
        let options = with_lines(&options.without_aliases(entry.options), entry)?;
        self.metrics.push(Chosen {
            entry: *entry,
            scorer: entry.scorer(&options)?,
            options,
        });
        Ok(self)
    }

    /// Returns whether each metric has details under its options.
    #[must_use]
    pub fn has_details(&self) -> bool {
        let mut metrics = self.metrics.iter();
        metrics.all(|chosen| chosen.scorer.start().details().is_some())
    }

    /// Scores two sources: the outcome of each metric, in the order in which they were added.
    ///
    /// # Errors
    ///
    /// Returns an error if a source cannot be read, if the two do not join, or if a metric cannot read a record. If
    /// there are several errors, the first one of the data is returned, on any number of threads.
    pub fn score(&self, references: Source, predictions: Source) -> Result<Vec<Outcome>, RunError> {
        let data = Data::Sources {
            references,
            predictions,
        };
        self.score_observed(data, &Nobody)
    }

    /// Scores one source, whose records have both sides, or the only side that the metrics read.
    ///
    /// # Errors
    ///
    /// Returns an error as [`score`](Self::score) does.
    pub fn score_pairs(&self, pairs: Source) -> Result<Vec<Outcome>, RunError> {
        self.score_observed(Data::Pairs(pairs), &Nobody)
    }

    /// Scores data, and lets somebody watch.
    ///
    /// # Errors
    ///
    /// Returns an error as [`score`](Self::score) does, and what the observer returns.
    pub fn score_observed(
        &self,
        data: Data,
        observer: &dyn Observer,
    ) -> Result<Vec<Outcome>, RunError> {
        self.on_threads(|threads| self.score_here(data, observer, threads))
    }

    /// Returns the outcome of no examples for each metric: the start of a sum of batches.
    ///
    /// # Errors
    ///
    /// Returns an error if the statistics that are requested make no sense.
    pub fn nothing(&self) -> Result<Vec<Outcome>, RunError> {
        self.check_results()?;
        let states = self.start().into_iter().zip(&self.metrics);
        states
            .map(|(state, chosen)| self.outcome(chosen, state, &Nobody))
            .collect()
    }

    /// The data to gather from each record in addition to the counts, for one metric.
    pub(crate) fn plan_of(&self, chosen: &Chosen) -> Plan {
        let ranking = self.ranking.map(|wanted| PlannedRanking {
            scores: chosen.entry.scores,
            most: wanted.most,
            inputs: wanted.inputs,
        });
        let direction = |name: &String| {
            let direction = chosen.entry.score(name)?.direction?;
            Some((name.clone(), direction))
        };
        Plan {
            ranking,
            ranked_by: self.ranked_by.as_ref().and_then(direction),
            ..self.plan()
        }
    }

    /// The same for all metrics.
    fn plan(&self) -> Plan {
        let statistics = self.statistics.as_ref();
        Plan {
            keeps_examples: statistics.is_some(),
            cluster_field: statistics.and_then(|it| it.cluster_field.clone()),
            slices: self.slices.clone(),
            counts_slices: self.counts_slices,
            only: self.only.clone(),
            ranking: None,
            ranked_by: None,
            places: Default::default(),
        }
    }

    /// The state of no examples for each metric.
    pub(crate) fn start(&self) -> Vec<State> {
        self.start_in(Default::default())
    }

    /// The same for records that name files in these places.
    pub(crate) fn start_in(&self, places: [Place; 2]) -> Vec<State> {
        let start = |chosen: &Chosen| {
            let mut state = chosen.scorer.start();
            state.follow(Arc::new(Plan {
                places: places.clone(),
                ..self.plan_of(chosen)
            }));
            state
        };
        self.metrics.iter().map(start).collect()
    }

    /// Refuses statistics that make no sense, and scores that no metric has.
    pub(crate) fn check_results(&self) -> Result<(), RunError> {
        if let Some(statistics) = &self.statistics {
            statistics.check()?;
        }
        let entries: Vec<&Entry> = self.metrics.iter().map(|chosen| &chosen.entry).collect();
        self.shown.check(&entries)
    }

    /// The same, and refuses fields of records that have none.
    pub(crate) fn check_statistics(&self, has_fields: bool, name: &str) -> Result<(), RunError> {
        self.check_results()?;
        let plan = self.plan();
        if has_fields || !plan.needs_fields() {
            return Ok(());
        }
        let (option, field) = match (
            &plan.cluster_field,
            plan.slices.iter().find(|it| it.values.is_none()),
        ) {
            (None, Some(slice)) => ("slice-field", slice.name.as_str()),
            (field, _) => ("cluster-field", field.as_deref().unwrap_or_default()),
        };
        let problem = Message::default().option(option, field).text(format_args!(
            ": the records of {name} have no fields: expected a format with fields, such as JSON Lines or CSV"
        ));
        Err(RunError::Usage(problem))
    }

    /// Does all of the work on the run's threads, so that it is not handed back and forth.
    pub(crate) fn on_threads<T: Send>(
        &self,
        work: impl FnOnce(usize) -> Result<T, RunError> + Send,
    ) -> Result<T, RunError> {
        let threads = or_cores(self.threads);
        on_threads(self.threads, || work(threads))
    }

    fn score_here(
        &self,
        data: Data,
        observer: &dyn Observer,
        threads: usize,
    ) -> Result<Vec<Outcome>, RunError> {
        match self.opened(data, observer.wants_inputs())? {
            Opened::Records {
                references,
                predictions,
                warnings,
            } => {
                let predictions = predictions.map(|input| *input);
                self.records(references, predictions, warnings, observer, threads)
            }
            Opened::Documents {
                references,
                predictions,
            } => self.documents(references, predictions, observer),
        }
    }

    /// The data in the form in which the metrics read them; `wants_inputs` says whether somebody reads the values of
    /// examples.
    pub(crate) fn opened(&self, data: Data, wants_inputs: bool) -> Result<Opened, RunError> {
        let (references, predictions) = match data {
            Data::Pairs(only) => return self.opened_alone(only, wants_inputs),
            Data::Documents {
                references,
                predictions,
            } => {
                return Ok(Opened::Documents {
                    references,
                    predictions,
                });
            }
            Data::Sources {
                references,
                predictions,
            } => (references, predictions),
        };
        self.refuse_references(&references)?;
        refuse_one_input(&references, &predictions)?;
        if let Some(document) = self.document(&references)? {
            self.refuse_unused(&[&references, &predictions], false)?;
            return Ok(Opened::Documents {
                references: document,
                predictions: predictions.document_of_records(self.max_bytes)?,
            });
        }
        let are_named = !references.is_folder() && !predictions.is_folder();
        let (references, predictions) = (references.resolved()?, predictions.resolved()?);
        references.record_format()?;
        let reads_sessions = self.reads_sessions(&references)?;
        let reads = self.reads(reads_sessions);
        let recognized = |source| segments::recognized(source, reads, self.max_bytes);
        let are_topics = self.reads_topics();
        let references = if are_topics {
            topics::recognized(references)
        } else {
            references
        };
        let (references, predictions) = (recognized(references)?, recognized(predictions)?);
        self.refuse_unused(&[&references, &predictions], true)?;
        let [references, predictions] = pages::joined(references, predictions)?;
        let Prepared {
            references,
            predictions,
            warnings,
        } = if reads_sessions {
            segments::prepare(references, predictions, are_named, self.max_bytes)?
        } else {
            let (most, mut warnings) = (self.max_bytes, Vec::new());
            let references = topics::records(references, are_topics, most, &mut warnings)?;
            let predictions = topics::records(predictions, are_topics, most, &mut warnings)?;
            let mut prepared = self.prepared_texts(references, predictions, are_named)?;
            prepared.warnings.extend(warnings);
            prepared
        };
        let references = Input {
            more: self.more_references(&references)?,
            source: references,
            names: self.reference_names(false, wants_inputs),
            selection: self.selection.clone(),
            tally: None,
        };
        let predictions = Input {
            source: predictions,
            names: self.prediction_names(),
            more: None,
            selection: self.selection.clone(),
            tally: None,
        };
        predictions.refuse_list_without_columns()?;
        Ok(Opened::Records {
            references,
            predictions: Some(Box::new(predictions)),
            warnings,
        })
    }

    /// The only source of a run: records with both sides, or predictions of metrics without references.
    fn opened_alone(&self, only: Source, wants_inputs: bool) -> Result<Opened, RunError> {
        let only = only.resolved()?;
        self.refuse_unused(&[&only], true)?;
        let references = if self.compares(&only)? {
            self.pairs(only, wants_inputs)?
        } else {
            self.one_side(only)?
        };
        Ok(Opened::Records {
            references,
            predictions: None,
            warnings: Vec::new(),
        })
    }

    /// Refuses references for metrics that have none.
    fn refuse_references(&self, references: &Source) -> Result<(), RunError> {
        if self.compares(references)? {
            return Ok(());
        }
        let names = self.metrics.iter().map(|chosen| chosen.entry.name);
        let names = names.collect::<Vec<_>>().join(",");
        let problem = format!(
            "{names} reads predictions alone: expected no references, found {}",
            references.name()
        );
        Err(RunError::Usage(Message::from(problem)))
    }

    /// Transcripts as sources of one text for each record.
    fn prepared_texts(
        &self,
        references: Source,
        predictions: Source,
        are_named: bool,
    ) -> Result<Prepared, RunError> {
        let (most, mut warnings) = (self.max_bytes, Vec::new());
        let [references, predictions] =
            segments::texts(references, predictions, are_named, most, &mut warnings)?;
        let mut prepared =
            transcript::prepare(references, predictions, &self.transcript_options())?;
        prepared.warnings.extend(warnings);
        Ok(prepared)
    }

    /// Refuses settings that none of the sources uses: they would change nothing.
    fn refuse_unused(&self, sources: &[&Source], are_records: bool) -> Result<(), RunError> {
        let reads_sessions = self.reads_sessions(sources[0])?;
        let takes_more = self
            .metrics
            .iter()
            .any(|chosen| chosen.entry.has_references());
        if let Some(more) = self.more_references.first()
            && !(takes_more && are_records && sources.len() > 1)
        {
            let names = self.metrics.iter().map(|chosen| chosen.entry.name);
            let names = names.collect::<Vec<_>>().join(",");
            let message = Message::default().option("more-references", &more.name());
            let problem = if takes_more {
                " is not used: expected two files of records".to_owned()
            } else {
                format!(" is not used: {names} compares with one reference per record")
            };
            return Err(RunError::Usage(message.text(problem)));
        }
        let formats = sources.iter().map(|source| source.record_format());
        // A source without a format of records has an error of its own.
        let Ok(formats) = formats.collect::<Result<Vec<Format>, RunError>>() else {
            return Ok(());
        };
        let names: Vec<String> = sources.iter().map(|source| source.name()).collect();
        let refused = |(name, value): (&str, &str), what: &str, names: &[String]| {
            let message = Message::default().option(name, value).text(format_args!(
                " is not used: expected {what}, found none in {}",
                names.join(" and ")
            ));
            Err(RunError::Usage(message))
        };
        let has_csv = are_records && formats.iter().any(|format| format.is_csv());
        let option = sources.iter().find_map(|source| source.csv_option());
        if let Some((name, value)) = option.filter(|_| !has_csv) {
            return refused((name, &value), "records in CSV", &names);
        }
        let transcripts = sources.iter().map(|source| source.transcript_options());
        for given in transcripts.flat_map(|options| options.given(reads_sessions)) {
            if !formats.iter().any(|format| given.formats.contains(format)) {
                return refused((given.option, given.value), given.what, &names);
            }
        }
        if let Some(selection) = &self.selection
            && are_records
            && !formats.iter().any(|format| format.has_fields())
        {
            let what = format!("the records of {} have no fields", names.join(" and "));
            return Err(refuse_without_fields(selection, &what));
        }
        let encoding = sources.iter().find_map(|source| source.encoding());
        if let Some(encoding) = encoding.filter(|_| !sources.iter().any(|it| it.is_encoded())) {
            return refused(("encoding", &encoding.to_string()), "text", &names);
        }
        let last = formats.len() - 1;
        for (name, value, of) in self.fields.named(last) {
            let has_fields = formats[of.clone()].iter().any(|format| format.has_fields());
            if !(are_records && has_fields) {
                return refused((name, value), "records with fields", &names[of]);
            }
        }
        Ok(())
    }

    /// The warning that may say why references and predictions do not join: about rows in quotes, or about the lines of
    /// several files, which may have been given as further references of the same records.
    fn reason(&self, in_quotes: &(Counted, u64), files_of_lines: Option<usize>) -> Option<Message> {
        let (warning, times) = in_quotes;
        if *times > 0 {
            return Some(warning.warning(*times));
        }
        let files = files_of_lines?;
        let takes_more = self
            .metrics
            .iter()
            .any(|chosen| chosen.entry.has_references());
        (takes_more && files > 1).then(|| {
            let text = format!(
                "the lines of {files} files of references are different records: to add further references of the same records, use "
            );
            Message::from(text).option("more-references", "")
        })
    }

    /// The references of all files, if there are several.
    fn more_references(&self, first: &Source) -> Result<Option<Box<MoreReferences>>, RunError> {
        if self.more_references.is_empty() {
            return Ok(None);
        }
        if !first.is_rereadable() {
            let message = Message::default().option("more-references", "");
            let problem = format!(
                " needs files that can be read twice: {} cannot",
                first.name()
            );
            return Err(RunError::Usage(message.text(problem)));
        }
        let mut files = vec![first.clone()];
        files.extend(self.more_references.iter().cloned());
        let names = self.fields.reference_names(false);
        let read = MoreReferences::read(&files, &names, self.max_bytes)?;
        Ok(Some(Box::new(read)))
    }

    fn transcript_options(&self) -> transcript::Options {
        transcript::Options {
            shard: self.shard,
            max_bytes: self.max_bytes,
            refuse_strays: self.refuse_stray_words,
        }
    }

    /// The one source of records that have both sides.
    fn pairs(&self, source: Source, wants_inputs: bool) -> Result<Input, RunError> {
        let usage = |problem: &str| {
            let message = Message::default().option("pairs", &source.name());
            RunError::Usage(message.text(problem))
        };
        if !source.record_format()?.has_fields() {
            return Err(usage(
                ": expected a format whose records have both fields, such as JSON Lines (.jsonl) or CSV (.csv)",
            ));
        }
        let input = Input {
            names: self.reference_names(true, wants_inputs),
            source,
            more: None,
            selection: self.selection.clone(),
            tally: None,
        };
        input.refuse_list_without_columns()?;
        Ok(input)
    }

    /// The one source of records of metrics that read predictions alone.
    fn one_side(&self, source: Source) -> Result<Input, RunError> {
        let Some(field) = self.group_field() else {
            let mut names = self.prediction_names().with_further(self.further_fields());
            names.is_one_sided = true;
            return Ok(Input {
                names,
                source,
                more: None,
                selection: self.selection.clone(),
                tally: None,
            });
        };
        // The samples of an example are selected before they are gathered.
        let further = self.read_fields();
        let prediction = &self.fields.prediction;
        let fields = (field, prediction.as_str(), &further[..]);
        let selection = self.selection.as_deref();
        let (source, tally) = grouped::source(&source, fields, selection, self.max_bytes)?;
        let mut names = self.prediction_names().with_further(further);
        names.is_one_sided = true;
        Ok(Input {
            names,
            source,
            more: None,
            selection: self.selection.clone(),
            tally: Some(tally),
        })
    }

    /// The field whose values tell which records are the samples of one example.
    pub(crate) fn group_field(&self) -> Option<&str> {
        let mut metrics = self.metrics.iter();
        metrics.find_map(|chosen| chosen.scorer.group_field())
    }

    /// Whether the metrics compare predictions with references. All metrics of a run read the same kind of data.
    fn compares(&self, source: &Source) -> Result<bool, RunError> {
        let mut compare = self.metrics.iter().map(|chosen| chosen.entry.compares());
        let first = compare.next().unwrap_or(true);
        match compare.position(|compares| compares != first) {
            Some(other) => Err(self.read_differently(other + 1, source)),
            None => Ok(first),
        }
    }

    /// Returns the names of the further fields of a reference that the metrics, the clusters, the slices and the
    /// selection are read from, in the order of the alphabet. A table needs no others.
    #[must_use]
    pub fn further_fields(&self) -> Vec<String> {
        let further = self.read_fields().into_iter();
        let further: BTreeSet<String> = further.chain(self.selected_fields()).collect();
        further.into_iter().collect()
    }

    /// The same without those of the selection, which are read earlier.
    pub(crate) fn read_fields(&self) -> Vec<String> {
        let metrics = self.metrics.iter();
        let further = metrics.flat_map(|chosen| chosen.scorer.further_fields().to_vec());
        // Clusters and slices are told by fields, unless a file has the values.
        let cluster = self.statistics.iter();
        let cluster = cluster.filter_map(|statistics| statistics.cluster_field.clone());
        let slices = self.slices.iter().filter(|slice| slice.values.is_none());
        let slices = slices.map(|slice| slice.name.clone());
        let further: BTreeSet<String> = further.chain(cluster).chain(slices).collect();
        further.into_iter().collect()
    }

    /// The names of the fields by which records are selected.
    pub(crate) fn selected_fields(&self) -> impl Iterator<Item = String> {
        let selection = self.selection.iter();
        selection.flat_map(|it| it.fields().map(str::to_owned).collect::<Vec<_>>())
    }

    /// Whether anybody reads fields of a reference other than its id and its value.
    pub(crate) fn reads_fields(&self, observer: &dyn Observer) -> bool {
        let is_shown = observer.draws() || observer.wants_inputs();
        let is_ranked = self.ranking.is_some_and(|wanted| wanted.inputs);
        is_shown || is_ranked || !self.further_fields().is_empty()
    }

    /// The fields of references, with those that the metrics read in addition, and with the question if somebody reads
    /// the values of examples.
    fn reference_names(&self, with_prediction: bool, wants_inputs: bool) -> FieldNames {
        let mut names = self.fields.reference_names(with_prediction);
        names.allows_infinite = self.allows_infinite();
        names.allows_null = self.join.of_null() != Missing::Error;
        let mut further = self.further_fields();
        let is_question = |name: &String| name == Inputs::QUESTION;
        let are_kept = self.ranking.is_some_and(|wanted| wanted.inputs);
        if (wants_inputs || are_kept) && !further.iter().any(is_question) {
            further.push(Inputs::QUESTION.to_owned());
        }
        names.with_further(further)
    }

    /// Whether a metric takes infinite numbers.
    fn allows_infinite(&self) -> bool {
        let mut metrics = self.metrics.iter();
        metrics.any(|chosen| (chosen.entry.allows_infinite)(&chosen.options))
    }

    pub(crate) fn prediction_names(&self) -> FieldNames {
        let mut names = self.fields.prediction_names();
        names.allows_infinite = self.allows_infinite();
        names.allows_null = self.join.of_null() != Missing::Error;
        names.with_further(self.selected_fields().collect())
    }

    /// The references as a document, if the metrics read them as one. All metrics of a run read the same
    /// kind of data.
    fn document(&self, references: &Source) -> Result<Option<Document>, RunError> {
        let mut looked = LookedAt::new(references, self.max_bytes);
        let mut reads = Vec::with_capacity(self.metrics.len());
        for chosen in &self.metrics {
            reads.push(looked.is_document(chosen.entry.input)?);
        }
        let first = reads.first().copied().unwrap_or(false);
        if let Some(other) = reads.iter().position(|&reads| reads != first) {
            return Err(self.read_differently(other, references));
        }
        if first {
            return looked.into_document().map(Some);
        }
        // A file of JSON may be one example for one metric, and a map of ids to examples for another.
        if self.metrics.len() > 1 && looked.is_json() {
            let is_whole =
                |chosen: &Chosen, text: &str| is_one_example(text, chosen.entry.whole_file);
            if let Content::Text(text) = &looked.document()?.content {
                let wholes = self.metrics.iter().map(|chosen| is_whole(chosen, text));
                let wholes: Vec<bool> = wholes.collect();
                if let Some(other) = wholes.iter().position(|&whole| whole != wholes[0]) {
                    return Err(self.read_differently(other, references));
                }
            }
        }
        Ok(None)
    }

    /// The values that all metrics read.
    fn reads(&self, reads_sessions: bool) -> Reads {
        match reads_sessions {
            true => Reads::Sessions,
            false if self.metrics.iter().all(|it| it.entry.reads_texts()) => Reads::Texts,
            false => Reads::Values,
        }
    }

    /// Whether a metric reads the ranked documents of topics.
    fn reads_topics(&self) -> bool {
        let metrics = self.metrics.iter();
        let mut shapes = metrics.flat_map(|chosen| chosen.entry.shapes);
        shapes.any(|taken| taken.shape == Shape::Topics)
    }

    /// Whether the metrics read sessions of several speakers. All metrics of a run read the same kind of data.
    fn reads_sessions(&self, references: &Source) -> Result<bool, RunError> {
        let reads = |chosen: &Chosen| chosen.entry.reads_sessions();
        let first = self.metrics.first().is_some_and(reads);
        match self
            .metrics
            .iter()
            .position(|chosen| reads(chosen) != first)
        {
            Some(other) => Err(self.read_differently(other, references)),
            None => Ok(first),
        }
    }

    /// Gives a record to `show`, with its values as the metrics show them.
    fn as_shown<T>(&self, record: Record<'_>, show: impl FnOnce(&Record<'_>) -> T) -> T {
        let metric = self.metrics.first();
        let values = metric.and_then(|chosen| chosen.scorer.inputs(&mut record.clone()));
        let Some([reference, prediction]) = &values else {
            return show(&record);
        };
        let mut shown = record.view();
        shown.reference = Value::json(reference);
        if !shown.prediction.is_missing() {
            shown.prediction = Value::json(prediction);
        }
        show(&shown)
    }

    fn read_differently(&self, other: usize, references: &Source) -> RunError {
        let [first, other] = [0, other].map(|metric| self.metrics[metric].entry.name);
        RunError::Usage(Message::from(format!(
            "{first} and {other} read {} in different ways: score them in separate runs",
            references.name()
        )))
    }

    /// Refuses a policy for missing predictions for documents that do not know any.
    pub(crate) fn refuse_missing(&self) -> Result<(), RunError> {
        if self.join.null.is_some() || self.join.as_text {
            let (name, value) = match self.join.null {
                Some(_) => ("null", ""),
                None => ("as-text", ""),
            };
            let message = Message::default().option(name, value);
            let problem = " goes with records, and not with files that are read as a whole";
            return Err(RunError::Usage(message.text(problem)));
        }
        let is_given = self.is_missing_given || self.join.missing != Missing::Error;
        let joins =
            |it: &Chosen| matches!(it.entry.input, EntryInput::Joined(_) | EntryInput::Files(_));
        if !is_given || self.metrics.iter().all(joins) {
            return Ok(());
        }
        let message = Message::default()
            .option("missing", "")
            .text(" goes with records: in whole files a gap counts as an empty prediction");
        Err(RunError::Usage(message))
    }

    /// Refuses a selection of documents, which have no records that are joined.
    pub(crate) fn refuse_selection(&self, name: &str) -> Result<(), RunError> {
        let what = format!("{name} is read as a whole, and not record by record");
        let refused = |it: &Arc<Selection>| Err(refuse_without_fields(it, &what));
        self.selection.as_ref().map_or(Ok(()), refused)
    }

    /// Scores documents of a metric's own format.
    fn documents(
        &self,
        references: Document,
        predictions: Document,
        observer: &dyn Observer,
    ) -> Result<Vec<Outcome>, RunError> {
        self.refuse_missing()?;
        let name = references.name.clone();
        self.refuse_selection(&name)?;
        self.check_statistics(true, &name)?;
        let mut data = Some((references, predictions));
        let mut outcomes = Vec::new();
        for (index, chosen) in self.metrics.iter().enumerate() {
            // The texts may be large: the last metric takes them.
            let is_last = index + 1 == self.metrics.len() && !observer.draws();
            let taken = if is_last { data.take() } else { data.clone() };
            let Some((references, predictions)) = taken else {
                break;
            };
            let plan = Arc::new(self.plan_of(chosen));
            let ranked = self.ranking.is_some_and(|wanted| wanted.inputs);
            let data_set = DataSet {
                references,
                predictions,
                files: self.option_files(chosen)?,
                join: self.join,
                shard: self.shard,
                plan: Arc::clone(&plan),
                inputs: ranked || self.samples && observer.wants_inputs(),
            };
            let drawn = observer.draws().then(|| data_set.clone());
            let mut part = chosen.scorer.read_data_set(data_set, self.samples)?;
            let mut state = chosen.scorer.start();
            state.follow(Arc::clone(&plan));
            add(&mut state, &mut part, |error| {
                RunError::Internal(error.to_string())
            })?;
            if let Some(data_set) = drawn.filter(|_| !chosen.entry.drawings.is_empty()) {
                observer
                    .data_set(&chosen.scorer, data_set)
                    .map_err(RunError::Observer)?;
            }
            if self.samples {
                for sample in part.samples(&state) {
                    observer
                        .sample(chosen.entry.name, &sample)
                        .map_err(RunError::Observer)?;
                }
            }
            refuse_kept(&state, &name)?;
            let outcome = self.outcome(chosen, state, observer)?;
            let problem = "has no examples: expected at least one";
            self.refuse_empty(&outcome, &name, problem)?;
            outcomes.push(outcome);
        }
        Ok(outcomes)
    }

    /// The files that options of a metric name.
    pub(crate) fn option_files(
        &self,
        chosen: &Chosen,
    ) -> Result<Vec<(String, Document)>, RunError> {
        let specs = chosen.entry.options.iter();
        let paths = specs.filter(|spec| matches!(spec.kind, metric_registry::OptionKind::Path));
        let mut files = Vec::new();
        for spec in paths {
            if let Some(path) = chosen.options.get(spec.name) {
                let document =
                    Source::path(&*path).and_then(|source| source.document(self.max_bytes))?;
                files.push((spec.name.to_owned(), document));
            }
        }
        Ok(files)
    }

    pub(crate) fn outcome(
        &self,
        chosen: &Chosen,
        state: State,
        observer: &dyn Observer,
    ) -> Result<Outcome, RunError> {
        let shards = self.shard.map(Into::into);
        let options = chosen.options.clone();
        let slices = self.slices.iter().map(Slice::definition);
        let mut outcome = Outcome::of_state(&chosen.entry, options, state, self.join, shards);
        outcome.set_selected(self.selection.as_deref().map(Selected::none));
        outcome.set_statistics(self.statistics.clone(), slices.collect());
        outcome.set_shown(self.shown.clone());
        if !self.resamples_later && !self.is_part {
            outcome.resample(observer)?;
        }
        Ok(outcome)
    }

    /// Data without examples, or with less than a metric needs, are an error, unless the metric scores them or they are
    /// one of many shards or parts.
    pub(crate) fn refuse_empty(
        &self,
        outcome: &Outcome,
        references: &str,
        problem: &str,
    ) -> Result<(), RunError> {
        if self.shard.is_some() || self.is_part {
            return Ok(());
        }
        let problem = if outcome.state().has_scores() {
            outcome.state().problem()
        } else {
            Some(problem.into())
        };
        let named = |problem| Message::from(format!("{references}: ")).message(&problem);
        problem.map_or(Ok(()), |problem| {
            Err(ReadError::new("", named(problem)).into())
        })
    }

    /// Predictions without records are an error of their own: most often a model has failed.
    fn refuse_no_predictions(&self, missing: Unmatched) -> Result<(), RunError> {
        if missing.count == 0 || self.join.missing != Missing::Error {
            return Ok(());
        }
        Err(JoinError::NoPredictions(missing).into())
    }

    /// Unmatched records are an error, unless the policy allows them.
    pub(crate) fn refuse_unmatched(
        &self,
        missing: Unmatched,
        extra: Unmatched,
    ) -> Result<(), RunError> {
        let is_missing = missing.count > 0 && self.join.missing == Missing::Error;
        let is_extra = extra.count > 0 && !self.join.ignore_extra;
        match (is_missing, is_extra) {
            (false, false) => Ok(()),
            (true, false) => Err(JoinError::Missing(missing).into()),
            (false, true) => Err(JoinError::Extra(extra).into()),
            (true, true) => Err(JoinError::MissingAndExtra(missing, extra).into()),
        }
    }

    /// Reads, joins and folds records.
    fn records(
        &self,
        references: Input,
        predictions: Option<Input>,
        warnings: Vec<(Counted, u64)>,
        observer: &dyn Observer,
        threads: usize,
    ) -> Result<Vec<Outcome>, RunError> {
        let Some(first) = self.metrics.first() else {
            return Ok(Vec::new());
        };
        let has_fields = references.source.has_fields()?;
        self.check_statistics(has_fields, &references.source.name())?;
        let files = references.source.files().len();
        let bytes = |input: &Input| input.source.bytes();
        let total = bytes(&references) + predictions.as_ref().map_or(0, bytes);
        let read = Arc::new(AtomicU64::new(0));
        let folder = references.source.folder();
        let other = predictions
            .as_ref()
            .map_or(folder.clone(), |input| input.source.folder());
        let mut join = Join::new(
            references,
            predictions,
            first.entry.whole_file,
            JoinOptions {
                policy: self.join,
                shard: self.shard,
                max_bytes: self.max_bytes,
                width: width_of(threads),
                is_part: self.is_part,
                is_check: false,
                has_fields: self.reads_fields(observer),
                window: WINDOW,
            },
            &read,
        )?;
        let states = self.start_in([folder.into(), other.into()]);
        let mut fold = Fold::new(self, states, observer, threads);
        while let Some(pairs) = join.next()? {
            refuse_interrupted()?;
            join.ahead(|join| fold.add(join, pairs))?;
            for state in &fold.states {
                refuse_kept(state, &join.reference_name())?;
            }
            fold.release(false)?;
            observer.progress(read.load(Ordering::Relaxed), total);
        }
        let left = join.finish()?;
        let warning = join.refuse_line_ids()?;
        // A shard may hold no record of a file that has some.
        if self.shard.is_none() && join.has_no_predictions() {
            self.refuse_no_predictions(left.missing_ids.clone())?;
        }
        let rows_in_quotes = join.rows_in_quotes();
        let reason = self.reason(&rows_in_quotes, join.has_line_ids().then_some(files));
        self.refuse_unmatched(left.missing_ids, left.extra_ids)
            .map_err(|error| with_warning(error, reason))?;
        fold.threads = 1;
        for slots in left.missing.chunks(MISSING_RECORDS) {
            fold.add(&join, Pairs::apart(join.missing(slots)?))?;
        }
        fold.release(true)?;
        fold.gather()?;
        let selected = join.selected();
        let problem = match join.references_read() {
            0 => "has no records: expected at least one",
            _ => NOTHING_SCORED,
        };
        let name = join.reference_name();
        let states = fold.states.into_iter().zip(&self.metrics);
        states
            .map(|(mut state, chosen)| {
                state.count_extra(left.extra);
                if let Some(warning) = &warning {
                    state.count(warning, join.references_read());
                }
                for (warning, times) in &warnings {
                    state.count(warning, *times);
                }
                state.count(&rows_in_quotes.0, rows_in_quotes.1);
                let mut outcome = self.outcome(chosen, state, observer)?;
                outcome.set_line_ids(join.has_line_ids());
                outcome.set_selected(selected.clone());
                self.refuse_empty(&outcome, &name, problem)?;
                Ok(outcome)
            })
            .collect()
    }
}

/// Refuses standard input as both sides.
fn refuse_one_input(references: &Source, predictions: &Source) -> Result<(), RunError> {
    if !(references.is_standard_input() && predictions.is_standard_input()) {
        return Ok(());
    }
    let message = Message::from("only one of ")
        .option("references", "")
        .text(" and ")
        .option("predictions", "")
        .text(" can be standard input");
    Err(RunError::Usage(message))
}

/// An error of a join with the warning that may say why, if there is one.
fn with_warning(error: RunError, warning: Option<Message>) -> RunError {
    match (error, warning) {
        (RunError::Join { error, .. }, Some(warning)) => RunError::Join {
            error,
            warning: Some(warning),
        },
        (error, _) => error,
    }
}

/// The options with the lines of files in the place of the names of these files, where an option takes them.
fn with_lines(options: &Options, entry: &Entry) -> Result<Options, RunError> {
    /// Enough for a name of each class.
    const MOST_BYTES: u64 = 16 << 20;
    let mut read = options.clone();
    for spec in entry.options.iter().filter(|spec| spec.may_be_file) {
        let Some(OptionValue::One(name)) = options.value(spec.name) else {
            continue;
        };
        if !Path::new(name).is_file() {
            continue;
        }
        let document = Source::path(name).and_then(|source| source.document(MOST_BYTES))?;
        let text = document.file()?.content();
        let lines: Vec<&str> = text.trim_end().lines().map(str::trim).collect();
        read = read.set(spec.name, &lines[..]);
    }
    Ok(read)
}

/// The number of references without a prediction that are in memory at a time.
pub(crate) const MISSING_RECORDS: usize = 4096;

/// The number of blocks of each side that are read at a time: enough that threads seldom wait for each other, and no
/// more memory than that. With four blocks in place of eight, two threads take up to a fifth longer.
pub(crate) fn width_of(threads: usize) -> usize {
    match threads {
        1 => 1,
        threads => (2 * threads).clamp(8, 32),
    }
}

/// References that are looked at before they are scored: they are read at most once for that.
struct LookedAt<'s> {
    source: &'s Source,
    max_bytes: u64,
    document: Option<Document>,
}

impl<'s> LookedAt<'s> {
    fn new(source: &'s Source, max_bytes: u64) -> Self {
        Self {
            source,
            max_bytes,
            document: None,
        }
    }

    fn document(&mut self) -> Result<&Document, RunError> {
        let document = match self.document.take() {
            Some(document) => document,
            None => self.source.document(self.max_bytes)?,
        };
        Ok(self.document.insert(document))
    }

    fn into_document(self) -> Result<Document, RunError> {
        self.document
            .map_or_else(|| self.source.document_later(self.max_bytes), Ok)
    }

    /// Whether this is a file of JSON that can be looked at.
    fn is_json(&self) -> bool {
        self.source.format() == Some(Format::Json) && self.source.is_rereadable()
    }

    /// Whether a metric reads the references as a document.
    fn is_document(&mut self, input: EntryInput) -> Result<bool, RunError> {
        let is_document = match input {
            EntryInput::Records => return Ok(false),
            EntryInput::Documents => {
                let is_records = |format: Format| format.has_records_only();
                let has_records = self.source.format().is_some_and(is_records)
                    && (!self.source.is_standard_input() || self.source.has_stated_format());
                return Ok(!has_records && !self.source.is_folder_of_records());
            }
            EntryInput::Files(endings) => {
                let is_folder = self.source.is_folder() && !self.source.is_folder_of_records();
                return Ok(is_folder || self.source.has_ending(endings));
            }
            EntryInput::Either(is_document) | EntryInput::Joined(is_document) => is_document,
        };
        if self.source.is_folder() {
            return Ok(!self.source.is_folder_of_records());
        }
        if self.source.describes_data_set() {
            return Ok(true);
        }
        self.source.record_format()?;
        if !self.is_json() {
            return Ok(false);
        }
        // Nearly all documents show what they are at their start, and are then read when they are scored.
        if self.document.is_none()
            && let Some(start) = self.source.start(self.max_bytes)
            && is_document(&start)
        {
            return Ok(true);
        }
        Ok(match &self.document()?.content {
            Content::Text(text) => is_document(text),
            _ => true,
        })
    }
}

/// The number of bytes that are kept of a text of one of the worst examples, and the size of the largest list or object
/// that is kept.
const RANKED_BYTES: [usize; 2] = [64 << 10, 256 << 10];

/// The values of a record as JSON; what is cut is a string, and what is missing is empty.
fn ranked_inputs(record: Record<'_>) -> Inputs {
    let cut = |text: &str| {
        let mut end = text.len().min(RANKED_BYTES[0]);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        serde_json::Value::from(&text[..end]).to_string()
    };
    let most = |json: &str| usize::from(json.trim_start().starts_with(['[', '{']));
    let written = |mut value: Value<'_>| match value.as_line() {
        Some(line) => cut(line),
        None => match value.to_json_or("") {
            // A value that is cut no longer has a structure.
            Ok(json) if json.len() > RANKED_BYTES[most(&json)] => cut(&json),
            Ok(json) => json.into_owned(),
            Err(_) => String::new(),
        },
    };
    let fields = record.fields.filter(|json| json.len() <= RANKED_BYTES[0]);
    Inputs {
        reference: written(record.reference),
        prediction: written(record.prediction),
        fields: fields.map(str::to_owned),
    }
}

/// Adds a part to a state.
pub(crate) fn add(
    state: &mut State,
    part: &mut Part,
    record: impl FnOnce(metric_record::RecordError) -> RunError,
) -> Result<(), RunError> {
    state.add(part).map_err(|error| match error {
        AddError::Record(error) => record(error),
        AddError::State(error) => RunError::Internal(error.to_string()),
    })
}

/// States that grow, with the scores of examples that wait for their turn.
struct Fold<'r> {
    run: &'r Run,
    observer: &'r dyn Observer,
    threads: usize,
    /// By metric.
    states: Vec<State>,
    /// The data read and not yet added to the states: for each thread that reads, one part per metric.
    workers: Mutex<Vec<Vec<Part>>>,
    /// Whether all metrics have taken the columns of texts that they were given.
    takes_columns: AtomicBool,
    waiting: Waiting,
}

/// Scores of examples that wait for those of earlier references, by position and metric.
#[derive(Default)]
struct Waiting {
    samples: BTreeMap<u64, Vec<(usize, Sample)>>,
    next: u64,
}

impl<'r> Fold<'r> {
    fn new(run: &'r Run, states: Vec<State>, observer: &'r dyn Observer, threads: usize) -> Self {
        Self {
            run,
            observer,
            threads,
            states,
            workers: Mutex::default(),
            takes_columns: AtomicBool::new(true),
            waiting: Waiting::default(),
        }
    }

    /// Adds pairs. If several cannot be read, the first is the error.
    fn add(&mut self, join: &Join, pairs: Pairs) -> Result<(), RunError> {
        let observer = self.observer;
        let is_watched = self.run.samples || observer.draws() || observer.wants_inputs();
        // Those who rank examples are told where a run of references starts.
        let is_ranked = self.run.ranking.is_some() && !pairs.are_in_order();
        let pairs = if is_watched || is_ranked {
            pairs.into_single(join)
        } else {
            pairs
        };
        let units = pairs.units(self.threads);
        let read = |(first, unit): &(usize, PairsUnit<'_>)| {
            let idle = self.workers().pop();
            let mut worker = idle.unwrap_or_else(|| self.worker());
            self.read(join, *first, unit, &mut worker);
            self.workers().push(worker);
        };
        match self.threads {
            1 => units.iter().for_each(read),
            _ => units.par_iter().for_each(read),
        }
        self.agree(join, &pairs, &units)?;
        self.limit_rows(join)?;
        self.name_ranked(join, &pairs);
        // Samples are those of the pairs at hand, and the memory of kept examples is limited.
        if self.run.samples || self.run.statistics.is_some() {
            let mut parts = self.gather()?;
            if self.run.samples {
                self.take_samples(&mut parts, &pairs);
            }
        }
        self.draw(join, &pairs.apart)
    }

    /// Refuses to keep more rows than there may be bytes.
    fn limit_rows(&self, join: &Join) -> Result<(), RunError> {
        let read: u64 = self.workers().iter().flatten().map(Part::row_bytes).sum();
        let added: u64 = self.states.iter().map(State::row_bytes).sum();
        if read + added <= self.run.max_bytes {
            return Ok(());
        }
        let what = "the list of all rows, which the metric sorts,";
        let problem = too_long(what, self.run.max_bytes);
        let name = join.reference_name();
        Err(ReadError::new(name, problem).limit().into())
    }

    fn workers(&self) -> MutexGuard<'_, Vec<Vec<Part>>> {
        // A lock is poisoned by a panic, and nothing here panics.
        self.workers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Parts of no records, by metric.
    fn worker(&self) -> Vec<Part> {
        let metrics = self.run.metrics.iter().zip(&self.states);
        let empty = |(chosen, state): (&Chosen, &State)| {
            chosen.scorer.read(state, &mut [], self.run.samples)
        };
        metrics.map(empty).collect()
    }

    /// Reads some of the pairs into the parts of a worker.
    fn read(&self, join: &Join, first: usize, unit: &PairsUnit<'_>, worker: &mut [Part]) {
        match unit {
            PairsUnit::Step(step, start, len) => {
                if let Some(ordinal) = step.ordinal {
                    self.start_at(ordinal + *start as u64, first, worker);
                }
                let by_records = self.read_columns(join, first, (step, *start, *len), worker);
                let records = |from, to| join.records_of(step, start + from, to - from);
                self.read_records(first, *len, records, by_records);
            }
            PairsUnit::Apart(pairs) if self.run.ranking.is_some() => {
                let mut first = first;
                let follows = |pair: &Pair, next: &Pair| next.ordinal == pair.ordinal + 1;
                for run in pairs.chunk_by(follows) {
                    self.start_at(run.first().map_or(0, |pair| pair.ordinal), first, worker);
                    self.read_pairs(first, join, run, worker);
                    first += run.len();
                }
            }
            PairsUnit::Apart(pairs) => self.read_pairs(first, join, pairs, worker),
        }
    }

    /// The parts of the run's metrics.
    fn with_metrics<'w>(&self, worker: &'w mut [Part]) -> Vec<(&Chosen, &'w mut Part)> {
        self.run.metrics.iter().zip(worker).collect()
    }

    /// Reads a part of a run as columns, where its values are of one kind and metrics take it. Returns the metrics that
    /// read it record by record, with their parts.
    fn read_columns<'w>(
        &self,
        join: &Join,
        first: usize,
        (step, start, len): (&Step, usize, usize),
        worker: &'w mut [Part],
    ) -> Vec<(&Chosen, &'w mut Part)> {
        let mut parts = self.with_metrics(worker);
        if self.run.samples || !self.takes_columns.load(Ordering::Relaxed) {
            return parts;
        }
        let columns = join.columns_of(step, start, len);
        let Some(batch) = columns.as_ref().and_then(TextColumns::batch) else {
            return parts;
        };
        parts.retain_mut(|(chosen, part)| !chosen.scorer.read_more_columns(part, first, &batch));
        if !parts.is_empty() {
            self.takes_columns.store(false, Ordering::Relaxed);
        }
        parts
    }

    /// Says where the records that are read next are among the references, for those who rank examples.
    fn start_at(&self, position: u64, first: usize, worker: &mut [Part]) {
        if self.run.ranking.is_some() {
            for part in worker {
                part.start_at(position, first);
            }
        }
    }

    /// Gives the worst examples that were just read the ids and values of their records, which no longer exist later.
    fn name_ranked(&self, join: &Join, pairs: &Pairs) {
        let Some(wanted) = self.run.ranking else {
            return;
        };
        let mut named = |index: usize| {
            pairs.with(join, index, |pair| {
                let record = join.record(pair);
                let id = record.id.to_string();
                let inputs = || self.run.as_shown(record, |record| ranked_inputs(*record));
                (id, wanted.inputs.then(inputs))
            })
        };
        for part in self.workers().iter_mut().flatten() {
            part.name_ranked(&mut named);
        }
    }

    fn read_pairs(&self, first: usize, join: &Join, pairs: &[Pair], worker: &mut [Part]) {
        let records = |from, to| pairs[from..to].iter().map(|pair| join.record(pair));
        self.read_records(first, pairs.len(), records, self.with_metrics(worker));
    }

    /// Reads as many records into the parts of metrics; `records` gives those between two of them.
    fn read_records<'j, R: Iterator<Item = Record<'j>>>(
        &self,
        first: usize,
        len: usize,
        records: impl Fn(usize, usize) -> R,
        mut parts: Vec<(&Chosen, &mut Part)>,
    ) {
        if parts.is_empty() {
            return;
        }
        /// So few that they stay in the fastest cache.
        const LEN: usize = 64;
        let mut read: Vec<Record<'_>> = Vec::with_capacity(LEN);
        let mut copies = Vec::new();
        for from in (0..len).step_by(LEN) {
            read.clear();
            read.extend(records(from, len.min(from + LEN)));
            let first = first + from;
            let last = parts.len() - 1;
            for (index, (chosen, part)) in parts.iter_mut().enumerate() {
                let scorer = &chosen.scorer;
                // A value is read once, so each metric gets records of its own.
                if index < last {
                    copies.clone_from(&read);
                    scorer.read_more(part, first, &mut copies);
                } else {
                    scorer.read_more(part, first, &mut read);
                }
            }
        }
    }

    /// Fails with the first pair that cannot be read, or that shares less with those before it than a data set's
    /// records must.
    fn agree(
        &mut self,
        join: &Join,
        pairs: &Pairs,
        units: &[(usize, PairsUnit<'_>)],
    ) -> Result<(), RunError> {
        let mut workers = std::mem::take(&mut *self.workers());
        let agreed = (0..self.states.len()).try_for_each(|metric| {
            let parts = workers
                .iter_mut()
                .filter_map(|worker| worker.get_mut(metric));
            let mut parts: Vec<&mut Part> = parts.collect();
            self.states[metric].agree(&mut parts)
        });
        *self.workers() = workers;
        let Err(error) = agreed else {
            return Ok(());
        };
        // Threads read in no order: read again in the order of the pairs.
        let (index, error) = match (self.first_error(join, units), error) {
            (Some(first), _) => (first.index, first.error),
            (None, AddError::Record(error)) => (error.index, error.error),
            (None, AddError::State(error)) => return Err(RunError::Internal(error.to_string())),
        };
        let failed = |pair: &Pair| {
            let (file, line, location) = join.location(pair, &error);
            let location = (file.as_str(), line, location.as_str());
            RunError::record(location, join.record(pair).id, error.clone())
        };
        Err(pairs
            .with(join, index, failed)
            .unwrap_or_else(|| RunError::Internal(error.to_string())))
    }

    /// The first pair that cannot be read.
    fn first_error(&self, join: &Join, units: &[(usize, PairsUnit<'_>)]) -> Option<RecordError> {
        let (mut states, mut worker) = (self.states.clone(), self.worker());
        for (first, unit) in units {
            self.read(join, *first, unit, &mut worker);
            let states = states.iter_mut().zip(&mut worker);
            let errors = states.filter_map(|(state, part)| match state.agree(&mut [part]) {
                Err(AddError::Record(error)) => Some(error),
                _ => None,
            });
            let first = errors.min_by_key(|error| error.index);
            if first.is_some() {
                return first;
            }
        }
        None
    }

    /// Adds what was read to the states, and returns it.
    fn gather(&mut self) -> Result<Vec<Vec<Part>>, RunError> {
        let mut workers = std::mem::take(&mut *self.workers());
        for worker in &mut workers {
            for (state, part) in self.states.iter_mut().zip(worker) {
                add(state, part, |error| RunError::Internal(error.to_string()))?;
            }
        }
        Ok(workers)
    }

    /// Takes the scores of examples from parts that were added, to give them away in the order of the
    /// references.
    fn take_samples(&mut self, workers: &mut [Vec<Part>], pairs: &Pairs) {
        let states = &self.states;
        let samples = |worker: &Vec<Part>| -> Vec<(u64, usize, Sample)> {
            let of_metric = |(metric, (part, state)): (usize, (&Part, &State))| {
                let samples = part.samples(state).into_iter();
                let position = |sample: &Sample| pairs.apart[sample.record].ordinal;
                samples
                    .map(move |sample| (position(&sample), metric, sample))
                    .collect::<Vec<_>>()
            };
            let parts = worker.iter().zip(states).enumerate();
            parts.flat_map(of_metric).collect()
        };
        let samples: Vec<Vec<_>> = mapped(workers, self.threads, samples);
        for (position, metric, sample) in samples.into_iter().flatten() {
            let waiting = self.waiting.samples.entry(position).or_default();
            waiting.push((metric, sample));
        }
    }

    /// Gives away the scores of examples that no earlier reference can come before, or `all` of them.
    fn release(&mut self, all: bool) -> Result<(), RunError> {
        while let Some(entry) = self.waiting.samples.first_entry() {
            if *entry.key() != self.waiting.next && !all {
                break;
            }
            self.waiting.next = entry.key() + 1;
            for (metric, sample) in entry.remove() {
                let name = self.run.metrics[metric].entry.name;
                self.observer
                    .sample(name, &sample)
                    .map_err(RunError::Observer)?;
            }
        }
        Ok(())
    }

    /// Lets the observer draw pairs that were scored.
    fn draw(&self, join: &Join, pairs: &[Pair]) -> Result<(), RunError> {
        if self.observer.wants_inputs() {
            for pair in pairs {
                let taken = self
                    .run
                    .as_shown(join.record(pair), |record| self.observer.input(record));
                taken.map_err(RunError::Observer)?;
            }
        }
        if !self.observer.draws() {
            return Ok(());
        }
        let draw = |pair: &Pair| {
            let mut texts = Default::default();
            let given = join.record(pair);
            let record = given.taken(&mut texts);
            if record.prediction.is_missing() && record.join.missing == Missing::Skip {
                return Ok(());
            }
            for Chosen { entry, scorer, .. } in &self.run.metrics {
                if !entry.drawings.is_empty() {
                    self.observer
                        .record(entry, scorer, pair.ordinal, &mut record.clone())
                        .map_err(RunError::Observer)?;
                }
            }
            Ok(())
        };
        match self.threads {
            1 => pairs.iter().try_for_each(draw),
            _ => pairs.par_iter().try_for_each(draw),
        }
    }
}
