//! Patterns of English that make a reader stop, in everything a person reads.
//!
//! Each row of [`PATTERNS`] is an expression, where it is fine, and what to write instead. The text
//! comes from Markdown, from comments and documentation, and from the messages in string literals;
//! code blocks and code spans are left out. Sentences that are meant as they are have an entry in
//! `tools/prose/allow`, with the reason.

mod source;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

use regex::Regex;

use source::{Kind, Paragraph};
use xtask_common::{Error, no_arguments, output, print};

const HELP: &str = "\
cargo xtask prose

Finds sentences that a reader has to read twice.
Looks through Markdown files, comments, documentation, and the messages in string literals for the
patterns that this table lists, and says what to write instead. Sentences that are meant as they
are have an entry in tools/prose/allow; an entry that no longer matches a sentence is an error.";

fn main() -> ExitCode {
    xtask_common::main("prose", HELP, run)
}

const ALLOW: &str = "tools/prose/allow";

/// Folders and files that nobody reads as prose: data, and texts that are made from others.
const SKIPPED: &[&str] = &[
    "fuzz/seeds/",
    "tests/golden/",
    "crates/metric-cli/tests/blocks/",
    "python/metric_suite/_generated.py",
    "tools/prose/",
];

struct Pattern {
    name: &'static str,
    /// What is looked for.
    found: &'static str,
    /// Matches of `found` that are fine: this matches the same text. Empty if all are wrong.
    fine: &'static str,
    /// The advice that is printed.
    instead: &'static str,
}

/// One row of the table, in the order of the fields.
const fn row(
    name: &'static str,
    found: &'static str,
    fine: &'static str,
    instead: &'static str,
) -> Pattern {
    Pattern {
        name,
        found,
        fine,
        instead,
    }
}

const PATTERNS: &[Pattern] = &[
    row(
        "distribution",
        r"(?i)\b(?:(?:an?|one) [^\s.,;:(]+[^\s.,;:(s]|(?:an?|one) class|(?:two|three|four|five|ten|many|few|fewer|several|their|its|the|\d[\d,.]*( to \d[\d,.]*)?) [\w`]+s|\d[\d,.]* (?:us|ms|s|KB|MB|GB)) an? (?:line|class|row|image|file|folder|record|example|page|step|metric|crate|command|field|column|word|character|token|byte|box|key|value|bucket|thread|state|slice|group|pair|frame|test|day|block|list|cell|label|category|language|option|chunk|graph|second|minute|hour|pixel|detection|annotation|object|reference|prediction|unit|segment|node|edge|symbol|replicate|report|process|core|shard|part|pass|curve|threshold|table|chart|machine|domain|entry|digit|bin|cluster|resample|element|side|score|run|item|version|source)\b(?: of| has| have)?",
        r"(?i) (?:of|has|have)$|^(?:an?|one) (?:is|as|was|has|than|for|if|to|in|of|on|by|at|per|not|but|and|or|with|from|into|such|half|quite|rather|without|within|that|only|times) |^(?:two|three|its|their|the) \S+s a (?:second|minute) (?:time)?|^the (?:is|has|was|does) ",
        "\"per\": \"one object per line\"",
    ),
    row(
        "is no",
        r"(?i)(?:\S+ )?\b(?:is|are|was|were) (?:no|none)\b(?: \w+)?",
        r"(?i)^there |\bno (?:longer|more|less|fewer|better|worse|larger|smaller|greater|slower|faster|doubt)$",
        "negate the verb: \"is not a number\"",
    ),
    row(
        "what first",
        r"^(?:What|How (?:far|many|much|often|long))\b.*",
        r"\?|^(?:What|How) to ",
        "start with the noun: \"The model's output\"",
    ),
    row(
        "stand",
        r"(?i)\bst(?:and|ands|anding|ood)\b(?:-in| (?:alone|for|in for|out))?",
        r"-in$| (?:alone|for|in for|out)$",
        "\"is\", \"appears\", \"is stored\", \"occurs\"",
    ),
    row(
        "beside",
        r"(?i)\bbeside\b",
        "",
        "\"next to\" or \"in addition to\"",
    ),
    row(
        "from … on",
        r"\b[Ff]rom (?:[^\s.;:]+ ){1,5}?on(?:[,.;:)\]]|$| (?:is|are|was)\b)",
        "",
        "\"starting at\", \"at or above\"",
    ),
    row(
        "up to which",
        r"\bup to which\b",
        "",
        "\"the largest … at which\", \"threshold\"",
    ),
    row(
        "as X has it",
        r"\bas (?:\S+ ){1,4}?(?:has|have|had) (?:it|them|this|that)\b",
        "",
        "\"as in X\", \"matching X\"",
    ),
    row(
        "so many",
        r"\bso many\b(?: that)?",
        " that$",
        "the number: \"the first n bytes\"",
    ),
    row(
        "fronted genitive",
        r"(?:[,;(—] |^|\. |\band )(?:[Oo]f which|Of (?:the|two|three|several|each|these|those|a|an|\d+))\b",
        "",
        "\"3 of 4 words are correct\", or a new sentence",
    ),
    row(
        "held against",
        r"\b(?:held|hold|holds|holding) (?:\S+ )?against\b",
        "",
        "\"compared with\"",
    ),
    row(
        "taken for",
        r"\b(?:take|takes|taken|took|taking) (?:(?:it|them|that|this|one) )?for (?:[Gg]ranted|each|every|all)?",
        "(?:granted|each|every|all)$",
        "\"confused with\", \"read as\", \"treated as\"",
    ),
    row(
        "goes by",
        r"\b(?:go|goes|going|went) by\b",
        "",
        "\"uses\", \"is ordered by\"",
    ),
    row(
        "let pass",
        r"\blets? (?:\w+ ){0,2}?pass\b",
        "",
        "\"allows\"",
    ),
    row(
        "put right",
        r"\bput(?:s|ting)? (?:it |them )?right\b",
        "",
        "\"corrects\"",
    ),
    row("put out", r"\bputs? out\b", "", "\"outputs\", \"predicts\""),
    row(
        "but",
        r"(?i)\b(?:all|any\w*|every\w*|nothing|none|nobody|everyone) but\b|\bbut for\b",
        "",
        "\"except\"",
    ),
    row(
        "errors",
        r"^# Errors .*",
        r"^# Errors (?:Returns|See) ",
        "\"Returns an error if …\"",
    ),
    row(
        "spelling",
        r"(?i)\b\w*(?:colour|behaviour|neighbour|favour|flavour|centre|metres\b|licence|analyse[ds]?\b|catalogue|grey|modelled|labelled|cancelled|travell|(?:normal|optim|summar|recogn|initial|serial|token|organ|lemmat|minim|maxim|general|visual)is(?:e|er|ed|ing|ation)\b)\w*",
        "",
        "American spelling",
    ),
    row("space before %", r"\d %", "", "no space: \"5%\""),
    row(
        "N × a",
        r"(?:\d|\}) × an? ",
        "",
        "the count first: \"2 references have …\"",
    ),
    row(
        "glossary",
        r"(?i)\b(?:(?:ground-)?truth box|true box|to be found|size class|score cut|rules? for ties|reference program|evidence (?:of|for|that))(?:e?s)?\b|^whose rules\b",
        r"(?i)^ground-",
        "the glossary of the style guide: ground-truth box, area range, score threshold, tie-breaking rule, reference implementation",
    ),
];

/// A pattern that was found.
#[derive(Clone, Debug, PartialEq)]
struct Finding {
    path: String,
    line: usize,
    name: &'static str,
    sentence: String,
    instead: &'static str,
}

/// The table, compiled.
struct Rules(Vec<(&'static Pattern, Regex, Option<Regex>)>);

impl Rules {
    fn new() -> Result<Self, String> {
        let compile = |text: &str| Regex::new(text).map_err(|error| error.to_string());
        let rules = PATTERNS.iter().map(|pattern| {
            let fine = match pattern.fine {
                "" => None,
                fine => Some(compile(fine)?),
            };
            Ok((pattern, compile(pattern.found)?, fine))
        });
        Ok(Self(rules.collect::<Result<_, String>>()?))
    }

    fn find(&self, path: &str, paragraph: &Paragraph) -> Vec<Finding> {
        let text = &paragraph.text;
        let mut findings = Vec::new();
        for (pattern, found, fine) in &self.0 {
            for hit in found.find_iter(text) {
                let is_fine = |fine: &Regex| fine.is_match(hit.as_str());
                if fine.as_ref().is_some_and(is_fine) {
                    continue;
                }
                // Some expressions start with what ends the sentence before.
                let word = hit.as_str().find(char::is_alphanumeric);
                let position = hit.start() + word.unwrap_or(0);
                findings.push(Finding {
                    path: path.to_owned(),
                    line: paragraph.line(position),
                    name: pattern.name,
                    sentence: paragraph.sentence(position).to_owned(),
                    instead: pattern.instead,
                });
            }
        }
        findings
    }
}

/// A sentence, or the texts of a whole folder, that may stay.
#[derive(Debug, PartialEq)]
struct Allowed {
    line: usize,
    path: String,
    text: String,
}

impl Allowed {
    fn covers(&self, finding: &Finding) -> bool {
        let is_there = if self.path.ends_with('/') {
            finding.path.starts_with(&self.path)
        } else {
            finding.path == self.path
        };
        is_there && (self.text == "*" || finding.sentence.contains(&self.text))
    }
}

/// Reads lines of `path | text | reason`. A path that ends in `/` is a folder, and the text `*` is
/// every sentence.
fn allowed(text: &str) -> Result<Vec<Allowed>, String> {
    let lines = (1..).zip(text.lines());
    let entries = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let entry = |(line, entry): (usize, &str)| {
        let fields: Vec<&str> = entry.split(" | ").map(str::trim).collect();
        match fields[..] {
            [path, text, reason] if ![path, text, reason].contains(&"") => Ok(Allowed {
                line,
                path: path.to_owned(),
                text: text.to_owned(),
            }),
            _ => Err(format!(
                "{ALLOW}:{line}: expected \"path | text | reason\", found {entry:?}"
            )),
        }
    };
    entries.map(entry).collect()
}

/// Splits the findings into those that no entry allows and the entries that allow nothing.
fn judge(findings: Vec<Finding>, allowed: &[Allowed]) -> (Vec<Finding>, Vec<&Allowed>) {
    let unused = |entry: &&Allowed| !findings.iter().any(|finding| entry.covers(finding));
    let unused = allowed.iter().filter(unused).collect();
    let is_open = |finding: &Finding| !allowed.iter().any(|entry| entry.covers(finding));
    (findings.into_iter().filter(is_open).collect(), unused)
}

/// Fails if a sentence has a pattern and no entry allows it, or if an entry is left over.
fn run(arguments: &[String]) -> Result<(), Error> {
    no_arguments(arguments)?;
    let rules = Rules::new()?;
    let read =
        |path: &str| std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"));
    let allowed = allowed(&read(ALLOW)?)?;
    let files = output("git", &["ls-files"], Path::new("."), &[])?;
    let mut findings = Vec::new();
    for path in files.lines() {
        let Some(kind) = Kind::of_file(path) else {
            continue;
        };
        // Links lead to other files, and a deleted file is listed until that is committed.
        let is_file = std::fs::symlink_metadata(path).is_ok_and(|file| file.is_file());
        if SKIPPED.iter().any(|start| path.starts_with(start)) || !is_file {
            continue;
        }
        for paragraph in source::paragraphs(&read(path)?, kind) {
            findings.extend(rules.find(path, &paragraph));
        }
    }
    let (open, unused) = judge(findings, &allowed);
    if open.is_empty() && unused.is_empty() {
        return Ok(());
    }
    print(&listing(&open, &unused));
    Err(format!(
        "{} to rewrite or to allow in {ALLOW}, {} of {ALLOW} without a match",
        count(open.len(), "sentence", "sentences"),
        count(unused.len(), "entry", "entries"),
    )
    .into())
}

fn count(number: usize, one: &str, more: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { more })
}

fn listing(open: &[Finding], unused: &[&Allowed]) -> String {
    let mut text = String::new();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for finding in open {
        let Finding {
            path,
            line,
            name,
            sentence,
            instead,
        } = finding;
        text.push_str(&format!(
            "{path}:{line}: {name}\n    {sentence}\n    instead: {instead}\n"
        ));
        *counts.entry(name).or_default() += 1;
    }
    for entry in unused {
        let Allowed {
            line,
            path,
            text: sentence,
        } = entry;
        text.push_str(&format!(
            "{ALLOW}:{line}: nothing in {path} matches {sentence:?} any more: delete the entry\n"
        ));
    }
    for (name, number) in counts {
        text.push_str(&format!("{number:>5} {name}\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For each pattern: sentences in which it is found, and sentences like them in which nothing is.
    const PLANTED: &[(&str, &[&str], &[&str])] = &[
        (
            "distribution",
            &[
                "The file has an object a line with an id.",
                "It keeps a value a class, sorted.",
                "Writes a bit a row.",
                "So many detections an image: 1 to 3 detections an image.",
                "It takes 3.5 us a pair.",
            ],
            &[
                "The file has one object per line.",
                "This is not a line of text.",
                "Return such a class if a file is a line.",
                "It needs a row and a column.",
                "That is a bit of a row.",
                "It says how many grids a reference has.",
            ],
        ),
        (
            "is no",
            &["The cell is no number.", "Its parts are none."],
            &[
                "There is no number.",
                "The file is no longer read.",
                "The cell is not a number.",
                "It is no larger than before.",
            ],
        ),
        (
            "what first",
            &["What the model predicts.", "How far a number may be off."],
            &[
                "What is a metric?",
                "How to install it.",
                "This is what the model predicts.",
            ],
        ),
        (
            "stand",
            &["The id stands in front.", "Where it stood before."],
            &[
                "The sign stands for a missing value.",
                "A stand-in for the file.",
                "It runs on standard input.",
            ],
        ),
        (
            "beside",
            &["A note beside the table."],
            &["Besides, it is fast.", "A note next to the table."],
        ),
        (
            "from … on",
            &[
                "Expected a whole number from 1 on.",
                "From the second row on, all match.",
            ],
            &[
                "It runs from the start on all threads.",
                "From then to now.",
                "The rows from line 3 depend on it.",
            ],
        ),
        (
            "up to which",
            &["The score up to which it counts."],
            &["Up to 5 of them."],
        ),
        (
            "as X has it",
            &[
                "Sorted as scikit-learn has it.",
                "Masks as the old COCO API has them.",
            ],
            &[
                "Sorted as in scikit-learn.",
                "It is as long as the file has lines.",
            ],
        ),
        (
            "so many",
            &["A block of so many bytes."],
            &["There are so many that they are not listed."],
        ),
        (
            "fronted genitive",
            &[
                "Of two words one is right.",
                "It has rows, of which three count.",
            ],
            &[
                "3 of 4 words are correct.",
                "The set of which it is a part.",
            ],
        ),
        (
            "held against",
            &["It is held against the text."],
            &["It is compared with the text.", "It guards against errors."],
        ),
        (
            "taken for",
            &["A dog is taken for a cat.", "It takes them for one."],
            &[
                "This takes a second.",
                "Nothing is taken for granted.",
                "Time taken for each row.",
            ],
        ),
        (
            "goes by",
            &["The order goes by score."],
            &["It goes to the end, by score."],
        ),
        (
            "let pass",
            &["What the join lets pass."],
            &["Let a pass run.", "All tests pass."],
        ),
        (
            "put right",
            &["It can be put right."],
            &["Put it to the right."],
        ),
        (
            "put out",
            &["The text that it put out."],
            &["The output of it."],
        ),
        (
            "but",
            &["All but the last count.", "Equal but for the case."],
            &["It is fast but exact.", "All count, but late."],
        ),
        (
            "errors",
            &[
                "# Errors None at all.",
                "# Errors A cost that is NaN.",
                "# Errors As `open`.",
            ],
            &[
                "# Errors Returns an error if a cost is NaN.",
                "# Errors See `open`.",
            ],
        ),
        (
            "spelling",
            &[
                "The colour of a cell.",
                "A normalised neighbour.",
                "2 metres wide.",
            ],
            &[
                "The color of a cell.",
                "A precise promise.",
                "Parameters and metrics.",
            ],
        ),
        (
            "space before %",
            &["Within 5 % of it."],
            &["Within 5% of it."],
        ),
        (
            "N × a",
            &["2 × a missing file."],
            &["2 files are missing.", "2 × 3 cells."],
        ),
        (
            "glossary",
            &["The true boxes are missed.", "Its score cut is 0.5."],
            &["A true label.", "The ground-truth boxes."],
        ),
    ];

    fn names(rules: &Rules, sentence: &str) -> Vec<&'static str> {
        let paragraph = Paragraph::new(&[(1, sentence)]);
        let findings = rules.find("a.md", &paragraph);
        findings.iter().map(|finding| finding.name).collect()
    }

    #[test]
    fn each_pattern_is_found_where_it_is_planted_and_nowhere_else() {
        let rules = Rules::new().expect("expressions");
        let planted: Vec<&str> = PLANTED.iter().map(|(name, _, _)| *name).collect();
        let patterns: Vec<&str> = PATTERNS.iter().map(|pattern| pattern.name).collect();
        assert_eq!(planted, patterns);
        for (name, bad, good) in PLANTED {
            for sentence in *bad {
                assert!(names(&rules, sentence).contains(name), "{name}: {sentence}");
            }
            for sentence in *good {
                assert_eq!(names(&rules, sentence), [""; 0], "{name}: {sentence}");
            }
        }
    }

    #[test]
    fn an_entry_allows_its_sentence_only_and_must_match() {
        let rules = Rules::new().expect("expressions");
        let find = |path: &str, text: &str| rules.find(path, &Paragraph::new(&[(7, text)]));
        let mut findings = find("a/b.md", "One. It stands here. Two.");
        findings.extend(find("a/c.md", "It stands there."));
        findings.extend(find("d/e.md", "It stands anywhere."));
        let list = "# Reasons\n\na/b.md | stands here | a quotation\nd/ | * | later\n\
                    a/c.md | stands nowhere | it went\n";
        let list = allowed(list).expect("entries");
        let (open, unused) = judge(findings, &list);
        let [open] = &open[..] else {
            panic!("{open:?}");
        };
        assert_eq!((open.path.as_str(), open.line), ("a/c.md", 7));
        assert_eq!(open.sentence, "It stands there.");
        let [unused] = unused[..] else {
            panic!("{unused:?}");
        };
        assert_eq!(unused.line, 5);
        let text = listing(std::slice::from_ref(open), &[unused]);
        assert!(text.starts_with("a/c.md:7: stand\n    It stands there.\n    instead: "));
        assert!(text.contains("tools/prose/allow:5: nothing in a/c.md matches"));
    }

    #[test]
    fn an_entry_without_a_reason_is_refused() {
        for entry in ["a.md | x", "a.md | x | ", "a.md |  | why"] {
            let error = allowed(entry).expect_err("an entry without all of its fields");
            assert!(
                error.starts_with("tools/prose/allow:1: expected"),
                "{error}"
            );
        }
    }
}
