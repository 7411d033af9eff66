//! What is changed in a request before it goes to a provider.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::protocol::dialect::Dialect;

/// A rewrite rule: when it applies, and exactly one action. It sees the request as the provider gets it, converted already.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Rule {
    /// When it applies; left out: always.
    #[serde(skip_serializing_if = "super::is_default")]
    pub when: Condition,
    /// Puts a value at a path of the body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set: Option<Placed>,
    /// Puts a value at a path of the body where there is none, or `null`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<Placed>,
    /// Puts a value at the end of the list at a path of the body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub append: Option<Placed>,
    /// Takes out what is at a path of the body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remove: Option<Place>,
    /// Changes the system prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<SystemText>,
    /// Replaces what a regular expression finds in texts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replace: Option<Replacement>,
    /// Changes headers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<Pairs>,
    /// Changes the query.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<Pairs>,
    /// Marks where Claude's prompt cache may end. It has no effect in other dialects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_breakpoint: Option<CacheBreakpoint>,
}

/// When a rule applies: all that is given has to hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Condition {
    /// What is asked for is one of these.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<OperationName>,
    /// The model, as the provider names it, is one of these; `*` stands for anything.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<String>,
    /// The provider is asked in one of these dialects.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dialects: Vec<Dialect>,
    /// The client's headers have these values; `*` stands for anything.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
}

/// What a client asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OperationName {
    /// An answer.
    Generate,
    /// A number of tokens.
    CountTokens,
    /// Embeddings.
    Embed,
}

/// A value and where it belongs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Placed {
    /// The path, such as `messages[*].content[0].text`.
    pub path: String,
    /// Any JSON.
    pub value: Value,
}

/// A place in the body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// The path, such as `messages[*].content[0].text`.
    pub path: String,
}

/// What becomes of the system prompt: exactly one of these.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct SystemText {
    /// This goes before it, as a paragraph of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prepend: Option<String>,
    /// This goes after it, as a paragraph of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub append: Option<String>,
    /// This takes its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replace: Option<String>,
}

/// What a regular expression finds is replaced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Replacement {
    /// The regular expression.
    pub pattern: String,
    /// What takes the place of each match; `$1` or `$name` is what a group has matched, `$$` a dollar.
    pub with: String,
    /// In which texts.
    #[serde(rename = "in")]
    pub fields: Vec<Field>,
}

/// Texts of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Field {
    /// The system prompt, and what the application says in between.
    System,
    /// What the user says, and what is to be embedded.
    User,
    /// What the model has said, without its thinking.
    Assistant,
    /// What tools have answered.
    ToolResults,
    /// What tools are for.
    ToolDescriptions,
}

/// Changes of headers or of the query.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Pairs {
    /// These get these values, whether they are there or not.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub set: BTreeMap<String, String>,
    /// These are taken out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remove: Vec<String>,
}

/// Where Claude's prompt cache may end, and for how long it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CacheBreakpoint {
    /// After what.
    pub at: CachePlace,
    /// For how long; 5 minutes when left out.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub ttl: CacheTtl,
}

/// For how long a prompt is kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum CacheTtl {
    /// Five minutes.
    #[default]
    #[serde(rename = "5m")]
    Minutes5,
    /// An hour.
    #[serde(rename = "1h")]
    Hour,
}

/// After what a cached prompt ends: `system`, `tools`, `last_user`, or the number of a message from 0, or from -1 backwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CachePlace {
    /// The system prompt.
    System,
    /// The last of the tools.
    Tools,
    /// The user's last message.
    LastUser,
    /// A message.
    Message(i32),
}

impl Serialize for CachePlace {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::System => serializer.serialize_str("system"),
            Self::Tools => serializer.serialize_str("tools"),
            Self::LastUser => serializer.serialize_str("last_user"),
            Self::Message(number) => serializer.serialize_i32(*number),
        }
    }
}

impl<'de> Deserialize<'de> for CachePlace {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PlaceVisitor;
        impl Visitor<'_> for PlaceVisitor {
            type Value = CachePlace;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("system, tools, last_user or the number of a message")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<CachePlace, E> {
                match text {
                    "system" => Ok(CachePlace::System),
                    "tools" => Ok(CachePlace::Tools),
                    "last_user" => Ok(CachePlace::LastUser),
                    _ => Err(E::invalid_value(de::Unexpected::Str(text), &self)),
                }
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<CachePlace, E> {
                let number = i32::try_from(number);
                number.map(CachePlace::Message).map_err(|_| E::custom("no message has such a number"))
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<CachePlace, E> {
                let number = i32::try_from(number);
                number.map(CachePlace::Message).map_err(|_| E::custom("no message has such a number"))
            }
        }
        deserializer.deserialize_any(PlaceVisitor)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for CachePlace {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "CachePlace".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "After what a cached prompt ends; a number is that of a message, from 0 or from -1 backwards.",
            "anyOf": [{"enum": ["system", "tools", "last_user"]}, {"type": "integer"}],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_written_as_they_are_read() {
        for text in [
            r#"{"set":{"path":"a.b","value":null}}"#,
            r#"{"when":{"operations":["count_tokens"],"models":["a*"],"dialects":["claude"],"headers":{"x":"y"}},"remove":{"path":"a"}}"#,
            r#"{"system":{"prepend":"a"}}"#,
            r#"{"replace":{"pattern":"a","with":"b","in":["tool_results","system"]}}"#,
            r#"{"header":{"set":{"a":"b"},"remove":["c"]}}"#,
            r#"{"cache_breakpoint":{"at":"last_user","ttl":"1h"}}"#,
            r#"{"cache_breakpoint":{"at":-1}}"#,
        ] {
            let rule: Rule = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::to_string(&rule).unwrap(), text);
        }
        for text in [
            r#"{"set":{"path":"a"}}"#,
            r#"{"unknown":{}}"#,
            r#"{"cache_breakpoint":{"at":"somewhere"}}"#,
            r#"{"cache_breakpoint":{"at":4294967296}}"#,
            r#"{"cache_breakpoint":{"at":0,"ttl":"2h"}}"#,
        ] {
            assert!(serde_json::from_str::<Rule>(text).is_err(), "{text}");
        }
    }
}
