//! Messages of protocol buffers as JSON (<https://protobuf.dev/programming-guides/json/>), with the freedom that the API gives its
//! callers.
//!
//! Every member may be absent, and null is absent. Names are camelCase or snake_case, mixed as one likes. A number may be a
//! string, a whole number may have a fraction of zero, and a list of one may leave out its brackets. The words of enums are read
//! in any case. What is written is the canonical form: camelCase, numbers, lists, no empty lists.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::{BorrowedStrDeserializer, MapAccessDeserializer, StrDeserializer};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};

use crate::protocol::few::Few;
use crate::protocol::wire::Text;

/// Defines a message. Its fields are `Option` or `Vec`, and are named in snake_case; the camelCase name follows where it differs,
/// then what else clients write.
macro_rules! message {
    (
        $(#[$meta:meta])*
        pub struct $name:ident<'a> {
            $( $(#[$doc:meta])* $field:ident $(= $camel:literal)? $(| $alias:literal)* : $type:ty, )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Default, PartialEq, serde::Serialize, tollgate_macros::Read)]
        #[serde(bound(deserialize = "'de: 'a"))]
        pub struct $name<'a> {
            $(
                $(#[$doc])*
                #[serde(
                    default,
                    deserialize_with = "crate::protocol::gemini::wire::proto::Field::read",
                    skip_serializing_if = "crate::protocol::gemini::wire::proto::absent"
                )]
                $( #[serde(rename(serialize = $camel), alias = $camel)] )?
                $( #[serde(alias = $alias)] )*
                pub $field: $type,
            )*
        }
    };
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $( $(#[$doc:meta])* $field:ident $(= $camel:literal)? : $type:ty, )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Default, PartialEq, serde::Serialize, tollgate_macros::Read)]
        pub struct $name {
            $(
                $(#[$doc])*
                #[serde(
                    default,
                    deserialize_with = "crate::protocol::gemini::wire::proto::Field::read",
                    skip_serializing_if = "crate::protocol::gemini::wire::proto::absent"
                )]
                $( #[serde(rename(serialize = $camel), alias = $camel)] )?
                pub $field: $type,
            )*
        }
    };
}
pub(super) use message;

/// Defines an enum of words, in whose reading case does not matter.
macro_rules! words {
    ($(#[$meta:meta])* pub enum $name:ident { $($words:tt)+ }) => {
        $crate::words! { @by str::eq_ignore_ascii_case; $(#[$meta])* pub enum $name<'a> { $($words)+ } }
    };
}
pub(super) use words;

/// What a message's member may be.
pub trait Field<'de>: Sized {
    /// Reads it. Null is absent.
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error>;
}

impl<'de, T: Deserialize<'de>> Field<'de> for Option<T> {
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::deserialize(deserializer)
    }
}

impl<'de, T: Deserialize<'de>> Field<'de> for Vec<T> {
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ListVisitor(PhantomData))
    }
}

impl<'de, T: Deserialize<'de>> Field<'de> for Few<T> {
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FewVisitor(PhantomData))
    }
}

/// A list that is told apart from none even where it is empty.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct List<T>(pub Vec<T>);

impl<'l, T> IntoIterator for &'l List<T> {
    type Item = &'l T;
    type IntoIter = std::slice::Iter<'l, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<T: Serialize> Serialize for List<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ListVisitor(PhantomData)).map(Self)
    }
}

/// Whether a member is left out: where it is nothing, or an empty list, which a message cannot tell from none.
pub(super) fn absent<'f, F>(field: &'f F) -> bool
where
    &'f F: IntoIterator,
{
    field.into_iter().next().is_none()
}

/// A list, or its only element without brackets.
struct ListVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ListVisitor<T> {
    type Value = Vec<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Vec<T>, A::Error> {
        // Mostly there is one, and elements are large.
        let mut list = match elements.next_element()? {
            Some(first) => vec![first],
            None => Vec::new(),
        };
        while let Some(element) = elements.next_element()? {
            list.push(element);
        }
        Ok(list)
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Vec<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(members)).map(|element| vec![element])
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Vec<T>, E> {
        T::deserialize(BorrowedStrDeserializer::new(text)).map(|element| vec![element])
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Vec<T>, E> {
        T::deserialize(StrDeserializer::new(text)).map(|element| vec![element])
    }

    fn visit_unit<E>(self) -> Result<Vec<T>, E> {
        Ok(Vec::new())
    }
}

/// As [`ListVisitor`], without an allocation for a list of one.
struct FewVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for FewVisitor<T> {
    type Value = Few<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Few<T>, A::Error> {
        Few::collect(|| elements.next_element())
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Few<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(members)).map(Few::One)
    }

    fn visit_unit<E>(self) -> Result<Few<T>, E> {
        Ok(Few::default())
    }
}

macro_rules! whole_number {
    ($(#[$meta:meta])* $name:ident($number:ty), $expected:literal) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
        pub struct $name(pub $number);

        impl From<$number> for $name {
            fn from(number: $number) -> Self {
                Self(number)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.0.serialize(serializer)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct NumberVisitor;
                impl Visitor<'_> for NumberVisitor {
                    type Value = $name;

                    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                        formatter.write_str($expected)
                    }

                    fn visit_u64<E: Error>(self, number: u64) -> Result<$name, E> {
                        <$number>::try_from(number).map($name).map_err(E::custom)
                    }

                    fn visit_i64<E: Error>(self, number: i64) -> Result<$name, E> {
                        <$number>::try_from(number).map($name).map_err(E::custom)
                    }

                    fn visit_f64<E: Error>(self, number: f64) -> Result<$name, E> {
                        if is_whole(number) {
                            return self.visit_i64(number as i64);
                        }
                        Err(E::invalid_value(serde::de::Unexpected::Float(number), &self))
                    }

                    fn visit_str<E: Error>(self, text: &str) -> Result<$name, E> {
                        text.parse().map($name).map_err(E::custom)
                    }
                }
                deserializer.deserialize_any(NumberVisitor)
            }
        }
    };
}

whole_number! {
    /// A whole number.
    Int(i64), "a whole number"
}
whole_number! {
    /// A whole number that is not negative.
    Count(u64), "a whole number from zero"
}

/// Whether it is a whole number that an `f64` holds exactly.
fn is_whole(number: f64) -> bool {
    const EXACT: f64 = (1_u64 << 53) as f64;
    number.fract() == 0.0 && number.abs() <= EXACT
}

/// A number. It is written without a fraction of zero.
#[derive(Debug, Clone, Copy, Default, PartialEq, PartialOrd)]
pub struct Number(pub f64);

impl From<f64> for Number {
    fn from(number: f64) -> Self {
        Self(number)
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if is_whole(self.0) { serializer.serialize_i64(self.0 as i64) } else { serializer.serialize_f64(self.0) }
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NumberVisitor;
        impl Visitor<'_> for NumberVisitor {
            type Value = Number;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a number")
            }

            fn visit_u64<E>(self, number: u64) -> Result<Number, E> {
                Ok(Number(number as f64))
            }

            fn visit_i64<E>(self, number: i64) -> Result<Number, E> {
                Ok(Number(number as f64))
            }

            fn visit_f64<E>(self, number: f64) -> Result<Number, E> {
                Ok(Number(number))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Number, E> {
                text.parse().map(Number).map_err(E::custom)
            }
        }
        deserializer.deserialize_any(NumberVisitor)
    }
}

/// The members of an object whose names are free, in their order.
#[derive(Debug, Clone, PartialEq)]
pub struct Members<'a, T>(pub Vec<(Text<'a>, T)>);

impl<T: Serialize> Serialize for Members<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl<'de: 'a, 'a, T: Deserialize<'de>> Deserialize<'de> for Members<'a, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for MembersVisitor<T> {
            type Value = Members<'de, T>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
                let mut list = Vec::new();
                while let Some(member) = members.next_entry()? {
                    list.push(member);
                }
                Ok(Members(list))
            }
        }
        let Members(list) = deserializer.deserialize_map(MembersVisitor(PhantomData))?;
        Ok(Self(list))
    }
}
