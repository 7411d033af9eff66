//! A text that must not get into a log.

use std::fmt;
use std::ops::Deref;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// A secret in a document: read and written as the text that it is, but not shown by `{:?}`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret(…)")
    }
}

impl Deref for Secret {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

/// Reads a secret that is a text, or an object, which is kept as its JSON.
pub fn text_or_object<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Secret>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(Secret(text))),
        object @ Value::Object(_) => Ok(Some(Secret(object.to_string()))),
        // The value is not repeated: it may be a secret all the same.
        _ => Err(D::Error::custom("expected a text or an object")),
    }
}

/// What [`text_or_object`] reads, for tools.
#[cfg(feature = "schema")]
pub fn text_or_object_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "anyOf": [
            {"type": "string"},
            {
                "type": "object",
                "properties": {
                    "access_token": {"type": ["string", "null"]},
                    "refresh_token": {"type": "string"},
                    "expires_at": {"type": ["number", "string", "null"]},
                },
                "required": ["refresh_token"],
            },
            {"type": "null"},
        ],
    })
}
