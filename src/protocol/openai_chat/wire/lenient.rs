//! What this dialect's types share: words, "a string or something else", and reading what vendors and clients bend.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::protocol::wire::Text;

pub(super) use crate::words;

/// Defines an enum that is a string or something else, read in one pass and without copies. What is not a string must not be an
/// enum of `tagged!` itself, since that reads a [`RawValue`]; a list of such enums may be.
macro_rules! text_or {
    (
        $(#[$meta:meta])*
        pub enum $name:ident<'a> {
            $(#[$text_meta:meta])* Text,
            $(#[$variant_meta:meta])* $variant:ident($inner:ty),
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize)]
        #[serde(untagged)]
        pub enum $name<'a> {
            $(#[$text_meta])*
            Text($crate::protocol::wire::Text<'a>),
            $(#[$variant_meta])*
            $variant($inner),
        }

        impl<'de: 'a, 'a> serde::Deserialize<'de> for $name<'a> {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::protocol::openai_chat::wire::lenient::either(deserializer).map(|either| match either {
                    $crate::protocol::openai_chat::wire::lenient::Either::Text(text) => Self::Text(text),
                    $crate::protocol::openai_chat::wire::lenient::Either::Else(other) => Self::$variant(other),
                })
            }
        }
    };
}
pub(super) use text_or;

/// A string, or a list or object.
pub(super) enum Either<'a, T> {
    Text(Text<'a>),
    Else(T),
}

/// Reads a string, or a list or object as `T`.
pub(super) fn either<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Either<'de, T>, D::Error> {
    struct EitherVisitor<T>(PhantomData<T>);
    impl<'de, T: Deserialize<'de>> Visitor<'de> for EitherVisitor<T> {
        type Value = Either<'de, T>;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("a string, or a list or object")
        }

        fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
            Ok(Either::Text(text.into()))
        }

        fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
            Ok(Either::Text(text.to_owned().into()))
        }

        fn visit_seq<A: SeqAccess<'de>>(self, elements: A) -> Result<Self::Value, A::Error> {
            T::deserialize(SeqAccessDeserializer::new(elements)).map(Either::Else)
        }

        fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Self::Value, A::Error> {
            T::deserialize(MapAccessDeserializer::new(members)).map(Either::Else)
        }
    }
    deserializer.deserialize_any(EitherVisitor(PhantomData))
}

/// Null as what is absent, for members that are always written.
pub(super) fn null_is_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// A whole number that may be written as a fraction (`1024.0`); a negative one, by which some clients and vendors mean "none", is
/// absent.
pub(super) fn whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    struct WholeVisitor;
    impl<'de> Visitor<'de> for WholeVisitor {
        type Value = Option<u64>;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("a number or null")
        }

        fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
            Ok(Some(number))
        }

        fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
            Ok(u64::try_from(number).ok())
        }

        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
            Ok((number >= 0.0).then_some(number as u64))
        }

        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok(None)
        }
    }
    deserializer.deserialize_any(WholeVisitor)
}

/// As [`whole`], with 0 for a negative number: a bound that a client set and that no answer keeps, unlike one that it did not set.
pub(super) fn bound<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    Option::<f64>::deserialize(deserializer).map(|number| number.map(|number| number.max(0.0) as u64))
}

/// As [`whole`], with 0 for what is absent.
pub(super) fn whole_or_zero<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    whole(deserializer).map(Option::unwrap_or_default)
}

/// A string that holds JSON. Where JSON itself stands in its place, that is the text; null is the empty text.
pub(super) fn json_text<'de: 'a, 'a, D: Deserializer<'de>>(deserializer: D) -> Result<Text<'a>, D::Error> {
    match <Option<&'de RawValue>>::deserialize(deserializer)?.map(RawValue::get) {
        None => Ok(Text::default()),
        Some(text) if text.starts_with('"') => serde_json::from_str(text).map_err(D::Error::custom),
        Some(text) => Ok(text.into()),
    }
}
