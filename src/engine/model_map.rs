//! Which model of a provider stands for the name that a client gives.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use regex_lite::Regex;

use super::glob;
use crate::store::options::{self, ModelRule};

/// The rules of a provider, compiled.
#[derive(Debug, Default)]
pub struct ModelMap {
    exact: HashMap<String, Arc<str>>,
    patterns: Vec<(Pattern, Arc<str>)>,
    default: Option<Arc<str>>,
}

#[derive(Debug)]
enum Pattern {
    Regex(Regex),
    Glob(String),
}

/// A rule that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadRule {
    /// Which, counted from 0; `None` for the default.
    pub rule: Option<usize>,
    /// Its member.
    pub member: &'static str,
    /// What is wrong with it, for the operator.
    pub message: String,
}

impl fmt::Display for BadRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.rule {
            Some(rule) => write!(formatter, "model_map.rules[{rule}].{} {}", self.member, self.message),
            None => write!(formatter, "model_map.{} {}", self.member, self.message),
        }
    }
}

impl ModelMap {
    /// Compiles the rules; the error names the first that cannot be used.
    pub fn compile(map: &options::ModelMap) -> Result<Self, BadRule> {
        let bad = |rule, member, message: &str| BadRule { rule, member, message: message.to_owned() };
        let mut compiled = Self::default();
        for (index, ModelRule { pattern, target, is_regex }) in map.rules.iter().enumerate() {
            let rule = Some(index);
            if pattern.is_empty() {
                return Err(bad(rule, "pattern", "must not be empty"));
            }
            if target.is_empty() {
                return Err(bad(rule, "target", "must not be empty"));
            }
            let target: Arc<str> = target.as_str().into();
            let pattern = if *is_regex {
                Pattern::Regex(whole(pattern).map_err(|error| BadRule { rule, member: "pattern", message: error })?)
            } else if pattern.contains('*') {
                Pattern::Glob(pattern.clone())
            } else {
                compiled.exact.entry(pattern.clone()).or_insert(target);
                continue;
            };
            compiled.patterns.push((pattern, target));
        }
        if map.default.as_deref() == Some("") {
            return Err(bad(None, "default", "must not be empty"));
        }
        compiled.default = map.default.as_deref().map(Into::into);
        Ok(compiled)
    }

    /// The model for `name`: by a rule without wildcards, else by the first that matches, else the default.
    pub fn map(&self, name: &str) -> Option<&Arc<str>> {
        let by_pattern = || self.patterns.iter().find(|(pattern, _)| pattern.matches(name)).map(|(_, target)| target);
        self.exact.get(name).or_else(by_pattern).or(self.default.as_ref())
    }

    /// The model for a request that names none.
    pub fn default_model(&self) -> Option<&Arc<str>> {
        self.default.as_ref()
    }
}

/// A regular expression that matches whole texts only; the error is for the operator.
fn whole(pattern: &str) -> Result<Regex, String> {
    let explain = |error: regex_lite::Error| format!("is no regular expression: {error}");
    // Alone first: what only makes sense with a parenthesis around it makes none.
    Regex::new(pattern).map_err(explain)?;
    Regex::new(&format!(r"\A(?:{pattern})\z")).map_err(explain)
}

impl Pattern {
    fn matches(&self, name: &str) -> bool {
        match self {
            Self::Regex(regex) => regex.is_match(name),
            Self::Glob(pattern) => glob::matches(pattern, name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(pattern: &str, target: &str, is_regex: bool) -> ModelRule {
        ModelRule { pattern: pattern.to_owned(), target: target.to_owned(), is_regex }
    }

    fn map(rules: Vec<ModelRule>, default: Option<&str>) -> ModelMap {
        ModelMap::compile(&options::ModelMap { rules, default: default.map(str::to_owned) }).unwrap()
    }

    #[track_caller]
    fn check(map: &ModelMap, cases: &[(&str, Option<&str>)]) {
        for (name, expected) in cases {
            assert_eq!(map.map(name).map(|model| &**model), *expected, "{name:?}");
        }
    }

    /// S-357 to S-368: the vendor of last resort in coding-proxy.
    #[test]
    fn exact_then_patterns_then_default() {
        let rules = vec![
            rule("claude-sonnet-.*", "glm-5.1", true),
            rule("claude-opus-.*", "glm-5.1", true),
            rule("claude-haiku-.*", "glm-4.5-air", true),
            rule("claude-.*", "glm-any", true),
            rule("claude-haiku-special", "glm-special", false),
        ];
        let map = map(rules, Some("glm-default"));
        check(
            &map,
            &[
                ("claude-sonnet-4-6", Some("glm-5.1")),
                ("claude-haiku-4-5", Some("glm-4.5-air")),
                ("claude-haiku-special", Some("glm-special")),
                ("claude-3", Some("glm-any")),
                ("my-claude-3", Some("glm-default")),
                ("claude-", Some("glm-any")),
                ("gpt-5", Some("glm-default")),
                ("", Some("glm-default")),
            ],
        );
        assert_eq!(map.default_model().map(|model| &**model), Some("glm-default"));
    }

    #[test]
    fn globs_match_whole_names() {
        let map = map(
            vec![
                rule("gpt-*-mini", "small", false),
                rule("*/o3", "o3", false),
                rule("a*b*c", "abc", false),
                rule("x.y*", "dotted", false),
            ],
            None,
        );
        check(
            &map,
            &[
                ("gpt-5-mini", Some("small")),
                ("gpt--mini", Some("small")),
                ("gpt-mini", None),
                ("gpt-5-mini-2", None),
                ("openai/o3", Some("o3")),
                ("/o3", Some("o3")),
                ("o3", None),
                ("abc", Some("abc")),
                ("axxbyybc", Some("abc")),
                ("acb", None),
                ("xzy1", None),
                ("x.y1", Some("dotted")),
            ],
        );
        let all =
            ModelMap::compile(&options::ModelMap { rules: vec![rule("*", "all", false)], default: None }).unwrap();
        check(&all, &[("", Some("all")), ("anything", Some("all"))]);
    }

    #[test]
    fn a_regular_expression_matches_whole_names() {
        let map = map(vec![rule("a|ab", "alternative", true), rule("(?i)gpt.*", "any-case", true)], None);
        check(
            &map,
            &[
                ("a", Some("alternative")),
                ("ab", Some("alternative")),
                ("abc", None),
                ("GPT-5", Some("any-case")),
                ("my-gpt", None),
                ("a\n", None),
            ],
        );
    }

    #[test]
    fn bad_rules_are_refused_with_their_place() {
        for (rules, default, place) in [
            (vec![rule("a", "b", false), rule("(", "b", true)], None, (Some(1), "pattern")),
            (vec![rule("a)|(b", "b", true)], None, (Some(0), "pattern")),
            (vec![rule("", "b", false)], None, (Some(0), "pattern")),
            (vec![rule("a", "", true)], None, (Some(0), "target")),
            (vec![], Some(""), (None, "default")),
        ] {
            let map = options::ModelMap { rules, default: default.map(str::to_owned) };
            let error = ModelMap::compile(&map).unwrap_err();
            assert_eq!((error.rule, error.member), place, "{error}");
        }
    }
}
