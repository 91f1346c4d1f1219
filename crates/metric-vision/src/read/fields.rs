//! The fields of records in JSON, and the macro `record!`, by which a record lists its fields once.

use std::borrow::Cow;
use std::fmt;

use metric_record::IdKey;
use metric_record::json::Raw;
use metric_record::json::scan::Scanner;
use serde::Deserialize;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};

use crate::Key;

/// Declares a record that is read from JSON by the names and types of its fields. A field that is an [`Option`] may be
/// missing or null.
///
/// From this list follow the reader of serde, the faster one of [`Item::scan`](super::list::Item::scan), and the search for
/// the field that has an error.
macro_rules! record {
    ($visibility:vis struct $name:ident<$a:lifetime> { $($(#[$comment:meta])* $field:ident: $type:ty,)* }) => {
        #[derive(serde::Deserialize)]
        #[serde(bound(deserialize = "'de: 'a"))]
        $visibility struct $name<$a> {
            $($(#[$comment])* $field: $type,)*
        }

        impl<$a> $crate::read::list::Item<$a> for $name<$a> {
            const KEYS: &'static [&'static str] = &[$(stringify!($field)),*];

            fn test(key: &str, value: &$a str) -> Result<(), serde_json::Error> {
                match key {
                    $(stringify!($field) => serde_json::from_str::<$type>(value).map(|_| ()),)*
                    _ => Ok(()),
                }
            }

            fn scan(
                scanner: &mut metric_record::json::scan::Scanner<$a>,
                keys: &mut metric_record::json::scan::Keys,
            ) -> Option<Self> {
                use $crate::read::fields::Field;
                #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
                #[derive(Clone, Copy)]
                enum Position { $($field),* }
                $(let mut $field: Option<$type> = None;)*
                scanner.object_of(keys, |value, key| match key {
                    $(key if key == Position::$field as usize => {
                        $crate::read::list::set(&mut $field, Field::scan(value))
                    })*
                    _ => value.skip_value(),
                })?;
                Some(Self { $($field: $field.or_else(Field::missing)?,)* })
            }
        }
    };
}
pub(super) use record;

/// The value of a field, in the shape that nearly all programs write. It is the one that serde gives, or `None`.
pub(super) trait Field<'a>: Sized {
    fn scan(scanner: &mut Scanner<'a>) -> Option<Self>;

    /// The value of a field that is not there, if it may be missing.
    fn missing() -> Option<Self> {
        None
    }

    /// Whether it is the null of JSON.
    fn is_null(&self) -> bool {
        false
    }
}

impl<'a, T: Field<'a>> Field<'a> for Option<T> {
    fn scan(scanner: &mut Scanner<'a>) -> Option<Self> {
        T::scan(scanner).map(|value| Some(value).filter(|value| !value.is_null()))
    }

    fn missing() -> Option<Self> {
        Some(None)
    }
}

impl<'a> Field<'a> for Raw<'a> {
    fn scan(scanner: &mut Scanner<'a>) -> Option<Self> {
        scanner.raw()
    }

    fn is_null(&self) -> bool {
        self.0 == "null"
    }
}

impl<'a> Field<'a> for Id<'a> {
    fn scan(scanner: &mut Scanner<'a>) -> Option<Self> {
        match scanner.peek()? {
            b'"' => scanner.string().map(Self::of_text),
            _ => scanner.integer().map(Self::number),
        }
    }
}

impl Field<'_> for Numbers {
    fn scan(scanner: &mut Scanner<'_>) -> Option<Self> {
        if let Some(numbers) = scanner.short_numbers() {
            return Some(Self { numbers, count: 4 });
        }
        let (mut numbers, mut count) = ([0.0; 4], 0);
        scanner.list(|item| {
            let number = item.number()?;
            if let Some(slot) = numbers.get_mut(count) {
                *slot = number;
            }
            count += 1;
            Some(())
        })?;
        Some(Self { numbers, count })
    }
}

impl Field<'_> for Number {
    fn scan(scanner: &mut Scanner<'_>) -> Option<Self> {
        scanner.number().map(Self)
    }
}

impl Field<'_> for Flag {
    fn scan(scanner: &mut Scanner<'_>) -> Option<Self> {
        scanner.integer().map(|flag| Self(flag != 0))
    }
}

/// An id: an integer, also one that is written as text or with a fraction of 0, or text.
pub(super) struct Id<'a> {
    pub(super) key: IdKey<'a>,
    /// Whether it is written as text. An integer of more than 64 bits is too, for its digits are the id.
    pub(super) is_text: bool,
}

impl<'a> Id<'a> {
    pub(super) fn number(number: i64) -> Self {
        Self {
            key: IdKey::Number(number),
            is_text: false,
        }
    }

    pub(super) fn of_text(text: impl Into<Cow<'a, str>>) -> Self {
        Self {
            key: IdKey::from(text.into()),
            is_text: true,
        }
    }

    pub(super) fn into_key(self) -> Key {
        Key::from(self.key)
    }

    /// The id as messages show it.
    pub(super) fn shown(&self) -> String {
        if self.is_text {
            format!("{:?}", self.key.to_string())
        } else {
            self.key.to_string()
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Id<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct IdVisitor;
        impl<'de> Visitor<'de> for IdVisitor {
            type Value = Id<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an id, an integer or text")
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Id<'de>, E> {
                Ok(Id::number(number))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Id<'de>, E> {
                Ok(match i64::try_from(number) {
                    Ok(number) => Id::number(number),
                    Err(_) => Id::of_text(number.to_string()),
                })
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<Id<'de>, E> {
                // Beyond 2^53 a double does not tell integers apart.
                if number.fract() == 0.0 && number.abs() <= 9_007_199_254_740_992.0 {
                    Ok(Id::number(number as i64))
                } else {
                    Err(E::invalid_value(
                        serde::de::Unexpected::Float(number),
                        &self,
                    ))
                }
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Id<'de>, E> {
                Ok(Id::of_text(text))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Id<'de>, E> {
                Ok(Id::of_text(text.to_owned()))
            }
        }
        deserializer.deserialize_any(IdVisitor)
    }
}

/// The first numbers of a list, and how many it has.
pub(super) struct Numbers {
    pub(super) numbers: [f64; 4],
    pub(super) count: usize,
}

impl From<[f64; 4]> for Numbers {
    fn from(numbers: [f64; 4]) -> Self {
        Self { numbers, count: 4 }
    }
}

impl<'de> Deserialize<'de> for Numbers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NumbersVisitor;
        impl<'de> Visitor<'de> for NumbersVisitor {
            type Value = Numbers;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of 4 numbers")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Numbers, A::Error> {
                let mut numbers = [0.0; 4];
                let mut count = 0;
                while let Some(Number(number)) = list.next_element()? {
                    if let Some(slot) = numbers.get_mut(count) {
                        *slot = number;
                    }
                    count += 1;
                }
                Ok(Numbers { numbers, count })
            }
        }
        deserializer.deserialize_seq(NumbersVisitor)
    }
}

/// A number, for messages that say so.
#[derive(Clone, Copy)]
pub(super) struct Number(pub(super) f64);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NumberVisitor;
        impl Visitor<'_> for NumberVisitor {
            type Value = Number;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number")
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<Number, E> {
                Ok(Number(number))
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Number, E> {
                Ok(Number(number as f64))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Number, E> {
                Ok(Number(number as f64))
            }
        }
        deserializer.deserialize_f64(NumberVisitor)
    }
}

/// Yes or no, as 1 or 0, or as true or false.
#[derive(Clone, Copy)]
pub(super) struct Flag(pub(super) bool);

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FlagVisitor;
        impl Visitor<'_> for FlagVisitor {
            type Value = Flag;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("0 or 1")
            }

            fn visit_bool<E: Error>(self, flag: bool) -> Result<Flag, E> {
                Ok(Flag(flag))
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Flag, E> {
                Ok(Flag(number != 0))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Flag, E> {
                Ok(Flag(number != 0))
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<Flag, E> {
                Ok(Flag(number != 0.0))
            }
        }
        deserializer.deserialize_any(FlagVisitor)
    }
}
