//! Steps of a command, with the minutes that each takes.

use std::time::{Duration, Instant};

use xtask_common::{Error, print, table};

/// The steps that have run, in their order.
#[derive(Default)]
pub(crate) struct Steps(Vec<(String, Duration)>);

impl Steps {
    /// Runs a step, then prints its name and minutes.
    pub(crate) fn run<E: Into<Error>>(
        &mut self,
        name: &str,
        step: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), Error> {
        let start = Instant::now();
        let done = step();
        let took = start.elapsed();
        let failed = if done.is_err() { ", failed" } else { "" };
        eprintln!("{name}: {} min{failed}", minutes(took));
        self.0.push((name.to_owned(), took));
        done.map_err(Into::into)
    }

    /// Prints the table of all steps.
    pub(crate) fn print(&self) {
        print(&table(&["step", "minutes"], &self.rows()));
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let row = |name: &str, took| vec![name.to_owned(), minutes(took)];
        let mut rows: Vec<_> = self.0.iter().map(|(name, took)| row(name, *took)).collect();
        rows.push(row("total", self.0.iter().map(|(_, took)| *took).sum()));
        rows
    }
}

fn minutes(time: Duration) -> String {
    format!("{:.2}", time.as_secs_f64() / 60.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_add_up() {
        let seconds = |count| Duration::from_secs(count);
        let steps = Steps(vec![
            ("format".to_owned(), seconds(3)),
            ("tests".to_owned(), seconds(90)),
        ]);
        let expected = [["format", "0.05"], ["tests", "1.50"], ["total", "1.55"]];
        assert_eq!(steps.rows(), expected);
    }

    #[test]
    fn a_step_that_fails_counts_and_ends_the_command() {
        let mut steps = Steps::default();
        let failed = || Err("no".to_owned());
        assert_eq!(
            steps.run("lints", failed),
            Err(Error::Failed("no".to_owned()))
        );
        assert_eq!(steps.run("format", || Ok::<_, Error>(())), Ok(()));
        assert_eq!(steps.0.len(), 2);
    }
}
