//! Runs over files and tables. One binary, so that it is linked once.

#[cfg(all(
    feature = "arrow",
    feature = "csv",
    feature = "parquet",
    feature = "text"
))]
mod formats;
#[cfg(feature = "text")]
mod parts;
#[cfg(all(feature = "class", feature = "text"))]
mod tables;
