//! The paragraphs of a file that a person reads.

/// A file's language.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    Markdown,
    Rust {
        /// Whether string literals are messages; in tests they are data.
        messages: bool,
    },
    Python,
}

impl Kind {
    pub(super) fn of_file(path: &str) -> Option<Self> {
        let (_, extension) = path.rsplit_once('.')?;
        Some(match extension {
            "md" => Self::Markdown,
            "py" => Self::Python,
            "rs" => Self::Rust {
                messages: path.contains("src/") && !path.ends_with("/tests.rs"),
            },
            _ => return None,
        })
    }
}

/// Lines that are read as one text.
#[derive(Debug, PartialEq)]
pub(super) struct Paragraph {
    /// The lines, joined by spaces; what is in code spans is replaced by `_`.
    pub text: String,
    /// Where each line starts in the text, and its number in the file.
    starts: Vec<(usize, usize)>,
}

impl Paragraph {
    pub(super) fn new(lines: &[(usize, &str)]) -> Self {
        let mut text = String::new();
        let mut starts = Vec::new();
        for (number, line) in lines {
            if !text.is_empty() {
                text.push(' ');
            }
            starts.push((text.len(), *number));
            text.push_str(line.trim());
        }
        Self {
            text: without_code(&text),
            starts,
        }
    }

    /// The number of the line that has this byte of the text.
    pub(super) fn line(&self, position: usize) -> usize {
        let after = self.starts.partition_point(|(start, _)| *start <= position);
        self.starts[after.saturating_sub(1)].1
    }

    /// The sentence that has this byte of the text.
    pub(super) fn sentence(&self, position: usize) -> &str {
        let start = self.text[..position]
            .rfind(". ")
            .map_or(0, |end| end + ". ".len());
        let end = self.text[position..]
            .find(". ")
            .map_or(self.text.len(), |end| position + end + 1);
        &self.text[start.min(end)..end]
    }
}

/// Replaces each character of the code spans by `_`, so that they are words without a meaning.
fn without_code(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    // An odd number of backticks: the last one opens nothing.
    let spans = parts.len().saturating_sub(1) / 2 * 2;
    let hidden = |(index, part): (usize, &&str)| {
        if index % 2 == 1 && index < spans {
            "_".repeat(part.chars().count())
        } else {
            (*part).to_owned()
        }
    };
    let parts: Vec<String> = parts.iter().enumerate().map(hidden).collect();
    parts.join("`")
}

pub(super) fn paragraphs(text: &str, kind: Kind) -> Vec<Paragraph> {
    let mut blocks = Blocks::default();
    match kind {
        Kind::Markdown => {
            for (number, line) in (1..).zip(text.lines()) {
                blocks.line(number, line);
            }
            blocks.end();
        }
        Kind::Rust { messages } => pieces(text, RUST, messages, &mut blocks),
        Kind::Python => pieces(text, PYTHON, true, &mut blocks),
    }
    blocks.paragraphs
}

/// Gathers lines of Markdown into paragraphs, without blocks of code.
#[derive(Default)]
struct Blocks {
    paragraphs: Vec<Paragraph>,
    lines: Vec<(usize, String)>,
    in_code: bool,
}

impl Blocks {
    fn line(&mut self, number: usize, line: &str) {
        let line = line.trim();
        if line.starts_with("```") {
            self.in_code = !self.in_code;
            self.flush();
        } else if line.is_empty() && !self.in_code {
            // The heading belongs to what it is the heading of.
            if self.lines.last().is_none_or(|(_, line)| line != ERRORS) {
                self.flush();
            }
        } else if !self.in_code {
            if starts_block(line) {
                self.flush();
            }
            self.lines.push((number, line.to_owned()));
            if line.starts_with('#') && line != ERRORS {
                self.flush();
            }
        }
    }

    fn flush(&mut self) {
        if self.lines.is_empty() {
            return;
        }
        let lines: Vec<(usize, &str)> = self
            .lines
            .iter()
            .map(|(number, line)| (*number, line.as_str()))
            .collect();
        self.paragraphs.push(Paragraph::new(&lines));
        self.lines.clear();
    }

    /// Ends the paragraph, and a block of code that nothing closed.
    fn end(&mut self) {
        self.in_code = false;
        self.flush();
    }
}

const ERRORS: &str = "# Errors";

/// Whether a line of Markdown starts a block: a heading, an item of a list, a row of a table.
fn starts_block(line: &str) -> bool {
    let item = line.trim_start_matches(|digit: char| digit.is_ascii_digit());
    ["- ", "* ", "|", "#"]
        .iter()
        .any(|start| line.starts_with(start))
        || (item.len() < line.len() && item.starts_with(". "))
}

/// How a language writes comments and strings.
struct Syntax {
    comment: &'static str,
    /// Markers that a documentation comment adds.
    documentation: &'static [char],
    block: Option<(&'static str, &'static str)>,
    quotes: &'static [&'static str],
    /// What starts a part of the file whose strings are data.
    tests: &'static str,
}

const RUST: Syntax = Syntax {
    comment: "//",
    documentation: &['/', '!'],
    block: Some(("/*", "*/")),
    quotes: &["\""],
    tests: "#[cfg(test)]\nmod ",
};

const PYTHON: Syntax = Syntax {
    comment: "#",
    documentation: &[':', '!'],
    block: None,
    quotes: &["\"\"\"", "'''", "\"", "'"],
    tests: "\ndef test_",
};

/// Gathers the paragraphs of comments and of string literals.
fn pieces(text: &str, syntax: Syntax, messages: bool, blocks: &mut Blocks) {
    let tests = text.find(syntax.tests).unwrap_or(text.len());
    let mut position = 0;
    let mut line = 1;
    // The line on which a comment would go on with the paragraph.
    let mut next = 0;
    while let Some(character) = text[position..].chars().next() {
        let rest = &text[position..];
        let taken = if rest.starts_with(syntax.comment) {
            let length = rest.find('\n').unwrap_or(rest.len());
            let comment = rest[syntax.comment.len()..length]
                .strip_prefix(syntax.documentation)
                .unwrap_or(&rest[syntax.comment.len()..length]);
            // Only lines with nothing else than the comment are joined.
            let before = text[..position].rsplit('\n').next().unwrap_or_default();
            let is_alone = before.trim().is_empty();
            if line != next || !is_alone {
                blocks.end();
            }
            blocks.line(line, comment);
            next = if is_alone { line + 1 } else { 0 };
            length
        } else if let Some(length) = block(rest, &syntax) {
            length
        } else if let Some((content, length)) = literal(rest, &syntax) {
            if messages && position < tests && is_message(content) {
                blocks.end();
                let joined = content.replace("\\n", "\n\n");
                for part in joined.split("\n\n") {
                    let part = part.replace("\\\n", " ").replace("\\\"", "\"");
                    let part = without_fields(&part);
                    let words: Vec<&str> = part.split_whitespace().collect();
                    blocks.line(line, &words.join(" "));
                    blocks.end();
                }
            }
            length
        } else {
            character.len_utf8()
        };
        line += rest[..taken].matches('\n').count();
        position += taken;
    }
    blocks.end();
}

/// The length of a block comment that starts here.
fn block(rest: &str, syntax: &Syntax) -> Option<usize> {
    let (open, close) = syntax.block?;
    let inside = rest.strip_prefix(open)?;
    let length = inside.find(close).map(|end| open.len() + end + close.len());
    Some(length.unwrap_or(rest.len()))
}

/// The content of a string that starts here, and the length of the literal.
fn literal<'t>(rest: &'t str, syntax: &Syntax) -> Option<(&'t str, usize)> {
    if let Some(raw) = rest.strip_prefix('r') {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        if let Some(inside) = raw[hashes..].strip_prefix('"') {
            let close = format!("\"{}", "#".repeat(hashes));
            let end = inside.find(&close).unwrap_or(inside.len());
            let length = 2 + hashes + end + close.len();
            return Some((&inside[..end], length.min(rest.len())));
        }
    }
    // A character, such as a quote, and not a lifetime.
    if !syntax.quotes.contains(&"'")
        && let Some(inside) = rest.strip_prefix('\'')
    {
        let mut characters = inside.char_indices();
        let end = match characters.next()? {
            (_, '\\') => inside[2.min(inside.len())..].find('\'')? + 2,
            _ => characters.next().filter(|(_, next)| *next == '\'')?.0,
        };
        return Some(("", 1 + end + 1));
    }
    let quote = syntax
        .quotes
        .iter()
        .find(|quote| rest.starts_with(**quote))?;
    let inside = &rest[quote.len()..];
    let mut escaped = false;
    for (index, character) in inside.char_indices() {
        if escaped {
            escaped = false;
        } else if character == '\\' {
            escaped = true;
        } else if inside[index..].starts_with(*quote) {
            return Some((&inside[..index], quote.len() * 2 + index));
        }
    }
    Some((inside, rest.len()))
}

/// Replaces what is between braces, the names of values that a message shows.
fn without_fields(text: &str) -> String {
    let mut inside = false;
    let hide = |character| {
        inside = (inside || character == '{') && character != '}';
        if inside && character != '{' {
            '_'
        } else {
            character
        }
    };
    text.chars().map(hide).collect()
}

/// Whether a string is text and not data: at least three words.
fn is_message(content: &str) -> bool {
    let words = content.split_whitespace();
    let is_word = |word: &&str| word.len() > 1 && word.chars().all(char::is_alphabetic);
    words.filter(is_word).count() >= 3
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str, path: &str) -> Vec<(usize, String)> {
        let kind = Kind::of_file(path).expect("a kind");
        let paragraphs = paragraphs(text, kind).into_iter();
        paragraphs
            .map(|paragraph| (paragraph.line(0), paragraph.text))
            .collect()
    }

    fn expected(rows: &[(usize, &str)]) -> Vec<(usize, String)> {
        let rows = rows.iter();
        rows.map(|(line, text)| (*line, (*text).to_owned()))
            .collect()
    }

    #[test]
    fn markdown_is_read_by_paragraphs_without_code() {
        let text =
            "# Title\nOne `a b` line\nand two.\n\n- item\n  more\n| cell |\n```sh\ncode\n```\nEnd";
        let rows = [
            (1, "# Title"),
            (2, "One `___` line and two."),
            (5, "- item more"),
            (7, "| cell |"),
            (11, "End"),
        ];
        assert_eq!(texts(text, "a.md"), expected(&rows));
    }

    #[test]
    fn rust_is_read_by_comments_and_messages() {
        let text = "//! Two\n//! lines.\n\n/// One.\n///\n/// # Errors\n///\n/// If none.\n\
                    fn a<'a>() { '\"'; '\\''; } // Behind code.\n// Alone.\n\
                    const A: &str = \"not // a comment \\\n    at all, \\\"here\\\" {colour}\";\n\
                    const B: &str = r#\"raw \" text of words\"#; /* left out */\n\
                    const C: &str = \"a/b.c\";\n#[cfg(test)]\nmod tests { \"one two three four\" }\n";
        let rows = [
            (1, "Two lines."),
            (4, "One."),
            (6, "# Errors If none."),
            (9, "Behind code."),
            (10, "Alone."),
            (11, "not // a comment at all, \"here\" {______}"),
            (13, "raw \" text of words"),
        ];
        assert_eq!(texts(text, "src/a.rs"), expected(&rows));
        assert_eq!(texts(text, "tests/a.rs"), expected(&rows[..5]));
    }

    #[test]
    fn python_is_read_by_comments_and_strings() {
        let text = "\"\"\"First line.\n\nThe second 'part' of it.\"\"\"\n# A comment\n# of two lines\nx = 'some words of text'\n";
        let rows = [
            (1, "First line."),
            (1, "The second 'part' of it."),
            (4, "A comment of two lines"),
            (6, "some words of text"),
        ];
        assert_eq!(texts(text, "a.py"), expected(&rows));
    }

    #[test]
    fn positions_have_lines_and_sentences() {
        let paragraph = Paragraph::new(&[(3, "One is here. Two goes"), (4, "on. Three.")]);
        let position = paragraph.text.find("on.").expect("a word");
        assert_eq!(paragraph.line(position), 4);
        assert_eq!(paragraph.line(0), 3);
        assert_eq!(paragraph.sentence(position), "Two goes on.");
        assert_eq!(paragraph.sentence(0), "One is here.");
    }
}
