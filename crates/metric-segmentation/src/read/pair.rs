use std::io::{BufRead, Seek};

use metric_record::ReadError;

use super::LabelRows;
use crate::PixelCounter;

/// Counts the pixels of an image, whose two files are read in step. Without a prediction, no class is predicted anywhere.
///
/// # Errors
///
/// Returns an error if the sizes differ, or if a file is cut off or damaged.
pub fn count_image<R: BufRead + Seek, P: BufRead + Seek>(
    counter: &mut PixelCounter<'_>,
    reference: &mut LabelRows<'_, R>,
    prediction: Option<&mut LabelRows<'_, P>>,
) -> Result<(), ReadError> {
    let Some(prediction) = prediction else {
        while let Some(row) = reference.next_row()? {
            counter.add_missing(row);
        }
        return Ok(());
    };
    let [expected, found] = [reference.size(), prediction.size()];
    if expected != found {
        let problem = format!(
            "has {} x {} pixels: expected {} x {}, as {} has",
            found[0],
            found[1],
            expected[0],
            expected[1],
            reference.name()
        );
        return Err(ReadError::new(prediction.name(), problem));
    }
    while let (Some(reference), Some(prediction)) = (reference.next_row()?, prediction.next_row()?)
    {
        counter.add_rows(reference, prediction);
    }
    Ok(())
}
