//! A report as HTML.

use askama::Template;
use sha2::{Digest, Sha256};

use crate::block::{
    Alignment, Bars, Block, Boxes, Caption, Card, Cell, Column, Example, Fact, Facts, Forest,
    Grids, Heatmap, Histogram, Lines, Media, Order, Picture, Report, Section, SideBySide, Step,
    Table, Tone,
};
use crate::limits::{self, heatmap_classes, table_rows};
use crate::svg::{self, Ids};
use crate::text::{Markup, NAME, SENTENCE, Shown, TEXT, grouped, name, number, plain, shown, unit};

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

/// Renders a template. Writing to a string cannot fail.
fn render(template: &impl Template) -> String {
    template.render().unwrap_or_default()
}

#[derive(Template)]
#[template(path = "page.html")]
struct Page<'a> {
    policy: String,
    program: String,
    title: String,
    whole: bool,
    style: Markup<'a>,
    script: Markup<'a>,
    links: Vec<(String, String)>,
    heading: Shown<'a>,
    has_summary: bool,
    summary: Shown<'a>,
    badges: Vec<(&'static str, Shown<'a>)>,
    has_cards: bool,
    cards: Markup<'a>,
    warnings_title: &'static str,
    warnings: Vec<Shown<'a>>,
    warnings_rest: String,
    sections: Markup<'a>,
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
    let warnings: Vec<Shown<'_>> = report
        .warnings
        .iter()
        .take(limits::WARNINGS)
        .map(|warning| shown(warning, SENTENCE))
        .collect();
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
    let badge = |badge: &'_ crate::Badge| match badge.tone {
        Tone::Good => "ok",
        Tone::Bad => "bad",
        Tone::Warning => "warn",
        _ => "n",
    };
    let cards = Markup(&cards);
    let page = Page {
        policy: policy(whole),
        program: plain(&report.program, NAME),
        title: plain(&report.title, NAME),
        whole,
        style: Markup(STYLE),
        script: Markup(SCRIPT),
        links,
        heading: shown(&report.title, NAME),
        has_summary: !report.summary.is_empty(),
        summary: shown(&report.summary, SENTENCE),
        badges: report
            .badges
            .iter()
            .take(limits::BADGES)
            .map(|it| (badge(it), shown(&it.text, NAME)))
            .collect(),
        has_cards,
        cards,
        warnings_title: if report.warnings.len() == 1 {
            "Warning"
        } else {
            "Warnings"
        },
        warnings_rest: limits::left_out(report.warnings.len(), warnings.len(), "warnings"),
        warnings,
        sections: Markup(&sections),
    };
    render(&page) + "\n"
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

#[derive(Template)]
#[template(path = "section.html")]
struct SectionHtml<'a> {
    id: &'a str,
    title: Shown<'a>,
    has_note: bool,
    note: Shown<'a>,
    has_alignments: bool,
    body: Markup<'a>,
}

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
        render(&SectionHtml {
            id,
            has_alignments: has_alignments(&section.blocks),
            title: shown(&section.title, NAME),
            has_note: !section.note.is_empty(),
            note: shown(&section.note, SENTENCE),
            body: Markup(&body),
        })
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
            CardHtml {
                main: index == 0,
                name: plain(&card.name, NAME),
                label: name(if card.label.is_empty() {
                    &card.name
                } else {
                    &card.label
                }),
                data: card
                    .value
                    .map_or_else(String::new, |value| value.to_string()),
                title: card
                    .value
                    .map_or_else(|| "undefined".to_owned(), |value| value.to_string()),
                value: card
                    .value
                    .map_or_else(|| "–".to_owned(), |value| number(value, self.digits)),
                notes: interval.into_iter().chain(notes).collect(),
                strip: Markup(strip),
            }
        });
        render(&CardsHtml {
            cards: cards.collect(),
        })
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
        let heads = columns
            .iter()
            .enumerate()
            .map(|(index, column)| ColumnHtml {
                name: name(&column.name),
                text: column.text,
                order: order(index),
            });
        let row = |row: &&'_ Vec<Cell>| {
            let cells = columns.iter().zip(row.iter());
            let cells = cells.map(|(column, cell)| self.cell(column, cell));
            cells.collect::<Vec<_>>()
        };
        let rows: Vec<Vec<CellHtml>> = rows.iter().map(row).collect();
        render(&TableHtml {
            section: &self.section,
            number,
            filter: (rows.len() > 12).then_some(number),
            tall: rows.len() > 15,
            caption: shown(&table.caption, NAME),
            columns: heads.collect(),
            rest: rest(left, "rows", &table.rest),
            rows,
        })
    }

    fn cell(&self, column: &Column, cell: &Cell) -> CellHtml {
        let value = svg::cell_value(cell);
        CellHtml {
            html: match cell {
                Cell::Text(text) if text.is_empty() => "(empty)".to_owned(),
                // Spaces alone would be an empty cell.
                Cell::Text(text) if text.trim().is_empty() => unit(text).to_string(),
                Cell::Text(text) => name(text).to_string(),
                // Text of this crate, which holds no markup.
                other => svg::cell_text(other, self.digits),
            },
            bar: match (column.bar, value) {
                (Some(ends), Some(value)) => svg::cell_bar(value, ends),
                _ => String::new(),
            },
            text: column.text,
            data: match cell {
                Cell::Text(_) => None,
                Cell::Undefined => Some(String::new()),
                Cell::Number(value) | Cell::Difference(value) => Some(value.to_string()),
                Cell::Count(count) => Some(count.to_string()),
                Cell::Interval([low, _]) => Some(low.to_string()),
            },
        }
    }

    fn figure(&mut self, caption: &Caption, body: &str, table: Option<Table>) -> String {
        let table = table.map(|table| self.table(&table)).unwrap_or_default();
        render(&FigureHtml {
            class: "",
            has_title: !caption.title.is_empty(),
            title: shown(&caption.title, NAME),
            has_note: !caption.note.is_empty(),
            note: shown(&caption.note, SENTENCE),
            body: Markup(body),
            summary: "The numbers as a table",
            table_markup: Markup(&table),
            table: &table,
        })
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
            let cells = counts
                .iter()
                .zip(&classes)
                .map(|(&count, column)| CountHtml {
                    count,
                    text: grouped(count),
                    shade: svg::shade(count, total),
                    diagonal: column == index && Some(*index) != matrix.nothing,
                });
            RowHtml {
                name: name(class(index)),
                cells: cells.collect(),
            }
        });
        let [rows_are, columns_are] = matrix.sides.each_ref().map(|side| plain(side, NAME));
        let title = match matrix.caption.title.as_str() {
            "" => "Confusion matrix",
            title => title,
        };
        render(&HeatmapHtml {
            wide: matrix.classes.len() > limits::NARROW_CLASSES,
            number: self.ids.next(),
            section: &self.section,
            title: shown(title, NAME),
            has_note: !matrix.caption.note.is_empty(),
            note: shown(&matrix.caption.note, SENTENCE),
            rows_are,
            columns_are,
            names: classes.iter().map(|index| name(class(index))).collect(),
            rows: rows.collect(),
            rest: rest(left, "classes", &matrix.rest),
        })
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
        render(&FigureHtml {
            class,
            has_title: false,
            title: name(""),
            has_note: !note.is_empty(),
            note: shown(&note, SENTENCE),
            body: Markup(&svg),
            summary: "",
            table: "",
            table_markup: Markup(""),
        })
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
            Some(data) => render(&ImageHtml {
                media: media_type(picture.media),
                data,
                alt: plain(
                    if picture.caption.finding.is_empty() {
                        &picture.caption.title
                    } else {
                        &picture.caption.finding
                    },
                    SENTENCE,
                ),
            }),
            None => {
                "<p class=\"more\">The picture is left out: it is too large, or those of this page are.</p>".to_owned()
            }
        };
        render(&FigureHtml {
            class: "pic",
            has_title: false,
            title: name(""),
            has_note: !picture.caption.note.is_empty(),
            note: shown(&picture.caption.note, SENTENCE),
            body: Markup(&body),
            summary: "",
            table: "",
            table_markup: Markup(""),
        })
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
        render(&ExampleHtml {
            number,
            id: name(id),
            facts: example.facts.iter().map(|fact| name(fact)).collect(),
            body: Markup(&body),
        })
    }
}

#[derive(Template)]
#[template(path = "cards.html")]
struct CardsHtml<'a> {
    cards: Vec<CardHtml<'a>>,
}

struct CardHtml<'a> {
    main: bool,
    name: String,
    label: Shown<'a>,
    data: String,
    title: String,
    value: String,
    notes: Vec<String>,
    strip: Markup<'a>,
}

#[derive(Template)]
#[template(path = "table.html")]
struct TableHtml<'a> {
    section: &'a str,
    number: usize,
    filter: Option<usize>,
    tall: bool,
    caption: Shown<'a>,
    columns: Vec<ColumnHtml<'a>>,
    rows: Vec<Vec<CellHtml>>,
    rest: String,
}

struct ColumnHtml<'a> {
    name: Shown<'a>,
    text: bool,
    order: Option<&'static str>,
}

/// A cell whose text and bar are markup already.
struct CellHtml {
    html: String,
    bar: String,
    text: bool,
    data: Option<String>,
}

impl CellHtml {
    fn html(&self) -> Markup<'_> {
        Markup(&self.html)
    }

    fn bar(&self) -> Markup<'_> {
        Markup(&self.bar)
    }
}

#[derive(Template)]
#[template(path = "figure.html")]
struct FigureHtml<'a> {
    class: &'a str,
    has_title: bool,
    title: Shown<'a>,
    has_note: bool,
    note: Shown<'a>,
    body: Markup<'a>,
    summary: &'a str,
    table: &'a str,
    table_markup: Markup<'a>,
}

#[derive(Template)]
#[template(path = "heatmap.html")]
struct HeatmapHtml<'a> {
    section: &'a str,
    wide: bool,
    number: usize,
    title: Shown<'a>,
    has_note: bool,
    note: Shown<'a>,
    rows_are: String,
    columns_are: String,
    names: Vec<Shown<'a>>,
    rows: Vec<RowHtml<'a>>,
    rest: String,
}

struct RowHtml<'a> {
    name: Shown<'a>,
    cells: Vec<CountHtml>,
}

struct CountHtml {
    count: u64,
    text: String,
    shade: u8,
    diagonal: bool,
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

#[derive(Template)]
#[template(path = "facts.html")]
struct FactsHtml<'a> {
    class: &'a str,
    facts: Vec<FactHtml<'a>>,
}

struct FactHtml<'a> {
    name: Shown<'a>,
    is_text: bool,
    value: Shown<'a>,
}

fn facts_html(facts: &Facts, class: &str, most: usize) -> String {
    let fact = |(of, fact): &'_ (String, Fact)| {
        let (is_text, value) = match fact {
            Fact::Words(words) => (false, words),
            Fact::Text(text) => (true, text),
        };
        (of.clone(), is_text, value.clone())
    };
    let shown_facts = facts.facts.iter().take(limits::FACTS);
    let left_out = limits::facts_left_out(facts.facts.len());
    let facts: Vec<(String, bool, String)> = shown_facts.chain(&left_out).map(fact).collect();
    let facts = facts.iter().map(|(of, is_text, value)| FactHtml {
        name: name(of),
        is_text: *is_text,
        value: shown(value, most),
    });
    render(&FactsHtml {
        class,
        facts: facts.collect(),
    })
}

#[derive(Template)]
#[template(path = "example.html")]
struct ExampleHtml<'a> {
    number: usize,
    id: Shown<'a>,
    facts: Vec<Shown<'a>>,
    body: Markup<'a>,
}

#[derive(Template)]
#[template(path = "alignment.html")]
struct AlignmentHtml<'a> {
    run: bool,
    steps: Vec<StepHtml<'a>>,
    rest: String,
}

struct StepHtml<'a> {
    class: &'static str,
    tag: &'static str,
    said: &'static str,
    has_reference: bool,
    reference: Shown<'a>,
    both: bool,
    has_prediction: bool,
    prediction: Shown<'a>,
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
    let step = |step: &'_ Step| {
        let (class, said, reference, prediction) = match step {
            Step::Equal(text) => ("", "", Some(text.clone()), None),
            Step::Substituted(reference, prediction) => (
                "s",
                "substituted:",
                Some(reference.clone()),
                Some(prediction.clone()),
            ),
            Step::Deleted(reference) => ("d", "deleted:", Some(reference.clone()), None),
            Step::Inserted(prediction) => ("i", "inserted:", None, Some(prediction.clone())),
        };
        (class, said, reference, prediction)
    };
    let shown_steps = alignment.steps.iter().take(most);
    let steps: Vec<_> = shown_steps.map(step).collect();
    let steps_html = steps
        .iter()
        .map(|(class, said, reference, prediction)| StepHtml {
            class,
            tag: match *class {
                "s" => "sub",
                "d" => "del",
                "i" => "ins",
                _ => "",
            },
            said,
            has_reference: reference.is_some(),
            reference: unit(reference.as_deref().unwrap_or_default()),
            both: *class == "s",
            has_prediction: prediction.is_some(),
            prediction: unit(prediction.as_deref().unwrap_or_default()),
        });
    render(&AlignmentHtml {
        run: alignment.characters,
        steps: steps_html.collect(),
        rest: limits::left_out(alignment.steps.len(), steps.len(), "steps"),
    })
}

#[derive(Template)]
#[template(path = "side_by_side.html")]
struct SideBySideHtml<'a> {
    sides: Vec<SideHtml<'a>>,
    rest: String,
}

struct SideHtml<'a> {
    name: Shown<'a>,
    label: String,
    class: &'static str,
    said: &'static str,
    lines: Vec<LineHtml<'a>>,
}

struct LineHtml<'a> {
    differs: bool,
    text: Shown<'a>,
}

fn side_by_side(texts: &SideBySide, most: usize) -> String {
    let lines = texts
        .texts
        .each_ref()
        .map(|text| -> Vec<&str> { text.lines().take(most).collect() });
    let common = common_lines(&lines[0], &lines[1]);
    let differs = |side: usize, index: usize| !common.iter().any(|pair| pair[side] == index);
    let side = |side: usize| SideHtml {
        name: name(&texts.names[side]),
        label: plain(&texts.names[side], NAME),
        class: ["del", "add"][side],
        said: ["not in the prediction", "not in the reference"][side],
        lines: lines[side]
            .iter()
            .enumerate()
            .map(|(index, line)| LineHtml {
                differs: differs(side, index),
                text: shown(line, 200),
            })
            .collect(),
    };
    let all = texts.texts.each_ref().map(|text| text.lines().count());
    let left = all.iter().map(|count| count.saturating_sub(most)).max();
    render(&SideBySideHtml {
        sides: vec![side(0), side(1)],
        rest: rest(left.unwrap_or(0), "lines", ""),
    })
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

#[derive(Template)]
#[template(
    source = "<img alt=\"{{ alt }}\" src=\"data:{{ media }};base64,{{ data }}\">",
    ext = "html"
)]
struct ImageHtml {
    media: &'static str,
    data: String,
    alt: String,
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
