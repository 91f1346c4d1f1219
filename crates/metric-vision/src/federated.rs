//! Data sets in which each image is annotated for some of the classes only.

use std::fmt;

use metric_core::{Malformed, Reader, Writer, Written};

/// The classes for which an image of a federated data set is annotated, in addition to those that have objects in it.
///
/// In LVIS, nobody looked for all of the 1,203 classes in an image. A detection of any other class is neither correct
/// nor wrong. Classes are indices in the list of classes, in ascending order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Federated {
    /// The classes that are known to be absent: each detection is wrong.
    pub negative: Vec<u32>,
    /// The classes of which not every object is annotated: a detection without match is neither correct nor wrong.
    pub not_exhaustive: Vec<u32>,
}

/// The number of images of a training set that have objects of a class, as LVIS groups them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Frequency {
    /// 1 to 10 images.
    Rare,
    /// 11 to 100 images.
    Common,
    /// More than 100 images.
    Frequent,
}

impl Frequency {
    /// All frequencies, in the order in which LVIS lists them.
    pub const ALL: [Self; 3] = [Self::Rare, Self::Common, Self::Frequent];

    /// Returns its name in files of LVIS.
    ///
    /// ```
    /// use metric_vision::Frequency;
    ///
    /// assert_eq!(Frequency::ALL.map(Frequency::name), ["r", "c", "f"]);
    /// assert_eq!(Frequency::from_name("c"), Some(Frequency::Common));
    /// assert_eq!(Frequency::from_name("rare"), None);
    /// ```
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rare => "r",
            Self::Common => "c",
            Self::Frequent => "f",
        }
    }

    /// Returns the frequency of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|frequency| frequency.name() == name)
    }
}

impl fmt::Display for Frequency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Frequency {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.name())
    }
}

/// The name.
impl Written for Frequency {
    fn write(&self, to: &mut Writer) {
        to.text(self.name());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        Self::from_name(from.text()?).ok_or_else(|| "expected r, c or f".into())
    }
}
