//! Which prices hold for a model at a provider, and why.

use serde::Serialize;

use super::catalogue::{Catalogue, Entry, Found, NameForm};
use super::rule::{PriceRule, Rules};
use super::schedule::Schedule;

/// The prices that hold for a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Match<'a> {
    /// Where they come from.
    pub origin: Origin<'a>,
    /// They.
    pub schedule: &'a Schedule,
}

/// Where prices come from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Origin<'a> {
    /// From a rule.
    Rule(&'a PriceRule),
    /// From the catalogue, since no rule matches.
    Catalogue(Found<'a>),
}

/// What is told to somebody who asks for the reason.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "origin", rename_all = "snake_case")]
pub enum Resolution<'a> {
    /// A rule holds.
    Rule {
        /// The rule's id.
        id: &'a str,
        /// The provider it names.
        #[serde(skip_serializing_if = "Option::is_none")]
        provider: Option<&'a str>,
        /// The models it is for.
        model: &'a str,
        /// Its priority.
        priority: i32,
        /// Why it holds.
        reason: &'static str,
    },
    /// A vendor's list price holds.
    Catalogue {
        /// The vendor.
        vendor: &'a str,
        /// The model as the catalogue names it.
        model: &'a str,
        /// The page that says so.
        source: &'a str,
        /// The list that the figures were read from, where it was not the page itself.
        #[serde(skip_serializing_if = "Option::is_none")]
        via: Option<&'a str>,
        /// When they were read.
        date: &'a str,
        /// What else one has to know.
        #[serde(skip_serializing_if = "Option::is_none")]
        note: Option<&'a str>,
        /// Why it holds.
        reason: &'static str,
    },
    /// Nothing is known: the call costs nothing and is marked.
    Unpriced {
        /// Why.
        reason: &'static str,
    },
}

/// The prices for a model of a provider: of the rules the first that matches, else those of the catalogue. `model` is the provider's
/// own name for it.
pub fn resolve<'a>(rules: &'a Rules, catalogue: &'a Catalogue, provider: &str, model: &str) -> Option<Match<'a>> {
    if let Some(rule) = rules.find(provider, model) {
        return Some(Match { origin: Origin::Rule(rule), schedule: &rule.schedule });
    }
    let found = catalogue.find(model)?;
    Some(Match { origin: Origin::Catalogue(found), schedule: &found.entry.schedule })
}

impl<'a> Resolution<'a> {
    /// The reason for what [`resolve`] found.
    pub fn of(found: Option<&Match<'a>>) -> Self {
        match found.map(|found| found.origin) {
            Some(Origin::Rule(rule)) => Self::Rule {
                id: &rule.id,
                provider: rule.provider.as_deref(),
                model: rule.models.as_str(),
                priority: rule.priority,
                reason: "of the rules that match it has the highest priority, or says the most among equals",
            },
            Some(Origin::Catalogue(Found { entry, name, form })) => Self::catalogue(entry, name, form),
            None => Self::Unpriced {
                reason: "no rule matches and the catalogue does not have the model: add a rule to `prices`",
            },
        }
    }

    fn catalogue(entry: &'a Entry, name: &'a str, form: NameForm) -> Self {
        Self::Catalogue {
            vendor: &entry.vendor,
            model: name,
            source: &entry.source,
            via: entry.via.as_deref(),
            date: &entry.date,
            note: entry.note.as_deref(),
            reason: match form {
                NameForm::Whole => "no rule matches, and the catalogue has the model",
                NameForm::WithoutPrefix => {
                    "no rule matches, and the catalogue has the model without what is before the slash"
                }
                NameForm::WithoutDate => "no rule matches, and the catalogue has the model without its date",
                NameForm::Bare => {
                    "no rule matches, and the catalogue has the model without what is before the slash and without its date"
                }
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::options;

    fn rules(json: &str) -> Rules {
        let written: Vec<options::PriceRule> = serde_json::from_str(json).unwrap();
        let with_ids = written.iter().enumerate();
        Rules::new(with_ids.map(|(place, rule)| PriceRule::new(place.to_string().into(), rule)).collect())
    }

    fn told(rules: &Rules, provider: &str, model: &str) -> serde_json::Value {
        let found = resolve(rules, Catalogue::embedded(), provider, model);
        serde_json::to_value(Resolution::of(found.as_ref())).unwrap()
    }

    #[test]
    fn a_rule_goes_before_the_catalogue() {
        let rules = rules(r#"[{"provider":"cheap","model":"claude-*","priority":3,"rates":{"input":"1"}}]"#);
        let told_of_rule = told(&rules, "cheap", "claude-opus-5-5");
        assert_eq!(told_of_rule["origin"], "rule");
        assert_eq!(told_of_rule["model"], "claude-*");
        assert_eq!(told_of_rule["provider"], "cheap");
        assert_eq!(told_of_rule["priority"], 3);
        assert_eq!(told(&rules, "other", "claude-opus-5-5")["origin"], "catalogue");
    }

    #[test]
    fn the_catalogue_tells_where_its_figures_come_from() {
        let told = told(&Rules::default(), "router", "anthropic/claude-opus-4-5-20251101");
        assert_eq!(told["vendor"], "anthropic");
        assert_eq!(told["model"], "claude-opus-4-5");
        assert!(told["source"].as_str().unwrap().starts_with("https://"));
        assert!(told["reason"].as_str().unwrap().contains("without its date"));
    }

    #[test]
    fn what_nobody_knows_is_unpriced() {
        let rules = Rules::default();
        assert_eq!(resolve(&rules, Catalogue::embedded(), "openai", "gpt-99-nobody"), None);
        assert_eq!(told(&rules, "openai", "gpt-99-nobody")["origin"], "unpriced");
    }
}
