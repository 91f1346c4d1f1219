use std::fmt::Write;

use crate::{Attempt, COLOURS, Grid, cell_matches};

/// True grids next to the attempts at them, with the wrong cells marked.
///
/// Colors are those of ARC. Each cell also shows its number, and a wrong cell has a frame (in text,
/// an `x`), so that a print in black and white can be read: a cell is wrong if the true grid has
/// another color there, or no cell. Where only the true grid has a cell, its position is a dotted frame
/// (in text, `.x`).
///
/// ```
/// use metric_grid::{Attempt, Grid, Picture, PictureRow};
///
/// let picture = Picture {
///     title: "0a1b2c3d".to_owned(),
///     rows: vec![PictureRow {
///         truth: Grid::from_rows(&[[1, 2], [3, 4]])?,
///         attempts: vec![Grid::from_rows(&[[1, 5]])?.into(), Attempt::Missing],
///     }],
/// };
/// assert_eq!(picture.text(false), "\
/// 0a1b2c3d
/// truth 2 x 2   attempt 1: 1 of 4   attempt 2: none
/// 1 2           1 5x
/// 3 4           .x.x
/// ");
/// assert!(picture.svg().starts_with("<svg "));
/// # Ok::<(), metric_grid::InvalidGrid>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Picture {
    /// The caption above; in text, one line.
    pub title: String,
    /// From above: in a task its test outputs.
    pub rows: Vec<PictureRow>,
}

/// A true grid with the attempts at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PictureRow {
    /// The true grid.
    pub truth: Grid,
    /// The attempts, from left to right.
    pub attempts: Vec<Attempt>,
}

/// A color of ARC.
struct Colour {
    /// As the pages of ARC have it.
    hex: &'static str,
    /// The nearest of a terminal's 256 colors.
    terminal: u8,
    /// Whether white is easier to see on it than black.
    is_dark: bool,
}

const fn colour(hex: &'static str, terminal: u8, is_dark: bool) -> Colour {
    Colour {
        hex,
        terminal,
        is_dark,
    }
}

const PALETTE: [Colour; COLOURS as usize] = [
    colour("#000000", 16, true),
    colour("#0074d9", 32, true),
    colour("#ff4136", 203, false),
    colour("#2ecc40", 41, false),
    colour("#ffdc00", 220, false),
    colour("#aaaaaa", 248, false),
    colour("#f012be", 199, false),
    colour("#ff851b", 208, false),
    colour("#7fdbff", 117, false),
    colour("#870c25", 88, true),
];

/// A grid with its caption, as it appears in a row.
struct Panel<'a> {
    caption: String,
    grid: Option<&'a Grid>,
    /// The grid it is compared with; the true grid is compared with itself.
    truth: &'a Grid,
}

/// The content at a position of a panel.
#[derive(Clone, Copy)]
enum Seen {
    Right(u8),
    Wrong(u8),
    /// Only the true grid has a cell here.
    Lacking,
    Nothing,
}

impl Panel<'_> {
    fn rows(&self) -> usize {
        self.grid
            .map_or(0, |grid| grid.rows().max(self.truth.rows()))
    }

    fn columns(&self) -> usize {
        self.grid
            .map_or(0, |grid| grid.columns().max(self.truth.columns()))
    }

    fn seen(&self, row: usize, column: usize) -> Seen {
        let cell = |grid: &Grid| grid.as_array().get((row, column)).copied();
        let Some(grid) = self.grid else {
            return Seen::Nothing;
        };
        match (cell(grid), cell(self.truth)) {
            (Some(found), Some(truth)) if found == truth => Seen::Right(found),
            (Some(found), _) => Seen::Wrong(found),
            (None, Some(_)) => Seen::Lacking,
            (None, None) => Seen::Nothing,
        }
    }
}

impl PictureRow {
    fn panels(&self) -> impl Iterator<Item = Panel<'_>> {
        let truth = &self.truth;
        let first = Panel {
            caption: format!("truth {} x {}", truth.rows(), truth.columns()),
            grid: Some(truth),
            truth,
        };
        let attempts = self.attempts.iter().zip(1..).map(move |(attempt, number)| {
            let (grid, says) = match attempt {
                Attempt::Grid(grid) if grid == truth => (Some(grid), "right".to_owned()),
                Attempt::Grid(grid) => {
                    let cells = cell_matches(grid, truth);
                    let says = format!("{} of {}", cells.matches, cells.padded_cells);
                    (Some(grid), says)
                }
                Attempt::Missing => (None, "none".to_owned()),
                Attempt::Invalid => (None, "no grid".to_owned()),
            };
            Panel {
                caption: format!("attempt {number}: {says}"),
                grid,
                truth,
            }
        });
        std::iter::once(first).chain(attempts)
    }
}

impl Picture {
    /// Returns the picture as text for a terminal, in 256 colors if `coloured`. A cell is two characters wide.
    #[must_use]
    pub fn text(&self, coloured: bool) -> String {
        let mut text = String::new();
        // A title from a file must not command the terminal.
        for character in self.title.chars() {
            if character.is_control() {
                text.extend(character.escape_default());
            } else {
                text.push(character);
            }
        }
        text.push('\n');
        for row in &self.rows {
            let panels: Vec<Panel<'_>> = row.panels().collect();
            let mut captions = String::new();
            let last = panels.len() - 1;
            let widths = panels
                .iter()
                .map(|panel| panel.caption.len().max(2 * panel.columns()) + 3)
                .collect::<Vec<_>>();
            for (panel, width) in panels.iter().zip(&widths) {
                let _ = write!(captions, "{:width$}", panel.caption);
            }
            text.push_str(captions.trim_end());
            text.push('\n');
            let lines = panels.iter().map(Panel::rows).max().unwrap_or_default();
            for line in 0..lines {
                let start = text.len();
                for (index, (panel, width)) in panels.iter().zip(&widths).enumerate() {
                    for column in 0..panel.columns() {
                        push_cell(&mut text, panel.seen(line, column), coloured);
                    }
                    if index < last {
                        let blank = width - 2 * panel.columns();
                        text.extend(std::iter::repeat_n(' ', blank));
                    }
                }
                let length = text[start..].trim_end().len();
                text.truncate(start + length);
                text.push('\n');
            }
        }
        text
    }

    /// Returns the picture as a file of Scalable Vector Graphics.
    #[must_use]
    pub fn svg(&self) -> String {
        let mut body = String::new();
        let (mut width, mut y) = (240, TOP);
        for row in &self.rows {
            let mut x = MARGIN;
            let mut bottom = y;
            for panel in row.panels() {
                let _ = writeln!(
                    body,
                    "<text x=\"{x}\" y=\"{}\">{}</text>",
                    y + CAPTION - 6,
                    panel.caption
                );
                panel.draw(&mut body, x, y + CAPTION);
                bottom = bottom.max(y + CAPTION + SIDE * panel.rows());
                // 8 is above the width of most characters.
                x += (SIDE * panel.columns()).max(8 * panel.caption.len()) + MARGIN;
            }
            width = width.max(x);
            y = bottom + MARGIN;
        }
        let width = width.max(MARGIN * 2 + 9 * self.title.chars().count().min(200));
        let legend = y + SIDE;
        let height = legend + MARGIN;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             font-family=\"sans-serif\" font-size=\"13\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
             <text x=\"{MARGIN}\" y=\"28\" font-size=\"16\" font-weight=\"bold\">{}</text>\n",
            escaped(&self.title)
        );
        svg.push_str(&body);
        let mut sign = |x: usize, corner: &str, says: &str, is_wrong: bool| {
            if is_wrong {
                frames(&mut svg, corner);
            } else {
                dotted(&mut svg, corner);
            }
            let _ = writeln!(
                svg,
                "<text x=\"{x}\" y=\"{}\">{says}</text>",
                legend + SIDE - 5
            );
        };
        let second = MARGIN + 100;
        sign(MARGIN + SIDE + 6, &frame(MARGIN, legend), "wrong", true);
        sign(second + SIDE + 6, &frame(second, legend), "lacking", false);
        svg.push_str("</svg>\n");
        svg
    }
}

fn push_cell(text: &mut String, seen: Seen, coloured: bool) {
    let (cell, mark) = match seen {
        Seen::Right(cell) => (cell, ' '),
        Seen::Wrong(cell) => (cell, 'x'),
        Seen::Lacking => return text.push_str(".x"),
        Seen::Nothing => return text.push_str("  "),
    };
    let Some(colour) = PALETTE.get(usize::from(cell)).filter(|_| coloured) else {
        let _ = write!(text, "{cell}{mark}");
        return;
    };
    let ink = if colour.is_dark { 231 } else { 16 };
    let bold = if mark == 'x' { "1;" } else { "" };
    let background = colour.terminal;
    let _ = write!(
        text,
        "\x1b[{bold}38;5;{ink};48;5;{background}m{cell}{mark}\x1b[0m"
    );
}

/// The side of a cell.
const SIDE: usize = 20;
const MARGIN: usize = 24;
const TOP: usize = 40;
/// The height of the line above a grid.
const CAPTION: usize = 22;

impl Panel<'_> {
    /// Draws the grid with its upper left corner at this position.
    fn draw(&self, svg: &mut String, left: usize, top: usize) {
        let mut squares: [String; COLOURS as usize] = std::array::from_fn(|_| String::new());
        // The numbers on light cells and those on dark ones.
        let mut numbers: [String; 2] = Default::default();
        let (mut wrong, mut lacking) = (String::new(), String::new());
        for row in 0..self.rows() {
            let y = top + SIDE * row;
            // The positions and digits of each.
            let mut digits: [[String; 2]; 2] = Default::default();
            for column in 0..self.columns() {
                let x = left + SIDE * column;
                let seen = self.seen(row, column);
                match seen {
                    Seen::Right(cell) | Seen::Wrong(cell) => {
                        let index = usize::from(cell);
                        if let (Some(squares), Some(colour)) =
                            (squares.get_mut(index), PALETTE.get(index))
                        {
                            let _ = write!(squares, "M{x} {y}h{SIDE}v{SIDE}h-{SIDE}z");
                            let [xs, says] = &mut digits[usize::from(colour.is_dark)];
                            let _ = write!(xs, "{} ", x + SIDE / 2 - 3);
                            let _ = write!(says, "{cell}");
                        }
                        if matches!(seen, Seen::Wrong(_)) {
                            wrong.push_str(&frame(x, y));
                        }
                    }
                    Seen::Lacking => lacking.push_str(&frame(x, y)),
                    Seen::Nothing => {}
                }
            }
            for ([xs, says], all) in digits.iter().zip(&mut numbers) {
                if !says.is_empty() {
                    let _ = write!(
                        all,
                        "<text x=\"{}\" y=\"{}\">{says}</text>",
                        xs.trim_end(),
                        y + SIDE / 2 + 4
                    );
                }
            }
        }
        for (path, colour) in squares.iter().zip(&PALETTE) {
            if !path.is_empty() {
                let hex = colour.hex;
                let _ = writeln!(
                    svg,
                    "<path fill=\"{hex}\" stroke=\"#555\" stroke-width=\"0.5\" d=\"{path}\"/>"
                );
            }
        }
        frames(svg, &wrong);
        dotted(svg, &lacking);
        for (all, ink) in numbers.iter().zip(["#000", "#fff"]) {
            if !all.is_empty() {
                let _ = writeln!(
                    svg,
                    "<g fill=\"{ink}\" font-family=\"monospace\" font-size=\"10\">{all}</g>"
                );
            }
        }
    }
}

/// The path of a frame in the cell with its upper left corner at this position.
fn frame(x: usize, y: usize) -> String {
    let side = SIDE - 4;
    format!("M{} {}h{side}v{side}h-{side}z", x + 2, y + 2)
}

/// Frames of wrong cells: black on white, which one of the two shows on any color.
fn frames(svg: &mut String, path: &str) {
    if path.is_empty() {
        return;
    }
    for (ink, width) in [("#fff", 4), ("#000", 2)] {
        let _ = writeln!(
            svg,
            "<path class=\"wrong\" fill=\"none\" stroke=\"{ink}\" stroke-width=\"{width}\" d=\"{path}\"/>"
        );
    }
}

fn dotted(svg: &mut String, path: &str) {
    if !path.is_empty() {
        let _ = writeln!(
            svg,
            "<path class=\"lacking\" fill=\"none\" stroke=\"#000\" stroke-dasharray=\"1.5 2.5\" d=\"{path}\"/>"
        );
    }
}

/// Text that XML can hold, without characters that XML cannot represent.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars().take(200) {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            control if control.is_control() => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(rows: &[&[i64]]) -> Grid {
        Grid::from_rows(rows).unwrap()
    }

    fn picture(title: &str, truth: &[&[i64]], attempts: &[Attempt]) -> Picture {
        let rows = vec![PictureRow {
            truth: grid(truth),
            attempts: attempts.to_vec(),
        }];
        let title = title.to_owned();
        Picture { title, rows }
    }

    #[test]
    fn wrong_and_lacking_cells_are_marked() {
        // A row too many, a column too few, and another color.
        let attempt = grid(&[&[1, 2], &[9, 5], &[0, 0]]);
        let picture = picture("a", &[&[1, 2, 3], &[4, 5, 6]], &[attempt.into()]);
        assert_eq!(
            picture.text(false),
            "a\ntruth 2 x 3   attempt 1: 3 of 9\n1 2 3         1 2 .x\n4 5 6         9x5 .x\n              0x0x\n"
        );
        let svg = picture.svg();
        let marks = |class: &str| -> Vec<usize> {
            let paths = svg.lines().filter(|line| line.contains(class));
            paths.map(|line| line.matches('M').count()).collect()
        };
        // White and black frames of three cells, and then those of the legend.
        assert_eq!(marks("class=\"wrong\""), [3, 3, 1, 1]);
        assert_eq!(marks("class=\"lacking\""), [2, 1]);
        assert_eq!(svg.matches("<g ").count(), svg.matches("</g>").count());
    }

    #[test]
    fn colours_are_set_and_reset() {
        let text = picture("", &[&[0]], &[grid(&[&[5]]).into()]).text(true);
        assert!(text.contains("\x1b[38;5;231;48;5;16m0 \x1b[0m"), "{text:?}");
        assert!(
            text.contains("\x1b[1;38;5;16;48;5;248m5x\x1b[0m"),
            "{text:?}"
        );
    }

    #[test]
    fn titles_are_harmless() {
        let picture = picture(
            "\x1b[2J<&\"\0",
            &[&[0]],
            &[Attempt::Invalid, Attempt::Missing],
        );
        let text = picture.text(false);
        assert!(text.starts_with(
            "\\u{1b}[2J<&\"\\u{0}\ntruth 1 x 1   attempt 1: no grid   attempt 2: none\n0\n"
        ));
        assert!(
            picture
                .svg()
                .contains(">\u{fffd}[2J&lt;&amp;&quot;\u{fffd}</text>")
        );
        assert_eq!(Picture::default().text(true), "\n");
    }
}
