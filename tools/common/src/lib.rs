//! The parts that the project's own commands share: running other programs, tables, and exit codes.

mod command;
mod run;
mod table;

pub use command::{asks_for_help, finish, main};
pub use run::{
    Error, WITHOUT_PYTHON, cargo, cargo_output, flag, no_arguments, output, print, printed,
    program, root, target,
};
pub use table::{markdown, table};
