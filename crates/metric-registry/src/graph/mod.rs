//! Lane graphs.

pub(crate) mod lanes;
pub(crate) mod openlane;
