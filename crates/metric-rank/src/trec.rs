use crate::topic::{Gains, RecallLevels, Topic};

/// The parameters of a measure of trec_eval.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Cutoffs {
    /// The measure has none.
    None,
    /// Ranks, with those that trec_eval reports by default.
    Ranks(&'static [u32]),
    /// Levels of recall, with those that trec_eval reports by default.
    Recalls(&'static [f64]),
}

/// A measure by the name that trec_eval and pytrec_eval give it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct TrecMeasure {
    /// The name, such as `ndcg_cut`.
    pub name: &'static str,
    /// What the measure is cut at.
    pub cutoffs: Cutoffs,
    /// The value of a topic at a cutoff, which measures without one ignore.
    value: fn(&Topic, f64) -> f64,
}

const RANKS: Cutoffs = Cutoffs::Ranks(&[5, 10, 15, 20, 30, 100, 200, 500, 1000]);
const SUCCESS_RANKS: Cutoffs = Cutoffs::Ranks(&[1, 5, 10]);
const RECALLS: Cutoffs = Cutoffs::Recalls(&[0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]);

/// The least average precision of which a logarithm is taken, as in trec_eval.
const LEAST: f64 = 0.00001;

const fn plain(name: &'static str, value: fn(&Topic, f64) -> f64) -> TrecMeasure {
    at(name, Cutoffs::None, value)
}

const fn at(name: &'static str, cutoffs: Cutoffs, value: fn(&Topic, f64) -> f64) -> TrecMeasure {
    TrecMeasure {
        name,
        cutoffs,
        value,
    }
}

/// The measures of trec_eval 9 that score ranked documents, as pytrec_eval returns them for a topic.
///
/// `gm_map` and `gm_bpref` are natural logarithms, whose mean is the logarithm of the geometric mean. `num_q` is 1 and
/// `runid` 0, as in pytrec_eval.
pub const TREC_MEASURES: &[TrecMeasure] = &[
    plain("runid", |_, _| 0.0),
    plain("num_q", |_, _| 1.0),
    plain("num_ret", |topic, _| topic.retrieved() as f64),
    plain("num_rel", |topic, _| topic.relevant() as f64),
    plain("num_rel_ret", |topic, _| topic.relevant_retrieved() as f64),
    plain("num_nonrel_judged_ret", |topic, _| {
        topic.irrelevant_retrieved() as f64
    }),
    plain("map", |topic, _| topic.average_precision(None)),
    plain("gm_map", |topic, _| {
        topic.average_precision(None).max(LEAST).ln()
    }),
    plain("Rprec", |topic, _| topic.r_precision()),
    plain("bpref", |topic, _| topic.bpref()),
    plain("gm_bpref", |topic, _| topic.bpref().max(LEAST).ln()),
    plain("recip_rank", |topic, _| topic.reciprocal_rank()),
    at("iprec_at_recall", RECALLS, |topic, recall| {
        topic.interpolated_precision(recall, RecallLevels::Up)
    }),
    at("P", RANKS, |topic, k| topic.precision(k as usize)),
    at("relative_P", RANKS, |topic, k| {
        topic.relative_precision(k as usize)
    }),
    at("recall", RANKS, |topic, k| topic.recall(k as usize)),
    plain("infAP", |topic, _| topic.inferred_average_precision()),
    plain("11pt_avg", |topic, _| {
        topic.eleven_point_average(RecallLevels::Up)
    }),
    plain("ndcg", |topic, _| topic.ndcg(None, Gains::Linear)),
    at("ndcg_cut", RANKS, |topic, k| {
        topic.ndcg(Some(k as usize), Gains::Linear)
    }),
    at("map_cut", RANKS, |topic, k| {
        topic.average_precision(Some(k as usize))
    }),
    at("success", SUCCESS_RANKS, |topic, k| {
        topic.success(k as usize)
    }),
    plain("set_P", |topic, _| topic.set_precision()),
    plain("set_relative_P", |topic, _| topic.set_relative_precision()),
    plain("set_recall", |topic, _| topic.set_recall()),
    plain("set_map", |topic, _| topic.set_average_precision()),
    plain("set_F", |topic, _| topic.set_f1()),
    plain("utility", |topic, _| topic.utility()),
];

impl TrecMeasure {
    /// Returns the measure of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        TREC_MEASURES.iter().find(|measure| measure.name == name)
    }

    /// Returns the values of a topic by name at these cutoffs, or at the default ones, in their order.
    ///
    /// ```
    /// use metric_rank::{Topic, TrecMeasure};
    ///
    /// let topic = Topic::new(vec![Some(1), None], vec![1], 1);
    /// let precision = TrecMeasure::named("P").ok_or("not there")?;
    /// assert_eq!(precision.values(&topic, Some(&[2.0])), [("P_2".to_owned(), 0.5)]);
    /// # Ok::<(), &str>(())
    /// ```
    #[must_use]
    pub fn values(&self, topic: &Topic, cutoffs: Option<&[f64]>) -> Vec<(String, f64)> {
        let cutoffs = self.cutoffs_or_default(cutoffs);
        let names = self.keys(&cutoffs);
        names.into_iter().zip(self.at(topic, &cutoffs)).collect()
    }

    /// Returns these cutoffs, or the default ones; a single 0 for a measure without any.
    #[must_use]
    pub fn cutoffs_or_default(&self, cutoffs: Option<&[f64]>) -> Vec<f64> {
        match (self.cutoffs, cutoffs) {
            (Cutoffs::None, _) => vec![0.0],
            (_, Some(cutoffs)) => cutoffs.to_vec(),
            (Cutoffs::Ranks(ranks), None) => ranks.iter().map(|rank| f64::from(*rank)).collect(),
            (Cutoffs::Recalls(recalls), None) => recalls.to_vec(),
        }
    }

    /// Returns the names of the values at these cutoffs, such as `P_5` and `iprec_at_recall_0.10`.
    #[must_use]
    pub fn keys(&self, cutoffs: &[f64]) -> Vec<String> {
        let name = self.name;
        let key = |cutoff: &f64| match self.cutoffs {
            Cutoffs::None => name.to_owned(),
            Cutoffs::Ranks(_) => format!("{name}_{cutoff}"),
            Cutoffs::Recalls(_) => format!("{name}_{cutoff:.2}"),
        };
        cutoffs.iter().map(key).collect()
    }

    /// Returns the values of a topic at these cutoffs.
    pub fn at<'a>(
        &'a self,
        topic: &'a Topic,
        cutoffs: &'a [f64],
    ) -> impl Iterator<Item = f64> + 'a {
        cutoffs.iter().map(|cutoff| (self.value)(topic, *cutoff))
    }
}
