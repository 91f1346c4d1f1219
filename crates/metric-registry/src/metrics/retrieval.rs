//! Ranked documents of topics.

use metric_core::Mean;
use metric_rank::{
    Gains, RankError, Retrieval, RetrievalProfile, RetrievalState, Topic, VERSION, ndcg_of_scores,
    rank,
};
use metric_record::{FieldError, Message, Record, Side};

use crate::numbers::named;
use crate::shapes::Measured;
use crate::shapes::topics::{self, Documents, GAIN, RELEVANCE, SCORE, read_documents};
use crate::{
    Asked, Counted, Demo, Entry, Facts, Named, Numbers, OptionError, OptionKind, OptionSpec,
    Options, Reading, Remarks, ScoreSpec, Shape, Show, Sink, scorer,
};

const TREC_EVAL: &[&str] = &[
    RetrievalProfile::TrecEval9.name(),
    RetrievalProfile::TrecEval10.name(),
];

const LEVEL: OptionSpec = OptionSpec::integer(
    "relevance-level",
    "N",
    1..=i64::MAX,
    "Least relevance of a relevant document, as -l of trec_eval",
)
.or("1")
.only_with("profile", TREC_EVAL);

const JUDGED_ONLY: OptionSpec = OptionSpec::flag(
    "judged-only",
    "Leave out ranked documents that are not judged, as -J of trec_eval",
)
.only_with("profile", TREC_EVAL);

const MAX_DOCUMENTS: OptionSpec = OptionSpec::integer(
    "max-documents",
    "N",
    1..=i64::MAX,
    "Leave out documents after rank N, as -M of trec_eval",
)
.only_with("profile", TREC_EVAL);

const SKIP_OWN_ID: OptionSpec = OptionSpec::flag(
    "skip-own-id",
    "Leave out a ranked document whose name is that of the topic, as BEIR does",
);

pub(crate) const RETRIEVAL: Entry = Entry {
    name: "retrieval",
    question: "Are relevant documents ranked first? nDCG, MAP, MRR, precision, recall",
    programs: "trec_eval, pytrec_eval, BEIR, ir_measures, scikit-learn",
    shapes: &[Shape::Topics.as_is()],
    tried: &[
        &[("k", "1,3"), ("gains", "exponential")],
        &[
            ("profile", "trec-eval-10"),
            ("relevance-level", "2"),
            ("judged-only", ""),
        ],
        &[("max-documents", "2"), ("skip-own-id", "")],
    ],
    help: "Ranked documents of topics: nDCG, MAP, MRR, precision, recall, success, bpref",
    values: (
        "an object of documents with their relevance, or a list of relevant documents",
        "an object of documents with their scores, or a list of documents, the best first",
    ),
    known_as: &[(
        &[
            "ndcg",
            "precision-at-k",
            "recall-at-k",
            "trec-eval",
            "trec_eval",
            "pytrec-eval",
            "beir",
            "ranx",
            "ir-measures",
            "bpref",
            "r-precision",
        ],
        "",
    )],
    demos: &[Demo::new(
        "ranked documents",
        ["topics.qrels", "topics.run"],
        &["ndcg@10", "map", "mrr", "recall@10"],
    )],
    options: &[
        OptionSpec::choice::<RetrievalProfile>(
            "profile",
            "PROFILE",
            "Program whose order of documents and rules for ties to follow",
        )
        .or(RetrievalProfile::TrecEval9.name()),
        OptionSpec::list(
            "k",
            "K,...",
            &OptionKind::Integer(1, i64::MAX),
            "Ranks at which measures are cut",
        )
        .or("10"),
        LEVEL,
        JUDGED_ONLY,
        MAX_DOCUMENTS,
        OptionSpec::choice::<Gains>(
            "gains",
            "GAINS",
            "Gain of a relevance r in nDCG: r (linear) or 2^r - 1 (exponential)",
        )
        .or(Gains::Linear.name()),
        SKIP_OWN_ID,
    ],
    scores: &[
        ScoreSpec::higher("ndcg"),
        ScoreSpec::higher("ndcg@").by("K"),
        ScoreSpec::higher("map"),
        ScoreSpec::higher("map@").by("K"),
        ScoreSpec::higher("mrr"),
        ScoreSpec::higher("precision@").by("K"),
        ScoreSpec::higher("recall@").by("K"),
        ScoreSpec::higher("success@")
            .by("K")
            .proportion("successes@", "topics"),
        ScoreSpec::higher("r_precision"),
        ScoreSpec::higher("bpref"),
        ScoreSpec::higher("inf_ap"),
        ScoreSpec::higher("set_precision"),
        ScoreSpec::higher("set_recall"),
        ScoreSpec::higher("set_f1"),
        ScoreSpec::higher("judged@").by("K"),
    ],
    examples: "topics",
    build: &|options| Ok(scorer("retrieval", VERSION, Topics::new(options)?)),
    ..Entry::BASE
};

/// The reading of topics under the options of the metric.
struct Topics {
    retrieval: Retrieval,
    profile: RetrievalProfile,
    level: i64,
    judged_only: bool,
    max_documents: Option<usize>,
    skip_own_id: bool,
}

impl Topics {
    fn new(options: &Options) -> Result<Self, OptionError> {
        let rank = |text: &str| text.trim().parse().ok().filter(|k| *k > 0);
        let mut cutoffs = options.list("k", "a positive integer", rank)?;
        // Equal signatures print the same.
        cutoffs.sort_unstable();
        let max_documents = options.counting(MAX_DOCUMENTS.name, usize::MAX)?;
        let level: i64 = options.require(LEVEL.name)?;
        if level < 1 {
            let given = options.given(LEVEL.name);
            return Err(OptionError::new(
                LEVEL.name,
                &given,
                "expected a positive integer",
            ));
        }
        Ok(Self {
            retrieval: Retrieval::default()
                .with_cutoffs(cutoffs)
                .with_gains(options.require("gains")?),
            profile: options.require("profile")?,
            level,
            judged_only: options.has(JUDGED_ONLY.name),
            max_documents: max_documents.map(Into::into),
            skip_own_id: options.has(SKIP_OWN_ID.name),
        })
    }

    fn is_sklearn(&self) -> bool {
        self.profile == RetrievalProfile::Sklearn
    }

    /// The greatest cutoff.
    fn depth(&self) -> usize {
        self.retrieval.cutoffs.last().copied().unwrap_or_default()
    }

    fn names(&self) -> Vec<String> {
        if self.is_sklearn() {
            let cutoffs = self.retrieval.cutoffs.iter();
            let at_cutoffs = cutoffs.map(|k| format!("ndcg@{k}"));
            return std::iter::once("ndcg".to_owned())
                .chain(at_cutoffs)
                .collect();
        }
        self.retrieval.names()
    }

    /// The state of a topic whose ranked documents are given, by the rules of trec_eval.
    fn of_trec_eval(
        &self,
        record: &mut Record<'_>,
        run: Documents<'_, f64>,
        sink: &mut Sink<'_, Self>,
    ) -> Result<RetrievalState, FieldError> {
        let mut json = String::new();
        let judgments = read_documents(
            Side::Reference,
            &mut record.reference,
            &RELEVANCE,
            &mut json,
        )?;
        let by_name = topics::by_name(&judgments);
        let precision = self.profile.precision();
        let mut run: Vec<(&str, f64)> = run.iter().map(|(name, score)| (&**name, *score)).collect();
        rank(&mut run, precision);
        let depth = self.depth();
        let is_tie =
            |two: &&[(&str, f64)]| precision.rounded(two[0].1) == precision.rounded(two[1].1);
        if run.windows(2).take(depth).any(|two| is_tie(&two)) {
            sink.count(&tied_topics(), 1);
        }
        let rounded = run
            .windows(2)
            .filter(is_tie)
            .filter(|two| two[0].1 != two[1].1);
        sink.count(&rounded_scores(), rounded.count() as u64);
        run.truncate(self.max_documents.unwrap_or(usize::MAX));
        let ranked = run.iter().map(|(name, _)| by_name.get(*name).copied());
        let is_judged = |relevance: &Option<i64>| relevance.is_some_and(|it| it >= 0);
        let ranked: Vec<Option<i64>> = ranked
            .filter(|it| !self.judged_only || is_judged(it))
            .collect();
        let judged = judgments.iter().map(|(_, relevance)| *relevance).collect();
        let topic = Topic::new(ranked, judged, self.level);
        if topic.relevant() > 0 && topic.irrelevant() == 0 {
            sink.tally(ONLY_RELEVANT, 1);
        }
        Ok(self.retrieval.measure(&topic))
    }

    /// The state of a topic all of whose documents have a relevance and a score.
    fn of_scores(
        &self,
        record: &mut Record<'_>,
        run: &Documents<'_, f64>,
    ) -> Result<RetrievalState, FieldError> {
        let mut json = String::new();
        let judgments = read_documents(Side::Reference, &mut record.reference, &GAIN, &mut json)?;
        let by_name = topics::by_name(&judgments);
        let (mut relevances, mut scores) = (Vec::new(), Vec::new());
        for (name, score) in run {
            let relevance = by_name.get(&**name).copied();
            let unknown = || {
                format!(
                    "the document {name:?} has no relevance: expected the same documents on both sides"
                )
            };
            relevances.push(relevance.ok_or_else(|| FieldError::prediction(unknown()))?);
            scores.push(*score);
        }
        if relevances.len() != judgments.len() {
            let problem = format!(
                "{} documents have a relevance, and {} have a score: expected the same documents on both sides",
                judgments.len(),
                scores.len()
            );
            return Err(FieldError::prediction(problem));
        }
        let relevant = relevances
            .iter()
            .filter(|relevance| **relevance > 0.0)
            .count() as u64;
        let is_exponential = self.retrieval.gains == Gains::Exponential;
        let gain = |relevance: &f64| {
            if is_exponential && *relevance >= 0.0 {
                relevance.exp2() - 1.0
            } else {
                *relevance
            }
        };
        let gains: Vec<f64> = relevances.iter().map(gain).collect();
        let cutoffs = self.retrieval.cutoffs.iter().copied().map(Some);
        let ndcg = std::iter::once(None).chain(cutoffs).map(|cutoff| {
            let ndcg = ndcg_of_scores(&gains, &scores, cutoff);
            let ndcg = ndcg.map_err(|error| match error {
                RankError::InvalidRelevance { value, .. } => FieldError::reference(format!(
                    "expected relevances of at least 0, found {value}"
                )),
                error => FieldError::prediction(error.to_string()),
            })?;
            Ok([ndcg].into_iter().collect())
        });
        Ok(RetrievalState {
            topics: 1,
            answered: 1,
            retrieved: scores.len() as u64,
            relevant,
            relevant_retrieved: relevant,
            without_relevant: u64::from(relevant == 0),
            means: ndcg.collect::<Result<Vec<Mean>, FieldError>>()?,
        })
    }

    fn warnings(
        &self,
        state: &RetrievalState,
        numbers: &Numbers,
        remarks: Remarks<'_>,
    ) -> Vec<Message> {
        let relevant = Counted::new(
            "topic has no relevant documents: its scores are 0, and lower every mean",
            "topics have no relevant documents: their scores are 0, and lower every mean",
        );
        let only_relevant = Counted::new(
            "topic has relevant documents, and none that is judged not relevant: bpref counts every relevant document that is found, as in trec_eval",
            "topics have relevant documents, and none that are judged not relevant: bpref counts every relevant document that is found, as in trec_eval",
        );
        let counts = [
            (state.without_relevant, relevant),
            (remarks.tally(ONLY_RELEVANT), only_relevant),
        ];
        let mut warnings: Vec<Message> = Counted::warnings(counts).collect();
        let judged = format!("judged@{}", self.depth());
        if let Some(share) = numbers.score(&judged).filter(|share| *share < 0.5) {
            warnings.push(
                format!(
                    "only {:.1}% of the first {} documents are judged: documents without a judgment count as not relevant",
                    100.0 * share,
                    self.depth()
                )
                .into(),
            );
        }
        warnings
    }
}

/// The name of the tally of topics without documents that are judged not relevant.
const ONLY_RELEVANT: &str = "only relevant";

fn tied_topics() -> Counted {
    Counted::new(
        "topic has equal scores among the first documents: they are ordered by descending name, as in trec_eval",
        "topics have equal scores among the first documents: they are ordered by descending name, as in trec_eval",
    )
}

fn rounded_scores() -> Counted {
    let rest = |of: &str| {
        let text = format!(
            "{of} equal only when rounded to 32 bits, as trec_eval 9 does: to compare all digits, use "
        );
        Message::from(text).option("profile", RetrievalProfile::TrecEval10.name())
    };
    Counted::new(rest("pair of scores is"), rest("pairs of scores are"))
}

fn own_document() -> Counted {
    let rest = |of: &str| {
        Message::from(format!(
            "{of} own id among its documents: to leave it out, use "
        ))
        .option(SKIP_OWN_ID.name, "")
    };
    Counted::new(rest("topic has its"), rest("topics have their"))
}

fn without_results() -> Counted {
    Counted::new(
        "judged topic has no results, and counts as 0 in the means",
        "judged topics have no results, and count as 0 in the means",
    )
}

impl Reading for Topics {
    type Metric = Measured<RetrievalState>;
    type Header = ();

    fn metric(&self) -> &Self::Metric {
        &Measured::METRIC
    }

    fn facts(&self) -> Facts {
        let cutoffs: Vec<String> = self
            .retrieval
            .cutoffs
            .iter()
            .map(ToString::to_string)
            .collect();
        let mut parts: Named<String> = named([
            ("profile", self.profile.name().to_owned()),
            ("k", cutoffs.join(",")),
            ("gains", self.retrieval.gains.name().to_owned()),
        ]);
        if !self.is_sklearn() {
            parts.extend(named([(LEVEL.name, self.level.to_string())]));
            let most = self
                .max_documents
                .map(|most| (MAX_DOCUMENTS.name, most.to_string()));
            let judged = self
                .judged_only
                .then(|| (JUDGED_ONLY.name, "true".to_owned()));
            parts.extend(named(most.into_iter().chain(judged)));
        }
        let own = self
            .skip_own_id
            .then(|| (SKIP_OWN_ID.name, "true".to_owned()));
        parts.extend(named(own));
        Facts::signed(parts)
    }

    fn read(&self, record: &mut Record<'_>, sink: &mut Sink<'_, Self>) -> Result<(), FieldError> {
        let is_answered = !record.prediction.is_missing();
        if !is_answered {
            sink.count_record(&without_results(), record.id);
        }
        let mut json = String::new();
        let mut run = read_documents(Side::Prediction, &mut record.prediction, &SCORE, &mut json)?;
        let own = record.id.to_string();
        if self.skip_own_id {
            run.retain(|(name, _)| **name != own);
        } else if run.iter().any(|(name, _)| **name == own) {
            sink.count_record(&own_document(), record.id);
        }
        let mut state = if self.is_sklearn() {
            self.of_scores(record, &run)?
        } else {
            self.of_trec_eval(record, run, sink)?
        };
        state.answered = u64::from(is_answered);
        sink.measured(None, &[], state);
        Ok(())
    }

    fn numbers(&self, state: &RetrievalState, (): &(), asked: Asked<'_>) -> Numbers {
        let means = state
            .means
            .iter()
            .map(Mean::value)
            .chain(std::iter::repeat(None));
        let mut counts = vec![
            ("retrieved".to_owned(), state.retrieved.into()),
            ("relevant".to_owned(), state.relevant.into()),
            (
                "relevant_retrieved".to_owned(),
                state.relevant_retrieved.into(),
            ),
            ("topics".to_owned(), state.topics.into()),
        ];
        let scores: Named<Option<f64>> = self.names().into_iter().zip(means).collect();
        for (name, score) in &scores {
            if let Some(k) = name.strip_prefix("success@") {
                // The mean of zeros and ones.
                let successes = score.unwrap_or_default() * state.topics as f64;
                counts.push((format!("successes@{k}"), (successes.round() as u64).into()));
            }
        }
        let mut numbers = Numbers {
            scores,
            counts,
            ..Numbers::default()
        };
        if let Some(remarks) = asked.remarks.filter(|_| !self.is_sklearn()) {
            numbers.warnings = self.warnings(state, &numbers, remarks);
        }
        numbers
    }

    fn problem(&self, state: &RetrievalState, (): &()) -> Option<Message> {
        let problem = "none of its topics has results, so it has no examples that could be scored";
        (state.answered == 0).then(|| problem.into())
    }

    fn show(&self) -> &dyn Show {
        self
    }
}

impl Show for Topics {
    fn inputs(&self, record: &mut Record<'_>) -> Option<[String; 2]> {
        topics::inputs(record)
    }
}
