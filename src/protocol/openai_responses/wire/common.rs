//! What this dialect's types need beyond [`wire`](crate::protocol::wire): a string or something else, sets of words, lenient
//! members, enums that are read in one pass.

use std::borrow::Cow;
use std::fmt;

use serde::Serialize;
use serde::de::{Deserialize, Deserializer, Visitor};
use tollgate_macros::Read;

use crate::protocol::wire::{Text, leading_kind};

/// The object of a tool, an action or an environment that has no members besides `type`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Read)]
pub struct Bare {}

pub(super) use crate::protocol::wire::TextOr;
pub(super) use crate::words;

/// Defines an enum as [`tagged!`](crate::tagged) does, with a function `read` that needs one pass where `type` is the first
/// member, as it is in the vendor's events.
macro_rules! events {
    (
        $(#[$meta:meta])*
        pub enum $name:ident<'a> {
            $( $(#[$variant_meta:meta])* $tag:literal => $variant:ident($inner:ty), )+
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize)]
        #[serde(tag = "type")]
        pub enum $name<'a> {
            $( $(#[$variant_meta])* #[serde(rename = $tag)] $variant($inner), )+
            /// A kind that is not known.
            #[serde(untagged)]
            Other($crate::protocol::wire::Raw<'a>),
        }

        impl<'a> $name<'a> {
            /// Reads the data of an event.
            pub fn read(text: &'a str) -> Result<Self, serde_json::Error> {
                let kind = $crate::protocol::openai_responses::wire::common::kind(text)?;
                let result = match &*kind {
                    $( $tag => serde_json::from_str(text).map(Self::$variant), )+
                    _ => $crate::protocol::wire::Raw::parse(text).map(Self::Other),
                };
                result.map_err(|error| $crate::protocol::wire::within(&kind, &error))
            }

            /// Its `type`, where that is known.
            pub fn kind(&self) -> Option<&'static str> {
                match self {
                    $( Self::$variant(_) => Some($tag), )+
                    Self::Other(_) => None,
                }
            }
        }

        impl<'de: 'a, 'a> serde::Deserialize<'de> for $name<'a> {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <&'de serde_json::value::RawValue>::deserialize(deserializer)?;
                Self::read(text.get()).map_err(serde::de::Error::custom)
            }
        }
    };
}
pub(super) use events;

/// The member `type` of an object; cheap where it is the first one.
pub(super) fn kind(text: &str) -> Result<Text<'_>, serde_json::Error> {
    match leading_kind(text) {
        Some(kind) => Ok(kind),
        None => crate::protocol::wire::kind(serde_json::from_str(text)?),
    }
}

/// Readers of members that come in more forms than the reference says.
pub(super) mod lenient {
    use super::{Cow, Deserialize, Deserializer, Text, Visitor, fmt};

    /// A null is the default.
    pub(in super::super) fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
        deserializer: D,
    ) -> Result<T, D::Error> {
        Option::<T>::deserialize(deserializer).map(Option::unwrap_or_default)
    }

    /// A time in whole seconds, which some servers send with a fraction.
    pub(in super::super) fn seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
        // The conversion saturates, so that no number is out of range.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        Option::<f64>::deserialize(deserializer).map(|seconds| seconds.map(|seconds| seconds as u64))
    }

    /// A code, which some servers send as a number.
    pub(in super::super) fn code<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Text<'de>>, D::Error> {
        struct CodeVisitor;
        impl<'de> Visitor<'de> for CodeVisitor {
            type Value = Option<Text<'de>>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a string or a number")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Some(text.into()))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Some(Text(Cow::Owned(text.to_owned()))))
            }

            fn visit_u64<E>(self, code: u64) -> Result<Self::Value, E> {
                Ok(Some(code.to_string().into()))
            }

            fn visit_i64<E>(self, code: i64) -> Result<Self::Value, E> {
                Ok(Some(code.to_string().into()))
            }

            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(None)
            }
        }
        deserializer.deserialize_any(CodeVisitor)
    }
}
