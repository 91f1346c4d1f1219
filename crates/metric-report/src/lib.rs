#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod block;
mod html;
mod limits;
mod markdown;
mod svg;
mod text;

pub use block::{
    Alignment, Badge, Bar, Bars, Block, Boxes, Caption, Card, Cell, Column, Example, Fact, Facts,
    Forest, Grids, Heatmap, Histogram, Interval, LabeledBox, Line, Lines, Media, Order, Picture,
    Report, Section, SideBySide, Step, Table, Tone,
};
pub use html::Folder;
pub use text::{counted, grouped};
