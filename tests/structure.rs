//! Rules on the crates themselves: who may depend on whom, that modules do not import each other in a circle, what their
//! sources may hold, the fields that published manifests have, and that the map of the code in `ARCHITECTURE.md` is complete.
//!
//! Sources are parsed, so a rule sees code rather than text: a comment or a string that mentions
//! `std::fs` is fine. Each check takes source text or dependencies and returns its findings, so
//! that its own test can plant a violation.

#[path = "structure/choices.rs"]
mod choices;
#[path = "structure/cycles.rs"]
mod cycles;
#[path = "structure/edges.rs"]
mod edges;
#[path = "structure/errors.rs"]
mod errors;
#[path = "structure/facade.rs"]
mod facade;
#[path = "structure/files.rs"]
mod files;
#[path = "structure/manifests.rs"]
mod manifests;
#[path = "structure/map.rs"]
mod map;
#[path = "structure/messages.rs"]
mod messages;
#[path = "structure/scores.rs"]
mod scores;
#[path = "structure/sources.rs"]
mod sources;
