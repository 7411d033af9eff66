//! The instance's own settings.

use serde::{Deserialize, Serialize};

use super::{BadRow, decode_all, from_json, to_json};
use crate::platform::database::{Rows, Statement};

/// The version of the schema that this code needs; each migration puts `settings.schema_version` up to its own number.
pub const SCHEMA_VERSION: i64 = 3;

/// Most upstream calls for one request unless a route or the settings say otherwise.
pub const DEFAULT_MAX_ATTEMPTS: u32 = 6;

/// How long a stream may be quiet unless the settings say otherwise. Clients have been seen to show a stall after 20 seconds
/// and to give up after 60.
pub const DEFAULT_HEARTBEAT_MS: u32 = 15_000;

/// The greatest size of all files that are fetched for one request unless the settings say otherwise.
pub const DEFAULT_MEDIA_BYTES: u32 = 20 * 1024 * 1024;

/// What an operator can set for the whole instance.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Most upstream calls for one request; 6 when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_attempts: Option<u32>,
    /// How configuration reaches the isolates.
    #[serde(skip_serializing_if = "is_default")]
    pub tick: TickSettings,
    /// What happens to streams.
    #[serde(skip_serializing_if = "is_default")]
    pub stream: StreamSettings,
    /// Files that requests name by their URL and that an upstream does not fetch by itself.
    #[serde(skip_serializing_if = "is_default")]
    pub media: MediaSettings,
}

/// Files that requests name by their URL and that an upstream does not fetch by itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct MediaSettings {
    /// Whether they may come from private networks, and without TLS. Anyone with a gateway key can then make the gateway ask
    /// any server in its network.
    #[serde(skip_serializing_if = "is_default")]
    pub private_network: bool,
    /// The greatest size of all files of one request together, in bytes. 20971520 when left out, 0 fetches none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_bytes: Option<u32>,
}

/// What happens to streams.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct StreamSettings {
    /// For how many milliseconds a stream may be quiet before its client gets a sign of life: a `ping` in Claude's dialect, a
    /// comment in OpenAI's, an empty line in Gemini's. 15000 when left out, 0 for never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heartbeat_ms: Option<u32>,
}

/// How configuration reaches the isolates.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct TickSettings {
    /// For how many milliseconds an isolate may go on without asking the database whether anything has changed. 0, the
    /// default, asks on every request.
    #[serde(skip_serializing_if = "is_default")]
    pub max_age_ms: u32,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// What a row of `settings` says of the instance.
#[derive(Debug, Default)]
pub struct Instance {
    /// The version of the schema; 0 when there is none.
    pub schema_version: i64,
    /// The mark of the master key under which secrets are sealed; empty when none has been yet.
    pub vault_mark: String,
    /// The settings.
    pub settings: Settings,
}

/// Reads the instance's row.
pub fn read() -> Statement {
    Statement::new("SELECT 'settings' AS name, schema_version, vault_mark, document FROM settings WHERE id = 1", vec![])
}

/// Decodes what [`read`] returns. Settings that are damaged are told and replaced by the defaults.
pub fn decode(rows: &Rows) -> (Instance, Vec<BadRow>) {
    let Some(row) = rows.0.first() else { return (Instance::default(), vec![]) };
    let (mut settings, bad) = decode_all("settings", rows, |row| from_json::<Settings>(row.text(3)?));
    let instance = Instance {
        schema_version: row.integer(1).unwrap_or(0),
        vault_mark: row.text(2).map(ToString::to_string).unwrap_or_default(),
        settings: settings.pop().unwrap_or_default(),
    };
    (instance, bad)
}

/// Replaces the settings.
pub fn write(settings: &Settings) -> Statement {
    Statement::new("UPDATE settings SET document = ?1 WHERE id = 1", vec![to_json(settings).into()])
}
