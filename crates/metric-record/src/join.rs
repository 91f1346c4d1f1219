use std::fmt;

use crate::Message;

/// The number of ids that a message names.
pub const NAMED_IDS: usize = 5;

/// Ids that stop a join: references and predictions are joined strictly.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum JoinError {
    /// References without a prediction.
    Missing(Unmatched),
    /// References without a prediction, because there are no predictions at all.
    NoPredictions(Unmatched),
    /// Predictions without a reference.
    Extra(Unmatched),
    /// References without a prediction, and predictions without a reference.
    MissingAndExtra(Unmatched, Unmatched),
    /// Ids that occur more than once in one source.
    Duplicate(Duplicate),
}

/// Records of one source whose ids the other source does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmatched {
    /// The source that has the records.
    pub source: String,
    /// The source that lacks their ids.
    pub other: String,
    /// The number of records.
    pub count: u64,
    /// The first few ids, at most [`NAMED_IDS`], in the order in which a message names them.
    pub ids: Vec<String>,
    /// Whether the ids are the numbers of lines or rows, because the source has no ids.
    pub are_lines: bool,
}

/// Ids that occur more than once in one source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Duplicate {
    /// The source.
    pub source: String,
    /// The first such id.
    pub id: String,
    /// The first few lines that it is on, where the source has lines.
    pub lines: Vec<u64>,
    /// The first few locations in words, such as `part-2.csv line 7`, where lines of one file do not say it.
    pub locations: Vec<String>,
    /// The number of ids that occur more than once.
    pub count: u64,
    /// Further ids of these, at most [`NAMED_IDS`] with the first.
    pub others: Vec<String>,
    /// Fields in which the records of each such id differ, where they are known.
    pub fields: Vec<String>,
}

impl Duplicate {
    /// Returns an id of a source that occurs more than once, as `count` ids do; `others` are some
    /// of these.
    pub fn new(
        source: impl Into<String>,
        id: impl Into<String>,
        count: u64,
        others: Vec<String>,
    ) -> Self {
        Self {
            source: source.into(),
            id: id.into(),
            lines: Vec::new(),
            locations: Vec::new(),
            count,
            others,
            fields: Vec::new(),
        }
    }

    /// Names the fields in which the records of each such id differ.
    #[must_use]
    pub fn fields(mut self, fields: Vec<String>) -> Self {
        self.fields = fields;
        self
    }

    /// Names the lines that the id is on.
    #[must_use]
    pub fn lines(mut self, lines: impl IntoIterator<Item = u64>) -> Self {
        self.lines = lines.into_iter().collect();
        self
    }

    /// Names the locations of the id in words.
    #[must_use]
    pub fn locations(mut self, locations: Vec<String>) -> Self {
        self.locations = locations;
        self
    }
}

impl JoinError {
    /// Returns the error as a message, which names the options that let a run go on.
    #[must_use]
    pub fn message(&self) -> Message {
        match self {
            Self::Missing(missing) => missing_message(missing),
            Self::NoPredictions(missing) => Message::from(format!(
                "{}: has no records: expected predictions for {}",
                missing.other,
                missing.summary("reference")
            )),
            Self::Extra(extra) => extra_message(extra),
            Self::MissingAndExtra(missing, extra) => missing_message(missing)
                .text("\n")
                .message(&extra_message(extra)),
            Self::Duplicate(duplicate) => duplicate_message(duplicate),
        }
    }
}

fn missing_message(missing: &Unmatched) -> Message {
    let listed = missing.summary("reference");
    let them = missing.pronoun();
    let plural = if missing.count == 1 {
        "an empty prediction"
    } else {
        "empty predictions"
    };
    Message::from(format!(
        "{}: no prediction for {listed}; to score {them} against {plural}, use ",
        missing.other
    ))
    .option("missing", "empty")
    .text(format_args!("; to leave {them} out, use "))
    .option("missing", "skip")
}

fn extra_message(extra: &Unmatched) -> Message {
    let listed = extra.summary("prediction");
    let them = extra.pronoun();
    Message::from(format!(
        "{}: no reference for {listed}; to leave {them} out, use ",
        extra.other
    ))
    .option("extra", "ignore")
}

fn duplicate_message(duplicate: &Duplicate) -> Message {
    let Duplicate {
        source,
        id,
        lines,
        locations,
        count,
        others,
        fields,
    } = duplicate;
    let mut text = format!("{source}: duplicate id {}", quoted_id(id));
    if !lines.is_empty() {
        let lines: Vec<String> = lines.iter().map(u64::to_string).collect();
        text.push_str(&format!(" (lines {})", lines.join(", ")));
    }
    if !locations.is_empty() {
        text.push_str(&format!(" ({})", locations.join("; ")));
    }
    if *count > 1 {
        let others: Vec<String> = others.iter().map(|id| quoted_id(id)).collect();
        let others = others.join(", ");
        text.push_str(&format!(
            "; {count} ids in all are duplicates, among them {others}"
        ));
    }
    if let Some(first) = fields.first() {
        let plural = if fields.len() == 1 { "" } else { "s" };
        let shown: Vec<String> = fields.iter().map(|field| quoted_id(field)).collect();
        text.push_str(&format!(
            "; records of the same id differ in the field{plural} {}: to score one kind of record, keep only those records, as with ",
            shown.join(", ")
        ));
        return Message::from(text).option("where", &format!("{first}=VALUE"));
    }
    Message::from(text)
}

impl Unmatched {
    /// Returns the count and the first few ids, as in `3 references of refs.jsonl: "a", "b", "c"`.
    #[must_use]
    pub fn summary(&self, what: &str) -> String {
        let Self {
            source,
            count,
            ids,
            are_lines,
            ..
        } = self;
        let plural = if *count == 1 { "" } else { "s" };
        let ids = ids.iter().take(NAMED_IDS);
        let (word, shown): (_, Vec<String>) = if *are_lines {
            ("line", ids.cloned().collect())
        } else {
            ("id", ids.map(|id| quoted_id(id)).collect())
        };
        let more = if *count > shown.len() as u64 {
            ", ..."
        } else {
            ""
        };
        format!(
            "{count} {what}{plural} of {source}: {word}{plural} {}{more}",
            shown.join(", ")
        )
    }

    fn pronoun(&self) -> &'static str {
        if self.count == 1 { "it" } else { "them" }
    }
}

/// Returns an id in quotes, cut if it is long.
///
/// ```
/// assert_eq!(metric_record::quoted_id("a\n"), r#""a\n""#);
/// ```
#[must_use]
pub fn quoted_id(id: &str) -> String {
    const SHOWN: usize = 80;
    match id.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{:?}...", &id[..end]),
        None => format!("{id:?}"),
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message().fmt(f)
    }
}

impl std::error::Error for JoinError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_count_and_name() {
        let missing = Unmatched {
            source: "r.jsonl".to_owned(),
            other: "p.jsonl".to_owned(),
            count: 2,
            ids: vec!["a".to_owned(), "b".to_owned()],
            are_lines: false,
        };
        assert_eq!(
            JoinError::Missing(missing).to_string(),
            "p.jsonl: no prediction for 2 references of r.jsonl: ids \"a\", \"b\"; \
             to score them against empty predictions, use --missing empty; to leave them out, use --missing skip"
        );
        let extra = Unmatched {
            source: "p.txt".to_owned(),
            other: "r.txt".to_owned(),
            count: 1,
            ids: vec!["3".to_owned()],
            are_lines: true,
        };
        assert_eq!(
            JoinError::Extra(extra).to_string(),
            "r.txt: no reference for 1 prediction of p.txt: line 3; to leave it out, use --extra ignore"
        );
        let duplicate = Duplicate {
            source: "p.jsonl".to_owned(),
            id: "a".to_owned(),
            lines: vec![1, 3],
            locations: Vec::new(),
            count: 2,
            others: vec!["b".to_owned()],
            fields: Vec::new(),
        };
        let message = "p.jsonl: duplicate id \"a\" (lines 1, 3); 2 ids in all are duplicates, among them \"b\"";
        assert_eq!(JoinError::Duplicate(duplicate.clone()).to_string(), message);
        let duplicate = duplicate.fields(vec!["filter".to_owned()]);
        assert_eq!(
            JoinError::Duplicate(duplicate).to_string(),
            format!(
                "{message}; records of the same id differ in the field \"filter\": to score one kind of record, keep only those records, as with --where filter=VALUE"
            )
        );
    }
}
