//! The instance's own settings.

use std::time::Duration;

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

/// How long the first content of a stream is waited for unless the settings say otherwise: less than clients wait for a head, and less
/// than a heartbeat's period.
pub const DEFAULT_READ_AHEAD_MS: u32 = 10_000;

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
    /// For how many milliseconds the first content of a stream is waited for before its client hears of it. As long as it has not, a
    /// stream that reports an error or breaks off is passed over like an error answer. 10000 when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_ahead_ms: Option<u32>,
    /// What becomes of a stream whose client has left.
    #[serde(skip_serializing_if = "is_default")]
    pub on_client_close: OnClientClose,
}

impl StreamSettings {
    /// How long the first content of a stream is waited for.
    pub fn read_ahead(&self) -> Duration {
        Duration::from_millis(self.read_ahead_ms.unwrap_or(DEFAULT_READ_AHEAD_MS).into())
    }
}

/// What becomes of a stream whose client has left.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OnClientClose {
    /// The provider is told to stop, which saves what nobody reads. What was taken until then is an estimate where the provider has told
    /// no figures yet.
    #[default]
    Cancel,
    /// It is read to its end, so that the figures are the provider's own; on Cloudflare Workers for 25 seconds at most.
    Drain,
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
