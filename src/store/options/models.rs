//! Which model of a provider stands for a name.

use serde::{Deserialize, Serialize};

/// Which model of a provider stands for the name that a client gives. Rules without wildcards go before the others, those
/// before `default`; a name that nothing matches stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ModelMap {
    /// The rules, in their order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<ModelRule>,
    /// The model for every other name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
}

/// One rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ModelRule {
    /// The name, or a pattern: `*` stands for anything.
    pub pattern: String,
    /// The model as the provider names it.
    pub target: String,
    /// Whether the pattern is a regular expression, which has to match the whole name.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub is_regex: bool,
}
