//! Metadata of events: names and typed values.

use std::borrow::Cow;
use std::marker::PhantomData;

use xpti_sys::{metadata_node, metadata_t, metadata_type};

use crate::framework::{Framework, Object};

/// The value of a metadata entry.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    /// Any bytes.
    Binary(Cow<'a, [u8]>),
    /// Text; invalid UTF-8 is replaced.
    Text(Cow<'a, str>),
    /// A signed integer of 1, 2, 4 or 8 bytes.
    Signed(i64),
    /// An unsigned integer of 1, 2, 4 or 8 bytes.
    Unsigned(u64),
    /// A floating-point number of 4 or 8 bytes.
    Floating(f64),
    /// A truth value.
    Boolean(bool),
}

impl Value<'_> {
    /// Reads an object of the framework's table; a number of an invalid width stays binary.
    pub(crate) fn decode(kind: u8, bytes: &[u8]) -> Value<'static> {
        let mut word = [0; 8];
        let width = bytes.len();
        if matches!(width, 1 | 2 | 4 | 8) {
            word[..width].copy_from_slice(bytes);
        }
        let unsigned = u64::from_le_bytes(word);
        match (kind, width) {
            (metadata_type::STRING, _) => {
                Value::Text(Cow::Owned(String::from_utf8_lossy(bytes).into_owned()))
            }
            (metadata_type::UNSIGNED, 1 | 2 | 4 | 8) => Value::Unsigned(unsigned),
            (metadata_type::SIGNED, 1 | 2 | 4 | 8) => {
                let shift = 64 - 8 * width as u32;
                Value::Signed((unsigned << shift).cast_signed() >> shift)
            }
            (metadata_type::FLOATING, 4) => {
                Value::Floating(f64::from(f32::from_bits(unsigned as u32)))
            }
            (metadata_type::FLOATING, 8) => Value::Floating(f64::from_bits(unsigned)),
            (metadata_type::BOOLEAN, 1) => Value::Boolean(unsigned != 0),
            _ => Value::Binary(Cow::Owned(bytes.to_vec())),
        }
    }

    /// Puts the value into the framework's table, where equal ones are one object; `None` if the table is full.
    pub fn intern(&self, framework: &Framework) -> Option<Object> {
        let (kind, bytes) = self.encode();
        framework.intern_object(&bytes, kind)
    }

    /// The bytes in the form of the framework's table, and their type.
    pub(crate) fn encode(&self) -> (u8, Encoded<'_>) {
        match self {
            Value::Binary(bytes) => (metadata_type::BINARY, Encoded::Bytes(bytes)),
            Value::Text(text) => (metadata_type::STRING, Encoded::Bytes(text.as_bytes())),
            Value::Signed(value) => (metadata_type::SIGNED, Encoded::Word(value.to_le_bytes())),
            Value::Unsigned(value) => (metadata_type::UNSIGNED, Encoded::Word(value.to_le_bytes())),
            Value::Floating(value) => (metadata_type::FLOATING, Encoded::Word(value.to_le_bytes())),
            Value::Boolean(value) => (metadata_type::BOOLEAN, Encoded::Byte([u8::from(*value)])),
        }
    }
}

/// The bytes of a value, without an allocation.
pub(crate) enum Encoded<'a> {
    Bytes(&'a [u8]),
    Word([u8; 8]),
    Byte([u8; 1]),
}

impl core::ops::Deref for Encoded<'_> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Word(bytes) => bytes,
            Self::Byte(bytes) => bytes,
        }
    }
}

macro_rules! from {
    ($($ty:ty => $variant:ident),* $(,)?) => {
        $(impl From<$ty> for Value<'_> {
            fn from(value: $ty) -> Self {
                Value::$variant(value.into())
            }
        })*
    };
}
from! { i32 => Signed, i64 => Signed, u32 => Unsigned, u64 => Unsigned, f32 => Floating, f64 => Floating, bool => Boolean }

impl<'a> From<&'a str> for Value<'a> {
    fn from(value: &'a str) -> Self {
        Value::Text(Cow::Borrowed(value))
    }
}

/// Entries of an event, usually the newest first; valid during the callback.
#[derive(Debug)]
pub struct Metadata<'a> {
    node: *const metadata_node,
    /// The map's own count, which also bounds a damaged list.
    left: usize,
    framework: &'static Framework,
    event: PhantomData<&'a metadata_t>,
}

impl<'a> Metadata<'a> {
    pub(crate) fn new(map: &'a metadata_t, framework: &'static Framework) -> Self {
        Self {
            node: map.before_begin.next,
            left: map.element_count,
            framework,
            event: PhantomData,
        }
    }
}

impl Iterator for Metadata<'_> {
    type Item = (Cow<'static, str>, Value<'static>);

    fn next(&mut self) -> Option<Self::Item> {
        while self.left > 0 && !self.node.is_null() {
            // SAFETY: a node of the event's map, which does not change during the callback.
            let node = unsafe { &*self.node };
            self.node = node.link.next;
            self.left -= 1;
            let Some(key) = self.framework.string(node.key) else {
                continue;
            };
            // Intel's library does not check numbers; those of events are either valid or negative.
            let Some((kind, bytes)) = (node.value >= 0)
                .then(|| self.framework.object(node.value))
                .flatten()
            else {
                continue;
            };
            // SAFETY: copied at once, before this thread could intern another object on this thread.
            let value = Value::decode(kind, unsafe { &*bytes });
            return Some((key.to_string_lossy(), value));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_round_trip_through_the_table() {
        for value in [
            Value::from(-5),
            Value::from(1_u64 << 63),
            Value::from("text"),
            Value::from(1.5),
            Value::from(true),
            Value::Binary(Cow::Borrowed(&[1, 2, 3])),
        ] {
            let (kind, bytes) = value.encode();
            assert_eq!(Value::decode(kind, &bytes), value);
        }
    }

    #[test]
    fn widths_of_clients_are_read() {
        for (kind, bytes, value) in [
            (
                metadata_type::SIGNED,
                &[0xFF, 0xFF, 0xFF, 0xFF][..],
                Value::Signed(-1),
            ),
            (metadata_type::SIGNED, &[0x80], Value::Signed(-128)),
            (metadata_type::UNSIGNED, &[1, 0, 0, 0], Value::Unsigned(1)),
            (
                metadata_type::FLOATING,
                &[0, 0, 0x80, 0x3F],
                Value::Floating(1.0),
            ),
            (
                metadata_type::UNSIGNED,
                &[1, 2, 3],
                Value::Binary(Cow::Borrowed(&[1, 2, 3])),
            ),
            (metadata_type::STRING, &[], Value::Text("".into())),
            (77, &[9], Value::Binary(Cow::Borrowed(&[9]))),
        ] {
            assert_eq!(Value::decode(kind, bytes), value);
        }
    }
}
