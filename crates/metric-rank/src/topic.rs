use metric_core::named_choice;

/// What a relevance is worth in a discounted sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Gains {
    /// The relevance itself, as in trec_eval, after Järvelin and Kekäläinen (2002).
    #[default]
    Linear,
    /// 2^relevance − 1, after Burges et al. (2005), as in gdeval and `ndcg_burges` of ranx.
    Exponential,
}

impl Gains {
    /// All gains.
    pub const ALL: &[Self] = &[Self::Linear, Self::Exponential];

    /// Returns the name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Exponential => "exponential",
        }
    }

    /// A relevance of 0 or less is worth nothing.
    fn of(self, relevance: i64) -> f64 {
        let relevance = relevance.max(0) as f64;
        match self {
            Self::Linear => relevance,
            Self::Exponential => relevance.exp2() - 1.0,
        }
    }
}

named_choice!(Gains, "gains");

/// How many documents a level of recall means for interpolated precision. The versions of trec_eval differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecallLevels {
    /// ⌊x·R + 0.9⌋, as in trec_eval 9 and pytrec_eval.
    #[default]
    Up,
    /// x·R, rounded half up, as in trec_eval 10.
    Nearest,
}

/// The small number that keeps infAP from dividing by 0, as in trec_eval.
const INFERRED_AP_EPSILON: f64 = 0.00001;

/// The ranked documents of a topic, each with its relevance, and the relevances of all judged documents.
///
/// A document is relevant if its relevance is at least the level, which is at least 1. A negative relevance means that the
/// document was in the pool of documents to judge, but was not judged. Every measure is 0 if there are no relevant
/// documents or no ranked ones, unless it says otherwise.
///
/// Ranks count from 1. R is the number of relevant documents, n that of ranked documents, and c(k) that of relevant
/// documents among the first k.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topic {
    ranked: Vec<Option<i64>>,
    /// In descending order.
    judged: Vec<i64>,
    level: i64,
    relevant: usize,
    found: usize,
}

impl Topic {
    /// Returns a topic: the relevance of each ranked document, the best first, where `None` has no judgment; the
    /// relevances of all judged documents in any order; and the relevance level, below which nothing is relevant.
    #[must_use]
    pub fn new(ranked: Vec<Option<i64>>, mut judged: Vec<i64>, level: i64) -> Self {
        judged.sort_unstable_by(|a, b| b.cmp(a));
        let relevant = judged.iter().take_while(|it| **it >= level).count();
        let found = ranked.iter().flatten().filter(|it| **it >= level).count();
        Self {
            ranked,
            judged,
            level,
            relevant,
            found,
        }
    }

    /// Returns n, the number of ranked documents.
    #[must_use]
    pub fn retrieved(&self) -> usize {
        self.ranked.len()
    }

    /// Returns R, the number of relevant documents.
    #[must_use]
    pub fn relevant(&self) -> usize {
        self.relevant
    }

    /// Returns c(n), the number of relevant documents that are ranked.
    #[must_use]
    pub fn relevant_retrieved(&self) -> usize {
        self.found
    }

    /// Returns the number of ranked documents that were judged not relevant.
    #[must_use]
    pub fn irrelevant_retrieved(&self) -> usize {
        let judged = self.ranked.iter().flatten();
        judged.filter(|it| (0..self.level).contains(*it)).count()
    }

    /// Returns the number of documents that were judged not relevant.
    #[must_use]
    pub fn irrelevant(&self) -> usize {
        let judged = self.judged.iter();
        judged.filter(|it| (0..self.level).contains(*it)).count()
    }

    fn is_relevant(&self, relevance: Option<i64>) -> bool {
        relevance.is_some_and(|relevance| relevance >= self.level)
    }

    /// c(k), or c(n) for a greater k.
    fn hits(&self, k: usize) -> usize {
        let first = self.ranked.iter().take(k);
        first.filter(|it| self.is_relevant(**it)).count()
    }

    /// The ranks of relevant documents, each with c of it.
    fn relevant_ranks(&self) -> impl Iterator<Item = (usize, usize)> {
        let ranks = self.ranked.iter().zip(1..);
        let relevant = ranks.filter(|(it, _)| self.is_relevant(**it));
        relevant.zip(1..).map(|((_, rank), hits)| (rank, hits))
    }

    /// Returns average precision: the sum of c(i)/i over the ranks i of relevant documents up to the `cutoff`, divided
    /// by R.
    ///
    /// ```
    /// use metric_rank::Topic;
    ///
    /// let topic = Topic::new(vec![None, Some(1), Some(1)], vec![1, 1], 1);
    /// assert_eq!(topic.average_precision(None), (1.0 / 2.0 + 2.0 / 3.0) / 2.0);
    /// assert_eq!(topic.average_precision(Some(2)), 1.0 / 2.0 / 2.0);
    /// ```
    #[must_use]
    pub fn average_precision(&self, cutoff: Option<usize>) -> f64 {
        let cutoff = cutoff.unwrap_or(usize::MAX);
        let ranks = self
            .relevant_ranks()
            .take_while(|(rank, _)| *rank <= cutoff);
        let sum: f64 = ranks.map(|(rank, hits)| ratio(hits, rank)).sum();
        over(sum, self.relevant)
    }

    /// Returns 1 over the rank of the first relevant document.
    #[must_use]
    pub fn reciprocal_rank(&self) -> f64 {
        let first = self.relevant_ranks().next();
        first.map_or(0.0, |(rank, _)| ratio(1, rank))
    }

    /// Returns c(k)/k, even if fewer than k documents are ranked.
    #[must_use]
    pub fn precision(&self, k: usize) -> f64 {
        ratio(self.hits(k), k)
    }

    /// Returns c(k)/R.
    #[must_use]
    pub fn recall(&self, k: usize) -> f64 {
        ratio(self.hits(k), self.relevant)
    }

    /// Returns 1 if there is a relevant document among the first k.
    #[must_use]
    pub fn success(&self, k: usize) -> f64 {
        f64::from(u8::from(self.hits(k) > 0))
    }

    /// Returns c(k)/min(k, R).
    #[must_use]
    pub fn relative_precision(&self, k: usize) -> f64 {
        ratio(self.hits(k), k.min(self.relevant))
    }

    /// Returns c(R)/R.
    #[must_use]
    pub fn r_precision(&self) -> f64 {
        self.recall(self.relevant)
    }

    /// Returns the normalized discounted cumulative gain: Σ gain/log₂(i + 1) over the ranks i up to the `cutoff`, divided
    /// by the same sum for all judged documents, sorted by relevance. The level plays no part.
    #[must_use]
    pub fn ndcg(&self, cutoff: Option<usize>, gains: Gains) -> f64 {
        let cutoff = cutoff.unwrap_or(usize::MAX);
        let ranked = self.ranked.iter().take(cutoff);
        let found = discounted(ranked.map(|it| it.map_or(0.0, |it| gains.of(it))));
        let judged = self.judged.iter().take_while(|it| **it > 0).take(cutoff);
        let ideal = discounted(judged.map(|it| gains.of(*it)));
        if ideal > 0.0 { found / ideal } else { 0.0 }
    }

    /// Returns bpref, after Buckley and Voorhees (2004) as trec_eval computes it: (1/R) Σ over ranked relevant documents
    /// of 1 − min(b, R)/min(I, R), where b judged documents above are not relevant, of I in all.
    ///
    /// ```
    /// use metric_rank::Topic;
    ///
    /// // One of two irrelevant documents is above the relevant one.
    /// let topic = Topic::new(vec![Some(0), None, Some(1)], vec![1, 1, 0, 0], 1);
    /// assert_eq!(topic.bpref(), (1.0 - 1.0 / 2.0) / 2.0);
    /// ```
    #[must_use]
    pub fn bpref(&self) -> f64 {
        let most = self.irrelevant().min(self.relevant);
        let mut above = 0;
        let mut sum = 0.0;
        for relevance in self.ranked.iter().flatten() {
            if *relevance >= self.level {
                sum += 1.0 - ratio(above.min(self.relevant), most);
            } else if *relevance >= 0 {
                above += 1;
            }
        }
        over(sum, self.relevant)
    }

    /// Returns inferred average precision, after Yilmaz and Aslam (2006) as trec_eval computes it. Documents of negative
    /// relevance are in the pool, and were not judged.
    #[must_use]
    pub fn inferred_average_precision(&self) -> f64 {
        let (mut relevant, mut irrelevant, mut unjudged) = (0_usize, 0_usize, 0_usize);
        let mut sum = 0.0;
        for (above, relevance) in self.ranked.iter().enumerate() {
            let Some(relevance) = relevance else {
                continue;
            };
            if *relevance < 0 {
                unjudged += 1;
            } else if *relevance < self.level {
                irrelevant += 1;
            } else {
                let rank = (above + 1) as f64;
                sum += 1.0 / rank;
                if above > 0 {
                    let in_pool = ratio(relevant + irrelevant + unjudged, above);
                    let found = relevant as f64 + INFERRED_AP_EPSILON;
                    let judged = (relevant + irrelevant) as f64 + 2.0 * INFERRED_AP_EPSILON;
                    sum += above as f64 / rank * in_pool * (found / judged);
                }
                relevant += 1;
            }
        }
        over(sum, self.relevant)
    }

    /// Returns the precision of all ranked documents, c(n)/n.
    #[must_use]
    pub fn set_precision(&self) -> f64 {
        ratio(self.found, self.retrieved())
    }

    /// Returns the recall of all ranked documents, c(n)/R.
    #[must_use]
    pub fn set_recall(&self) -> f64 {
        ratio(self.found, self.relevant)
    }

    /// Returns F1 of all ranked documents, 2c(n)/(n + R).
    #[must_use]
    pub fn set_f1(&self) -> f64 {
        ratio(2 * self.found, self.retrieved() + self.relevant)
    }

    /// Returns c(n)²/(n·R).
    #[must_use]
    pub fn set_average_precision(&self) -> f64 {
        ratio(self.found * self.found, self.retrieved() * self.relevant)
    }

    /// Returns c(n)/min(n, R).
    #[must_use]
    pub fn set_relative_precision(&self) -> f64 {
        ratio(self.found, self.retrieved().min(self.relevant))
    }

    /// Returns 2c(n) − n: relevant documents are worth 1, and others cost 1.
    #[must_use]
    pub fn utility(&self) -> f64 {
        2.0 * self.found as f64 - self.retrieved() as f64
    }

    /// Returns the greatest c(i)/i over all ranks i at which the recall has reached `recall`, or 0 if it never does.
    /// Nothing is ranked before rank 1, so this is NaN for a topic without ranked documents if the level is 0 documents,
    /// as in trec_eval.
    #[must_use]
    pub fn interpolated_precision(&self, recall: f64, levels: RecallLevels) -> f64 {
        let rounding = match levels {
            RecallLevels::Up => 0.9,
            RecallLevels::Nearest => 0.5,
        };
        let least = (recall * self.relevant as f64 + rounding).floor() as usize;
        if self.ranked.is_empty() {
            return if least == 0 { f64::NAN } else { 0.0 };
        }
        let ranks = self.relevant_ranks().filter(|(_, hits)| *hits >= least);
        ranks
            .map(|(rank, hits)| ratio(hits, rank))
            .fold(0.0, f64::max)
    }

    /// Returns the mean of [`interpolated_precision`](Self::interpolated_precision) at a recall of 0, 0.1, 0.2 to 1.
    #[must_use]
    pub fn eleven_point_average(&self, levels: RecallLevels) -> f64 {
        let recalls = (0..=10).map(|tenths| f64::from(tenths) / 10.0);
        let precisions = recalls.map(|recall| self.interpolated_precision(recall, levels));
        precisions.sum::<f64>() / 11.0
    }

    /// Returns the share of judged documents among the first min(k, n); undefined without ranked documents. Documents of
    /// negative relevance were not judged.
    #[must_use]
    pub fn judged(&self, k: usize) -> Option<f64> {
        let considered = k.min(self.retrieved());
        let first = self.ranked.iter().take(considered);
        let judged = first.filter(|it| it.is_some_and(|relevance| relevance >= 0));
        (considered > 0).then(|| ratio(judged.count(), considered))
    }
}

/// The sum of gains, each divided by log₂(rank + 1).
pub(crate) fn discounted(gains: impl Iterator<Item = f64>) -> f64 {
    let mut sum = 0.0;
    for (rank, gain) in (1_u32..).zip(gains) {
        if gain > 0.0 {
            sum += gain / f64::from(rank + 1).log2();
        }
    }
    sum
}

fn ratio(part: usize, of: usize) -> f64 {
    over(part as f64, of)
}

/// A share of nothing is 0.
fn over(part: f64, of: usize) -> f64 {
    if of == 0 { 0.0 } else { part / of as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All measures that are 0 of nothing.
    fn all(topic: &Topic) -> Vec<f64> {
        vec![
            topic.average_precision(None),
            topic.reciprocal_rank(),
            topic.precision(3),
            topic.recall(3),
            topic.success(3),
            topic.relative_precision(3),
            topic.r_precision(),
            topic.ndcg(None, Gains::Linear),
            topic.bpref(),
            topic.inferred_average_precision(),
            topic.set_precision(),
            topic.set_recall(),
            topic.set_f1(),
            topic.set_average_precision(),
            topic.set_relative_precision(),
        ]
    }

    #[test]
    fn nothing_ranked_or_nothing_relevant_is_0() {
        let nothing_ranked = Topic::new(vec![], vec![1, 0], 1);
        assert!(all(&nothing_ranked).iter().all(|value| *value == 0.0));
        assert_eq!(nothing_ranked.judged(5), None);
        assert!(
            nothing_ranked
                .interpolated_precision(0.0, RecallLevels::Up)
                .is_nan()
        );
        let nothing_relevant = Topic::new(vec![Some(0), None], vec![0], 1);
        assert!(all(&nothing_relevant).iter().all(|value| *value == 0.0));
        assert_eq!(nothing_relevant.eleven_point_average(RecallLevels::Up), 0.0);
        assert_eq!(nothing_relevant.judged(5), Some(0.5));
    }

    #[test]
    fn a_perfect_topic_is_1() {
        let topic = Topic::new(vec![Some(3), Some(1), Some(1)], vec![1, 3, 1], 1);
        // The small number of infAP takes a little away.
        let near_1 = |value: &f64| (1.0 - 2e-5..=1.0).contains(value);
        assert!(all(&topic).iter().all(near_1));
        assert!(topic.inferred_average_precision() < 1.0);
        assert_eq!(topic.average_precision(None), 1.0);
        assert_eq!(topic.ndcg(None, Gains::Linear), 1.0);
        assert_eq!(topic.bpref(), 1.0);
        assert_eq!(topic.eleven_point_average(RecallLevels::Up), 1.0);
        assert_eq!(topic.utility(), 3.0);
    }

    #[test]
    fn negative_relevance_is_in_the_pool_and_not_judged() {
        let topic = Topic::new(vec![Some(-1), Some(0), Some(1)], vec![-1, 0, 1], 1);
        assert_eq!(topic.judged(3), Some(2.0 / 3.0));
        assert_eq!(topic.irrelevant_retrieved(), 1);
        // One judged irrelevant document is above, of one.
        assert_eq!(topic.bpref(), 0.0);
        let (g, b) = (1e-5, 1.0 + 2e-5);
        let expected = 1.0 / 3.0 + 2.0 / 3.0 * (2.0 / 2.0) * (g / b);
        assert_eq!(topic.inferred_average_precision(), expected);
    }

    #[test]
    fn levels_of_recall_differ_by_version() {
        // Of 3 relevant documents, a recall of 0.4 means 1.2: two documents in version 9, and one in version 10.
        let topic = Topic::new(vec![Some(1), None, None, Some(1)], vec![1, 1, 1], 1);
        assert_eq!(topic.interpolated_precision(0.4, RecallLevels::Up), 0.5);
        assert_eq!(
            topic.interpolated_precision(0.4, RecallLevels::Nearest),
            1.0
        );
    }

    #[test]
    fn gains() {
        let topic = Topic::new(vec![Some(1), Some(3)], vec![3, 1], 1);
        let second = 3_f64.log2();
        let linear = (1.0 + 3.0 / second) / (3.0 + 1.0 / second);
        assert_eq!(topic.ndcg(None, Gains::Linear), linear);
        let exponential = (1.0 + 7.0 / second) / (7.0 + 1.0 / second);
        assert_eq!(topic.ndcg(None, Gains::Exponential), exponential);
        assert_eq!(topic.ndcg(Some(1), Gains::Linear), 1.0 / 3.0);
    }
}
