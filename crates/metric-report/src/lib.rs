#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod block;
#[cfg(feature = "charts")]
mod charts;
mod html;
mod limits;
mod markdown;
#[cfg(feature = "charts")]
mod stored;
mod svg;
mod text;

pub use block::{
    Alignment, Badge, Bar, Bars, Block, Boxes, Caption, Card, Cell, Column, Example, Fact, Facts,
    Forest, Grids, Heatmap, Histogram, Interval, LabeledBox, Line, Lines, Media, Order, Picture,
    Report, Section, SideBySide, Step, Table, Tone,
};
#[cfg(feature = "charts")]
pub use charts::{Shown, ShownExample, charts_of, example_of};
pub use html::Folder;
#[cfg(feature = "charts")]
pub use stored::{
    StoredResults, heading, interval_name, main_card_of, main_first, resampled_units,
};
pub use text::{counted, grouped};
