//! Weights of examples, which are fields next to the reference.

use metric_record::json::{string, typed};
use metric_record::{Message, Value};

/// What is missing where no example has a weight above 0.
pub(crate) fn all_are_zero() -> Message {
    "all weights are 0: expected a positive one".into()
}

/// Reads a weight, which may be a text: the cells of CSV are.
pub(crate) fn weight_of(value: &mut Value<'_>) -> Result<f64, String> {
    if let Ok(weight) = value.read::<f64>()
        && weight.is_finite()
    {
        return Ok(weight);
    }
    let json = value.to_json_or("null")?;
    typed(&json).or_else(|problem| {
        let text = string(&json).ok();
        let number = text.and_then(|text| typed::<f64>(&text).ok());
        number.ok_or(problem)
    })
}
