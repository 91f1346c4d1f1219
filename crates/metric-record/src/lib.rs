#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "columns")]
mod columns;
mod document;
mod error;
mod field;
mod files;
mod grid;
mod items;
mod join;
pub mod json;
mod key;
mod kind;
mod message;
mod objects;
mod picture;
mod record;
mod shard;
mod single;
mod value;

#[cfg(feature = "columns")]
pub use columns::{
    Batch, BatchError, Cells, Column, ColumnKind, Ids, ListItems, Lists, ListsError, Texts,
    TextsError, Validity, ValidityError,
};
pub use document::{Content, Document, File, Folder, Reopen, Stream};
pub use error::{FieldError, ReadError, RecordError};
pub use field::{FieldContents, FieldPath, FieldPathError};
pub use files::{
    DEFAULT_MAX_BYTES, FileReader, encoding_hint, name_text, no_text, probable_encoding,
};
pub use grid::{Grid, GridRow};
pub use join::{Duplicate, JoinError, NAMED_IDS, Unmatched, quoted_id};
pub use key::IdKey;
pub use kind::Kind;
pub use message::{Message, OptionStyle};
pub use objects::{ColumnLengthError, IdColumn, ObjectColumns, Objects};
pub use picture::{Picture, Pixels};
pub use record::{Id, JoinPolicy, Missing, Record, Side};
pub use shard::{InvalidShard, Shard, fnv1a};
pub use value::Value;
