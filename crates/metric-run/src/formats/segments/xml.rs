//! Pages of text: PAGE XML and ALTO XML, of any version.

use std::collections::HashMap;

use metric_record::{Message, ReadError};
use roxmltree::{Document, Node, ParsingOptions};

use super::{Segment, Transcript, TranscriptOptions, refuse};

/// The most references that one reference may lead to: a limit of the parser.
const NESTED_REFERENCES: usize = 256;

/// The most bytes that the references of a file may add to its text.
const EXPANDED_BYTES: usize = 64 << 20;

/// Reads the lines of a page.
pub(super) fn xml(text: &str, _: &TranscriptOptions) -> Result<Transcript, ReadError> {
    refuse_declarations(text)?;
    let options = ParsingOptions {
        allow_dtd: true,
        ..ParsingOptions::default()
    };
    let document = Document::parse_with_options(text, options).map_err(|error| {
        let problem = format!("{error}: expected well-formed XML");
        ReadError::new("", problem).line(u64::from(error.pos().row))
    })?;
    let root = document.root_element();
    let lines = match root.tag_name().name() {
        "PcGts" => page_lines(root),
        "alto" => alto_lines(root)?,
        found => {
            let problem =
                format!("found <{found}>: expected <PcGts> (PAGE XML) or <alto> (ALTO XML)");
            return refuse(line_of(root), problem);
        }
    };
    let segment = |(line, words): (u64, String)| Segment {
        words: words.trim().to_owned(),
        line,
        ..Segment::default()
    };
    Ok(Transcript {
        segments: lines.into_iter().map(segment).collect(),
        ..Transcript::default()
    })
}

/// Refuses what is outside of the file, and entities that would make its text far longer than the file.
fn refuse_declarations(text: &str) -> Result<(), ReadError> {
    let mut longest = 0;
    for keyword in ["<!DOCTYPE", "<!ENTITY"] {
        for (start, _) in text.match_indices(keyword) {
            let line = || 1 + memchr::memchr_iter(b'\n', &text.as_bytes()[..start]).count() as u64;
            let rest = text[start + keyword.len()..].trim_start();
            let rest = rest.strip_prefix('%').map_or(rest, str::trim_start);
            // The name ends where white space, a quote or the internal subset starts.
            let name = rest.find(|char: char| char.is_whitespace() || "\"'[>".contains(char));
            let value = rest[name.unwrap_or(rest.len())..].trim_start();
            if value.starts_with("SYSTEM") || value.starts_with("PUBLIC") {
                return refuse(
                    line(),
                    "refers to another file: expected a file without external entities",
                );
            }
            if let Some(quote @ ('"' | '\'')) = value.chars().next() {
                longest = longest.max(value[1..].find(quote).unwrap_or(value.len()));
            }
        }
    }
    let references = memchr::memchr_iter(b'&', text.as_bytes()).count();
    let expanded = references
        .saturating_mul(NESTED_REFERENCES)
        .saturating_mul(longest);
    if expanded > EXPANDED_BYTES {
        let problem = Message::from(
            "its entities could make it much longer: expected fewer references to entities",
        );
        return Err(ReadError::new("", problem).limit());
    }
    Ok(())
}

fn line_of(node: Node<'_, '_>) -> u64 {
    u64::from(node.document().text_pos_at(node.range().start).row)
}

/// The elements of a name below a node, in the order of the document.
fn elements<'d, 'i>(node: Node<'d, 'i>, name: &str) -> impl Iterator<Item = Node<'d, 'i>> {
    node.descendants()
        .filter(move |node| is_element(*node, name))
}

fn children<'d, 'i>(node: Node<'d, 'i>, name: &str) -> impl Iterator<Item = Node<'d, 'i>> {
    node.children().filter(move |node| is_element(*node, name))
}

/// Whether a node is an element of this name, in the namespace of any version.
fn is_element(node: Node<'_, '_>, name: &str) -> bool {
    node.is_element() && node.tag_name().name() == name
}

/// The lines of PAGE XML. Those of regions that the reading order names come first, in that order.
fn page_lines(root: Node<'_, '_>) -> Vec<(u64, String)> {
    let mut regions = Vec::new();
    for order in elements(root, "ReadingOrder") {
        add_regions(order, &mut regions);
    }
    let mut positions = HashMap::new();
    for (position, region) in regions.into_iter().enumerate() {
        positions.entry(region).or_insert(position);
    }
    // A region may be inside of one that the reading order names.
    let position = |line: &Node<'_, '_>| {
        let mut regions = line.ancestors().filter_map(|node| node.attribute("id"));
        regions
            .find_map(|id| positions.get(id).copied())
            .unwrap_or(usize::MAX)
    };
    let mut lines: Vec<Node<'_, '_>> = elements(root, "TextLine").collect();
    lines.sort_by_key(position);
    let text = |line: Node<'_, '_>| {
        let text = page_text(line).unwrap_or_else(|| {
            let words = children(line, "Word").filter_map(page_text);
            words.collect::<Vec<_>>().join(" ")
        });
        (line_of(line), text)
    };
    lines.into_iter().map(text).collect()
}

/// Adds the regions that a group of the reading order names. Members with an index are in the order of their indices.
fn add_regions<'d>(group: Node<'d, '_>, regions: &mut Vec<&'d str>) {
    let mut groups = vec![group];
    while let Some(group) = groups.pop() {
        regions.extend(group.attribute("regionRef"));
        let mut members: Vec<_> = group.children().filter(Node::is_element).collect();
        members.sort_by_key(|member| index(*member));
        // The last one is taken first.
        groups.extend(members.into_iter().rev());
    }
}

/// The attribute `index`, if it is a number.
fn index(node: Node<'_, '_>) -> Option<u64> {
    node.attribute("index")?.trim().parse().ok()
}

/// The text of an element of PAGE XML: of several, the one with the lowest index, or else the first.
fn page_text(node: Node<'_, '_>) -> Option<String> {
    let with_index = children(node, "TextEquiv").filter(|equiv| index(*equiv).is_some());
    let lowest = with_index.min_by_key(|equiv| index(*equiv));
    let equiv = lowest.or_else(|| children(node, "TextEquiv").next())?;
    let unicode = children(equiv, "Unicode").next()?;
    Some(
        unicode
            .descendants()
            .filter(Node::is_text)
            .filter_map(|node| node.text())
            .collect(),
    )
}

/// The lines of ALTO XML.
fn alto_lines(root: Node<'_, '_>) -> Result<Vec<(u64, String)>, ReadError> {
    elements(root, "TextLine")
        .map(|line| Ok((line_of(line), alto_text(line)?)))
        .collect()
}

/// The strings of a line with their spaces. Two strings without a space between them have one as well.
fn alto_text(line: Node<'_, '_>) -> Result<String, ReadError> {
    let mut text = String::new();
    let mut is_after_string = false;
    for part in line.children().filter(Node::is_element) {
        match part.tag_name().name() {
            "String" => {
                let Some(content) = part.attribute("CONTENT") else {
                    return refuse(line_of(part), "<String> has no CONTENT: expected its text");
                };
                if is_after_string {
                    text.push(' ');
                }
                text.push_str(content);
                is_after_string = true;
            }
            "SP" => {
                text.push(' ');
                is_after_string = false;
            }
            "HYP" => text.push_str(part.attribute("CONTENT").unwrap_or_default()),
            _ => {}
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<String>, String> {
        let read = xml(text, &TranscriptOptions::default());
        let segments = read.map_err(|error| error.to_string())?.segments;
        Ok(segments.into_iter().map(|segment| segment.words).collect())
    }

    fn page(content: &str) -> String {
        format!(
            "<?xml version=\"1.0\"?><PcGts xmlns=\"http://schema/2019\"><Page>{content}</Page></PcGts>"
        )
    }

    fn region(id: &str, text: &str) -> String {
        format!(
            "<TextRegion id=\"{id}\"><TextLine><TextEquiv><Unicode>{text}</Unicode></TextEquiv></TextLine></TextRegion>"
        )
    }

    #[test]
    fn pages_by_hand() {
        let order = "<ReadingOrder><OrderedGroup><RegionRefIndexed index=\"10\" regionRef=\"a\"/>\
            <UnorderedGroupIndexed index=\"2\"><RegionRef regionRef=\"d\"/><RegionRef regionRef=\"c\"/></UnorderedGroupIndexed>\
            </OrderedGroup></ReadingOrder>";
        let inner = format!(
            "<TextRegion id=\"c\">{}{}</TextRegion>",
            region("c1", "c1"),
            region("c2", "c2")
        );
        let regions = [region("a", "a"), region("b", "b"), inner, region("d", "d")].concat();
        let equivs = |equivs: &str| page(&format!("<TextLine>{equivs}</TextLine>"));
        let equiv = |attribute: &str, text: &str| {
            format!("<TextEquiv {attribute}><Unicode>{text}</Unicode></TextEquiv>")
        };
        for (text, expected) in [
            (page(""), &[][..]),
            (page(&regions), &["a", "b", "c1", "c2", "d"]),
            (
                page(&format!("{order}{regions}")),
                &["d", "c1", "c2", "a", "b"],
            ),
            (
                equivs(
                    &[
                        equiv("", "x"),
                        equiv("index=\"3\"", "y"),
                        equiv("index=\"1\"", "z"),
                    ]
                    .concat(),
                ),
                &["z"],
            ),
            (equivs(&[equiv("", " x "), equiv("", "y")].concat()), &["x"]),
            (
                equivs(
                    "<Word><TextEquiv><Unicode>x</Unicode></TextEquiv></Word><TextEquiv><Unicode>y &amp; z</Unicode></TextEquiv>",
                ),
                &["y & z"],
            ),
            (
                equivs(
                    "<Word><TextEquiv><Unicode>x</Unicode></TextEquiv></Word><Word><TextEquiv><Unicode>y</Unicode></TextEquiv></Word>",
                ),
                &["x y"],
            ),
            (
                format!(
                    "<!DOCTYPE PcGts [<!ENTITY e \"é\">]>{}",
                    &page(&region("a", "&e;&e;"))[21..]
                ),
                &["éé"],
            ),
        ] {
            let expected = expected.iter().map(|&text| text.to_owned()).collect();
            assert_eq!(read(&text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn alto_by_hand() {
        let line = |parts: &str| {
            format!(
                "<alto:alto xmlns:alto=\"http://ns/v4#\"><alto:TextLine>{parts}</alto:TextLine></alto:alto>"
            )
        };
        for (parts, expected) in [
            (
                "<alto:String CONTENT=\"a\"/><alto:SP/><alto:String CONTENT=\"b\"/>",
                "a b",
            ),
            (
                "<alto:String CONTENT=\"a\"/><alto:String CONTENT=\"b\"/>",
                "a b",
            ),
            (
                "<alto:String CONTENT=\"a\"/><alto:SP/><alto:SP/><alto:String CONTENT=\"b\"/><alto:HYP CONTENT=\"-\"/>",
                "a  b-",
            ),
            ("<alto:SP/>", ""),
        ] {
            assert_eq!(read(&line(parts)), Ok(vec![expected.to_owned()]), "{parts}");
        }
        let error = read(&line("\n<alto:String/>")).unwrap_err();
        assert!(error.starts_with(":2: <String> has no CONTENT"), "{error}");
    }

    #[test]
    fn other_files_are_refused() {
        let nested: String = (1..9)
            .map(|n| format!("<!ENTITY e{n} \"{}\">", format!("&e{};", n - 1).repeat(99)))
            .collect();
        for (text, expected) in [
            (
                "<annotation/>".to_owned(),
                ":1: found <annotation>: expected <PcGts>",
            ),
            ("<alto>\n<a>\n</alto>".to_owned(), ":3: "),
            (String::new(), "expected well-formed XML"),
            (
                "<!DOCTYPE alto SYSTEM \"x.dtd\"><alto/>".to_owned(),
                ":1: refers to another file",
            ),
            (
                "\n<!DOCTYPE alto [<!ENTITY e SYSTEM \"/etc/passwd\">]><alto/>".to_owned(),
                ":2: refers to another file",
            ),
            (
                "<!DOCTYPE alto [<!ENTITY % e PUBLIC \"x\" \"y\">]><alto/>".to_owned(),
                "refers to another file",
            ),
            (
                "<!DOCTYPE alto [<!ENTITY e \"&e;\">]><alto>&e;</alto>".to_owned(),
                "expected well-formed XML",
            ),
            (
                format!("<!DOCTYPE alto [<!ENTITY e0 \"x\">{nested}]><alto>&e8;</alto>"),
                "expected",
            ),
            (
                format!(
                    "<!DOCTYPE alto [<!ENTITY e \"{}\">]><alto>{}</alto>",
                    "x".repeat(1 << 16),
                    "&e;".repeat(1 << 16)
                ),
                "its entities could make it much longer",
            ),
        ] {
            let error = read(&text).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
        // Elements may be nested deeply.
        let deep = format!(
            "<alto>{}{}</alto>",
            "<a>".repeat(100_000),
            "</a>".repeat(100_000)
        );
        assert_eq!(read(&deep), Ok(vec![]));
    }
}
