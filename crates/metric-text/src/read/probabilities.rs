//! Files of the probabilities that questions have no answer.

use std::collections::HashMap;

use metric_record::json::{Entries, cut, offset_of, typed};
use metric_record::{File, IdKey, NAMED_IDS, ReadError, quoted_id};

/// The probability that a question has no answer, by the ids of the questions.
#[derive(Clone, Debug)]
pub struct Probabilities<'a> {
    file: &'a str,
    by_id: HashMap<IdKey<'a>, f64>,
    /// The number of questions without a probability that was looked up, and the first few of their ids.
    missing: (u64, Vec<String>),
    /// The number of probabilities that were looked up.
    used: usize,
}

impl<'a> Probabilities<'a> {
    /// Reads SQuAD's file `{id: number}`. A number is compared with a threshold only, and may also be the difference of two
    /// scores.
    ///
    /// ```
    /// use metric_record::File;
    /// use metric_text::read::Probabilities;
    ///
    /// let file = File { name: "na_prob.json", text: r#"{"a": 0.9, "b": 1e-3}"# };
    /// let mut probabilities = Probabilities::read(file)?;
    /// assert_eq!(probabilities.of(&"a".into()), Some(0.9));
    /// # Ok::<(), metric_record::ReadError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not an object of numbers, or if an id occurs twice.
    pub fn read(file: File<'a>) -> Result<Self, ReadError> {
        let text = file.content();
        let entries: Entries<'a> = serde_json::from_str(text).map_err(|error| {
            let problem = format!("expected an object of probabilities by id: {}", cut(&error));
            ReadError::new(file.name, problem).position(offset_of(text, &error))
        })?;
        let mut by_id = HashMap::with_capacity(entries.0.len());
        for (id, value) in entries.0 {
            let at = || format!("id {}", quoted_id(&id));
            let number: f64 = typed(value).map_err(|problem| {
                let problem = format!("expected a number: {problem}");
                ReadError::new(file.name, problem).at(at())
            })?;
            let twice = by_id.insert(IdKey::from(id.clone()), number).is_some();
            if twice {
                return Err(ReadError::new(file.name, "occurs twice").at(at()));
            }
        }
        Ok(Self {
            file: file.name,
            by_id,
            missing: (0, Vec::new()),
            used: 0,
        })
    }

    /// Returns the probability of a question, which is looked up once. That there is none is [refused](Self::finish) later.
    pub fn of(&mut self, id: &IdKey<'_>) -> Option<f64> {
        let found = self.by_id.get(&id.clone().into_owned()).copied();
        let (missing, named) = &mut self.missing;
        if found.is_some() {
            self.used += 1;
        } else {
            *missing += 1;
            if named.len() < NAMED_IDS {
                named.push(quoted_id(&id.to_string()));
            }
        }
        found
    }

    /// Returns the ids of the probabilities.
    pub fn ids(&self) -> impl Iterator<Item = &IdKey<'a>> {
        self.by_id.keys()
    }

    /// Checks that each question that was looked up has a probability. Returns the number of those that have.
    ///
    /// # Errors
    ///
    /// Returns an error that names the first few questions without one.
    pub fn finish(&self) -> Result<usize, ReadError> {
        let (missing, named) = &self.missing;
        if *missing == 0 {
            return Ok(self.used);
        }
        let plural = if *missing == 1 { "" } else { "s" };
        let more = if *missing > named.len() as u64 {
            ", ..."
        } else {
            ""
        };
        let named = named.join(", ");
        let problem =
            format!("no probability for {missing} question{plural}: id{plural} {named}{more}");
        Err(ReadError::new(self.file, problem))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Probabilities<'_>, ReadError> {
        Probabilities::read(File {
            name: "na.json",
            text,
        })
    }

    #[test]
    fn what_is_not_probabilities() {
        let rows = [
            (
                "[0.5]",
                "na.json: expected an object of probabilities by id: found a list, expected an object",
            ),
            (
                r#"{"a": "0.5"}"#,
                r#"na.json: id "a": expected a number: found the string "0.5", expected a number"#,
            ),
            (
                r#"{"a": null}"#,
                r#"na.json: id "a": expected a number: found null, expected a number"#,
            ),
            (
                r#"{"a": 1, "a": 2}"#,
                r#"na.json: expected an object of probabilities by id: duplicate key "a""#,
            ),
            (
                r#"{"a": NaN}"#,
                "na.json: expected an object of probabilities by id: expected value",
            ),
        ];
        for (text, expected) in rows {
            assert_eq!(
                read(text).expect_err("no probabilities").to_string(),
                expected
            );
        }
    }

    #[test]
    fn questions_without_a_probability() {
        let mut probabilities = read(r#"{"a": 0.5, "7": -3.5}"#).expect("probabilities");
        let found = ["a", "7", "b"].map(|id| probabilities.of(&id.into()));
        assert_eq!(found, [Some(0.5), Some(-3.5), None]);
        let error = probabilities
            .finish()
            .expect_err("no probability")
            .to_string();
        assert_eq!(error, r#"na.json: no probability for 1 question: id "b""#);
    }
}
