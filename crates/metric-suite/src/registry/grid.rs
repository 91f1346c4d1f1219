//! ARC grids.

use metric_core::Metric;
use metric_grid::{ArcGrids, ArcState, Attempt, Grid, VERSION};

use super::read::{json, kind, typed};
use super::scorer::Adapter;
use super::{
    Entry, FieldError, Input, Named, Notes, OptionSpec, Reading, Record, Sink, never_whole,
};

pub(super) const ARC: Entry = Entry {
    name: "arc",
    help: "Padded cell accuracy and exact match of ARC grids",
    values: (
        "a grid [[int]], 1 to 30 on a side, cells 0 to 9",
        "a grid, or null for none",
    ),
    options: &[OptionSpec {
        name: "strict",
        value: "",
        default: "",
        choices: Vec::new,
        help: "An invalid grid as a prediction is an error, and not a miss",
    }],
    input: Input::Records,
    whole_file: never_whole,
    build: |options| {
        let reading = Arc {
            metric: ArcGrids,
            strict: options.get("strict").is_some(),
        };
        Ok(Adapter::boxed("arc", VERSION, reading))
    },
};

struct Arc {
    metric: ArcGrids,
    strict: bool,
}

fn grid(json: &str) -> Result<Grid, String> {
    let rows: Vec<Vec<i64>> = typed(json).map_err(|error| match kind(json) {
        "a list" => format!("expected a grid, a list of rows of integers: {error}"),
        other => format!("expected a grid, a list of rows of integers, found {other}"),
    })?;
    Grid::from_rows(&rows).map_err(|error| error.to_string())
}

impl Reading for Arc {
    type Metric = ArcGrids;

    fn metric(&self) -> &ArcGrids {
        &self.metric
    }

    fn signature(&self) -> Named<String> {
        Vec::new()
    }

    fn read(&self, record: &Record<'_>, sink: &mut Sink<'_, ArcGrids>) -> Result<(), FieldError> {
        let reference = grid(json(record.reference, "null")).map_err(FieldError::reference)?;
        let prediction = json(record.prediction, "null");
        let attempt = if prediction.trim() == "null" {
            Attempt::Missing
        } else {
            match grid(prediction) {
                Ok(grid) => Attempt::Grid(grid),
                Err(problem) if self.strict => return Err(FieldError::prediction(problem)),
                Err(_) => Attempt::Invalid,
            }
        };
        sink.example(&attempt, &reference);
        Ok(())
    }

    fn scores(&self, state: &ArcState) -> Named<Option<f64>> {
        let score = self.metric.compute(state);
        vec![
            ("cell_accuracy".to_owned(), score.cell_accuracy),
            (
                "cell_accuracy_pooled".to_owned(),
                score.cell_accuracy_pooled,
            ),
            ("exact".to_owned(), score.exact),
        ]
    }

    fn counts(&self, state: &ArcState) -> Named<serde_json::Value> {
        [
            ("matches", state.matches),
            ("padded_cells", state.padded_cells),
            ("exact", state.exact),
            ("invalid", state.invalid),
            ("null", state.missing),
            ("pairs", state.pairs),
        ]
        .map(|(name, count)| (name.to_owned(), count.into()))
        .into()
    }

    fn warnings(&self, state: &ArcState, _notes: &Notes) -> Vec<String> {
        match state.invalid {
            0 => Vec::new(),
            invalid => vec![format!(
                "{invalid} × a prediction is no ARC grid and scores 0"
            )],
        }
    }
}
