//! The contents of a report: plain values, in the order in which they are shown.

/// A report: the subject, the scores, and sections of blocks.
///
/// Fields may hold any text or number. Texts are shown as they are, and never as markup.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The subject, in words.
    pub title: String,
    /// One line below the title, such as the number of examples.
    pub summary: String,
    /// Short statements below the summary, such as threshold checks.
    pub badges: Vec<Badge>,
    /// The scores, the main one first.
    pub cards: Vec<Card>,
    /// Remarks that the reader should know before using the numbers.
    pub warnings: Vec<String>,
    /// The rest. A section without blocks is left out.
    pub sections: Vec<Section>,
    /// The program and its version.
    pub program: String,
    /// The number of decimals of a score.
    pub digits: usize,
}

impl Default for Report {
    fn default() -> Self {
        Self {
            title: String::new(),
            summary: String::new(),
            badges: Vec::new(),
            cards: Vec::new(),
            warnings: Vec::new(),
            sections: Vec::new(),
            program: "metric-suite".to_owned(),
            digits: 4,
        }
    }
}

/// A short statement with a tone.
#[derive(Clone, Debug, PartialEq)]
pub struct Badge {
    /// The statement, which must be clear without its color.
    pub text: String,
    /// The tone, such as good or bad.
    pub tone: Tone,
}

/// The tone of a statement or a shape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// Neither good nor bad.
    #[default]
    Neutral,
    /// Good.
    Good,
    /// Bad.
    Bad,
    /// Something to look at.
    Warning,
    /// Something that is absent, such as a deletion.
    Missing,
    /// Something that is there in addition, such as an insertion.
    Added,
}

/// A score.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Card {
    /// The name by which the score is known to programs.
    pub name: String,
    /// The name for people; empty for the same.
    pub label: String,
    /// The value; `None` is undefined.
    pub value: Option<f64>,
    /// Remarks, such as which values are better or why the score is undefined.
    pub notes: Vec<String>,
    /// The interval.
    pub interval: Option<Interval>,
}

/// An interval of a score.
#[derive(Clone, Debug, PartialEq)]
pub struct Interval {
    /// The lower and the upper end.
    pub ends: [f64; 2],
    /// Its name, such as `95% interval`.
    pub name: String,
    /// The ends of the scale on which it is drawn.
    pub scale: [f64; 2],
}

/// A part of a report with a heading.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    /// The heading.
    pub title: String,
    /// A paragraph below it; empty for none.
    pub note: String,
    /// Its content.
    pub blocks: Vec<Block>,
}

/// A piece of a section.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// Scores.
    Cards(Vec<Card>),
    /// Rows of text and numbers.
    Table(Table),
    /// Curves.
    Lines(Lines),
    /// Values by name.
    Bars(Bars),
    /// Counts by range of a value.
    Histogram(Histogram),
    /// A matrix of counts.
    Heatmap(Heatmap),
    /// Scores with intervals.
    Forest(Forest),
    /// Two sequences, step by step.
    Alignment(Alignment),
    /// Two texts, line by line.
    SideBySide(SideBySide),
    /// Grids of colors.
    Grids(Grids),
    /// A finished picture.
    Picture(Picture),
    /// Boxes, over a picture if there is one.
    Boxes(Boxes),
    /// Names with what they name.
    Facts(Facts),
    /// One example, with blocks of its own.
    Example(Example),
}

/// Rows of text and numbers.
///
/// If there are more than 300 rows, the first and the last 150 are shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// A description of the rows.
    pub caption: String,
    /// The columns; the first one names the rows.
    pub columns: Vec<Column>,
    /// The rows, one cell per column.
    pub rows: Vec<Vec<Cell>>,
    /// The column that the rows are ordered by.
    pub order: Option<(usize, Order)>,
    /// Where all rows are, in words, if there are more than are shown.
    pub rest: String,
}

/// A column of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Column {
    /// The heading.
    pub name: String,
    /// The ends of the scale of the bar next to each number; `None` for no bars.
    pub bar: Option<[f64; 2]>,
    /// Whether the cells are text.
    pub text: bool,
}

/// The order of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Smallest first.
    Ascending,
    /// Largest first.
    Descending,
}

/// A cell of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Cell {
    /// Nothing, or a value that is not defined.
    #[default]
    Undefined,
    /// Text from anywhere.
    Text(String),
    /// A score or another fraction.
    Number(f64),
    /// A difference, which is shown with its sign.
    Difference(f64),
    /// A count.
    Count(u64),
    /// The ends of an interval.
    Interval([f64; 2]),
}

impl From<Option<f64>> for Cell {
    fn from(value: Option<f64>) -> Self {
        value.map_or(Self::Undefined, Self::Number)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// The text above a chart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Caption {
    /// The heading.
    pub title: String,
    /// A sentence that says what the chart shows.
    pub note: String,
    /// The finding in a sentence, for those who do not see the chart.
    pub finding: String,
}

/// Curves over a common pair of axes.
///
/// If there are more than 200 points, the first, the last and the extremes are drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lines {
    /// The text above.
    pub caption: Caption,
    /// The name of each axis: the horizontal one, then the vertical one.
    pub axes: [String; 2],
    /// The ends of each axis; `None` for those of the points.
    pub ranges: [Option<[f64; 2]>; 2],
    /// The curves.
    pub lines: Vec<Line>,
    /// A point to note, and what it is.
    pub mark: Option<([f64; 2], String)>,
}

/// A curve.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// Its name.
    pub name: String,
    /// Its points.
    pub points: Vec<[f64; 2]>,
    /// Its tone.
    pub tone: Tone,
    /// Whether it is the one to look at first.
    pub main: bool,
    /// Whether it is points without a line, for values between which there is nothing.
    pub dots: bool,
}

/// Values by name. At most 40 are drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bars {
    /// The text above.
    pub caption: Caption,
    /// The bars from the top.
    pub bars: Vec<Bar>,
    /// The value of a full bar; `None` for the largest.
    pub full: Option<f64>,
}

/// A bar.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bar {
    /// Its name.
    pub name: String,
    /// Its value: a number, a difference or a count.
    pub value: Cell,
    /// Its tone.
    pub tone: Tone,
    /// Whether it is the one to look at first.
    pub main: bool,
}

/// Counts by range of a value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram {
    /// The text above.
    pub caption: Caption,
    /// The ends of the axis, which the bins divide evenly.
    pub range: [f64; 2],
    /// The counts.
    pub bins: Vec<u64>,
    /// The counts of the values below and above the range. Each that is not 0 has a bar next to the range.
    pub beyond: [u64; 2],
    /// The unit of the counts, such as `examples`.
    pub unit: String,
    /// The name of the axis.
    pub axis: String,
    /// A value to note, and what it is.
    pub mark: Option<(f64, String)>,
    /// Whether values below 0 are good (`Some(true)`), bad (`Some(false)`), or neither.
    pub negative_is_good: Option<bool>,
}

/// A matrix of counts. If there are more than 25 classes, the 15 with the most confusions are shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Heatmap {
    /// The text above.
    pub caption: Caption,
    /// Descriptions of the rows and of the columns.
    pub sides: [String; 2],
    /// The names of the classes, which are those of rows and columns.
    pub classes: Vec<String>,
    /// Counts that are not 0: row, column, count.
    pub cells: Vec<(usize, usize, u64)>,
    /// The class that means nothing, such as the background, which is always shown.
    pub nothing: Option<usize>,
    /// Where all classes are, in words, if there are more than are shown.
    pub rest: String,
}

/// Scores with intervals. At most 40 are drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Forest {
    /// The text above.
    pub caption: Caption,
    /// Name, score and interval, from the top.
    pub rows: Vec<(String, f64, Option<[f64; 2]>)>,
    /// The score of everything.
    pub overall: Option<f64>,
}

/// A reference and a prediction, step by step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Alignment {
    /// The steps.
    pub steps: Vec<Step>,
    /// Whether the steps are characters or runs of them, between which there is no space.
    pub characters: bool,
}

/// A step of an alignment.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// The same on both sides.
    Equal(String),
    /// The text of the reference, and the different text of the prediction.
    Substituted(String, String),
    /// Only the reference has it.
    Deleted(String),
    /// Only the prediction has it.
    Inserted(String),
}

/// Two texts, with up to 80 lines shown. Lines that differ are shaded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SideBySide {
    /// The names of the texts.
    pub names: [String; 2],
    /// The texts.
    pub texts: [String; 2],
}

/// Grids of the colors 0 to 9: the first one is the reference of the others.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grids {
    /// Names and rows of cells.
    pub grids: Vec<(String, Vec<Vec<u8>>)>,
}

/// A finished picture. It is embedded as an image, in which nothing runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Picture {
    /// The text above.
    pub caption: Caption,
    /// The file.
    pub bytes: Vec<u8>,
    /// Its type.
    pub media: Media,
}

/// The type of a picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Media {
    /// Scalable Vector Graphics.
    #[default]
    Svg,
    /// Portable Network Graphics.
    Png,
    /// JPEG.
    Jpeg,
}

/// Boxes, over a picture if there is one.
///
/// The first 30 boxes of each tone are drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Boxes {
    /// The text above.
    pub caption: Caption,
    /// The width and the height that the corners of the boxes are measured in.
    pub size: [f64; 2],
    /// The picture, which fills the size, and its type.
    pub picture: Option<(Vec<u8>, Media)>,
    /// The boxes.
    pub boxes: Vec<LabeledBox>,
}

/// A box with a label.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LabeledBox {
    /// Left, top, right and bottom.
    pub corners: [f64; 4],
    /// The label.
    pub label: String,
    /// Its tone: a good box has a solid edge, any other a dashed one.
    pub tone: Tone,
}

/// Names with what they name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// Names and texts.
    pub facts: Vec<(String, Fact)>,
}

/// The value of a fact.
#[derive(Clone, Debug, PartialEq)]
pub enum Fact {
    /// Prose.
    Words(String),
    /// Text from a file or a command line, whose spaces count.
    Text(String),
}

/// One example.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Example {
    /// Its id.
    pub id: String,
    /// Short facts next to the id, such as its scores.
    pub facts: Vec<String>,
    /// Its content.
    pub blocks: Vec<Block>,
    /// The place of its complete texts, in words, for texts that are cut.
    pub whole: String,
}
