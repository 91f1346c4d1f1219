//! Fenced code blocks of Markdown, as CommonMark 0.31 defines them in sections 4.5, 5.1 and 5.2.

use std::borrow::Cow;

/// Returns the inside of the first fenced block, without the indentation of its fence and of the list items and
/// quotes that it is in. A block that is not closed ends with the text, or with its list item or quote.
pub(crate) fn first_block(text: &str) -> Option<Cow<'_, str>> {
    let mut containers: Vec<Container> = Vec::new();
    let mut open: Option<Fence> = None;
    let mut inside = Block::new(text);
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        at += line.len();
        let mut rest = Line::new(line);
        let kept = rest.enter(&containers);
        if let Some(fence) = &open {
            if kept < containers.len() || rest.is_closing(fence) {
                break;
            }
            rest.skip_up_to(fence.indentation);
            inside.push(&rest, at);
            continue;
        }
        containers.truncate(kept);
        containers.extend(rest.start_containers());
        open = rest.fence();
    }
    open.map(|_| inside.finish())
}

/// The start of a fenced block.
struct Fence {
    mark: char,
    length: usize,
    indentation: usize,
}

/// What a block may be in.
enum Container {
    Quote,
    /// An item of a list, whose lines are indented by this many columns.
    Item(usize),
}

/// The largest indentation of a block. A line with more is code by itself.
const MOST_INDENTED: usize = 3;

/// The columns between two tab stops.
const TAB: usize = 4;

/// What is left of a line.
struct Line<'t> {
    rest: &'t str,
    /// The number of columns before the rest.
    column: usize,
    /// The columns of a tab of which a part was skipped.
    spaces: usize,
}

impl<'t> Line<'t> {
    fn new(rest: &'t str) -> Self {
        Self {
            rest,
            column: 0,
            spaces: 0,
        }
    }

    fn is_blank(&self) -> bool {
        self.rest.trim_matches([' ', '\t', '\r', '\n']).is_empty()
    }

    /// The columns of white space at the start.
    fn indentation(&self) -> usize {
        let mut line = Line { ..*self };
        line.skip_up_to(usize::MAX)
    }

    /// Skips white space of up to this many columns, and returns the number of columns.
    fn skip_up_to(&mut self, columns: usize) -> usize {
        let mut skipped = self.spaces.min(columns);
        self.spaces -= skipped;
        self.column += skipped;
        while self.spaces == 0 && skipped < columns {
            let width = match self.rest.as_bytes().first() {
                Some(b' ') => 1,
                Some(b'\t') => TAB - self.column % TAB,
                _ => break,
            };
            self.rest = &self.rest[1..];
            let step = width.min(columns - skipped);
            self.spaces = width - step;
            self.column += step;
            skipped += step;
        }
        skipped
    }

    /// Skips bytes that are one column each.
    fn skip_bytes(&mut self, bytes: usize) {
        self.rest = &self.rest[bytes..];
        self.column += bytes;
    }

    /// Skips what a line in these containers starts with, and returns in how many of them it is.
    fn enter(&mut self, containers: &[Container]) -> usize {
        let mut is_out = |container: &Container| match container {
            Container::Quote => !self.skip_quote(),
            Container::Item(columns) => {
                let is_in = self.is_blank() || self.indentation() >= *columns;
                if is_in {
                    self.skip_up_to(*columns);
                }
                !is_in
            }
        };
        let out = containers.iter().position(&mut is_out);
        out.unwrap_or(containers.len())
    }

    /// Skips the mark of a quote, if there is one.
    fn skip_quote(&mut self) -> bool {
        let indentation = self.indentation();
        let is_quote = indentation <= MOST_INDENTED
            && self.rest.trim_start_matches([' ', '\t']).starts_with('>');
        if is_quote {
            self.skip_up_to(indentation);
            self.skip_bytes(1);
            self.skip_up_to(1);
        }
        is_quote
    }

    /// Skips the marks of the containers that start in this line.
    fn start_containers(&mut self) -> Vec<Container> {
        let mut started = Vec::new();
        loop {
            if self.skip_quote() {
                started.push(Container::Quote);
            } else if let Some(columns) = self.skip_list_mark() {
                started.push(Container::Item(columns));
            } else {
                return started;
            }
        }
    }

    /// Skips the mark of a list item, and returns the columns that the lines of the item are indented by.
    fn skip_list_mark(&mut self) -> Option<usize> {
        let indentation = self.indentation();
        let marked = self.rest.trim_start_matches([' ', '\t']);
        let digits = marked.bytes().take_while(u8::is_ascii_digit).count();
        let mark = match (digits, marked.as_bytes().get(digits)?) {
            (0, b'-' | b'+' | b'*') => 1,
            (1..=9, b'.' | b')') => digits + 1,
            _ => return None,
        };
        let is_separate =
            marked[mark..].starts_with([' ', '\t', '\r', '\n']) || marked.len() == mark;
        if indentation > MOST_INDENTED || !is_separate {
            return None;
        }
        self.skip_up_to(indentation);
        self.skip_bytes(mark);
        // An item that starts with code that is indented, or with nothing, starts one column after the mark.
        let space = match self.indentation() {
            columns if columns > TAB || self.is_blank() => 1,
            columns => columns,
        };
        self.skip_up_to(space);
        Some(indentation + mark + space)
    }

    /// The fence that the line is.
    fn fence(&self) -> Option<Fence> {
        let indentation = self.indentation();
        let text = self.rest.trim_start_matches([' ', '\t']);
        let mark = text
            .chars()
            .next()
            .filter(|mark| matches!(mark, '`' | '~'))?;
        let after = text.trim_start_matches(mark);
        let length = text.len() - after.len();
        // Backticks after those of the fence make it code within a line.
        let is_fence =
            length >= 3 && indentation <= MOST_INDENTED && !(mark == '`' && after.contains('`'));
        is_fence.then_some(Fence {
            mark,
            length,
            indentation,
        })
    }

    fn is_closing(&self, open: &Fence) -> bool {
        self.fence().is_some_and(|fence| {
            let text = self.rest.trim_matches([' ', '\t', '\r', '\n']);
            fence.mark == open.mark
                && fence.length >= open.length
                && text.chars().all(|mark| mark == fence.mark)
        })
    }
}

/// The lines of a block: a part of the text, or a copy once a line loses its indentation.
struct Block<'t> {
    text: &'t str,
    lines: Cow<'t, str>,
    /// The end in the text of the lines that are borrowed.
    end: usize,
}

impl<'t> Block<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            text,
            lines: Cow::Borrowed(""),
            end: 0,
        }
    }

    /// Adds what is left of the line that ends at this position.
    fn push(&mut self, line: &Line<'_>, end: usize) {
        let start = end - line.rest.len();
        if let Cow::Borrowed(lines) = self.lines
            && line.spaces == 0
            && (lines.is_empty() || self.end == start)
        {
            self.lines = Cow::Borrowed(&self.text[start - lines.len()..end]);
            self.end = end;
            return;
        }
        let lines = self.lines.to_mut();
        lines.extend(std::iter::repeat_n(' ', line.spaces));
        lines.push_str(line.rest);
    }

    /// The lines without the last line end.
    fn finish(self) -> Cow<'t, str> {
        let length = without_line_end(&self.lines).len();
        match self.lines {
            Cow::Borrowed(lines) => Cow::Borrowed(&lines[..length]),
            Cow::Owned(mut lines) => {
                lines.truncate(length);
                Cow::Owned(lines)
            }
        }
    }
}

fn without_line_end(text: &str) -> &str {
    let text = text.strip_suffix('\n').unwrap_or(text);
    text.strip_suffix('\r').unwrap_or(text)
}
