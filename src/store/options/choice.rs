//! Who among equals goes first.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Who among equals goes first: the members of a route's leading tier, the credentials of a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// Each in turn, as often as its weight says, the turns of one well spread: smooth weighted round robin.
    #[default]
    Weighted,
    /// Each in turn, whatever its weight.
    RoundRobin,
    /// The heaviest, as long as it can be used; among equal weights the first by name.
    Priority,
    /// Of two that are drawn by weight, the one with fewer calls under way, by the time that it lately took.
    LeastInFlight,
    /// The same for all requests of a conversation, so that its prompts are found in the vendor's cache. Conversations are spread
    /// by weight. When one rests, its conversations go to others and come back afterwards.
    Session,
}

impl fmt::Display for Strategy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(formatter)
    }
}
