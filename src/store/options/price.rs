//! What the models of a provider cost.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::decimal::{Multiplier, Price};

/// What some models cost at a provider, or at all of them. Of the rules that match, the one with the highest priority holds; among
/// equals the one that names its provider, then the one whose pattern says more. It holds whole: what it gives no price for is free.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PriceRule {
    /// The provider's name; every provider when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The model as the provider names it, or a pattern: `*` stands for anything. Capitals do not matter.
    pub model: String,
    /// Rules with a higher priority are looked at first.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub priority: i32,
    /// The prices.
    pub rates: Rates,
    /// Other prices for what goes beyond an amount, in the order of the amounts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub volume: Vec<Tier>,
    /// Other prices for requests with a long prompt.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub long_context: Vec<Tier>,
    /// Other prices for requests that the vendor served in another way, by the word that the vendor has for it: `batch`, `flex`,
    /// `priority`. Capitals do not matter; a word that is not here has the prices above.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub service_tiers: BTreeMap<String, ServiceTier>,
}

/// Prices in US dollars, as text. Tokens are priced by the million, all else by the piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Rates {
    /// A million tokens of the prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<Price>,
    /// A million tokens of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Price>,
    /// A million tokens of the prompt that came from the vendor's cache; as `input` when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<Price>,
    /// A million tokens of the prompt that were written to the cache for its short life (5 minutes at Claude); as `input` when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_write_short: Option<Price>,
    /// A million tokens of the prompt that were written to the cache for its long life (an hour at Claude); as `cache_write_short` when
    /// left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_write_long: Option<Price>,
    /// A million tokens of thinking; as `output` when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<Price>,
    /// A million tokens of audio in the prompt; as `input` when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audio_input: Option<Price>,
    /// A million tokens of audio in the answer; as `output` when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audio_output: Option<Price>,
    /// A million tokens that were embedded; as `input` when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub embedding: Option<Price>,
    /// A picture in the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<Price>,
    /// A call, whatever it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<Price>,
    /// A call of a tool that the vendor carried out, such as a search of the web.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_tool_call: Option<Price>,
}

/// Other prices beyond an amount. What it gives no price for keeps the one it had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Tier {
    /// The amount up to which the other prices do not hold. In `volume` it is of each kind by itself, and only what is beyond has
    /// the other price. In `long_context` it is of the whole prompt, cached parts and audio included, and then all of the request has.
    pub above: u64,
    /// The other prices.
    pub rates: Rates,
}

/// Prices for another way to be served. With rates of its own it has nothing of the usual prices; without any it has all of them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ServiceTier {
    /// How many times the price of tokens is paid; once when left out. What is paid by the piece costs the same.
    #[serde(skip_serializing_if = "super::is_default")]
    pub multiplier: Multiplier,
    /// Prices instead of the usual ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rates: Option<Rates>,
    /// With `rates`: other prices beyond an amount.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub volume: Vec<Tier>,
    /// With `rates`: other prices for requests with a long prompt.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub long_context: Vec<Tier>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_comes_out_as_it_went_in() {
        let json = r#"{"provider":"anthropic","model":"claude-*","priority":5,
            "rates":{"input":"3","output":"15","cache_read":"0.3","request":"0.001"},
            "volume":[{"above":1000000,"rates":{"input":"2.5"}}],
            "long_context":[{"above":200000,"rates":{"input":"6","output":"22.5"}}],
            "service_tiers":{"batch":{"multiplier":"0.5"},"priority":{"rates":{"input":"4"}}}}"#;
        let rule: PriceRule = serde_json::from_str(json).unwrap();
        let written = serde_json::to_value(&rule).unwrap();
        assert_eq!(written, serde_json::from_str::<serde_json::Value>(json).unwrap());
    }

    #[test]
    fn the_least_rule_is_a_model_and_its_rates() {
        let rule: PriceRule = serde_json::from_str(r#"{"model":"x","rates":{"input":"3.00"}}"#).unwrap();
        assert_eq!(serde_json::to_string(&rule).unwrap(), r#"{"model":"x","rates":{"input":"3"}}"#);
    }

    #[test]
    fn misspelt_members_are_refused() {
        for json in [
            r#"{"model":"x","rates":{"inputs":"3"}}"#,
            r#"{"model":"x","rates":{},"tiers":[]}"#,
            r#"{"model":"x","rates":{},"volume":[{"over":1,"rates":{}}]}"#,
            r#"{"rates":{}}"#,
            r#"{"model":"x"}"#,
        ] {
            assert!(serde_json::from_str::<PriceRule>(json).is_err(), "{json}");
        }
    }
}
