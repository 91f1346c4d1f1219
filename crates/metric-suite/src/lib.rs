#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[doc(inline)]
pub use metric_core as core;

#[cfg(feature = "class")]
#[doc(inline)]
pub use metric_class as class;
#[cfg(feature = "code")]
#[doc(inline)]
pub use metric_code as code;
#[cfg(feature = "graph")]
#[doc(inline)]
pub use metric_graph as graph;
#[cfg(feature = "grid")]
#[doc(inline)]
pub use metric_grid as grid;
#[cfg(feature = "number")]
#[doc(inline)]
pub use metric_number as number;
#[cfg(feature = "rank")]
#[doc(inline)]
pub use metric_rank as rank;
#[cfg(feature = "segmentation")]
#[doc(inline)]
pub use metric_segmentation as segmentation;
#[cfg(feature = "text")]
#[doc(inline)]
pub use metric_text as text;
#[cfg(feature = "vision")]
#[doc(inline)]
pub use metric_vision as vision;

#[cfg(feature = "judge")]
#[doc(inline)]
pub use metric_judge as judge;
#[cfg(feature = "record")]
#[doc(inline)]
pub use metric_record as record;
#[cfg(feature = "registry")]
#[doc(inline)]
pub use metric_registry as registry;
#[cfg(feature = "report")]
#[doc(inline)]
pub use metric_report as report;
#[cfg(feature = "run")]
#[doc(inline)]
pub use metric_run as run;
#[cfg(feature = "stats")]
#[doc(inline)]
pub use metric_stats as stats;
