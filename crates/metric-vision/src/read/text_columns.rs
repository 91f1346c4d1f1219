use std::fmt;
use std::str::FromStr;

/// The fields that text results may have.
const FIELDS: [(&str, &[&str]); 11] = [
    ("class", &["class"]),
    ("image", &["image"]),
    ("score", &["score", "confidence"]),
    ("cx", &["cx"]),
    ("cy", &["cy"]),
    ("w", &["w", "width"]),
    ("h", &["h", "height"]),
    ("xmin", &["xmin"]),
    ("ymin", &["ymin"]),
    ("xmax", &["xmax"]),
    ("ymax", &["ymax"]),
];

/// The number of fields in a line.
const COUNT: usize = 6;

/// The greatest number of columns, with those that are skipped.
const MOST: usize = 32;

/// The name of a column that is skipped, such as that of a track id.
const SKIPPED: &str = "_";

/// The order of the columns of text results, for programs that write them in a different order. A column `_` is skipped.
///
/// ```
/// use metric_vision::read::{File, TextColumns, YoloOptions, parse_yolo};
///
/// let file = |name, text| File { name, text };
/// let truths = [file("labels/street.txt", "1 0.5 0.5 0.25 0.5\n")];
/// // The third number is a track id.
/// let predictions = [file("runs/street.txt", "1 0.875 7 0.5 0.5 0.25 0.25\n")];
/// let columns: TextColumns = "class,score,_,cx,cy,w,h".parse()?;
/// let options = YoloOptions::default().with_columns(Some(columns));
/// let (dataset, _) = parse_yolo(&truths, &predictions, &options)?;
/// assert_eq!(dataset.predictions(0)[0].score, 0.875);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TextColumns {
    /// The fields of the columns, and then empty texts.
    fields: [&'static str; MOST],
    count: usize,
}

/// The error for a list that does not name the columns of text results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidColumns(String);

impl fmt::Display for InvalidColumns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: expected an order of class,cx,cy,w,h,score, of class,score,xmin,ymin,xmax,ymax or of class,score,xmin,ymin,w,h (image in place of class for files of classes), with _ for each column to skip",
            self.0
        )
    }
}

impl std::error::Error for InvalidColumns {}

impl FromStr for TextColumns {
    type Err = InvalidColumns;

    fn from_str(list: &str) -> Result<Self, InvalidColumns> {
        let mut columns = Self {
            fields: [""; MOST],
            count: 0,
        };
        for name in list.split(',').map(str::trim) {
            let known = FIELDS.iter().find(|(_, names)| names.contains(&name));
            let field = match known {
                Some((field, _)) => *field,
                None if name == SKIPPED => SKIPPED,
                None => return Err(InvalidColumns(format!("no column {name:?}"))),
            };
            if field != SKIPPED && columns.listed().contains(&field) {
                return Err(InvalidColumns(format!("{name} is listed twice")));
            }
            let Some(column) = columns.fields.get_mut(columns.count) else {
                return Err(InvalidColumns(format!("more than {MOST} columns")));
            };
            *column = field;
            columns.count += 1;
        }
        let named = columns.listed().iter().filter(|field| **field != SKIPPED);
        let named = named.count();
        if named != COUNT {
            return Err(InvalidColumns(format!("found {named} columns")));
        }
        if FORMS.iter().any(|form| columns.order(form).is_some()) {
            Ok(columns)
        } else {
            Err(InvalidColumns("found corners and sizes".to_owned()))
        }
    }
}

/// The columns of YOLO's predictions.
pub(super) const YOLO: [&str; COUNT] = ["class", "cx", "cy", "w", "h", "score"];

/// The columns of results by image.
pub(super) const BY_IMAGE: [&str; COUNT] = ["class", "score", "xmin", "ymin", "xmax", "ymax"];

/// The columns of results by class.
pub(super) const BY_CLASS: [&str; COUNT] = ["image", "score", "xmin", "ymin", "xmax", "ymax"];

/// The same two with sizes in place of the second corner.
pub(super) const BY_IMAGE_WITH_SIZES: [&str; COUNT] = ["class", "score", "xmin", "ymin", "w", "h"];
pub(super) const BY_CLASS_WITH_SIZES: [&str; COUNT] = ["image", "score", "xmin", "ymin", "w", "h"];

/// The forms of text results, each with a name that may have several words as its first field.
const FORMS: [[&str; COUNT]; 5] = [
    YOLO,
    BY_IMAGE,
    BY_CLASS,
    BY_IMAGE_WITH_SIZES,
    BY_CLASS_WITH_SIZES,
];

impl TextColumns {
    /// The fields of all columns, in their order.
    fn listed(&self) -> &[&'static str] {
        &self.fields[..self.count]
    }

    /// Whether a box is its first corner and its size.
    pub(super) fn has_sizes(&self) -> bool {
        ["xmin", "w"]
            .iter()
            .all(|field| self.listed().contains(field))
    }

    /// For each field of a form, which column it is; `None` if these are columns of another form.
    fn order(&self, form: &[&str; COUNT]) -> Option<[usize; COUNT]> {
        let mut order = [0; COUNT];
        for (column_of_field, field) in order.iter_mut().zip(form) {
            *column_of_field = self.listed().iter().position(|column| column == field)?;
        }
        Some(order)
    }

    /// Puts the words of a line in the order of a form. Words beyond the columns are those of the name, which is
    /// the first field of the form.
    pub(super) fn arranged<'w>(
        &self,
        words: &[&'w str],
        form: &[&str; COUNT],
    ) -> Result<Vec<&'w str>, String> {
        let order = self.order(form).ok_or_else(|| {
            format!(
                "the columns are given as {self}, expected an order of {}",
                form.join(",")
            )
        })?;
        let Some(further) = words.len().checked_sub(self.count) else {
            let found = words.len();
            return Err(format!(
                "found {found} words, expected {}: {self}",
                self.count
            ));
        };
        let [name, numbers @ ..] = order;
        let mut arranged = words[name..=name + further].to_vec();
        let index = |column: usize| column + if column > name { further } else { 0 };
        arranged.extend(numbers.map(|column| words[index(column)]));
        Ok(arranged)
    }
}

impl fmt::Display for TextColumns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.listed().join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_by_hand() {
        let rows = [
            ("class,score,cx,cy,w,h", Ok("class,score,cx,cy,w,h")),
            (
                "confidence, class,cx,cy,width,height",
                Ok("score,class,cx,cy,w,h"),
            ),
            (
                "xmin,ymin,xmax,ymax,score,image",
                Ok("xmin,ymin,xmax,ymax,score,image"),
            ),
            ("class,score,xmin,ymin,w,h", Ok("class,score,xmin,ymin,w,h")),
            ("class,_,score,cx,cy,w,h,_", Ok("class,_,score,cx,cy,w,h,_")),
            ("class,score,cx,cy,w", Err("found 5 columns")),
            ("class,score,cx,cy,w,_", Err("found 5 columns")),
            ("class,score,cx,cy,w,w", Err("w is listed twice")),
            ("class,score,cx,cy,w,x", Err("no column \"x\"")),
            (
                "class,score,cx,cy,xmax,ymax",
                Err("found corners and sizes"),
            ),
            ("image,score,cx,cy,w,h", Err("found corners and sizes")),
        ];
        for (list, expected) in rows {
            match (list.parse::<TextColumns>(), expected) {
                (Ok(columns), Ok(expected)) => assert_eq!(columns.to_string(), expected),
                (Err(error), Err(expected)) => {
                    assert!(error.to_string().starts_with(expected), "{error}");
                }
                (found, _) => panic!("{list}: {found:?}"),
            }
        }
    }

    #[test]
    fn lines_by_hand() {
        let columns: TextColumns = "score,class,xmin,ymin,xmax,ymax".parse().unwrap();
        let arranged = |line: &str| {
            let words: Vec<&str> = line.split(' ').collect();
            columns.arranged(&words, &BY_IMAGE).map(|it| it.join(" "))
        };
        assert_eq!(
            arranged("0.5 dog 1 2 3 4"),
            Ok("dog 0.5 1 2 3 4".to_owned())
        );
        let tracked: TextColumns = "_,score,class,_,xmin,ymin,xmax,ymax".parse().unwrap();
        let words = ["3", "0.5", "red", "light", "x", "1", "2", "3", "4"];
        assert_eq!(
            tracked.arranged(&words, &BY_IMAGE).unwrap().join(" "),
            "red light 0.5 1 2 3 4"
        );
        let light = "traffic light 0.5 1 2 3 4".to_owned();
        assert_eq!(arranged("0.5 traffic light 1 2 3 4"), Ok(light));
        assert!(
            arranged("0.5 1 2 3 4")
                .unwrap_err()
                .contains("found 5 words")
        );
        let words = ["1"; 6];
        assert!(
            columns
                .arranged(&words, &YOLO)
                .unwrap_err()
                .contains("class,cx,cy,w,h,score")
        );
    }
}
