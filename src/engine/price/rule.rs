//! The rules that an operator wrote.

use std::cmp::Reverse;
use std::sync::Arc;

use super::glob::{Glob, Specificity};
use super::schedule::Schedule;
use crate::store::options;

/// What some models cost at a provider, or at all of them.
#[derive(Debug, Clone, PartialEq)]
pub struct PriceRule {
    /// The rule's id.
    pub id: Arc<str>,
    /// The provider's name; every provider when there is none.
    pub provider: Option<Arc<str>>,
    /// The models.
    pub models: Glob,
    /// The higher, the sooner it is looked at.
    pub priority: i32,
    /// The prices.
    pub schedule: Schedule,
}

impl PriceRule {
    /// A rule as it is written in documents.
    pub fn new(id: Arc<str>, written: &options::PriceRule) -> Self {
        Self {
            id,
            provider: written.provider.as_deref().map(Into::into),
            models: Glob::new(&written.model),
            priority: written.priority,
            schedule: written.into(),
        }
    }

    /// Whether it is for this model of this provider.
    pub fn matches(&self, provider: &str, model: &str) -> bool {
        self.provider.as_deref().is_none_or(|own| own == provider) && self.models.matches(model)
    }

    /// The lowest is looked at first.
    fn rank(&self) -> (Reverse<i32>, Reverse<(bool, Specificity)>, Arc<str>) {
        let says = (self.provider.is_some(), self.models.specificity());
        (Reverse(self.priority), Reverse(says), self.id.clone())
    }
}

/// Rules in the order in which they are looked at: by priority, then those that name their provider, then by how much their pattern
/// says, then by id.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rules(Vec<PriceRule>);

impl Rules {
    /// The rules, in whatever order.
    pub fn new(mut rules: Vec<PriceRule>) -> Self {
        rules.sort_by_cached_key(PriceRule::rank);
        Self(rules)
    }

    /// The rule that holds for this model of this provider.
    pub fn find(&self, provider: &str, model: &str) -> Option<&PriceRule> {
        self.0.iter().find(|rule| rule.matches(provider, model))
    }

    /// They in their order.
    pub fn iter(&self) -> impl Iterator<Item = &PriceRule> {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(id: &str, provider: Option<&str>, model: &str, priority: i32) -> PriceRule {
        let written = options::PriceRule {
            provider: provider.map(str::to_owned),
            model: model.to_owned(),
            priority,
            rates: options::Rates::default(),
            volume: Vec::new(),
            long_context: Vec::new(),
            service_tiers: Default::default(),
        };
        PriceRule::new(id.into(), &written)
    }

    fn rules() -> Rules {
        Rules::new(vec![
            rule("7", None, "*", 0),
            rule("6", None, "gpt-*", 0),
            rule("5", None, "gpt-4o*", 0),
            rule("4", None, "gpt-4o", 0),
            rule("3", Some("azure"), "gpt-*", 0),
            rule("2", Some("free"), "*", 10),
            rule("1", None, "junk-*", -5),
            rule("9", None, "twin-*", 0),
            rule("8", None, "twin-*", 0),
        ])
    }

    #[test]
    fn the_first_by_priority_then_by_what_it_says_then_by_id() {
        for (provider, model, expected) in [
            ("openai", "gpt-4o", "4"),
            ("openai", "gpt-4o-mini", "5"),
            ("openai", "gpt-5", "6"),
            ("openai", "o3", "7"),
            ("azure", "gpt-4o", "3"),
            ("azure", "o3", "7"),
            ("free", "gpt-4o", "2"),
            ("Free", "gpt-4o", "4"),
            ("openai", "junk-1", "7"),
            ("openai", "twin-1", "8"),
        ] {
            let rules = rules();
            assert_eq!(&*rules.find(provider, model).unwrap().id, expected, "{provider} {model}");
        }
    }

    #[test]
    fn no_rule_is_no_rule() {
        let rules = Rules::new(vec![rule("1", Some("azure"), "*", 0), rule("2", None, "gpt-4o", 0)]);
        assert!(rules.find("openai", "gpt-5").is_none());
        assert!(Rules::default().find("openai", "gpt-5").is_none());
    }
}
