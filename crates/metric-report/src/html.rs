//! A report as HTML.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

use crate::block::{
    Alignment, Bars, Block, Boxes, Caption, Card, Cell, Column, Example, Fact, Facts, Forest,
    Grids, Heatmap, Histogram, Lines, Media, Order, Picture, Report, Section, SideBySide, Step,
    Table, Tone,
};
use crate::limits::{self, heatmap_classes, table_rows};
use crate::svg::{self, Ids};
use crate::text::{
    Escaped, NAME, SENTENCE, TEXT, escaped, grouped, name, number, plain, shown, unit,
};

const STYLE: &str = concat!(
    include_str!("../templates/palette.css"),
    include_str!("../templates/chart.css"),
    include_str!("../templates/report.css"),
);
const SCRIPT: &str = include_str!("../templates/report.js");

/// The files of a report in a folder, for servers whose policy allows no style or script inside of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    /// `index.html`.
    pub page: String,
    /// `report.css`.
    pub style: &'static str,
    /// `report.js`.
    pub script: &'static str,
}

impl Report {
    /// Returns the report as one HTML file, which loads nothing and is complete without its script.
    ///
    /// The file has at most 3 MB: blocks that do not fit are left out, and the page says so.
    #[must_use]
    pub fn to_html(&self) -> String {
        page(self, true)
    }

    /// Returns the report as files of a folder.
    #[must_use]
    pub fn to_folder(&self) -> Folder {
        Folder {
            page: page(self, false),
            style: STYLE,
            script: SCRIPT,
        }
    }
}

impl Report {
    /// Returns the charts of the report as SVG files of their own: names and contents.
    ///
    /// A name is made of the heading of the chart, and does not depend on the other charts unless they have the
    /// same heading.
    #[must_use]
    pub fn charts(&self) -> Vec<(String, String)> {
        let mut charts: Vec<(String, String)> = Vec::new();
        for block in self.sections.iter().flat_map(|section| &section.blocks) {
            let ids = &mut Ids::default();
            let (caption, svg) = match block {
                Block::Lines(chart) => (&chart.caption, svg::lines(chart, ids)),
                Block::Bars(chart) => (&chart.caption, svg::bars(chart, self.digits, ids)),
                Block::Histogram(chart) => {
                    (&chart.caption, svg::histogram(chart, self.digits, ids))
                }
                Block::Forest(chart) => (&chart.caption, svg::forest(chart, self.digits, ids)),
                Block::Heatmap(matrix) => (&matrix.caption, svg::heatmap(matrix, ids)),
                _ => continue,
            };
            let name = file_name(&caption.title);
            let is_taken = |name: &str| charts.iter().any(|(other, _)| other == name);
            let mut names = (2..).map(|index| format!("{name}-{index}.svg"));
            let name = Some(format!("{name}.svg"))
                .filter(|name| !is_taken(name))
                .or_else(|| names.find(|name| !is_taken(name)))
                .unwrap_or_default();
            charts.push((name, svg::standalone(&svg)));
        }
        charts
    }
}

/// The words of a heading in lower case, as the name of a file: letters and digits of ASCII, with hyphens between
/// them.
fn file_name(title: &str) -> String {
    let letter = |character: char| {
        if character.is_ascii_alphanumeric() {
            character.to_ascii_lowercase()
        } else {
            '-'
        }
    };
    let letters: String = title.chars().map(letter).take(60).collect();
    let words: Vec<&str> = letters.split('-').filter(|word| !word.is_empty()).collect();
    if words.is_empty() {
        "chart".to_owned()
    } else {
        words.join("-")
    }
}

/// A part of a page, if a condition holds. All text in it is [`Escaped`] or [`Shown`](crate::text::Shown).
fn part(condition: bool, markup: impl FnOnce() -> String) -> String {
    if condition { markup() } else { String::new() }
}

/// The sentence that says what is left out.
fn more(rest: &str) -> String {
    let rest = Escaped(rest.to_owned());
    part(!rest.0.is_empty(), || {
        format!("<p class=\"more\">{rest}</p>")
    })
}

fn page(report: &Report, whole: bool) -> String {
    let mut writer = Writer {
        ids: Ids::default(),
        section: String::new(),
        examples: 0,
        left: limits::PAGE,
        left_of_pictures: limits::PICTURES,
        digits: report.digits,
    };
    let cards = writer.cards(&report.cards);
    let has_cards = !report.cards.is_empty();
    let mut links = Vec::new();
    if has_cards {
        links.push(("scores".to_owned(), "Scores".to_owned()));
    }
    let mut sections = String::new();
    // The last section, with the origin of the numbers, is always there, however large the others are.
    let mut rendered: Vec<String> = report.sections.iter().map(|_| String::new()).collect();
    let last = report.sections.len().checked_sub(1);
    let order = last.into_iter().chain(0..last.unwrap_or(0));
    for index in order {
        let section = &report.sections[index];
        if !section.blocks.is_empty() {
            rendered[index] = writer.section(section, &format!("s{}", index + 1));
        }
    }
    for (index, (html, section)) in rendered.iter().zip(&report.sections).enumerate() {
        if !html.is_empty() {
            links.push((format!("s{}", index + 1), plain(&section.title, 40)));
            sections.push_str(html);
        }
    }
    head(report, whole)
        + &navigation(&links)
        + &header(report)
        + &part(has_cards, || {
            format!(
                "<section id=\"scores\" aria-labelledby=\"scores-h\"><h2 id=\"scores-h\" class=\"vh\">Scores</h2>{cards}</section>"
            )
        })
        + &warnings(report)
        + &sections
        + &footer(report, whole)
}

fn head(report: &Report, whole: bool) -> String {
    let policy = Escaped(policy(whole));
    let program = escaped(&report.program, NAME);
    let title = escaped(&report.title, NAME);
    let style = if whole {
        format!("<style>{STYLE}</style>")
    } else {
        "<link rel=\"stylesheet\" href=\"report.css\">".to_owned()
    };
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\
         <meta name=\"referrer\" content=\"no-referrer\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\"><meta name=\"generator\" content=\"{program}\">\
         <title>{title}</title>{style}</head>"
    )
}

/// The links to the sections, with their ids and titles.
fn navigation(links: &[(String, String)]) -> String {
    let links = links.iter().map(|(id, title)| {
        let title = escaped(title, NAME);
        format!("<a href=\"#{id}\">{title}</a> ")
    });
    let links: String = links.collect();
    format!(
        "<body><a class=\"skip\" href=\"#main\">Skip to the content</a>\
         <nav aria-label=\"Sections\"><div class=\"wrap\"><b>metric</b>{links}\
         <button id=\"theme\" type=\"button\" hidden aria-pressed=\"false\">Light / dark</button></div></nav>\n"
    )
}

fn header(report: &Report) -> String {
    let heading = shown(&report.title, NAME);
    let summary = part(!report.summary.is_empty(), || {
        format!("<p class=\"sub\">{}</p>", shown(&report.summary, SENTENCE))
    });
    let badges = report.badges.iter().take(limits::BADGES).map(|badge| {
        let class = match badge.tone {
            Tone::Good => "ok",
            Tone::Bad => "bad",
            Tone::Warning => "warn",
            _ => "n",
        };
        let text = shown(&badge.text, NAME);
        format!("<li><span class=\"pill {class}\">{text}</span> </li>")
    });
    let badges: String = badges.collect();
    let badges = part(!badges.is_empty(), || {
        format!("<ul class=\"pills\">{badges}</ul>")
    });
    format!("<main id=\"main\" class=\"wrap\"><header><h1>{heading}</h1>{summary}{badges}</header>")
}

fn warnings(report: &Report) -> String {
    let warnings = report.warnings.iter().take(limits::WARNINGS);
    let items = warnings.map(|warning| format!("<li>{}</li>", shown(warning, SENTENCE)));
    let items: Vec<String> = items.collect();
    let title = match report.warnings.len() {
        0 => return String::new(),
        1 => "Warning",
        _ => "Warnings",
    };
    let rest = limits::left_out(report.warnings.len(), items.len(), "warnings");
    let rest = part(!rest.is_empty(), || format!("<p>{}</p>", Escaped(rest)));
    format!(
        "<section id=\"warnings\" class=\"warnbox\" aria-labelledby=\"warnings-h\">\
         <h2 id=\"warnings-h\">{title}</h2><ul>{}</ul>{rest}</section>",
        items.concat()
    )
}

fn footer(report: &Report, whole: bool) -> String {
    let program = escaped(&report.program, NAME);
    let script = if whole {
        format!("<script>{SCRIPT}</script>")
    } else {
        "<script src=\"report.js\"></script>".to_owned()
    };
    format!(
        "</main><footer><div class=\"wrap\">{program}. This file holds everything it shows: \
         it loads nothing and sends nothing.</div></footer>{script}</body></html>\n"
    )
}

/// The policy of a page, as one file or as one of a folder.
fn policy(whole: bool) -> String {
    let [style, script] = if whole {
        [STYLE, SCRIPT].map(|text| format!("sha256-{}", hash(text)))
    } else {
        ["self", "self"].map(str::to_owned)
    };
    format!(
        "default-src 'none'; style-src '{style}'; script-src '{script}'; img-src data:; base-uri 'none'; form-action 'none'"
    )
}

/// The hash of a style or script for the policy of the page.
fn hash(text: &str) -> String {
    base64(&Sha256::digest(text.as_bytes()))
}

/// Bytes as text of 64 characters (RFC 4648).
fn base64(bytes: &[u8]) -> String {
    const CHARACTERS: &[u8; 64] =
        b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for index in 0..4 {
            let six = (bits >> (18 - 6 * index)) & 63;
            text.push(if index <= chunk.len() {
                char::from(CHARACTERS[six as usize])
            } else {
                '='
            });
        }
    }
    text
}

/// What the marks of alignments mean.
const KEY: &str = "<ul class=\"key\">\
    <li><b class=\"s\">sub</b> substituted: the reference above, the prediction below</li>\
    <li><b class=\"d\">del</b> deleted: not in the prediction</li>\
    <li><b class=\"i\">ins</b> inserted: not in the reference</li></ul>";

/// The state of writing a page.
struct Writer {
    ids: Ids,
    /// The id of the heading of the section at hand, with which boxes that scroll are named: the same table can be in
    /// several sections.
    section: String,
    examples: usize,
    /// The bytes that further blocks may take, and those of them that further pictures may take.
    left: usize,
    left_of_pictures: usize,
    digits: usize,
}

/// Whether the block needs no more than half of the page, so that two of them are next to each other.
fn is_narrow(block: &Block, has_small_examples: bool) -> bool {
    match block {
        Block::Lines(_) | Block::Bars(_) | Block::Histogram(_) | Block::Forest(_) => true,
        Block::Table(table) => table.columns.len() <= limits::NARROW_COLUMNS,
        Block::Heatmap(matrix) => matrix.classes.len() <= limits::NARROW_CLASSES,
        Block::Example(_) => has_small_examples,
        _ => false,
    }
}

/// Whether these blocks have examples, and all of them are boxes or a few words.
fn has_small_examples(blocks: &[Block]) -> bool {
    let length = |(_, fact): &(String, Fact)| match fact {
        Fact::Words(text) | Fact::Text(text) => text.len(),
    };
    let is_small = |block: &Block| match block {
        Block::Boxes(_) => true,
        Block::Facts(facts) => facts.facts.iter().map(length).sum::<usize>() <= limits::FEW_WORDS,
        _ => false,
    };
    let examples = blocks.iter().filter_map(|block| match block {
        Block::Example(example) => Some(example.blocks.iter().all(is_small)),
        _ => None,
    });
    examples.reduce(|all, is_small| all && is_small) == Some(true)
}

/// Whether an example of these is an alignment, whose marks need a key.
fn has_alignments(blocks: &[Block]) -> bool {
    let is_alignment = |block: &Block| matches!(block, Block::Alignment(_));
    blocks.iter().any(|block| match block {
        Block::Example(example) => example.blocks.iter().any(is_alignment),
        block => is_alignment(block),
    })
}

impl Writer {
    fn section(&mut self, section: &Section, id: &str) -> String {
        self.section = format!("{id}-h");
        let body = self.blocks(&section.blocks);
        let title = shown(&section.title, NAME);
        let note = part(!section.note.is_empty(), || {
            format!("<p class=\"note\">{}</p>", shown(&section.note, SENTENCE))
        });
        let key = part(has_alignments(&section.blocks), || KEY.to_owned());
        format!(
            "<section id=\"{id}\" aria-labelledby=\"{id}-h\"><h2 id=\"{id}-h\">{title}</h2>{note}{key}\
             <div class=\"blocks\">{body}</div></section>"
        )
    }

    fn blocks(&mut self, blocks: &[Block]) -> String {
        let mut html = String::new();
        let mut left_out = 0_usize;
        let small = has_small_examples(blocks);
        let is_narrow = |block: &Block| is_narrow(block, small);
        for run in blocks.chunk_by(|a, b| is_narrow(a) == is_narrow(b)) {
            let mut texts = String::new();
            for block in run {
                let text = self.block(block);
                match self.left.checked_sub(text.len()) {
                    Some(left) => {
                        self.left = left;
                        texts.push_str(&text);
                    }
                    None => left_out += 1,
                }
            }
            let has_table = run.iter().any(|block| matches!(block, Block::Table(_)));
            match (run.first().is_some_and(is_narrow), has_table) {
                _ if texts.is_empty() => {}
                (false, _) => html.push_str(&texts),
                // Next to a long table, a figure is as high as it is.
                (true, true) => html.push_str(&format!("<div class=\"row top\">{texts}</div>")),
                (true, false) => html.push_str(&format!("<div class=\"row\">{texts}</div>")),
            }
        }
        if left_out > 0 {
            html.push_str(&format!(
                "<p class=\"more\">Left out, because the page would be too large: {}.</p>",
                grouped(left_out as u64)
            ));
        }
        html
    }

    fn block(&mut self, block: &Block) -> String {
        match block {
            Block::Cards(cards) => self.cards(cards),
            Block::Table(table) => self.table(table),
            Block::Lines(chart) => self.lines(chart),
            Block::Bars(chart) => self.bars(chart),
            Block::Histogram(chart) => self.histogram(chart),
            Block::Heatmap(matrix) => self.heatmap(matrix),
            Block::Forest(chart) => self.forest(chart),
            Block::Alignment(alignment) => alignment_html(alignment, limits::STEPS),
            Block::SideBySide(texts) => side_by_side(texts, limits::LINES),
            Block::Grids(grids) => self.grids(grids),
            Block::Picture(picture) => self.picture(picture),
            Block::Boxes(boxes) => self.boxes(boxes),
            Block::Facts(facts) => facts_html(facts, "prov", TEXT),
            Block::Example(example) => self.example(example),
        }
    }

    fn cards(&mut self, cards: &[Card]) -> String {
        let strips: Vec<String> = cards
            .iter()
            .map(|card| match &card.interval {
                Some(interval) => svg::strip(card.value, interval.ends, interval.scale),
                None => String::new(),
            })
            .collect();
        let rows = cards.iter().zip(&strips).take(limits::CARDS).enumerate();
        let cards = rows.map(|(index, (card, strip))| {
            let interval = card.interval.as_ref().map(|interval| {
                let [low, high] = interval.ends.map(|end| number(end, self.digits));
                format!("{}: {low} to {high}", plain(&interval.name, 40))
            });
            let notes = card.notes.iter().map(|note| plain(note, SENTENCE));
            let notes = interval.into_iter().chain(notes);
            let notes = notes.map(|note| format!("<div class=\"ci\">{}</div>", Escaped(note)));
            let notes: String = notes.collect();
            let main = if index == 0 { " main" } else { "" };
            let label = match card.label.as_str() {
                "" => name(&card.name),
                label => name(label),
            };
            let data = card.value.map_or_else(String::new, |value| value.to_string());
            let title = card.value.map_or("undefined", |_| &data);
            let value = card
                .value
                .map_or_else(|| "–".to_owned(), |value| number(value, self.digits));
            format!(
                "<div class=\"card{main}\" data-score=\"{}\" data-value=\"{data}\"><div class=\"k\">{label}</div>\
                 <div class=\"v\" title=\"{title}\">{value}</div>{notes}{strip}</div>",
                escaped(&card.name, NAME)
            )
        });
        format!("<div class=\"cards\">{}</div>", cards.collect::<String>())
    }

    fn table(&mut self, table: &Table) -> String {
        let number = self.ids.next();
        let (rows, left) = table_rows(&table.rows);
        let columns = table.columns.iter().take(limits::COLUMNS);
        let columns: Vec<&Column> = columns.collect();
        let order = |index: usize| match table.order {
            Some((column, Order::Ascending)) if column == index => Some("ascending"),
            Some((column, Order::Descending)) if column == index => Some("descending"),
            _ => None,
        };
        let heads = columns.iter().enumerate().map(|(index, column)| {
            let class = if column.text { " class=\"l\"" } else { "" };
            let order = order(index).map(|order| format!(" data-sorted=\"{order}\""));
            let order = order.unwrap_or_default();
            format!(
                "<th scope=\"col\"{class}{order}>{}</th>",
                name(&column.name)
            )
        });
        let heads: String = heads.collect();
        let row = |row: &&'_ Vec<Cell>| {
            let cells = columns.iter().zip(row.iter()).enumerate();
            let cells = cells.map(|(index, (column, cell))| self.cell(index == 0, column, cell));
            format!("<tr>{}</tr>", cells.collect::<String>())
        };
        let filter = part(rows.len() > 12, || {
            format!(
                "<p class=\"tools\" hidden><label for=\"f{number}\">Find in the first column</label> \
                 <input id=\"f{number}\" type=\"search\" data-for=\"t{number}\"> \
                 <span id=\"t{number}-n\" aria-live=\"polite\"></span></p>"
            )
        });
        let tall = if rows.len() > 15 { " tall" } else { "" };
        let section = &self.section;
        let caption = shown(&table.caption, NAME);
        let body: String = rows.iter().map(row).collect();
        let rest = more(&rest(left, "rows", &table.rest));
        format!(
            "<div class=\"tbl\">{filter}<div class=\"scroll{tall}\" tabindex=\"0\" role=\"region\" \
             aria-labelledby=\"{section} t{number}-c\"><table class=\"sort\" id=\"t{number}\">\
             <caption id=\"t{number}-c\">{caption}</caption><thead><tr>{heads}</tr></thead>\
             <tbody>{body}</tbody></table></div>{rest}</div>"
        )
    }

    fn cell(&self, is_head: bool, column: &Column, cell: &Cell) -> String {
        let text = match cell {
            Cell::Text(text) if text.is_empty() => "(empty)".to_owned(),
            // Spaces alone would be an empty cell.
            Cell::Text(text) if text.trim().is_empty() => unit(text).to_string(),
            Cell::Text(text) => name(text).to_string(),
            // Text of this crate, which holds no markup.
            other => svg::cell_text(other, self.digits),
        };
        let data = match cell {
            Cell::Text(_) => None,
            Cell::Undefined => Some(String::new()),
            Cell::Number(value) | Cell::Difference(value) => Some(value.to_string()),
            Cell::Count(count) => Some(count.to_string()),
            Cell::Interval([low, _]) => Some(low.to_string()),
        };
        let data = data
            .map(|data| format!(" data-v=\"{data}\""))
            .unwrap_or_default();
        let class = if column.text { " class=\"t\"" } else { "" };
        let bar = match (column.bar, svg::cell_value(cell)) {
            (Some(ends), Some(value)) if !is_head => svg::cell_bar(value, ends),
            _ => String::new(),
        };
        if is_head {
            format!("<th scope=\"row\"{class}{data}>{text}</th>")
        } else {
            format!("<td{class}{data}>{text}{bar}</td>")
        }
    }

    fn figure(&mut self, caption: &Caption, body: &str, table: Option<Table>) -> String {
        let table = table.map(|table| self.table(&table)).unwrap_or_default();
        let table = part(!table.is_empty(), || {
            format!("<details><summary>The numbers as a table</summary>{table}</details>")
        });
        let title = part(!caption.title.is_empty(), || {
            format!("<h3>{}</h3>", shown(&caption.title, NAME))
        });
        figure("", &title, &caption.note, &format!("{body}{table}"))
    }

    fn lines(&mut self, chart: &Lines) -> String {
        let svg = svg::lines(chart, &mut self.ids);
        let table = lines_table(chart);
        self.figure(&chart.caption, &svg, Some(table))
    }

    fn bars(&mut self, chart: &Bars) -> String {
        let svg = svg::bars(chart, self.digits, &mut self.ids);
        self.figure(&chart.caption, &svg, Some(bars_table(chart)))
    }

    fn histogram(&mut self, chart: &Histogram) -> String {
        let svg = svg::histogram(chart, self.digits, &mut self.ids);
        self.figure(&chart.caption, &svg, Some(histogram_table(chart)))
    }

    fn forest(&mut self, chart: &Forest) -> String {
        let svg = svg::forest(chart, self.digits, &mut self.ids);
        self.figure(&chart.caption, &svg, Some(forest_table(chart)))
    }

    fn heatmap(&mut self, matrix: &Heatmap) -> String {
        let classes = heatmap_classes(matrix);
        let (rows, left) = heatmap_rows(matrix, &classes);
        let class = |index: &usize| matrix.classes.get(*index).map_or("", String::as_str);
        let rows = classes.iter().zip(&rows).map(|(index, counts)| {
            let total = row_total(matrix, *index).max(1);
            let cells = counts.iter().zip(&classes).map(|(&count, column)| {
                let shade = svg::shade(count, total);
                let is_diagonal = column == index && Some(*index) != matrix.nothing;
                let diagonal = if is_diagonal { " diag" } else { "" };
                let text = part(count > 0, || grouped(count));
                format!("<td class=\"q{shade}{diagonal}\" data-v=\"{count}\">{text}</td>")
            });
            let cells: String = cells.collect();
            format!(
                "<tr><th scope=\"row\">{}</th>{cells}</tr>",
                name(class(index))
            )
        });
        let rows: String = rows.collect();
        let names = classes.iter().map(|index| {
            let name = name(class(index));
            format!("<th scope=\"col\"><span>{name}</span></th>")
        });
        let names: String = names.collect();
        let [rows_are, columns_are] = matrix.sides.each_ref().map(|side| escaped(side, NAME));
        let title = match matrix.caption.title.as_str() {
            "" => "Confusion matrix",
            title => title,
        };
        let title = shown(title, NAME);
        let note = part(!matrix.caption.note.is_empty(), || {
            format!("{} ", shown(&matrix.caption.note, SENTENCE))
        });
        let wide = matrix.classes.len() > limits::NARROW_CLASSES;
        let wide = if wide { " class=\"wide\"" } else { "" };
        let (number, section) = (self.ids.next(), &self.section);
        let rest = more(&rest(left, "classes", &matrix.rest));
        format!(
            "<figure{wide}><figcaption><h3 id=\"h{number}\">{title}</h3><p>{note}Rows: {rows_are}. \
             Columns: {columns_are}. The shade is the share of the row, the number the count.</p></figcaption>\
             <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-labelledby=\"{section} h{number}\">\
             <table class=\"heat\"><caption class=\"vh\">{title}</caption><thead><tr><td></td>{names}</tr></thead>\
             <tbody>{rows}</tbody></table></div>{rest}</figure>"
        )
    }

    fn grids(&mut self, grids: &Grids) -> String {
        let mut html = "<div class=\"grids\">".to_owned();
        let shown_grids = grids.grids.iter().take(limits::GRIDS);
        for (index, (name, rows)) in shown_grids.enumerate() {
            let wide = rows.iter().map(Vec::len).max().unwrap_or(0);
            let caption = Caption {
                note: format!("{name}, {} × {wide}", rows.len()),
                ..Caption::default()
            };
            let svg = svg::grid(grids, index, &mut self.ids);
            html.push_str(&self.figure(&caption, &svg, None));
        }
        html + "</div>"
    }

    fn boxes(&mut self, boxes: &Boxes) -> String {
        let picture = boxes.picture.as_ref();
        let (picture, left_out) = match picture.map(|(bytes, media)| (self.fits(bytes), media)) {
            Some((Some(data), media)) => (Some((media_type(*media), data)), ""),
            Some((None, _)) => (
                None,
                " The picture is left out: those of this page are too large.",
            ),
            None => (None, ""),
        };
        let class = match picture {
            Some(_) => "boxes photo",
            None => "boxes",
        };
        let svg = svg::boxes(boxes, picture, &mut self.ids);
        let note = format!("{}{left_out}", boxes.caption.note);
        figure(class, "", &note, &svg)
    }

    /// A picture as text, if there is room for it.
    fn fits(&mut self, bytes: &[u8]) -> Option<String> {
        let size = bytes.len().div_ceil(3).saturating_mul(4);
        let left = self.left_of_pictures.checked_sub(size)?;
        (bytes.len() <= limits::PICTURE).then(|| {
            self.left_of_pictures = left;
            base64(bytes)
        })
    }

    fn picture(&mut self, picture: &Picture) -> String {
        let body = match self.fits(&picture.bytes) {
            Some(data) => {
                let alt = match picture.caption.finding.as_str() {
                    "" => &picture.caption.title,
                    finding => finding,
                };
                let (alt, media) = (escaped(alt, SENTENCE), media_type(picture.media));
                format!("<img alt=\"{alt}\" src=\"data:{media};base64,{data}\">")
            }
            None => {
                "<p class=\"more\">The picture is left out: it is too large, or those of this page are.</p>".to_owned()
            }
        };
        figure("pic", "", &picture.caption.note, &body)
    }

    fn example(&mut self, example: &Example) -> String {
        self.examples += 1;
        let number = self.examples;
        let mut body = String::new();
        let mut is_cut = false;
        for block in &example.blocks {
            let left = limits::EXAMPLE.saturating_sub(body.len());
            let room = left.max(limits::EXAMPLE_TEXT);
            let text = match block {
                Block::Facts(facts) => {
                    let length = |(_, fact): &(String, Fact)| match fact {
                        Fact::Words(text) | Fact::Text(text) => text.chars().take(TEXT + 1).count(),
                    };
                    let all = facts.facts.iter().map(length).max().unwrap_or(0);
                    let html = |most| facts_html(facts, "texts", most);
                    fitted([TEXT, all], room, &mut is_cut, html)
                }
                Block::Alignment(alignment) => {
                    let all = alignment.steps.len();
                    let html = |most| alignment_html(alignment, most);
                    fitted([limits::STEPS, all], room, &mut is_cut, html)
                }
                Block::SideBySide(texts) => {
                    let lines = texts.texts.each_ref().map(|text| text.lines().count());
                    let all = lines[0].max(lines[1]);
                    let html = |most| side_by_side(texts, most);
                    fitted([limits::LINES, all], room, &mut is_cut, html)
                }
                block => self.block(block),
            };
            // A block that is too large for an example gives way to a word.
            if text.len() <= limits::EXAMPLE_BLOCK {
                body.push_str(&text);
            } else {
                body.push_str("<p class=\"more\">Too large to be shown.</p>");
            }
        }
        if is_cut && !example.whole.is_empty() {
            let whole = shown(&example.whole, SENTENCE);
            body.push_str(&format!("<p class=\"more\">{whole}</p>"));
        }
        let id = match example.id.as_str() {
            "" => "(the empty id)",
            id => id,
        };
        let id = name(id);
        let facts = example.facts.iter();
        let facts: String = facts
            .map(|fact| format!("<span>{}</span> ", name(fact)))
            .collect();
        format!(
            "<article class=\"ex\" id=\"ex-{number}\" aria-labelledby=\"ex-{number}-h\"><div class=\"hd\">\
             <h3 id=\"ex-{number}-h\"><a href=\"#ex-{number}\">{id}</a></h3>{facts}</div>{body}</article>"
        )
    }
}

/// A figure with a heading, which is markup, a note, and a body, which is markup.
fn figure(class: &str, heading: &str, note: &str, body: &str) -> String {
    let class = part(!class.is_empty(), || format!(" class=\"{class}\""));
    let note = part(!note.is_empty(), || {
        format!("<p>{}</p>", shown(note, SENTENCE))
    });
    format!("<figure{class}><figcaption>{heading}{note}</figcaption>{body}</figure>")
}

/// The counts of the shown classes, and how many classes are not shown.
fn heatmap_rows(matrix: &Heatmap, classes: &[usize]) -> (Vec<Vec<u64>>, usize) {
    let mut rows = vec![vec![0; classes.len()]; classes.len()];
    let position = |class: usize| classes.binary_search(&class).ok();
    for &(row, column, count) in &matrix.cells {
        if let Some((row, column)) = position(row).zip(position(column)) {
            rows[row][column] += count;
        }
    }
    (rows, matrix.classes.len() - classes.len())
}

fn row_total(matrix: &Heatmap, row: usize) -> u64 {
    let cells = matrix.cells.iter().filter(|cell| cell.0 == row);
    cells.map(|cell| cell.2).sum()
}

/// The table of a chart of curves: some points of each.
fn lines_table(chart: &Lines) -> Table {
    let column = |name: &str| Column {
        name: name.to_owned(),
        ..Column::default()
    };
    let mut columns = vec![Column {
        text: true,
        ..column("curve")
    }];
    columns.extend(chart.axes.iter().map(|axis| column(axis)));
    let most = (limits::CURVE_ROWS / chart.lines.len().max(1)).max(3);
    let mut rows = Vec::new();
    for line in &chart.lines {
        let points = svg::reduced(&line.points);
        let step = points.len().saturating_sub(1).div_ceil(most).max(1);
        let last = points.len().saturating_sub(1);
        let is_kept = |index: &usize| index.is_multiple_of(step) || *index == last;
        for index in (0..points.len()).filter(is_kept) {
            let [x, y] = points[index];
            rows.push(vec![
                Cell::Text(line.name.clone()),
                Cell::Number(x),
                Cell::Number(y),
            ]);
        }
    }
    Table {
        caption: format!("{}: some of the points", chart.caption.title),
        columns,
        rows,
        ..Table::default()
    }
}

fn two_columns(first: &str, second: &str) -> Vec<Column> {
    let column = |name: &str| Column {
        name: name.to_owned(),
        ..Column::default()
    };
    vec![column(first), column(second)]
}

fn bars_table(chart: &Bars) -> Table {
    let row = |bar: &crate::Bar| vec![Cell::Text(bar.name.clone()), bar.value.clone()];
    Table {
        caption: chart.caption.title.clone(),
        columns: two_columns("name", "value"),
        rows: chart.bars.iter().map(row).collect(),
        ..Table::default()
    }
}

fn histogram_table(chart: &Histogram) -> Table {
    let row = |bar: svg::HistogramBar| vec![Cell::Text(bar.range), Cell::Count(bar.count)];
    Table {
        caption: chart.caption.title.clone(),
        columns: two_columns(&chart.axis, &chart.unit),
        rows: svg::histogram_bars(chart).into_iter().map(row).collect(),
        ..Table::default()
    }
}

fn forest_table(chart: &Forest) -> Table {
    let row = |(name, value, ends): &(String, f64, Option<[f64; 2]>)| {
        let ends = ends.map_or(Cell::Undefined, Cell::Interval);
        vec![Cell::Text(name.clone()), Cell::Number(*value), ends]
    };
    let mut columns = two_columns("name", "score");
    columns.push(Column {
        name: "interval".to_owned(),
        ..Column::default()
    });
    Table {
        caption: chart.caption.title.clone(),
        columns,
        rows: chart.rows.iter().map(row).collect(),
        ..Table::default()
    }
}

/// A sentence that says what is left out, and where all of it is.
fn rest(left: usize, what: &str, location: &str) -> String {
    let mut text = match left {
        0 => return String::new(),
        left => format!("{} more {what} are left out.", grouped(left as u64)),
    };
    if !location.is_empty() {
        text.push(' ');
        text.push_str(&plain(location, SENTENCE));
    }
    text
}

fn facts_html(facts: &Facts, class: &str, most: usize) -> String {
    let left_out = limits::facts_left_out(facts.facts.len());
    let shown_facts = facts.facts.iter().take(limits::FACTS).chain(&left_out);
    let facts = shown_facts.map(|(of, fact)| {
        let value = match fact {
            Fact::Words(words) => shown(words, most).to_string(),
            Fact::Text(text) => format!("<span class=\"lit\">{}</span>", shown(text, most)),
        };
        format!("<dt>{}</dt><dd>{value}</dd>", name(of))
    });
    format!("<dl class=\"{class}\">{}</dl>", facts.collect::<String>())
}

/// Renders as much of something as there is room for, in bytes: at most `most` of `all` its parts, and at least one.
fn fitted(
    [most, all]: [usize; 2],
    room: usize,
    is_cut: &mut bool,
    html: impl Fn(usize) -> String,
) -> String {
    let mut most = most.min(all);
    loop {
        let text = html(most);
        if text.len() <= room || most <= 1 {
            *is_cut |= most < all;
            return text;
        }
        // Parts are of about the same size.
        most = (most.saturating_mul(room) / text.len()).clamp(1, most - 1);
    }
}

fn alignment_html(alignment: &Alignment, most: usize) -> String {
    let marked = |class, said, tag, texts: String| {
        format!(
            "<li class=\"{class}\"><span class=\"vh\">{said} </span><b aria-hidden=\"true\">{tag}</b> {texts}</li>"
        )
    };
    let step = |step: &Step| match step {
        Step::Equal(text) => format!("<li><u>{}</u></li>", unit(text)),
        Step::Substituted(reference, prediction) => {
            let (reference, prediction) = (unit(reference), unit(prediction));
            let texts = format!(
                "<u>{reference}</u><span class=\"vh\"> predicted as </span><i>{prediction}</i>"
            );
            marked("s", "substituted:", "sub", texts)
        }
        Step::Deleted(text) => marked("d", "deleted:", "del", format!("<u>{}</u>", unit(text))),
        Step::Inserted(text) => marked("i", "inserted:", "ins", format!("<i>{}</i>", unit(text))),
    };
    let steps: String = alignment.steps.iter().take(most).map(step).collect();
    let run = if alignment.characters { " run" } else { "" };
    let count = alignment.steps.len();
    let rest = more(&limits::left_out(count, count.min(most), "steps"));
    format!("<ul class=\"al{run}\">{steps}</ul>{rest}")
}

fn side_by_side(texts: &SideBySide, most: usize) -> String {
    let lines = texts
        .texts
        .each_ref()
        .map(|text| -> Vec<&str> { text.lines().take(most).collect() });
    let common = common_lines(&lines[0], &lines[1]);
    let differs = |side: usize, index: usize| !common.iter().any(|pair| pair[side] == index);
    let side = |side: usize| {
        let class = ["del", "add"][side];
        let said = ["not in the prediction", "not in the reference"][side];
        let mut html = String::new();
        for (index, line) in lines[side].iter().enumerate() {
            let differs = differs(side, index);
            let class = part(differs, || format!(" {class}"));
            let said = part(differs, || format!("<span class=\"vh\">{said}: </span>"));
            let line = shown(line, 200);
            // Writing to a string cannot fail.
            let _ = writeln!(html, "<span class=\"x{class}\">{said}{line}");
            html.push_str("</span>");
        }
        let (name, label) = (name(&texts.names[side]), escaped(&texts.names[side], NAME));
        format!(
            "<div><div class=\"cap\">{name}</div><pre tabindex=\"0\" role=\"group\" aria-label=\"{label}\">{html}</pre></div>"
        )
    };
    let all = texts.texts.each_ref().map(|text| text.lines().count());
    let left = all.iter().map(|count| count.saturating_sub(most)).max();
    let rest = more(&rest(left.unwrap_or(0), "lines", ""));
    format!("<div class=\"code\">{}{}</div>{rest}", side(0), side(1))
}

/// The index pairs of a longest common subsequence of lines.
fn common_lines(a: &[&str], b: &[&str]) -> Vec<[usize; 2]> {
    let wide = b.len() + 1;
    let mut lengths = vec![0_u32; (a.len() + 1) * wide];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            lengths[i * wide + j] = if a[i] == b[j] {
                lengths[(i + 1) * wide + j + 1] + 1
            } else {
                lengths[(i + 1) * wide + j].max(lengths[i * wide + j + 1])
            };
        }
    }
    let (mut i, mut j, mut pairs) = (0, 0, Vec::new());
    while i < a.len() && j < b.len() {
        if a[i] == b[j] {
            pairs.push([i, j]);
            (i, j) = (i + 1, j + 1);
        } else if lengths[(i + 1) * wide + j] >= lengths[i * wide + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

/// A picture as an image of the page: nothing in it runs or loads.
fn media_type(media: Media) -> &'static str {
    match media {
        Media::Svg => "image/svg+xml",
        Media::Png => "image/png",
        Media::Jpeg => "image/jpeg",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_text() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn lines_in_common_are_found() {
        assert_eq!(
            common_lines(&["a", "b", "c"], &["b", "x", "c"]),
            [[1, 0], [2, 2]]
        );
        assert_eq!(common_lines(&[], &["x"]), [[0; 2]; 0]);
    }
}
