use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use cbor4ii::core::dec::{Decode, Read, Reference};
use cbor4ii::core::enc::Encode;
use cbor4ii::core::types::{Array, Bytes, Map, Null};
use cbor4ii::core::utils::BufWriter;

/// A value with one written form, of which states are made.
///
/// The form is CBOR (RFC 8949): numbers, texts, lists, and maps with the names of fields. Equal values are written as
/// equal bytes, so states that were gathered in different ways can be compared by their bytes. [`fields!`](crate::fields)
/// implements it for a struct.
///
/// ```
/// use metric_core::{Accuracy, from_bytes, to_bytes};
///
/// let accuracy = Accuracy { correct: 2, total: 3 };
/// let bytes = to_bytes(&accuracy);
/// assert_eq!(bytes, b"\xa2\x67correct\x02\x65total\x03");
/// assert_eq!(from_bytes(&bytes), Ok(accuracy));
/// assert!(from_bytes::<Accuracy>(&bytes[1..]).is_err());
/// ```
pub trait Written: Sized {
    /// Writes the value.
    fn write(&self, to: &mut Writer);

    /// Reads a value.
    ///
    /// # Errors
    ///
    /// Returns an error if this is not what [`write`](Self::write) writes.
    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed>;
}

/// Returns the written form of a value.
#[must_use]
pub fn to_bytes<T: Written>(value: &T) -> Vec<u8> {
    let mut writer = Writer::default();
    value.write(&mut writer);
    writer.into_bytes()
}

/// Reads a value from its written form.
///
/// # Errors
///
/// Returns an error if these bytes are not the form in which a value is written, or if there are more of them.
pub fn from_bytes<T: Written>(bytes: &[u8]) -> Result<T, Malformed> {
    let mut reader = Reader::new(bytes);
    let value = T::read(&mut reader)?;
    reader.end()?;
    Ok(value)
}

/// Bytes that are not the written form of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed(
    /// What is wrong with them.
    pub String,
);

impl Malformed {
    fn expected(what: impl fmt::Display) -> Self {
        Self(format!("expected {what}"))
    }
}

impl From<&str> for Malformed {
    fn from(problem: &str) -> Self {
        Self(problem.to_owned())
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Malformed {}

/// Writes values one after the other.
pub struct Writer(BufWriter);

impl Default for Writer {
    fn default() -> Self {
        Self(BufWriter::new(Vec::new()))
    }
}

impl Writer {
    /// Returns what was written.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.0.into_inner()
    }

    fn put(&mut self, value: impl Encode) {
        // The buffer only refuses what does not fit into memory.
        let _ = value.encode(&mut self.0);
    }

    /// Writes a text.
    pub fn text(&mut self, text: &str) {
        self.put(text);
    }

    /// Writes bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.put(Bytes(bytes));
    }

    /// Begins a list of this many values.
    pub fn list(&mut self, len: usize) {
        let _ = Array::bounded(len, &mut self.0);
    }

    /// Begins a map of this many keys, each of which is followed by its value.
    pub fn map(&mut self, len: usize) {
        let _ = Map::bounded(len, &mut self.0);
    }

    /// Writes the values of a list.
    pub fn values<'v, T: Written + 'v>(&mut self, values: impl ExactSizeIterator<Item = &'v T>) {
        self.list(values.len());
        values.for_each(|value| value.write(self));
    }

    /// Writes the entries of a map as a list of pairs, for keys that are not texts alone.
    pub fn pairs<K: Written, V: Written>(&mut self, map: &BTreeMap<K, V>) {
        self.list(map.len());
        for (key, value) in map {
            self.list(2);
            key.write(self);
            value.write(self);
        }
    }

    /// Writes a value that may be missing.
    pub fn option<T: Written>(&mut self, value: Option<&T>) {
        match value {
            Some(value) => value.write(self),
            None => self.put(Null),
        }
    }

    /// Writes a field of a map by its name.
    pub fn field<T: Written>(&mut self, name: &str, value: &T) {
        self.text(name);
        value.write(self);
    }
}

/// Reads values one after the other. Nothing is allocated for more values than there are bytes.
pub struct Reader<'b>(Source<'b>);

/// The bytes that are left.
struct Source<'b>(&'b [u8]);

impl<'b> Read<'b> for Source<'b> {
    type Error = std::convert::Infallible;

    fn fill<'s>(&'s mut self, want: usize) -> Result<Reference<'b, 's>, Self::Error> {
        Ok(Reference::Long(&self.0[..want.min(self.0.len())]))
    }

    fn advance(&mut self, count: usize) {
        self.0 = &self.0[count.min(self.0.len())..];
    }
}

impl<'b> Reader<'b> {
    /// Returns a reader of these bytes.
    #[must_use]
    pub fn new(bytes: &'b [u8]) -> Self {
        Self(Source(bytes))
    }

    fn take<T: Decode<'b>>(&mut self, what: &str) -> Result<T, Malformed> {
        T::decode(&mut self.0).map_err(|_| Malformed::expected(what))
    }

    /// Reads a text.
    ///
    /// # Errors
    ///
    /// Returns an error for anything else.
    pub fn text(&mut self) -> Result<&'b str, Malformed> {
        self.take("a text")
    }

    /// Reads bytes.
    ///
    /// # Errors
    ///
    /// Returns an error for anything else.
    pub fn bytes(&mut self) -> Result<&'b [u8], Malformed> {
        self.take("bytes").map(|Bytes(bytes)| bytes)
    }

    /// Reads the beginning of a list, and returns the number of its values.
    ///
    /// # Errors
    ///
    /// Returns an error for anything else.
    pub fn list(&mut self) -> Result<usize, Malformed> {
        let len = Array::len(&mut self.0).ok().flatten();
        len.ok_or_else(|| Malformed::expected("a list"))
    }

    /// Reads the beginning of a map, and returns the number of its keys.
    ///
    /// # Errors
    ///
    /// Returns an error for anything else.
    pub fn map(&mut self) -> Result<usize, Malformed> {
        let len = Map::len(&mut self.0).ok().flatten();
        len.ok_or_else(|| Malformed::expected("a map"))
    }

    /// Reads a field of a map.
    ///
    /// # Errors
    ///
    /// Returns an error if the next field has another name, or another value than expected.
    pub fn field<T: Written>(&mut self, name: &str) -> Result<T, Malformed> {
        self.name(name)?;
        T::read(self)
    }

    /// Reads the name of a field of a map, whose value comes next.
    ///
    /// # Errors
    ///
    /// Returns an error if the next field has another name.
    pub fn name(&mut self, name: &str) -> Result<(), Malformed> {
        match self.text() {
            Ok(found) if found == name => Ok(()),
            _ => Err(Malformed::expected(format_args!("the field {name:?}"))),
        }
    }

    /// Reads a field of a map if it is the next one.
    ///
    /// # Errors
    ///
    /// Returns an error if it has another value than expected.
    pub fn optional_field<T: Written>(&mut self, name: &str) -> Result<Option<T>, Malformed> {
        let is_next = self.attempt(|from| from.name(name)).is_some();
        is_next.then(|| T::read(self)).transpose()
    }

    /// Reads a value, if it is one that `read` can read. Otherwise nothing is read.
    pub fn attempt<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, Malformed>,
    ) -> Option<T> {
        let rest = self.0.0;
        let value = read(self).ok();
        if value.is_none() {
            self.0.0 = rest;
        }
        value
    }

    /// Checks that all was read.
    ///
    /// # Errors
    ///
    /// Returns an error if there are more bytes.
    pub fn end(&self) -> Result<(), Malformed> {
        match self.0.0.len() {
            0 => Ok(()),
            more => Err(Malformed::expected(format_args!(
                "the end, found {more} more bytes"
            ))),
        }
    }
}

/// Implements [`Written`] for types that the format has.
macro_rules! written_as_is {
    ($($type:ty: $what:literal;)+) => {$(
        impl Written for $type {
            fn write(&self, to: &mut Writer) {
                to.put(self);
            }

            fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
                from.take($what)
            }
        }
    )+};
}

written_as_is! {
    u8: "a whole number below 256";
    u32: "a whole number below 2^32";
    u64: "a whole number";
    i64: "a whole number";
    f64: "a number";
    bool: "true or false";
}

impl Written for usize {
    fn write(&self, to: &mut Writer) {
        to.put(*self as u64);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let number = u64::read(from)?;
        Self::try_from(number).map_err(|_| Malformed::expected("a smaller number"))
    }
}

impl Written for String {
    fn write(&self, to: &mut Writer) {
        to.text(self);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        from.text().map(str::to_owned)
    }
}

impl Written for () {
    fn write(&self, to: &mut Writer) {
        to.list(0);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        from.list().map(|_| ())
    }
}

impl<T: Written> Written for Option<T> {
    fn write(&self, to: &mut Writer) {
        to.option(self.as_ref());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        /// The byte of `null`.
        const NULL: u8 = 0xf6;
        if from.0.0.first() == Some(&NULL) {
            from.0.advance(1);
            return Ok(None);
        }
        T::read(from).map(Some)
    }
}

impl<T: Written> Written for Vec<T> {
    fn write(&self, to: &mut Writer) {
        to.values(self.iter());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let mut values = Self::new();
        for _ in 0..from.list()? {
            values.push(T::read(from)?);
        }
        Ok(values)
    }
}

impl<T: Written, const LEN: usize> Written for [T; LEN] {
    fn write(&self, to: &mut Writer) {
        to.values(self.iter());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let values = Vec::read(from)?;
        values
            .try_into()
            .map_err(|_| Malformed::expected(format_args!("{LEN} values")))
    }
}

impl<K: Written + Ord, V: Written> Written for BTreeMap<K, V> {
    fn write(&self, to: &mut Writer) {
        to.map(self.len());
        for (key, value) in self {
            key.write(to);
            value.write(to);
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let mut map = Self::new();
        for _ in 0..from.map()? {
            map.insert(K::read(from)?, V::read(from)?);
        }
        Ok(map)
    }
}

impl<T: Written + Ord> Written for BTreeSet<T> {
    fn write(&self, to: &mut Writer) {
        to.values(self.iter());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        Vec::read(from).map(|values: Vec<T>| values.into_iter().collect())
    }
}

/// Implements [`Written`] for tuples, as lists.
macro_rules! written_tuples {
    ($($len:literal: $($type:ident $index:tt),+;)+) => {$(
        impl<$($type: Written),+> Written for ($($type,)+) {
            fn write(&self, to: &mut Writer) {
                to.list($len);
                $(self.$index.write(to);)+
            }

            fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
                match from.list()? {
                    $len => Ok(($($type::read(from)?,)+)),
                    _ => Err(Malformed::expected(concat!($len, " values"))),
                }
            }
        }
    )+};
}

written_tuples! {
    2: A 0, B 1;
    3: A 0, B 1, C 2;
}

/// Whether a field can be left out.
#[doc(hidden)]
pub fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Implements [`Written`] for a struct by its fields, in their order. Fields after a semicolon are left out while they
/// have their default. A function after `check` refuses values that were written by nobody.
///
/// ```
/// use metric_core::{from_bytes, to_bytes};
///
/// #[derive(Debug, PartialEq)]
/// struct Span {
///     start: u64,
///     end: u64,
/// }
///
/// impl Span {
///     fn check(&self) -> Result<(), &'static str> {
///         if self.start <= self.end { Ok(()) } else { Err("expected start <= end") }
///     }
/// }
///
/// metric_core::written!(Span { start, end } check Span::check);
///
/// let span = Span { start: 3, end: 5 };
/// assert_eq!(from_bytes(&to_bytes(&span)), Ok(span));
/// assert!(from_bytes::<Span>(&to_bytes(&Span { start: 5, end: 3 })).is_err());
/// ```
#[macro_export]
macro_rules! written {
    (
        $struct:ident $(<$($type:ident),+>)? {
            $($field:ident),* $(,)? $(; $($optional:ident),+ $(,)?)?
        } $(check $check:path)?
    ) => {
        impl$(<$($type: $crate::Written),+>)? $crate::Written for $struct$(<$($type),+>)? {
            fn write(&self, to: &mut $crate::Writer) {
                let fields = <[&str]>::len(&[$(stringify!($field)),*]);
                $(let fields = fields $(+ usize::from(!$crate::is_default(&self.$optional)))+;)?
                to.map(fields);
                $(to.field(stringify!($field), &self.$field);)*
                $($(if !$crate::is_default(&self.$optional) {
                    to.field(stringify!($optional), &self.$optional);
                })+)?
            }

            fn read(from: &mut $crate::Reader<'_>) -> Result<Self, $crate::Malformed> {
                from.map()?;
                let read = Self {
                    $($field: from.field(stringify!($field))?,)*
                    $($($optional: from.optional_field(stringify!($optional))?.unwrap_or_default(),)+)?
                };
                $($check(&read)?;)?
                Ok(read)
            }
        }
    };
}

/// Lists the fields of a state: how it [merges](crate::Merge) and how it is [written](crate::Written) follow from the
/// list. Each field merges with its own. What may stand after the fields, [`written!`](crate::written) says.
///
/// ```
/// use metric_core::{Mean, Merge, from_bytes, to_bytes};
///
/// #[derive(Clone, Debug, Default, PartialEq)]
/// struct Lengths {
///     too_long: u64,
///     ratios: Mean,
/// }
///
/// metric_core::fields!(Lengths { too_long, ratios });
///
/// let mut lengths = Lengths { too_long: 1, ratios: [0.5].into_iter().collect() };
/// lengths.merge(Lengths { too_long: 2, ratios: [0.25].into_iter().collect() });
/// assert_eq!((lengths.too_long, lengths.ratios.value()), (3, Some(0.375)));
/// assert_eq!(from_bytes(&to_bytes(&lengths)), Ok(lengths));
/// ```
#[macro_export]
macro_rules! fields {
    (
        $struct:ident $(<$($type:ident),+>)? {
            $($field:ident),* $(,)? $(; $($optional:ident),+ $(,)?)?
        } $(check $check:path)?
    ) => {
        $crate::merge_fields!($struct $(<$($type),+>)? { $($field,)* $($($optional,)+)? });
        $crate::written!(
            $struct $(<$($type),+>)? { $($field),* $(; $($optional),+)? } $(check $check)?
        );
    };
}

/// Implements [`Merge`](crate::Merge) for a struct whose fields merge each with its own.
#[macro_export]
macro_rules! merge_fields {
    ($struct:ident $(<$($type:ident),+>)? { $($field:ident),* $(,)? }) => {
        impl$(<$($type: $crate::Merge + Clone),+>)? $crate::Merge for $struct$(<$($type),+>)? {
            fn merge(&mut self, other: Self) {
                $($crate::Merge::merge(&mut self.$field, other.$field);)*
            }

            fn merge_times(&mut self, other: &Self, times: u64) {
                $($crate::Merge::merge_times(&mut self.$field, &other.$field, times);)*
            }

            fn row_bytes(&self) -> u64 {
                0 $(+ $crate::Merge::row_bytes(&self.$field))*
            }

            fn counts(&self, _: &'static str, list: &mut Vec<(&'static str, u64)>) {
                $($crate::Merge::counts(&self.$field, stringify!($field), list);)*
            }

            fn addends<'s>(&'s mut self, list: &mut $crate::Addends<'s>) -> bool {
                true $(&& $crate::Merge::addends(&mut self.$field, list))*
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Default, PartialEq)]
    struct Row {
        count: u64,
        name: String,
        more: Vec<u64>,
    }

    written!(Row { count, name; more });

    #[test]
    fn fields_with_their_default_are_left_out() {
        let row = |more: &[u64]| Row {
            count: 1,
            name: "a".to_owned(),
            more: more.to_vec(),
        };
        assert_eq!(to_bytes(&row(&[])), b"\xa2\x65count\x01\x64name\x61a");
        for row in [row(&[]), row(&[2, 3])] {
            assert_eq!(from_bytes(&to_bytes(&row)), Ok(row));
        }
    }

    /// A few bytes can claim any length: it is believed as far as there are bytes.
    #[test]
    fn claimed_lengths_take_no_memory() {
        let claimed = [0x9b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 2];
        assert!(from_bytes::<Vec<u64>>(&claimed).is_err());
        let mut map = claimed;
        map[0] = 0xbb;
        assert!(from_bytes::<BTreeMap<u64, u64>>(&map).is_err());
    }

    #[test]
    fn other_values_are_refused() {
        let number = to_bytes(&7_u64);
        assert_eq!(
            from_bytes::<String>(&number),
            Err(Malformed::expected("a text"))
        );
        assert!(from_bytes::<Row>(&number).is_err());
        assert!(from_bytes::<u8>(&to_bytes(&300_u64)).is_err());
        assert!(from_bytes::<[u64; 2]>(&to_bytes(&vec![1_u64])).is_err());
        assert!(from_bytes::<u64>(&[number.as_slice(), &number].concat()).is_err());
        assert_eq!(
            from_bytes(&to_bytes(&(None::<u64>, -3_i64))),
            Ok((None::<u64>, -3_i64))
        );
    }
}
