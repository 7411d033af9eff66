//! What is tried elsewhere, and how long the one that failed is left alone.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Which failures of a provider are tried at the next one. A failure counts when its status, its type or its words are listed; a list
/// that is left out has its defaults, which docs/failover.md shows. 429, 503 and no answer at all always count.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Failover {
    /// HTTP statuses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status_codes: Option<Vec<u16>>,
    /// Types of errors, as in `error.type`, `error.code` or `error.status`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_types: Option<Vec<String>>,
    /// Pieces of an error's message, in any case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_message_patterns: Option<Vec<String>>,
}

/// How long a credential is left alone after a failure that is about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Rest {
    /// After a 429 that does not say how long, in seconds.
    pub rate_limited_seconds: u32,
    /// After an error that says that a quota is used up and not until when, in seconds.
    pub quota_seconds: u32,
    /// After a 403 or a 402, in seconds.
    pub refused_seconds: u32,
    /// After a 401, in seconds: nobody uses the credential, afterwards one request tries it. 0 for until it has another secret.
    pub dead_seconds: u32,
    /// The least that is rested, whatever the vendor says, in seconds.
    pub floor_seconds: u32,
    /// For how many seconds a vendor's word is taken. After that one request tries, however long it said.
    pub ceiling_seconds: u32,
}

impl Default for Rest {
    fn default() -> Self {
        Self {
            rate_limited_seconds: 30,
            quota_seconds: 300,
            refused_seconds: 300,
            dead_seconds: 1800,
            floor_seconds: 1,
            ceiling_seconds: 1800,
        }
    }
}

/// After which failure of those before it a member of a route is tried: `error` (any error answer), `rate_limited` (429), `timeout`,
/// `network`, a status such as `503`, or a class such as `5xx`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trigger {
    /// An error answer of any status but 429.
    Error,
    /// A 429.
    RateLimited,
    /// No answer in time.
    Timeout,
    /// A connection that failed or broke.
    Network,
    /// An error answer with this status.
    Status(u16),
    /// An error answer with a status of this hundred.
    Class(u16),
}

/// The words are not those of a [`Trigger`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoTrigger;

impl fmt::Display for NoTrigger {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .write_str("expected error, rate_limited, timeout, network, a status such as 503 or a class such as 5xx")
    }
}

impl std::error::Error for NoTrigger {}

impl FromStr for Trigger {
    type Err = NoTrigger;

    fn from_str(text: &str) -> Result<Self, NoTrigger> {
        Ok(match text {
            "error" => Self::Error,
            "rate_limited" => Self::RateLimited,
            "timeout" => Self::Timeout,
            "network" => Self::Network,
            _ => match text.strip_suffix("xx") {
                Some(class) => match class.parse() {
                    Ok(class @ 3..=5) => Self::Class(class),
                    _ => return Err(NoTrigger),
                },
                None => match text.parse() {
                    Ok(status @ 300..=599) => Self::Status(status),
                    _ => return Err(NoTrigger),
                },
            },
        })
    }
}

impl fmt::Display for Trigger {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Error => formatter.write_str("error"),
            Self::RateLimited => formatter.write_str("rate_limited"),
            Self::Timeout => formatter.write_str("timeout"),
            Self::Network => formatter.write_str("network"),
            Self::Status(status) => write!(formatter, "{status}"),
            Self::Class(class) => write!(formatter, "{class}xx"),
        }
    }
}

impl Serialize for Trigger {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Trigger {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Trigger {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Trigger".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "After which failure of those before it a member is tried.",
            "type": "string",
            "pattern": "^(error|rate_limited|timeout|network|[345]xx|[345][0-9][0-9])$",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triggers_are_read_as_they_are_written() {
        for text in ["error", "rate_limited", "timeout", "network", "503", "5xx"] {
            assert_eq!(text.parse::<Trigger>().unwrap().to_string(), text);
        }
        for text in ["", "xx", "2xx", "200", "600", "Error", "-5xx"] {
            assert!(text.parse::<Trigger>().is_err(), "{text}");
        }
    }
}
