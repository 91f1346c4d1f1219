//! Weights of examples, which are fields next to the reference.

use metric_record::Value;
use metric_record::json::{string, typed};

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
