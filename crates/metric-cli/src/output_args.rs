//! The options that say how results are printed, which all commands share.

use clap::{Arg, ArgAction, ArgMatches, value_parser};

use crate::error::Failure;
use crate::output::{Numbers, Style};
use crate::table::Layout;
use crate::terminal;

pub(crate) fn format_arg() -> Arg {
    Arg::new("format")
        .long("format")
        .value_name("FORMAT")
        .value_parser(["table", "json", "markdown", "latex", "csv"])
        .default_value("table")
        .help("Format of the result")
}

pub(crate) fn number_args() -> [Arg; 2] {
    [
        Arg::new("digits")
            .long("digits")
            .value_name("N")
            .value_parser(value_parser!(u8).range(0..=17))
            .help("Decimal places of scores [default: 4; all in CSV]"),
        Arg::new("percent")
            .long("percent")
            .action(ArgAction::SetTrue)
            .help("Print scores multiplied by 100"),
    ]
}

pub(crate) fn wide_arg() -> Arg {
    Arg::new("wide")
        .long("wide")
        .action(ArgAction::SetTrue)
        .help("Print all columns of tables, even if they are wider than the terminal")
}

pub(crate) fn quiet_arg() -> Arg {
    Arg::new("quiet")
        .long("quiet")
        .short('q')
        .action(ArgAction::SetTrue)
        .help("No progress bar and no warnings on standard error")
}

pub(crate) fn style(matches: &ArgMatches) -> Style {
    match format(matches) {
        "json" => Style::Json,
        "markdown" => Style::Markdown,
        "latex" => Style::Latex,
        "csv" => Style::Csv,
        _ => Style::Table,
    }
}

/// The form of tables.
pub(crate) fn layout(matches: &ArgMatches) -> Layout {
    let is_wide = matches.try_get_one::<bool>("wide");
    let is_wide = matches!(is_wide, Ok(Some(true)));
    Layout {
        width: terminal::width().filter(|_| !is_wide),
        is_wide,
        is_ascii: !terminal::is_utf8(),
        is_markdown: style(matches) == Style::Markdown,
    }
}

/// The format of scores.
pub(crate) fn numbers(matches: &ArgMatches) -> Result<Numbers, Failure> {
    let numbers = Numbers {
        digits: matches.get_one::<u8>("digits").copied().map(usize::from),
        percent: matches.get_flag("percent"),
    };
    let is_json = style(matches) == Style::Json;
    if is_json && numbers != Numbers::default() {
        let option = if numbers.percent {
            "--percent"
        } else {
            "--digits"
        };
        return Err(Failure::Usage(format!(
            "{option} does not go with --format json, whose scores are unrounded fractions"
        )));
    }
    Ok(numbers)
}

fn format(matches: &ArgMatches) -> &str {
    let format = matches.try_get_one::<String>("format").ok().flatten();
    format.map_or("", String::as_str)
}
