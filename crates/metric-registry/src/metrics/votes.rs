//! Votes of several answers to a question, as an option of `exact-match`.

use std::num::NonZeroUsize;

use metric_record::{FieldError, Kind, Record, Side};
use metric_text::ExactMatch;
use metric_text::read::texts;
use metric_text::votes::{Vote, VoteCounts, VoteTies};

use crate::numbers::named;
use crate::shapes::Measured;
use crate::{
    Asked, Facts, Named, Numbers, OptionError, OptionSpec, Options, Reading, Sink, TextMetric,
};

pub(crate) const VOTES: OptionSpec = OptionSpec::text(
    "votes",
    "N|all",
    "Predictions are lists of answers: score the most frequent one of the first N, or of all",
);
pub(crate) const VOTE_TIES: OptionSpec = OptionSpec::choice::<VoteTies>(
    "vote-ties",
    "RULE",
    "With --votes: rule for several most frequent answers [default: first]",
);

/// The reading of lists of answers, of which the most frequent one is scored.
pub(crate) struct Votes {
    metric: ExactMatch,
    /// The number of first answers that vote; `None` for all.
    first: Option<NonZeroUsize>,
    ties: VoteTies,
}

impl Votes {
    /// Returns the reading under these options; `None` if predictions are single answers.
    pub(crate) fn new(metric: &ExactMatch, options: &Options) -> Result<Option<Self>, OptionError> {
        let ties: Option<VoteTies> = options.parse(VOTE_TIES.name)?;
        let Some(votes) = options.get(VOTES.name) else {
            return match ties {
                Some(ties) => {
                    let problem = "is the rule for tied votes: expected also --votes";
                    Err(OptionError::new(VOTE_TIES.name, ties.name(), problem))
                }
                None => Ok(None),
            };
        };
        let first = match votes.trim() {
            "all" => None,
            number => Some(number.parse().map_err(|_| {
                let problem = "expected a positive integer, or all";
                OptionError::new(VOTES.name, number, problem)
            })?),
        };
        Ok(Some(Self {
            metric: metric.clone(),
            first,
            ties: ties.unwrap_or_default(),
        }))
    }

    /// The answers that vote.
    fn answers(&self, record: &mut Record<'_>) -> Result<Vec<String>, String> {
        let mut answers = match record.prediction.kind() {
            // A question without a prediction has one empty answer.
            Kind::Missing => return Ok(vec![String::new()]),
            Kind::List => texts(&mut record.prediction)?,
            // A cell of CSV with a list in JSON.
            Kind::Line => record.prediction.read()?,
            found => return Err(format!("expected a list of answers, found {found}")),
        };
        match self.first.map(NonZeroUsize::get) {
            None if answers.is_empty() => Err("no answers: expected at least one".to_owned()),
            Some(first) if answers.len() < first => {
                let (s, found) = (if answers.len() == 1 { "" } else { "s" }, answers.len());
                Err(format!(
                    "{found} answer{s}: expected at least {first}, as --votes says"
                ))
            }
            first => {
                answers.truncate(first.unwrap_or(usize::MAX));
                Ok(answers)
            }
        }
    }

    /// A text as it is compared.
    fn compared(&self, side: Side, text: &str) -> Result<String, FieldError> {
        let refuse = |problem: String| FieldError::new(side, problem).limit();
        let applied = self.metric.apply(text);
        let applied = applied.map_err(|error| refuse(error.to_string()))?;
        Ok(applied.into_owned())
    }
}

impl Reading for Votes {
    type Metric = Measured<VoteCounts>;
    type Header = ();

    fn metric(&self) -> &Self::Metric {
        &Measured::METRIC
    }

    fn facts(&self) -> Facts {
        let votes = self
            .first
            .map_or("all".to_owned(), |first| first.to_string());
        let own = [(VOTES.name, votes), (VOTE_TIES.name, self.ties.to_string())];
        let mut signature: Named<String> = named(own);
        signature.extend(TextMetric::definition(&self.metric));
        Facts {
            has_proportions: self.ties != VoteTies::Expected,
            ..Facts::signed(signature)
        }
    }

    fn read(&self, record: &mut Record<'_>, sink: &mut Sink<'_, Self>) -> Result<(), FieldError> {
        let answers = self.answers(record).map_err(FieldError::prediction)?;
        let references = texts(&mut record.reference).map_err(FieldError::reference)?;
        if references.is_empty() {
            return Err(FieldError::reference(
                "no references: expected at least one",
            ));
        }
        let all = |side, texts: Vec<String>| {
            let texts = texts.iter().map(|text| self.compared(side, text));
            texts.collect::<Result<Vec<String>, FieldError>>()
        };
        let answers = all(Side::Prediction, answers)?;
        let references = all(Side::Reference, references)?;
        let vote = Vote::of(answers.iter().map(String::as_str));
        let score = vote.score(self.ties, |answer| references.iter().any(|it| it == answer));
        sink.counted_in(|state| state.add(&vote, score));
        Ok(())
    }

    fn numbers(&self, state: &VoteCounts, (): &(), _: Asked<'_>) -> Numbers {
        let correct = state.correct.value();
        let correct = match self.ties {
            VoteTies::Expected => correct.into(),
            // A number of questions.
            _ => (correct as u64).into(),
        };
        Numbers {
            scores: vec![("exact_match".to_owned(), state.value())],
            counts: vec![
                ("correct".to_owned(), correct),
                ("tied".to_owned(), state.tied.into()),
                ("total".to_owned(), state.total.into()),
            ],
            ..Numbers::default()
        }
    }
}
