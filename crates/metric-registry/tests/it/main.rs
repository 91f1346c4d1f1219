//! Scorers and states as a program uses them. One binary, so that it is linked once.

#[cfg(all(feature = "class", feature = "text"))]
mod columns;
#[cfg(feature = "text")]
mod kept;
#[cfg(all(feature = "graph", feature = "text"))]
mod parameters;
