//! Numbers of 32 bits.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserializer, Error, IntoDeserializer, Visitor};

/// A number of 32 bits that is read as it would be from JSON: the number of 64 bits nearest to its shortest decimal
/// form, so that 0.1 is 0.1 in every form of the data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Single(pub(crate) f32);

impl Single {
    fn decimal(self) -> f64 {
        let Self(number) = self;
        let exact = f64::from(number);
        // Integers of up to 24 bits are their own decimal form.
        if !number.is_finite() || (number.fract() == 0.0 && number.abs() < 16_777_216.0) {
            return exact;
        }
        let mut text = [0; 24];
        let mut rest = &mut text[..];
        // Where two decimals are equally short and near, the one that JSON Lines would hold.
        if serde_json::to_writer(&mut rest, &number).is_err() {
            return exact;
        }
        let free = rest.len();
        let written = text.get(..text.len() - free).unwrap_or_default();
        let decimal = std::str::from_utf8(written).ok();
        decimal
            .and_then(|decimal| decimal.parse().ok())
            .unwrap_or(exact)
    }
}

impl fmt::Display for Single {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<'de, E: Error> IntoDeserializer<'de, E> for Single {
    type Deserializer = SingleDeserializer<E>;

    fn into_deserializer(self) -> SingleDeserializer<E> {
        SingleDeserializer(self, PhantomData)
    }
}

pub(crate) struct SingleDeserializer<E>(Single, PhantomData<E>);

impl<'de, E: Error> Deserializer<'de> for SingleDeserializer<E> {
    type Error = E;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        visitor.visit_f64(self.0.decimal())
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        visitor.visit_f32(self.0.0)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, E> {
        visitor.visit_newtype_struct(self)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::Value;

    fn check(number: f32) {
        let json = serde_json::to_string(&number).unwrap();
        let (mut value, mut text) = (Value::number_f32(number), Value::json(&json));
        let wide = value.read::<f64>().map(f64::to_bits);
        assert_eq!(wide, text.read::<f64>().map(f64::to_bits), "{json}");
        assert_eq!(value.read::<f32>().map(f32::to_bits), Ok(number.to_bits()));
        assert_eq!(value.to_json().unwrap().as_deref(), Some(json.as_str()));
    }

    #[test]
    fn numbers_at_the_edges_are_their_decimals() {
        assert_eq!(Value::number_f32(0.1).read::<f64>(), Ok(0.1));
        assert_eq!(Value::number_f32(0.1).read::<Option<f64>>(), Ok(Some(0.1)));
        let edges = [
            0.0,
            -0.0,
            1.5,
            f32::MIN_POSITIVE,
            1e-45,
            16_777_216.0,
            3.0e10,
            // 210428.125, halfway between its two shortest decimals.
            1_683_425.0 / 8.0,
        ];
        edges.into_iter().for_each(check);
        check(f32::MAX);
        check(f32::MIN);
        assert!(Value::number_f32(f32::NAN).to_json().is_err());
        assert!(Value::number_f32(f32::NAN).read::<f64>().unwrap().is_nan());
    }

    proptest! {
        #[test]
        fn numbers_are_their_decimals(bits in any::<u32>(), near in -2.0_f32..2.0) {
            check(near);
            let number = f32::from_bits(bits);
            if number.is_finite() {
                check(number);
            }
        }
    }
}
