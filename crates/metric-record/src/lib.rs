#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod document;
mod error;
mod join;
pub mod json;
mod key;
mod message;
mod record;
mod shard;
mod value;

pub use document::{Content, Document, File};
pub use error::{FieldError, ReadError, RecordError};
pub use join::{Duplicate, JoinError, NAMED_IDS, Unmatched, quoted_id};
pub use key::IdKey;
pub use message::{Message, OptionStyle};
pub use record::{Id, JoinPolicy, Missing, Record, Side};
pub use shard::{InvalidShard, Shard, fnv1a};
pub use value::{Kind, Value};
