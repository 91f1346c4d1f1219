//! The program end to end. One binary, so that it is linked once.

mod check;
mod cli;
mod common;
mod compare;
mod docs;
mod faults;
mod help;
mod hostile;
mod inputs;
mod list;
mod manners;
mod more_references;
mod normalize;
mod ready_suites;
mod report;
mod reports;
mod same_records;
mod screens;
mod several;
mod states;
mod statistics;
mod suite;
mod texts;
mod transcripts;
mod traps;
mod warnings;
