//! The declarative document: the configuration in names instead of ids, to be written by hand, compared, applied and
//! exported.
//!
//! What a document names, it describes whole: a member of it that is left out has its default, and a list inside a named
//! thing (the members of a route, the credentials of a provider) is complete. What it does not name, it leaves alone,
//! unless it is applied with pruning. Secrets are an exception: one that is left out keeps its stored value.

pub mod expand;
pub mod json;
pub mod secret;
pub mod stored;
pub mod plan;
pub mod export;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use self::secret::Secret;
use crate::app::error::Fault;
use crate::protocol::convert::ServerTools;
use crate::protocol::dialect::Dialect;
use crate::store::options::{
    Breaker, DEFAULT_MARGIN_SECONDS, DEFAULT_REFRESH_STATUSES, Failover, ModelMap, Quota, Rest, Retry, Rule, Strategy,
    Timeouts, Trigger,
};
use crate::store::provider::Streaming;
use crate::store::route::Matching;
use crate::store::settings::Settings;

/// Reads a document whose variables are expanded.
pub fn read(document: Value) -> Result<Document, Vec<Fault>> {
    let mut faults = Vec::new();
    find_misplaced_lists(&document, "", &mut faults);
    if !faults.is_empty() {
        return Err(faults);
    }
    serde_path_to_error::deserialize(document).map_err(|error| {
        let path = error.path().to_string();
        vec![Fault { path, message: without_value(&error.into_inner().to_string()) }]
    })
}

/// serde's message without the value that it quotes: a secret may have got into the wrong place.
fn without_value(message: &str) -> String {
    for (before, after, instead) in [("string \"", "\", expected", "a text"), ("variant `", "`, expected", "variant")] {
        if let Some((head, rest)) = message.split_once(before)
            && let Some((_, tail)) = rest.rsplit_once(after)
        {
            return format!("{head}{instead}, expected{tail}");
        }
    }
    message.to_owned()
}

/// A struct may also be read from a list of its members' values, which nobody means: lists are only where the document has
/// some.
fn find_misplaced_lists(value: &Value, path: &str, faults: &mut Vec<Fault>) {
    const LISTS: [&str; 19] = [
        "providers",
        "credentials",
        "routes",
        "members",
        "keys",
        "dialects",
        "models",
        "rules",
        "quotas",
        "triggers",
        "status_codes",
        "error_types",
        "error_message_patterns",
        "rule_sets",
        "rewrite",
        "operations",
        "in",
        "remove",
        "refresh_statuses",
    ];
    /// What a rewrite rule puts into a body is any JSON.
    const ANYTHING: &str = "value";
    match value {
        Value::Array(_) => faults.push(Fault { path: path.to_owned(), message: "must be an object".to_owned() }),
        Value::Object(members) => {
            for (name, member) in members {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                match member {
                    _ if name == ANYTHING => {}
                    Value::Array(elements) if LISTS.contains(&name.as_str()) => {
                        for (index, element) in elements.iter().enumerate() {
                            find_misplaced_lists(element, &format!("{path}[{index}]"), faults);
                        }
                    }
                    other => find_misplaced_lists(other, &path, faults),
                }
            }
        }
        _ => {}
    }
}

/// The weight of a member or a credential that names none.
pub const DEFAULT_WEIGHT: u32 = 100;

/// The whole document.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// Settings of the whole instance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<Settings>,
    /// Rewrite rules that several providers share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule_sets: Option<Vec<RuleSetDocument>>,
    /// Where models can be had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub providers: Option<Vec<ProviderDocument>>,
    /// Public model names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub routes: Option<Vec<RouteDocument>>,
    /// Gateway keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys: Option<Vec<KeyDocument>>,
}

/// Rewrite rules that several providers share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RuleSetDocument {
    /// Its name, by which providers refer to it.
    pub name: String,
    /// The rules, in the order in which they are applied.
    pub rules: Vec<Rule>,
}

/// A provider.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ProviderDocument {
    /// Its name: the prefix in `provider/model`.
    pub name: String,
    /// Its kind: `openai`, `claude`, `gemini`, `custom` or `echo`.
    pub channel: String,
    /// Its address, if not the channel's own. As in the vendor's SDK: OpenAI's includes `/v1`, the others' do not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// Which addresses it may have.
    #[serde(default, skip_serializing_if = "is_default")]
    pub network: NetworkDocument,
    /// The dialects it speaks, the preferred one first. The channel `custom` needs it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dialects: Vec<Dialect>,
    /// Extra headers. They are stored and exported as they are: write `{secret}` where a credential's secret belongs.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Models to list, as the provider names them. Others can be called all the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<String>,
    /// Set it for a Chat Completions vendor that refuses `stream_options`; usage of its streams is then estimated.
    #[serde(default, skip_serializing_if = "is_default")]
    pub refuses_stream_options: bool,
    /// Whether its answers can be streamed: `either`, `always` or `never`. Clients get what they ask for all the same.
    #[serde(default, skip_serializing_if = "is_default")]
    pub streaming: Streaming,
    /// Who among its credentials goes first.
    #[serde(default, skip_serializing_if = "is_default")]
    pub strategy: Strategy,
    /// Which of its models stands for a name.
    #[serde(default, skip_serializing_if = "is_default")]
    pub model_map: ModelMap,
    /// How long it is waited for.
    #[serde(default, skip_serializing_if = "is_default")]
    pub timeouts: Timeouts,
    /// How often the same credential is asked again. Left out: never; `{}`: twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<Retry>,
    /// Which failures are tried at the next provider.
    #[serde(default, skip_serializing_if = "is_default")]
    pub failover: Failover,
    /// How long its credentials rest after failures.
    #[serde(default, skip_serializing_if = "is_default")]
    pub rest: Rest,
    /// When it is left alone after failures.
    #[serde(default, skip_serializing_if = "is_default")]
    pub breaker: Breaker,
    /// How much is spent there before it is left alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quotas: Vec<Quota>,
    /// How the tokens of its credentials are made anew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oauth: Option<OAuthDocument>,
    /// Rule sets that are applied to what is sent there, one after the other, before the rules of `rewrite`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rule_sets: Vec<String>,
    /// What is changed in requests before they are sent there, in the order in which it is done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rewrite: Vec<Rule>,
    /// Whether it may be used.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub enabled: bool,
    /// Its accounts. Left out: those that are stored stay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credentials: Option<Vec<CredentialDocument>>,
}

/// Which addresses a provider may have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum NetworkDocument {
    /// Only public ones, over TLS.
    #[default]
    Public,
    /// Loopback and private ones too, also without TLS.
    Private,
}

/// How the tokens of a provider's credentials are made anew: by the refresh-token grant of OAuth 2.0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct OAuthDocument {
    /// The token endpoint. Where it may be is what `network` of the provider says.
    pub token_url: String,
    /// The client.
    pub client_id: String,
    /// The client's secret, where it has one. Left out: the stored one stays; an empty text: there is none. Never exported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_secret: Option<Secret>,
    /// What is asked for, where the token endpoint wants it said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// How many seconds before its end a token is made anew.
    #[serde(default = "default_margin", skip_serializing_if = "is_default_margin")]
    pub margin_seconds: u32,
    /// By which of 401 and 403 the provider may mean that a token has ended. It is then made anew once.
    #[serde(default = "default_statuses", skip_serializing_if = "is_default_statuses")]
    pub refresh_statuses: Vec<u16>,
}

fn default_margin() -> u32 {
    DEFAULT_MARGIN_SECONDS
}

fn is_default_margin(seconds: &u32) -> bool {
    *seconds == DEFAULT_MARGIN_SECONDS
}

fn default_statuses() -> Vec<u16> {
    DEFAULT_REFRESH_STATUSES.to_vec()
}

fn is_default_statuses(statuses: &Vec<u16>) -> bool {
    *statuses == DEFAULT_REFRESH_STATUSES
}

/// An account at a provider.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CredentialDocument {
    /// Its name, unique within the provider.
    pub name: String,
    /// The API key; with a provider that has `oauth`, an object with `refresh_token` and, where there is one, `access_token` and
    /// `expires_at`. Left out: the stored one stays. Never exported.
    #[serde(default, deserialize_with = "secret::text_or_object", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(schema_with = "secret::text_or_object_schema"))]
    pub secret: Option<Secret>,
    /// Its share among the provider's credentials.
    #[serde(default = "default_weight", skip_serializing_if = "is_default_weight")]
    pub weight: u32,
    /// How much of it is spent before it is left alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quotas: Vec<Quota>,
    /// Most calls at the same time in one isolate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_concurrency: Option<u32>,
    /// Whether it may be used.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub enabled: bool,
}

/// A public model name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RouteDocument {
    /// The name that clients put into `model`.
    pub name: String,
    /// Most upstream calls for one request, if not the instance's own figure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_attempts: Option<u32>,
    /// Whether a request is refused rather than answered with a loss, where its dialect is not the upstream's. A client can
    /// ask for the same with `x-gateway-strict: 1`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub strict: bool,
    /// What becomes of tools that the client's vendor runs itself, such as a web search, and the upstream's does not have: `drop`
    /// leaves them out, which is a loss, `refuse` refuses the request.
    #[serde(default, skip_serializing_if = "is_default")]
    pub server_tools: ServerTools,
    /// Who among the members of a tier goes first.
    #[serde(default, skip_serializing_if = "is_default")]
    pub strategy: Strategy,
    /// Which requests it also takes that do not name it.
    #[serde(default, rename = "match", skip_serializing_if = "Option::is_none")]
    pub matching: Option<Matching>,
    /// Whether it may be used.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub enabled: bool,
    /// Who serves it.
    pub members: Vec<MemberDocument>,
}

/// One provider behind a route.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MemberDocument {
    /// The provider's name.
    pub provider: String,
    /// The model as the provider names it. Left out: the one that the client names, by the provider's `model_map`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Tier 0 is tried first; a later tier only when the earlier ones are used up.
    #[serde(default, skip_serializing_if = "is_default")]
    pub tier: u32,
    /// Its share within the tier.
    #[serde(default = "default_weight", skip_serializing_if = "is_default_weight")]
    pub weight: u32,
    /// After which failures of those before it it is tried. Left out: after any that is tried elsewhere at all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub triggers: Vec<Trigger>,
    /// Whether its answer stands, whatever it is, and it is tried even while it rests.
    #[serde(default, skip_serializing_if = "is_default")]
    pub terminal: bool,
    /// How often it is asked again, if not as its provider says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<Retry>,
    /// Whether it may be used.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub enabled: bool,
}

/// A gateway key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct KeyDocument {
    /// Its name.
    pub name: String,
    /// The key itself, beginning with `tg-`. Left out: the stored one stays, and a new one is made up and returned once.
    /// Never exported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<Secret>,
    /// When it ends, as in `2027-01-31T00:00:00Z`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// Whether it may be used.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub enabled: bool,
}

fn yes() -> bool {
    true
}

fn is_yes(flag: &bool) -> bool {
    *flag
}

fn default_weight() -> u32 {
    DEFAULT_WEIGHT
}

fn is_default_weight(weight: &u32) -> bool {
    *weight == DEFAULT_WEIGHT
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
