//! Word error rates of transcripts with several speakers.

use metric_record::Message;
use metric_text::speakers::{
    AssignedSession, Collar, CpState, CpWer, DiCpWer, OrcWer, Order, Preparation, Search, Speech,
    Time, Timing, TooLarge,
};
use metric_text::{Edits, Unit};
use serde_json::{Value as Json, json};

use crate::numbers::named;
use crate::prepare::NORMALIZE;
use crate::shapes::sessions::{COLLAR, OfSessions, ScoredSession, SessionMetric};
use crate::shapes::texts::{MAX_CELLS, counts};
use crate::{Demo, Entry, Named, OptionError, OptionSpec, Options, ScoreSpec, Scorer, Shape};

const COLLAR_SECONDS: OptionSpec = OptionSpec::number(
    COLLAR,
    "SECONDS",
    0.0..=f64::MAX,
    "Match words only if their times are less than this apart; 5 is usual",
);

const REFERENCE_TIMING: OptionSpec = OptionSpec::choice::<Timing>(
    "reference-timing",
    "TIMING",
    "With --collar: times of the words of a reference segment [default: characters]",
);

const PREDICTION_TIMING: OptionSpec = OptionSpec::choice::<Timing>(
    "prediction-timing",
    "TIMING",
    "With --collar: times of the words of a predicted segment [default: character-points]",
);

const ORDER: OptionSpec = OptionSpec::one_of(
    "order",
    "ORDER",
    || vec![Order::Start.name(), Order::File.name()],
    "Order of the segments [default: start, where all of a side have times]",
);

const UNIT: OptionSpec =
    OptionSpec::choice::<Unit>("unit", "UNIT", "Unit to compare").or(Unit::Word.name());

const SEARCH: OptionSpec = OptionSpec::choice::<Search>(
    "search",
    "SEARCH",
    "Search for the assignment of segments; greedy: fast, and rarely with more errors",
)
.or(Search::Exact.name());

const OPTIONS: &[OptionSpec] = &[
    COLLAR_SECONDS,
    REFERENCE_TIMING,
    PREDICTION_TIMING,
    ORDER,
    UNIT,
    NORMALIZE,
    MAX_CELLS,
];

pub(crate) const CPWER: Entry = Entry {
    name: "cpwer",
    class: "CPWER",
    question: "How many words of a meeting are incorrect or given to the wrong speaker?",
    programs: "MeetEval",
    shapes: &[Shape::Sessions.as_is()],
    tried: &[
        &[
            ("collar", "0.5"),
            ("prediction-timing", "equal"),
            ("unit", "mixed"),
        ],
        &[("order", "file"), ("normalize", "lower,punctuation")],
    ],
    help: "Word error rate of several speakers, each paired with a speaker of the prediction",
    values: (
        "a list of segments {speaker, start, end, words}",
        "a list of segments {speaker, start, end, words}",
    ),
    known_as: &[
        (&["tcpwer", "tcp-wer"], "it is cpwer --collar 5"),
        (&["cpcer", "cp-cer"], "it is cpwer --unit codepoint"),
        (&["speaker-wer", "cp-wer"], ""),
    ],
    demos: &[Demo::new(
        "meetings",
        ["meetings.stm", "heard-meetings.stm"],
        &["cp_wer"],
    )],
    options: OPTIONS,
    scores: &[ScoreSpec::lower("cp_wer"), ScoreSpec::lower("tcp_wer")],
    details: true,
    build: &|options| scorer("cpwer", ["cp_wer", "tcp_wer"], CpWer, options),
    ..Entry::BASE
};

pub(crate) const ORCWER: Entry = Entry {
    name: "orcwer",
    class: "ORCWER",
    question: "How many words of a meeting are incorrect, whoever said them?",
    tried: &[
        &[
            ("collar", "0.5"),
            ("reference-timing", "segment"),
            ("unit", "codepoint"),
        ],
        &[("search", "greedy"), ("order", "file")],
    ],
    help: "Word error rate of several speakers, whose segments go where they fit best",
    known_as: &[
        (&["tcorcwer", "tcorc-wer"], "it is orcwer --collar 5"),
        (&["orc-wer"], ""),
    ],
    demos: &[Demo::new(
        "meetings",
        ["meetings.stm", "heard-meetings.stm"],
        &["orc_wer"],
    )],
    options: &[
        SEARCH,
        COLLAR_SECONDS,
        REFERENCE_TIMING,
        PREDICTION_TIMING,
        ORDER,
        UNIT,
        NORMALIZE,
        MAX_CELLS,
    ],
    scores: &[ScoreSpec::lower("orc_wer"), ScoreSpec::lower("tcorc_wer")],
    details: false,
    build: &|options| {
        let metric = OrcWer::default().with_search(options.require(SEARCH.name)?);
        scorer("orcwer", ["orc_wer", "tcorc_wer"], metric, options)
    },
    ..CPWER
};

pub(crate) const DICPWER: Entry = Entry {
    name: "dicpwer",
    class: "DICPWER",
    question: "How many words of a meeting are incorrect, whatever their speakers are called?",
    tried: &[
        &[("collar", "0.5"), ("unit", "grapheme")],
        &[("order", "file"), ("normalize", "lower")],
    ],
    help: "Word error rate of several speakers, to whom each predicted segment goes where it fits best",
    known_as: &[
        (&["ditcpwer", "di-tcp-wer"], "it is dicpwer --collar 5"),
        (&["di-cp-wer"], ""),
    ],
    demos: &[Demo::new(
        "meetings",
        ["meetings.stm", "heard-meetings.stm"],
        &["di_cp_wer"],
    )],
    scores: &[
        ScoreSpec::lower("di_cp_wer"),
        ScoreSpec::lower("di_tcp_wer"),
    ],
    details: false,
    build: &|options| scorer("dicpwer", ["di_cp_wer", "di_tcp_wer"], DiCpWer, options),
    ..CPWER
};

/// The scorer of a metric, whose score has one name without a collar and one with it.
fn scorer<M: SessionMetric>(
    name: &str,
    [plain, timed]: [&'static str; 2],
    metric: M,
    options: &Options,
) -> Result<Scorer, OptionError> {
    let collar = collar(options)?;
    let preparation = Preparation::default()
        .with_normalizer(options.parse(NORMALIZE.name)?.unwrap_or_default())
        .with_unit(options.require(UNIT.name)?)
        .with_order(options.parse(ORDER.name)?.unwrap_or_default())
        .with_collar(collar);
    let reading = OfSessions {
        metric,
        score: if collar.is_some() { timed } else { plain },
        preparation,
        max_cells: options.integer(MAX_CELLS.name)?,
        details: options.details(),
    };
    Ok(reading.scorer(name))
}

fn collar(options: &Options) -> Result<Option<Collar>, OptionError> {
    let timings = [REFERENCE_TIMING, PREDICTION_TIMING].map(|option| option.name);
    let Some(given) = options.get(COLLAR) else {
        return match timings.into_iter().find(|name| options.has(name)) {
            Some(name) => {
                let reason = Message::from("expected only with ").option(COLLAR, "5");
                Err(OptionError::new(name, &options.given(name), reason))
            }
            None => Ok(None),
        };
    };
    let time = given.parse::<Time>().ok();
    let collar = time.and_then(|time| Collar::new(time).ok());
    let mut collar = collar.ok_or_else(|| {
        OptionError::new(COLLAR, &given, "expected a number of seconds, at least 0")
    })?;
    let [reference, prediction] = timings;
    collar.reference = options.parse(reference)?.unwrap_or(collar.reference);
    collar.prediction = options.parse(prediction)?.unwrap_or(collar.prediction);
    Ok(Some(collar))
}

impl SessionMetric for CpWer {
    const PAIRS_SPEAKERS: bool = true;

    fn session(
        &self,
        prediction: &Speech,
        reference: &Speech,
        max_cells: u64,
    ) -> Result<ScoredSession<CpState>, TooLarge> {
        let session = self.session_within(prediction, reference, max_cells)?;
        let pairs = session.pairs.iter();
        let details = pairs.clone().map(|pair| {
            let counts: serde_json::Map<String, Json> = counts(&pair.edits).into_iter().collect();
            json!({"reference": pair.reference, "prediction": pair.prediction, "counts": counts})
        });
        Ok(ScoredSession {
            state: session.state,
            assignment: pairs
                .map(|pair| json!([pair.reference, pair.prediction]))
                .collect(),
            pairs: details.collect(),
        })
    }
}

impl SessionMetric for OrcWer {
    fn definition(&self) -> Named<String> {
        named([(SEARCH.name, self.search.to_string())])
    }

    fn cheaper(&self) -> Option<(&'static str, &'static str)> {
        (self.search == Search::Exact).then_some((SEARCH.name, Search::Greedy.name()))
    }

    fn session(
        &self,
        prediction: &Speech,
        reference: &Speech,
        max_cells: u64,
    ) -> Result<ScoredSession<Edits>, TooLarge> {
        self.session_within(prediction, reference, max_cells)
            .map(assigned)
    }
}

impl SessionMetric for DiCpWer {
    fn session(
        &self,
        prediction: &Speech,
        reference: &Speech,
        max_cells: u64,
    ) -> Result<ScoredSession<Edits>, TooLarge> {
        self.session_within(prediction, reference, max_cells)
            .map(assigned)
    }
}

fn assigned(session: AssignedSession<'_>) -> ScoredSession<Edits> {
    ScoredSession {
        state: session.edits,
        assignment: json!(session.assignment),
        pairs: Json::Null,
    }
}
