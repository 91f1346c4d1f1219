//! Transcripts with alternatives, `{ a / b }`, as sclite reads them.

use std::fmt;

use super::EditRate;

/// A text some parts of which may be read in several ways: `we { will / shall } { go / @ }`, where `@` is nothing.
///
/// Alternatives may have alternatives. Braces and slashes are apart from words, except in `{a/b}`.
///
/// ```
/// use metric_text::EditRate;
/// use metric_text::edit::Alternatives;
///
/// let reference = Alternatives::new("we { will / shall } { go / @ }")?;
/// let prediction = Alternatives::plain("we shall");
/// let (reference, prediction) = reference.closest(&prediction, &EditRate::default())?;
/// assert_eq!((reference.as_str(), prediction.as_str()), ("we shall", "we shall"));
/// # Ok::<(), metric_text::edit::InvalidAlternatives>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alternatives(Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Either(Vec<Vec<Self>>),
}

/// The error for texts whose alternatives cannot be read or compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidAlternatives {
    /// A brace has no counterpart.
    Brace,
    /// There are more alternatives in alternatives than [`MOST_NESTED`].
    TooDeep,
    /// Comparing the two texts takes a table with more than [`MOST_CELLS`] cells.
    TooLarge,
}

/// The most alternatives that are in each other.
pub const MOST_NESTED: usize = 20;

/// The most cells of the table of two texts with alternatives, of 8 bytes each.
pub const MOST_CELLS: usize = 1 << 24;

impl fmt::Display for InvalidAlternatives {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Brace => f.write_str(
                "found { or } without its counterpart: expected alternatives such as { a / b }",
            ),
            Self::TooDeep => write!(
                f,
                "found more than {MOST_NESTED} alternatives in each other"
            ),
            Self::TooLarge => write!(
                f,
                "comparing a text that has alternatives takes more than {MOST_CELLS} cells of the table of edit distances: expected shorter segments"
            ),
        }
    }
}

impl std::error::Error for InvalidAlternatives {}

impl Alternatives {
    /// Reads a text with alternatives.
    ///
    /// # Errors
    ///
    /// Returns an error if a brace has no counterpart, or if alternatives are too deep.
    pub fn new(text: &str) -> Result<Self, InvalidAlternatives> {
        // The open alternatives, each with its ways before the last one. The first is the text.
        let mut open: Vec<Vec<Vec<Part>>> = vec![vec![Vec::new()]];
        for token in text.split_ascii_whitespace().flat_map(tokens) {
            let depth = open.len();
            match token {
                "{" if depth > MOST_NESTED => return Err(InvalidAlternatives::TooDeep),
                "{" => open.push(vec![Vec::new()]),
                "}" if depth == 1 => return Err(InvalidAlternatives::Brace),
                "}" => {
                    let either = open.pop().map(split_at_slashes).unwrap_or_default();
                    last(&mut open).push(Part::Either(either));
                }
                "/" if depth > 1 => {
                    if let Some(ways) = open.last_mut() {
                        ways.push(Vec::new());
                    }
                }
                "@" if depth > 1 => {}
                word => match last(&mut open).last_mut() {
                    Some(Part::Text(text)) => text.extend([" ", word]),
                    _ => last(&mut open).push(Part::Text(word.to_owned())),
                },
            }
        }
        match (open.pop(), open.is_empty()) {
            (Some(mut ways), true) => Ok(Self(ways.pop().unwrap_or_default())),
            _ => Err(InvalidAlternatives::Brace),
        }
    }

    /// Returns a text without alternatives, whatever it holds.
    #[must_use]
    pub fn plain(text: &str) -> Self {
        Self(vec![Part::Text(text.to_owned())])
    }

    /// Returns the two ways to read this reference and a prediction that have the fewest errors between them, in words.
    /// Of several, those with the fewest substitutions are taken, as by sclite, for which one costs less than an insertion and
    /// a deletion, and then the first ones.
    ///
    /// Time and memory grow with the product of the numbers of words of all alternatives.
    ///
    /// # Errors
    ///
    /// Returns an error if that takes more than [`MOST_CELLS`].
    pub fn closest(
        &self,
        prediction: &Self,
        metric: &EditRate,
    ) -> Result<(String, String), InvalidAlternatives> {
        let [reference, prediction] = [self, prediction].map(|text| Lattice::new(text, metric));
        let (rows, columns) = (reference.incoming.len(), prediction.incoming.len());
        if rows.saturating_mul(columns) > MOST_CELLS {
            return Err(InvalidAlternatives::TooLarge);
        }
        let mut costs = vec![0; rows * columns];
        for row in 0..rows {
            for column in 0..columns {
                let steps = Steps::new([&reference, &prediction], columns, row, column);
                let best = steps.map(|step| costs[step.cell] + step.cost).min();
                costs[row * columns + column] = best.unwrap_or_default();
            }
        }
        let mut taken = [Vec::new(), Vec::new()];
        let mut cell = rows * columns - 1;
        while cell > 0 {
            let mut steps = Steps::new(
                [&reference, &prediction],
                columns,
                cell / columns,
                cell % columns,
            );
            let Some(step) = steps.find(|step| costs[step.cell] + step.cost == costs[cell]) else {
                break;
            };
            for (taken, text) in taken.iter_mut().zip(step.texts) {
                taken.extend(text);
            }
            cell = step.cell;
        }
        let [reference, prediction] = taken.map(|mut texts: Vec<&str>| {
            texts.reverse();
            texts.join(" ")
        });
        Ok((reference, prediction))
    }
}

/// A word of a text with the braces at its ends apart.
fn tokens(word: &str) -> impl Iterator<Item = &str> {
    let inner = word.trim_start_matches('{');
    let opened = word.len() - inner.len();
    let text = inner.trim_end_matches('}');
    let closed = inner.len() - text.len();
    let text = Some(text).filter(|text| !text.is_empty());
    let opened = std::iter::repeat_n("{", opened);
    opened.chain(text).chain(std::iter::repeat_n("}", closed))
}

/// The parts that the next one is added to.
fn last(open: &mut [Vec<Vec<Part>>]) -> &mut Vec<Part> {
    // There is always one.
    open.last_mut()
        .and_then(|ways| ways.last_mut())
        .expect("an open text")
}

/// Alternatives that are only apart by slashes in a word, as in `{a/b}`.
fn split_at_slashes(ways: Vec<Vec<Part>>) -> Vec<Vec<Part>> {
    match &ways[..] {
        [way] => match &way[..] {
            [Part::Text(text)] if text.contains('/') => {
                let ways = text.split('/').map(|way| way.trim_matches(['@', ' ']));
                ways.map(|way| vec![Part::Text(way.to_owned())]).collect()
            }
            _ => ways,
        },
        _ => ways,
    }
}

/// A text as states with the words that lead to each, from states before it.
struct Lattice<'t> {
    incoming: Vec<Vec<Arc<'t>>>,
}

struct Arc<'t> {
    from: usize,
    /// The word, normalized; `None` for nothing.
    word: Option<String>,
    /// The text that starts with the word.
    text: Option<&'t str>,
}

impl<'t> Lattice<'t> {
    fn new(text: &'t Alternatives, metric: &EditRate) -> Self {
        let mut lattice = Self {
            incoming: vec![Vec::new()],
        };
        lattice.add(&text.0, 0, metric);
        lattice
    }

    /// Adds parts after a state, and returns the last one.
    fn add(&mut self, parts: &'t [Part], mut state: usize, metric: &EditRate) -> usize {
        for part in parts {
            match part {
                Part::Text(text) => {
                    let prepared = metric.prepare(text);
                    let words = metric.unit.split(&prepared, metric.profile);
                    for (index, word) in words.into_iter().enumerate() {
                        self.incoming.push(vec![Arc {
                            from: state,
                            word: Some(word.to_owned()),
                            text: Some(text.as_str()).filter(|_| index == 0),
                        }]);
                        state = self.incoming.len() - 1;
                    }
                }
                Part::Either(ways) => {
                    let ends = ways.iter().map(|way| Arc {
                        from: self.add(way, state, metric),
                        word: None,
                        text: None,
                    });
                    let ends: Vec<Arc<'t>> = ends.collect();
                    self.incoming.push(ends);
                    state = self.incoming.len() - 1;
                }
            }
        }
        state
    }
}

/// A step to a cell of the table.
struct Step<'l> {
    cell: usize,
    cost: u64,
    texts: [Option<&'l str>; 2],
}

/// The cost of an error, next to which substitutions are counted.
const ERROR: u64 = 1 << 32;

/// The steps that lead to a cell.
struct Steps;

impl Steps {
    #[expect(clippy::new_ret_no_self, reason = "an iterator without a name")]
    fn new<'l>(
        [reference, prediction]: [&'l Lattice<'l>; 2],
        columns: usize,
        row: usize,
        column: usize,
    ) -> impl Iterator<Item = Step<'l>> {
        let (downs, rights) = (&reference.incoming[row], &prediction.incoming[column]);
        let cell = move |row: usize, column: usize| row * columns + column;
        let both = downs.iter().flat_map(move |down| {
            rights.iter().filter_map(move |right| {
                let (word, other) = down.word.as_ref().zip(right.word.as_ref())?;
                Some(Step {
                    cell: cell(down.from, right.from),
                    cost: if word == other { 0 } else { ERROR + 1 },
                    texts: [down.text, right.text],
                })
            })
        });
        let cost = |arc: &Arc<'_>| if arc.word.is_some() { ERROR } else { 0 };
        let down = downs.iter().map(move |arc| Step {
            cell: cell(arc.from, column),
            cost: cost(arc),
            texts: [arc.text, None],
        });
        let right = rights.iter().map(move |arc| Step {
            cell: cell(row, arc.from),
            cost: cost(arc),
            texts: [None, arc.text],
        });
        both.chain(down).chain(right)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::edit_distance;

    fn closest(reference: &str, prediction: &str) -> Result<(String, String), InvalidAlternatives> {
        let prediction = Alternatives::new(prediction)?;
        Alternatives::new(reference)?.closest(&prediction, &EditRate::default())
    }

    #[test]
    fn ways_by_hand() {
        let rows = [
            (
                "we { will / shall } { go / @ }",
                "we shall",
                "we shall",
                "we shall",
            ),
            (
                "we { will / shall } { go / @ }",
                "we will go",
                "we will go",
                "we will go",
            ),
            ("{ uh / @ } yes", "uh yes", "uh yes", "uh yes"),
            ("{ a b / c } d", "a b d", "a b d", "a b d"),
            ("{ a { b / c } / d } e", "a c e", "a c e", "a c e"),
            ("{i'm/i am} here", "i am here", "i am here", "i am here"),
            ("x", "{ x / y }", "x", "x"),
            ("{ a / b }", "{ b / c }", "b", "b"),
            // Both ways have two errors: the first is taken.
            ("{ a b / c d }", "x y", "a b", "x y"),
            // One error each: an insertion rather than a substitution.
            ("{ a / @ } b", "c b", "b", "c b"),
            ("{ @ / a }", "", "", ""),
            ("a @ b", "a b", "a @ b", "a b"),
            ("and / or", "and", "and / or", "and"),
        ];
        for (reference, prediction, read, found) in rows {
            let expected = (read.to_owned(), found.to_owned());
            assert_eq!(
                closest(reference, prediction),
                Ok(expected),
                "{reference} | {prediction}"
            );
        }
        for text in ["{ a / b", "a }", "} {"] {
            assert_eq!(
                Alternatives::new(text),
                Err(InvalidAlternatives::Brace),
                "{text}"
            );
        }
        let deep = "{ ".repeat(21) + &"a / b } ".repeat(21);
        assert_eq!(Alternatives::new(&deep), Err(InvalidAlternatives::TooDeep));
        let long = "a ".repeat(5000) + "{ b / c }";
        assert_eq!(closest(&long, &long), Err(InvalidAlternatives::TooLarge));
    }

    /// Every text that alternatives stand for.
    fn all(parts: &[Part]) -> Vec<String> {
        parts.iter().fold(vec![String::new()], |before, part| {
            let texts = match part {
                Part::Text(text) => vec![text.clone()],
                Part::Either(ways) => ways.iter().flat_map(|way| all(way)).collect(),
            };
            let joined = |start: &String| {
                texts
                    .iter()
                    .map(move |text| format!("{start} {text}"))
                    .collect::<Vec<_>>()
            };
            before.iter().flat_map(joined).collect()
        })
    }

    fn distance(a: &str, b: &str) -> usize {
        let words = |text: &str| {
            text.split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        edit_distance(&words(a), &words(b))
    }

    proptest! {
        #[test]
        fn the_fewest_errors_of_all_ways(
            reference in "([ab]|[{] [ab@]( [ab])? / [ab@] [}]|[{] a / [{] b / c a [}] c [}])( ([abc]|[{] [ab@] / [ab@]( [ab])? [}])){0,3}",
            prediction in "[abc]( [abc]){0,4}|[{] a / b b [}] c",
        ) {
            let ways = |text: &str| all(&Alternatives::new(text).unwrap().0);
            let (references, predictions) = (ways(&reference), ways(&prediction));
            let distances = references.iter().flat_map(|a| predictions.iter().map(move |b| distance(a, b)));
            let (read, found) = closest(&reference, &prediction).unwrap();
            prop_assert_eq!(Some(distance(&read, &found)), distances.min());
        }
    }
}
