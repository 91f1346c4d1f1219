//! Scores data in memory, and chooses what to do with references that have no prediction.
//!
//! Run it with `cargo run -p metric-run --example score_memory`.

#![allow(clippy::print_stdout, reason = "an example prints its result")]

use std::error::Error;
use std::num::NonZeroUsize;

use metric_run::record::{JoinError, Missing};
use metric_run::registry::{Options, find};
use metric_run::{ErrorKind, Format, Run, RunError, Source};

/// A value per line, whose id is the number of the line.
const REFERENCES: &str = "paris\nrome\noslo\n";

/// The answer to the third question is missing. Each line of this source is a JSON object.
const PREDICTIONS: &str = r#"{"id": 2, "prediction": "Rome"}
{"id": 1, "prediction": "Paris"}
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let entry = find("string-accuracy").ok_or("built without the feature text")?;
    let options = Options::default().set("normalize", "casefold");
    let mut run = Run::new(entry, &options)?;
    run.threads = NonZeroUsize::new(2);

    // The join is strict, so a missing prediction is an error that has its id.
    let error = run.score(references(), predictions()).err();
    assert_eq!(error.as_ref().map(RunError::kind), Some(ErrorKind::Input));
    match error {
        Some(RunError::Join { error, .. }) => {
            let JoinError::Missing(missing) = *error else {
                return Err(format!("expected a missing prediction, found {error:?}").into());
            };
            assert_eq!((missing.count, missing.ids), (1, vec!["3".to_owned()]));
        }
        other => return Err(format!("expected a missing prediction, found {other:?}").into()),
    }

    // Scored against an empty text, it is incorrect. The signature says that this was allowed.
    run.join.missing = Missing::Empty;
    let outcomes = run.score(references(), predictions())?;
    let report = outcomes[0].report();
    assert_eq!(report.score("string_accuracy"), Some(2.0 / 3.0));
    assert_eq!((report.examples, report.missing), (3, 1));
    assert!(outcomes[0].signature().contains("|missing:empty|"));
    println!("{}", outcomes[0].to_json());

    // Left out, it does not count.
    run.join.missing = Missing::Skip;
    let outcomes = run.score(references(), predictions())?;
    assert_eq!(outcomes[0].report().score("string_accuracy"), Some(1.0));
    Ok(())
}

fn references() -> Source {
    Source::memory("references", REFERENCES.as_bytes(), Format::Text)
}

/// Anything that implements `Read` is a source as well, such as a decompressor or a connection.
fn predictions() -> Source {
    Source::reader("predictions", PREDICTIONS.as_bytes(), Format::JsonLines)
}
