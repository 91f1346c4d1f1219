//! Pages are parsed as a browser parses them: attacks change nothing, and all is labeled.

#![allow(clippy::panic, clippy::unwrap_used, reason = "these are tests")]

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use html5ever::tokenizer::{
    BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts, states,
};
use metric_report::*;
use proptest::prelude::*;

/// A start tag with its attributes, or a run of text, in the order of the page.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Node {
    Open(String, BTreeMap<String, String>),
    Close(String),
    Text(String),
}

#[derive(Default)]
struct Nodes(RefCell<Vec<Node>>);

impl TokenSink for Nodes {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let mut nodes = self.0.borrow_mut();
        match token {
            Token::TagToken(Tag {
                kind, name, attrs, ..
            }) => {
                let name = name.to_string();
                match kind {
                    TagKind::StartTag => {
                        let attrs = attrs
                            .iter()
                            .map(|it| (it.name.local.to_string(), it.value.to_string()));
                        nodes.push(Node::Open(name.clone(), attrs.collect()));
                        // The answer that a tree builder would give the tokenizer.
                        return match name.as_str() {
                            "script" => TokenSinkResult::RawData(states::RawKind::ScriptData),
                            "style" => TokenSinkResult::RawData(states::RawKind::Rawtext),
                            "title" => TokenSinkResult::RawData(states::RawKind::Rcdata),
                            _ => TokenSinkResult::Continue,
                        };
                    }
                    TagKind::EndTag => nodes.push(Node::Close(name)),
                }
            }
            Token::CharacterTokens(text) => nodes.push(Node::Text(text.to_string())),
            Token::NullCharacterToken => panic!("a zero byte"),
            Token::CommentToken(text) => panic!("a comment: {text}"),
            Token::ParseError(error) => panic!("{error}"),
            Token::DoctypeToken(_) | Token::EOFToken => {}
        }
        TokenSinkResult::Continue
    }
}

fn nodes(page: &str) -> Vec<Node> {
    let tokenizer = Tokenizer::new(
        Nodes::default(),
        TokenizerOpts {
            exact_errors: true,
            ..TokenizerOpts::default()
        },
    );
    let queue = BufferQueue::default();
    queue.push_back(page.into());
    let _ = tokenizer.feed(&queue);
    tokenizer.end();
    tokenizer.sink.0.into_inner()
}

/// The tags of a page in order, with the names of their attributes, and the values of those that could load,
/// run or name anything.
fn shape(page: &str) -> Vec<String> {
    let shape = nodes(page).into_iter().filter_map(|node| match node {
        Node::Open(name, attrs) => {
            let attrs = attrs.into_iter().map(|(key, value)| match key.as_str() {
                "src" => format!("src={}", &value[..value.find(',').unwrap_or(0)]),
                "class" | "id" | "href" | "style" | "http-equiv" | "data-for" => {
                    format!("{key}={value}")
                }
                _ => key,
            });
            Some(format!("<{name} {}>", attrs.collect::<Vec<_>>().join(" ")))
        }
        Node::Close(name) => Some(format!("</{name}>")),
        Node::Text(_) => None,
    });
    // The marks that spell out what is hidden are the one thing that a text may add.
    let mut tags = Vec::new();
    let mut is_in_mark = false;
    for tag in shape {
        if tag == "<span class=ctl>" {
            is_in_mark = true;
        } else if is_in_mark && tag == "</span>" {
            is_in_mark = false;
        } else {
            tags.push(tag);
        }
    }
    tags
}

/// A report with this text in every field that takes text.
#[expect(clippy::too_many_lines, reason = "one block of each kind")]
fn report(text: &str) -> Report {
    let t = || text.to_owned();
    let caption = || Caption {
        title: t(),
        note: t(),
        finding: t(),
    };
    let card = || Card {
        name: t(),
        label: t(),
        value: Some(0.25),
        notes: vec![t()],
        interval: Some(Interval {
            ends: [0.2, 0.3],
            name: t(),
            scale: [0.0, 1.0],
        }),
    };
    let table = Table {
        caption: t(),
        columns: vec![
            Column {
                name: t(),
                text: true,
                bar: None,
            },
            Column {
                name: t(),
                bar: Some([0.0, 1.0]),
                text: false,
            },
        ],
        rows: (0..20)
            .map(|row| {
                vec![
                    Cell::Text(t()),
                    if row % 7 == 0 {
                        Cell::Undefined
                    } else {
                        Cell::Number(0.5)
                    },
                ]
            })
            .collect(),
        order: Some((1, Order::Descending)),
        rest: t(),
    };
    let example = Example {
        id: t(),
        facts: vec![t()],
        whole: t(),
        blocks: vec![
            Block::Facts(Facts {
                facts: vec![(t(), Fact::Text(t())), (t(), Fact::Words(t()))],
            }),
            Block::Alignment(Alignment {
                steps: vec![
                    Step::Equal(t()),
                    Step::Substituted(t(), t()),
                    Step::Deleted(t()),
                    Step::Inserted(t()),
                ],
                characters: false,
            }),
            // Lines are elements, and some attacks have several.
            Block::SideBySide(SideBySide {
                names: [t(), t()],
                // Equal lines have no marks, so the two differ whatever the text is.
                texts: [
                    text.replace('\n', ""),
                    format!("not {}", text.replace('\n', "")),
                ],
            }),
            Block::Grids(Grids {
                grids: vec![(t(), vec![vec![1, 2]]), (t(), vec![vec![1], vec![200]])],
            }),
            Block::Picture(Picture {
                caption: caption(),
                bytes: text.as_bytes().to_vec(),
                media: Media::Svg,
            }),
            Block::Boxes(Boxes {
                caption: caption(),
                size: [10.0, 5.0],
                picture: Some((b"picture".to_vec(), Media::Jpeg)),
                boxes: [Tone::Good, Tone::Bad]
                    .map(|tone| LabeledBox {
                        corners: [1.0, 2.0, f64::NAN, 400.0],
                        label: t(),
                        tone,
                    })
                    .to_vec(),
            }),
        ],
    };
    let charts = vec![
        Block::Lines(Lines {
            caption: caption(),
            axes: [t(), t()],
            lines: vec![Line {
                name: t(),
                points: vec![[0.0, 1.0], [1.0, 0.0]],
                ..Line::default()
            }],
            mark: Some(([0.5, 0.5], t())),
            ..Lines::default()
        }),
        Block::Bars(Bars {
            caption: caption(),
            bars: vec![Bar {
                name: t(),
                value: Cell::Count(3),
                ..Bar::default()
            }],
            full: None,
        }),
        Block::Histogram(Histogram {
            caption: caption(),
            range: [0.0, 1.0],
            bins: vec![1, 0, 3],
            beyond: [0, 2],
            unit: t(),
            axis: t(),
            mark: Some((0.5, t())),
            negative_is_good: None,
        }),
        Block::Forest(Forest {
            caption: caption(),
            rows: vec![(t(), 0.5, Some([0.4, 0.6]))],
            overall: Some(0.5),
        }),
        Block::Heatmap(Heatmap {
            caption: caption(),
            sides: [t(), t()],
            classes: vec![t(), t()],
            cells: vec![(0, 1, 2), (1, 1, 3)],
            nothing: None,
            rest: t(),
        }),
    ];
    Report {
        title: t(),
        summary: t(),
        badges: vec![Badge {
            text: t(),
            tone: Tone::Bad,
        }],
        cards: vec![card(), card()],
        warnings: vec![t()],
        sections: vec![
            Section {
                title: t(),
                note: t(),
                blocks: charts,
            },
            Section {
                title: t(),
                note: t(),
                blocks: vec![Block::Table(table), Block::Cards(vec![card()])],
            },
            Section {
                title: t(),
                note: t(),
                blocks: vec![Block::Example(example)],
            },
        ],
        program: t(),
        digits: 3,
    }
}

/// Where two pages differ first.
fn first_difference(page: &[String], twin: &[String]) -> Option<(usize, String, String)> {
    let tag = |tags: &[String], index: usize| tags.get(index).cloned().unwrap_or_default();
    let mut indices = 0..page.len().max(twin.len());
    let index = indices.find(|&index| tag(page, index) != tag(twin, index))?;
    Some((index, tag(page, index), tag(twin, index)))
}

const ATTACKS: &[&str] = &[
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "</style><script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "'><img src=x onerror='alert(1)'>",
    "javascript:alert(1)",
    "<a href=\"javascript:alert(1)\">x</a>",
    "<!-- x",
    "--><b>",
    "]]><b>",
    "<![CDATA[<b>]]>",
    "<svg onload=alert(1)>",
    "</svg><b>",
    "</title><b>",
    "</desc></svg><foreignObject><b>",
    "&lt;b&gt;",
    "&#60;b&#62;",
    "{{ 7 * 7 }}",
    "{% raw %}",
    "${alert(1)}",
    "\u{202e}\u{2066}evil\u{2069}",
    "a\0b",
    "`` ` onfocus=alert(1) autofocus",
    " onmouseover=alert(1) x=",
    "<table><tr><td></table>",
    "</table></div></main></body></html>",
    "<base href=//evil>",
    "<meta http-equiv=refresh content=0>",
    "<plaintext>",
    "<textarea>",
    "https://example.com/<b>",
    "\u{feff}\u{200d}\u{e0041}",
    "=cmd|' /C calc'!A0",
    "🏳️‍🌈 ﷽ שלום",
];

#[test]
fn attacks_have_the_shape_of_their_harmless_twin() {
    let harmless = report("harmless");
    let twin = shape(&harmless.to_html());
    let twin_folder = shape(&harmless.to_folder().page);
    for attack in ATTACKS {
        for text in [(*attack).to_owned(), format!("{attack} {attack}\n{attack}")] {
            let attacked = report(&text);
            assert_eq!(
                first_difference(&shape(&attacked.to_html()), &twin),
                None,
                "{text:?}"
            );
            assert!(shape(&attacked.to_folder().page) == twin_folder, "{text:?}");
        }
    }
}

#[test]
fn text_is_shown_as_it_is() {
    let attack = "<b>\"'&amp;";
    let texts = nodes(&report(attack).to_html())
        .into_iter()
        .filter_map(|node| match node {
            Node::Text(text) => Some(text),
            _ => None,
        });
    let all: String = texts.collect();
    assert!(all.matches(attack).count() > 30);
}

#[test]
fn pages_load_and_run_nothing() {
    let page = report(ATTACKS[0]).to_html();
    let mut scripts = 0;
    for node in nodes(&page) {
        let Node::Open(name, attrs) = node else {
            continue;
        };
        scripts += usize::from(name == "script");
        assert!(
            ![
                "link",
                "iframe",
                "object",
                "embed",
                "form",
                "base",
                "foreignObject",
                "use"
            ]
            .contains(&name.as_str())
        );
        for (key, value) in attrs {
            assert!(
                !key.starts_with("on") && key != "style" && key != "srcdoc",
                "{name} {key}"
            );
            match key.as_str() {
                "href" if name == "image" => {
                    assert!(value.starts_with("data:image/"), "{value}");
                }
                "href" => assert!(value.starts_with('#'), "{value}"),
                "src" => assert!(value.starts_with("data:image/"), "{value}"),
                _ => {}
            }
        }
    }
    assert_eq!(scripts, 1);
    let head = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta http-equiv=\"Content-Security-Policy\"";
    assert!(page.starts_with(head));
}

/// Checks every page: ids are unique, headings are in order and not empty, cells of heads have a
/// scope, charts have a title, scrolling boxes can be reached and have a name.
fn check_structure(page: &str) {
    let nodes = nodes(page);
    let mut ids = BTreeSet::new();
    let mut named = Vec::new();
    let mut level = 0;
    for (index, node) in nodes.iter().enumerate() {
        let Node::Open(name, attrs) = node else {
            continue;
        };
        let attr = |key: &str| attrs.get(key).map(String::as_str);
        if let Some(id) = attr("id") {
            assert!(ids.insert(id.to_owned()), "two elements with the id {id}");
        }
        named.extend(
            attr("aria-labelledby")
                .into_iter()
                .flat_map(str::split_whitespace)
                .map(str::to_owned),
        );
        if attr("href").is_some_and(|href| href.starts_with('#')) {
            named.push(attr("href").unwrap_or_default()[1..].to_owned());
        }
        match name.as_str() {
            "h1" | "h2" | "h3" | "h4" => {
                let own: u32 = name[1..].parse().unwrap();
                assert!(own <= level + 1, "h{own} after h{level}");
                assert!(own > 1 || level == 0, "two h1");
                level = own;
                let inside = nodes[index + 1..]
                    .iter()
                    .take_while(|node| **node != Node::Close(name.clone()));
                let text = inside.filter_map(|node| match node {
                    Node::Text(text) => Some(text.as_str()),
                    _ => None,
                });
                assert!(
                    !text.collect::<String>().trim().is_empty(),
                    "an empty {name}"
                );
            }
            "th" => assert!(attr("scope").is_some(), "th without scope"),
            "table" => assert!(
                nodes[index + 1..].iter().find_map(|node| match node {
                    Node::Open(name, _) => Some(name == "caption"),
                    _ => None,
                }) == Some(true),
                "table without caption"
            ),
            "svg" if attr("role") == Some("img") => {
                assert!(attr("aria-labelledby").is_some() && attr("viewbox").is_some());
                assert!(matches!(&nodes[index + 1], Node::Open(name, _) if name == "title"));
                assert!(attr("width").is_some() && attr("height").is_some());
            }
            "svg" => assert_eq!(attr("aria-hidden"), Some("true")),
            "img" => assert!(attr("alt").is_some()),
            "input" => assert!(attr("id").is_some()),
            _ => {}
        }
        if attr("class").is_some_and(|class| class.split(' ').any(|class| class == "scroll")) {
            assert_eq!(
                (attr("tabindex"), attr("role")),
                (Some("0"), Some("region"))
            );
            assert!(attr("aria-labelledby").is_some());
        }
    }
    for name in named {
        assert!(ids.contains(&name), "no element has the id {name}");
    }
}

#[test]
fn pages_are_labeled() {
    check_structure(&report("harmless").to_html());
    check_structure(&report("harmless").to_folder().page);
    check_structure(
        &Report {
            title: "Nothing".to_owned(),
            ..Report::default()
        }
        .to_html(),
    );
}

/// Readers of a screen move from box to box by their names.
#[test]
fn boxes_of_the_same_table_in_two_sections_have_two_names() {
    let section = |title: &str| Section {
        title: title.to_owned(),
        blocks: vec![Block::Table(Table {
            caption: "Counts".to_owned(),
            ..Table::default()
        })],
        ..Section::default()
    };
    let page = Report {
        title: "Counts".to_owned(),
        sections: ["wer", "cer"].map(section).to_vec(),
        ..Report::default()
    };
    let page = page.to_html();
    check_structure(&page);
    // The last section is written first, so that it has room.
    for name in ["s1-h t2-c", "s2-h t1-c"] {
        assert!(
            page.contains(&format!("role=\"region\" aria-labelledby=\"{name}\"")),
            "{name}"
        );
    }
}

/// Figures, small tables and short examples are next to each other; wide tables and long examples are not.
#[test]
fn blocks_that_are_narrow_are_in_rows() {
    let table = |columns: usize| {
        Block::Table(Table {
            caption: "Counts".to_owned(),
            columns: vec![Column::default(); columns],
            ..Table::default()
        })
    };
    let matrix = |classes: usize| {
        Block::Heatmap(Heatmap {
            classes: vec!["a".to_owned(); classes],
            ..Heatmap::default()
        })
    };
    let example = |letters: usize| {
        let text = Fact::Text("a".repeat(letters));
        Block::Example(Example {
            id: "a".to_owned(),
            blocks: vec![Block::Facts(Facts {
                facts: vec![("prediction".to_owned(), text)],
            })],
            ..Example::default()
        })
    };
    let bars = || Block::Bars(Bars::default());
    for (blocks, rows) in [
        (vec![bars(), table(4), matrix(10)], 1),
        (vec![bars(), table(5), bars()], 2),
        (vec![bars(), matrix(11)], 1),
        (vec![table(5), matrix(11)], 0),
        (vec![example(160), example(3)], 1),
        (vec![example(161), example(3)], 0),
    ] {
        let page = Report {
            title: "Blocks".to_owned(),
            sections: vec![Section {
                title: "Blocks".to_owned(),
                blocks,
                ..Section::default()
            }],
            ..Report::default()
        };
        let page = page.to_html();
        check_structure(&page);
        assert_eq!(page.matches("<div class=\"row").count(), rows);
    }
}

#[test]
fn equal_reports_give_equal_bytes() {
    assert_eq!(report("a").to_html(), report("a").to_html());
}

#[test]
fn pages_stay_small() {
    let long = "𝄞\u{202e}<".repeat(100_000);
    let row = |index: usize| vec![Cell::Text(format!("{index}{long}")), Cell::Number(0.5)];
    let mut hostile = report(&long);
    hostile.warnings = vec!["w".repeat(10_000); 10_000];
    hostile.badges = vec![
        Badge {
            text: long.clone(),
            tone: Tone::Bad
        };
        500
    ];
    hostile.cards = vec![
        Card {
            name: long.clone(),
            ..Card::default()
        };
        500
    ];
    let table = || {
        Block::Table(Table {
            columns: vec![Column::default(), Column::default()],
            rows: (0..40).map(row).collect(),
            ..Table::default()
        })
    };
    let matrix = Heatmap {
        classes: (0..1_000_000)
            .map(|class| format!("class {class}"))
            .collect(),
        cells: (0..1_000_000)
            .map(|class| (class, (class + 1) % 1_000_000, 1))
            .collect(),
        ..Heatmap::default()
    };
    let examples = (0..1000).map(|_| {
        Block::Example(Example {
            id: "x".repeat(100_000),
            blocks: vec![Block::SideBySide(SideBySide {
                texts: ["<\u{202e}\n".repeat(10_000), "&\n".repeat(10_000)],
                ..SideBySide::default()
            })],
            ..Example::default()
        })
    });
    hostile.sections.push(Section {
        title: "Tables".to_owned(),
        blocks: vec![table(), Block::Heatmap(matrix)],
        ..Section::default()
    });
    hostile.sections.push(Section {
        title: "Examples".to_owned(),
        blocks: examples.collect(),
        ..Section::default()
    });
    let facts = Facts {
        facts: vec![(
            "Signature".to_owned(),
            Fact::Text("the last section".to_owned()),
        )],
    };
    hostile.sections.push(Section {
        title: "Provenance".to_owned(),
        blocks: vec![Block::Facts(facts)],
        ..Section::default()
    });
    let page = hostile.to_html();
    assert!(page.len() < 3_000_000, "{}", page.len());
    assert!(page.contains("Left out, because the page would be too large"));
    assert!(page.contains("the last section"));
    check_structure(&page);
    assert!(hostile.to_markdown().len() < 1_000_000);
}

/// The style sheet's colors of a theme by name.
fn palette(style: &str, dark: bool) -> BTreeMap<String, [f64; 3]> {
    let start = if dark {
        ":root[data-theme=dark]{"
    } else {
        ":root{"
    };
    let rest = &style[style.find(start).expect("a theme") + start.len()..];
    let rest = &rest[..rest.find('}').expect("an end")];
    let color = |item: &str| {
        let (name, value) = item.trim().strip_prefix("--")?.split_once(":#")?;
        let digits: Vec<f64> = match value.len() {
            3 => value
                .chars()
                .map(|digit| f64::from(digit.to_digit(16)? * 17).into())
                .collect::<Option<_>>()?,
            _ => (0..3)
                .map(|at| {
                    u8::from_str_radix(&value[2 * at..2 * at + 2], 16)
                        .ok()
                        .map(f64::from)
                })
                .collect::<Option<_>>()?,
        };
        Some((name.to_owned(), [digits[0], digits[1], digits[2]]))
    };
    rest.split(';').filter_map(color).collect()
}

/// The contrast of two colors by WCAG 2.
fn contrast(a: [f64; 3], b: [f64; 3]) -> f64 {
    let luminance = |color: [f64; 3]| {
        let linear = color.map(|part| {
            let part = part / 255.0;
            if part <= 0.04045 {
                part / 12.92
            } else {
                ((part + 0.055) / 1.055).powf(2.4)
            }
        });
        0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    };
    let [a, b] = [luminance(a), luminance(b)];
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

#[test]
fn colors_have_contrast() {
    let style = Report::default().to_folder().style;
    for dark in [false, true] {
        let palette = palette(style, dark);
        let of = |name: &str| {
            palette
                .get(name)
                .copied()
                .unwrap_or_else(|| panic!("no color {name}"))
        };
        let text = [
            ("ink", "bg"),
            ("ink", "card"),
            ("mute", "bg"),
            ("mute", "card"),
            ("accent", "bg"),
            ("accent", "card"),
            ("ok", "okbg"),
            ("bad", "badbg"),
            ("warn", "warnbg"),
            ("ins", "insbg"),
            ("miss", "missbg"),
            ("mute", "grid"),
        ];
        for (front, back) in text {
            let found = contrast(of(front), of(back));
            assert!(found >= 4.5, "{front} on {back}, dark {dark}: {found:.2}");
        }
        for shape in ["accent", "ok", "bad", "ins", "miss", "q5", "warn"] {
            let found = contrast(of(shape), of("card"));
            assert!(found >= 3.0, "{shape}, dark {dark}: {found:.2}");
        }
        let [black, white] = [[0.0; 3], [255.0; 3]];
        for shade in 0..10 {
            let text = match (dark, shade) {
                (false, 0..=4) | (true, 0..=2) => of("ink"),
                (false, 5) => black,
                (false, _) | (true, 3..=5) => white,
                (true, _) => black,
            };
            let found = contrast(text, of(&format!("q{shade}")));
            assert!(found >= 4.5, "shade {shade}, dark {dark}: {found:.2}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_changes_the_shape(text in "\\PC{0,40}|[<>&\"'/a-z =]{0,30}|[\u{0}-\u{2100}]{1,20}") {
        let text = text.replace('\n', "");
        let text = if text.trim().is_empty() { "blank".to_owned() } else { text };
        let page = report(&text).to_html();
        prop_assert!(!page.contains('\0'));
        prop_assert!(shape(&page) == shape(&report("harmless").to_html()));
    }
}

#[test]
fn charts_are_files_of_their_own() {
    let bars = |title: &str| {
        Block::Bars(Bars {
            caption: Caption {
                title: title.to_owned(),
                ..Caption::default()
            },
            bars: vec![Bar {
                name: "</style><script>alert(1)</script>".to_owned(),
                value: Cell::Count(3),
                ..Bar::default()
            }],
            ..Bars::default()
        })
    };
    let matrix = Block::Heatmap(Heatmap {
        caption: Caption {
            title: "Confusion matrix".to_owned(),
            ..Caption::default()
        },
        classes: vec!["cat".to_owned(), "dog".to_owned()],
        cells: vec![(0, 0, 9), (0, 1, 1), (1, 0, 5)],
        ..Heatmap::default()
    });
    let report = |blocks| Report {
        sections: vec![Section {
            title: "Charts".to_owned(),
            blocks,
            ..Section::default()
        }],
        ..Report::default()
    };
    let charts = report(vec![
        bars("Errors, by kind!"),
        matrix,
        bars("errors by kind"),
        bars("../\u{202e}"),
    ])
    .charts();
    let names: Vec<&str> = charts.iter().map(|(name, _)| name.as_str()).collect();
    let expected = [
        "errors-by-kind.svg",
        "confusion-matrix.svg",
        "errors-by-kind-2.svg",
        "chart.svg",
    ];
    assert_eq!(names, expected);
    for (name, svg) in &charts {
        assert!(
            svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""),
            "{name}"
        );
        assert!(
            svg.ends_with("</svg>\n") && svg.contains("prefers-color-scheme:dark"),
            "{name}"
        );
        assert!(
            !svg.contains("<script") && svg.matches("</style>").count() == 1,
            "{name}"
        );
        assert!(
            svg.contains("<title") && !svg.contains("style=\""),
            "{name}"
        );
        // Renderers without style sheets read this attribute.
        for shape in svg.split("<rect ").skip(1) {
            let shape = shape.split('>').next().unwrap_or_default();
            assert!(shape.contains("fill=\"#"), "{name}: {shape}");
        }
        // Each element has an end.
        let (all, ends) = (svg.matches('<').count(), svg.matches("</").count());
        assert_eq!(all, 2 * ends + svg.matches("/>").count(), "{name}");
    }
    assert!(charts[1].1.contains("class=\"q9 cell\"") && charts[1].1.contains(">cat<"));
    // Colors of shapes without a style sheet are those of the light theme.
    let style = Report::default().to_folder().style;
    for (index, color) in ["f4f7fb", "e3edf8", "c9ddf1", "a9c9e8", "84b1dc"]
        .iter()
        .enumerate()
    {
        assert!(style.contains(&format!("--q{index}:#{color}")), "{index}");
    }
    assert!(report(Vec::new()).charts().is_empty());
}
