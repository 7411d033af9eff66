//! What the wire types of all dialects are made of.
//!
//! They borrow from the text that they were read from: a converter moves long texts and foreign JSON from one dialect to another
//! without looking into them. Unknown members are read over, since a converter carries only what it knows.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};
use serde_json::value::RawValue;

/// A string, borrowed where the text has no escapes.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Text<'a>(pub Cow<'a, str>);

impl Text<'_> {
    /// The same text, borrowed from this one.
    pub fn by_ref(&self) -> Text<'_> {
        Text(Cow::Borrowed(&self.0))
    }

    /// The text on its own.
    pub fn into_owned(self) -> String {
        self.0.into_owned()
    }
}

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Text<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, formatter)
    }
}

impl<'a> From<&'a str> for Text<'a> {
    fn from(text: &'a str) -> Self {
        Self(Cow::Borrowed(text))
    }
}

impl From<String> for Text<'_> {
    fn from(text: String) -> Self {
        Self(Cow::Owned(text))
    }
}

impl PartialEq<str> for Text<'_> {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl PartialEq<&str> for Text<'_> {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

impl Serialize for Text<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a string")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(text.into())
            }

            fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(text.to_owned().into())
            }
        }
        deserializer.deserialize_str(TextVisitor)
    }
}

/// What nobody is to read in a log: a credential, or headers that may have one.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Hidden<T>(pub T);

impl<T> fmt::Debug for Hidden<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("[hidden]")
    }
}

impl<T: Serialize> Serialize for Hidden<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Hidden<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Self)
    }
}

/// JSON that is carried and not looked into: schemas, arguments, what is foreign.
#[derive(Debug, Clone)]
pub struct Raw<'a>(pub Cow<'a, RawValue>);

impl<'a> Raw<'a> {
    /// Its text.
    pub fn get(&self) -> &str {
        self.0.get()
    }

    /// The same JSON, borrowed from this one.
    pub fn by_ref(&self) -> Raw<'_> {
        Raw(Cow::Borrowed(&self.0))
    }

    /// `text`, which has to be JSON.
    pub fn parse(text: &'a str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// What it holds, read as `T`.
    pub fn read<'b, T: Deserialize<'b>>(&'b self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.get())
    }

    /// `value` as JSON.
    pub fn of(value: &impl Serialize) -> Result<Raw<'static>, serde_json::Error> {
        serde_json::value::to_raw_value(value).map(|raw| Raw(Cow::Owned(raw)))
    }
}

/// Equal when the values are, whatever the spelling.
impl PartialEq for Raw<'_> {
    fn eq(&self, other: &Self) -> bool {
        let value = |raw: &Self| raw.read::<serde_json::Value>().ok();
        self.get() == other.get() || value(self).is_some_and(|own| value(other) == Some(own))
    }
}

impl Serialize for Raw<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Raw<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <&'de RawValue>::deserialize(deserializer).map(|raw| Self(Cow::Borrowed(raw)))
    }
}

/// A text, or a list or an object in its place.
///
/// It is read in one pass. What stands in the list or in the members of the object may borrow and may be
/// [`Raw`]; `T` itself may not, nor may it be an enum made by [`tagged!`](crate::tagged).
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[serde(untagged)]
pub enum TextOr<'a, T> {
    /// The short form.
    Text(Text<'a>),
    /// The long form.
    Structured(T),
}

impl<T> Default for TextOr<'_, T> {
    fn default() -> Self {
        Self::Text(Text::default())
    }
}

impl<'de: 'a, 'a, T: Deserialize<'de>> Deserialize<'de> for TextOr<'a, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextOrVisitor<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for TextOrVisitor<T> {
            type Value = TextOr<'de, T>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a string, a list or an object")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(TextOr::Text(text.into()))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(TextOr::Text(text.to_owned().into()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
                T::deserialize(SeqAccessDeserializer::new(list)).map(TextOr::Structured)
            }

            fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<Self::Value, A::Error> {
                T::deserialize(MapAccessDeserializer::new(object)).map(TextOr::Structured)
            }
        }
        deserializer.deserialize_any(TextOrVisitor(PhantomData))
    }
}

/// Defines an enum of words; one that is not known becomes `Other` and is written as it came.
#[macro_export]
macro_rules! words {
    ($(#[$meta:meta])* pub enum $name:ident<'a> { $($words:tt)+ }) => {
        $crate::words! { @by PartialEq::eq; $(#[$meta])* pub enum $name<'a> { $($words)+ } }
    };
    (
        @by $is_same:path;
        $(#[$meta:meta])*
        pub enum $name:ident<'a> {
            $( $(#[$variant_meta:meta])* $word:literal => $variant:ident, )+
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum $name<'a> {
            $(
                #[doc = concat!("`", $word, "`.")]
                $(#[$variant_meta])*
                $variant,
            )+
            /// A word that is not known.
            Other($crate::protocol::wire::Text<'a>),
        }

        impl $name<'_> {
            /// The vendor's word.
            pub fn as_str(&self) -> &str {
                match self {
                    $( Self::$variant => $word, )+
                    Self::Other(word) => word,
                }
            }

            /// The same, borrowing nothing.
            pub fn into_owned(self) -> $name<'static> {
                match self {
                    $( Self::$variant => $name::$variant, )+
                    Self::Other(word) => $name::Other(word.into_owned().into()),
                }
            }
        }

        impl<'a> From<$crate::protocol::wire::Text<'a>> for $name<'a> {
            fn from(word: $crate::protocol::wire::Text<'a>) -> Self {
                $( if $is_same(&*word, $word) { return Self::$variant; } )+
                Self::Other(word)
            }
        }

        impl serde::Serialize for $name<'_> {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de: 'a, 'a> serde::Deserialize<'de> for $name<'a> {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                <$crate::protocol::wire::Text<'a> as serde::Deserialize>::deserialize(deserializer).map(Self::from)
            }
        }
    };
}

/// Defines an enum whose JSON objects tell their kind in the member `type`, and how it is read and written.
///
/// serde's own way of reading such an enum copies everything into a tree first, which neither borrows nor carries [`Raw`]. This one
/// looks for the kind and then reads the text again as what it is. A kind that is not known becomes `Other`.
///
/// ```text
/// tagged! {
///     /// A part of a message.
///     pub enum Part<'a> {
///         /// Text.
///         "text" => Text(TextPart<'a>),
///     }
/// }
/// ```
#[macro_export]
macro_rules! tagged {
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

        impl<'de: 'a, 'a> serde::Deserialize<'de> for $name<'a> {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <&'de serde_json::value::RawValue>::deserialize(deserializer)?;
                Self::of_its_kind(text).map_err(serde::de::Error::custom)
            }
        }

        impl<'a> $name<'a> {
            /// Apart from `deserialize`, which is compiled once for each way to read.
            fn of_its_kind(text: &'a serde_json::value::RawValue) -> Result<Self, serde_json::Error> {
                let kind = $crate::protocol::wire::kind(text)?;
                let result = match &*kind {
                    $( $tag => serde_json::from_str(text.get()).map(Self::$variant), )+
                    _ => return Ok(Self::Other($crate::protocol::wire::Raw(std::borrow::Cow::Borrowed(text)))),
                };
                result.map_err(|error| $crate::protocol::wire::within(&kind, &error))
            }
        }
    };
}

/// The member `type` of an object.
pub fn kind(text: &RawValue) -> Result<Text<'_>, serde_json::Error> {
    #[derive(tollgate_macros::Read)]
    struct Kind<'a> {
        #[serde(borrow, rename = "type")]
        kind: Option<Text<'a>>,
    }
    if let Some(kind) = leading_kind(text.get()) {
        return Ok(kind);
    }
    if !text.get().starts_with('{') {
        return Err(serde_json::Error::custom("an object is expected"));
    }
    let Kind { kind } = serde_json::from_str(text.get())?;
    kind.ok_or_else(|| serde_json::Error::custom("missing field `type`"))
}

/// The member `type` of an object, if it is the first one, as it is where vendors and their SDKs write, and has no escapes.
pub fn leading_kind(text: &str) -> Option<Text<'_>> {
    let text = text.trim_start().strip_prefix('{')?.trim_start().strip_prefix("\"type\"")?;
    let (kind, _) = text.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?.split_once('"')?;
    (!kind.contains('\\')).then(|| kind.into())
}

/// What is wrong with an object of this kind, without the place within its own text, which would mislead.
pub fn within<E: serde::de::Error>(kind: &str, error: &serde_json::Error) -> E {
    let text = error.to_string();
    let message = text.rsplit_once(" at line ").map_or(&*text, |(message, _)| message);
    E::custom(format_args!("{message} in an object of type `{kind}`"))
}

#[cfg(test)]
#[allow(unreachable_pub)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_read_and_written_but_not_shown() {
        let secret: Hidden<Text<'_>> = serde_json::from_str("\"sk-1\"").unwrap();
        assert_eq!(serde_json::to_string(&secret).unwrap(), "\"sk-1\"");
        assert_eq!(format!("{:?}", Some(secret)), "Some([hidden])");
    }

    #[derive(Debug, Clone, PartialEq, serde::Serialize, tollgate_macros::Read)]
    pub struct TextPart<'a> {
        #[serde(borrow)]
        text: Text<'a>,
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        schema: Option<Raw<'a>>,
    }

    tagged! {
        /// A part.
        pub enum Part<'a> {
            /// Text.
            "text" => Text(TextPart<'a>),
        }
    }

    #[test]
    fn an_object_is_read_by_its_kind() {
        let text = r#"[{"text":"a","type":"text","schema":{"x":1.50}},{"type":"new","n":[1]}]"#;
        let parts: Vec<Part<'_>> = serde_json::from_str(text).unwrap();
        assert!(matches!(&parts[0], Part::Text(part) if part.text == "a" && matches!(part.text.0, Cow::Borrowed(_))));
        assert!(matches!(&parts[1], Part::Other(_)));
        let written = serde_json::to_string(&parts).unwrap();
        assert_eq!(written, r#"[{"type":"text","text":"a","schema":{"x":1.50}},{"type":"new","n":[1]}]"#);
    }

    #[test]
    fn faults_name_the_kind() {
        for (text, fault) in [
            (r#"{"type":"text"}"#, "missing field `text` in an object of type `text`"),
            (r#"{"text":"a"}"#, "missing field `type`"),
            (r#"[]"#, "an object is expected"),
        ] {
            let error = serde_json::from_str::<Part<'_>>(text).unwrap_err().to_string();
            assert!(error.starts_with(fault), "{error}");
        }
    }
}
