//! From rules as they are written to rules as they are applied.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use http::{HeaderMap, HeaderName};

use super::edit::Edit;
use super::head::{Headers, Query};
use super::path::{Path, Step};
use super::replace::Replace;
use super::system::System;
use crate::engine::glob;
use crate::protocol::dialect::Dialect;
use crate::protocol::headers::READ_FROM_CLIENT;
use crate::protocol::operation::Operation;
use crate::store::options::{CacheBreakpoint, Condition, OperationName, Placed, Rule, SystemText};

/// Most rules of a provider, and of a set.
const MAX_RULES: usize = 200;

/// Headers that bear credentials; no rule depends on one.
const CREDENTIALS: [&str; 3] = ["authorization", "x-api-key", "x-goog-api-key"];

/// A provider's rules, ready to be applied.
#[derive(Default)]
pub struct Rewrite(Vec<Rc<Compiled>>);

impl fmt::Debug for Rewrite {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Rewrite({} rules)", self.0.len())
    }
}

/// The rule sets that there are, by name; `None` for one that cannot be used.
#[derive(Default)]
pub struct RuleSets(HashMap<Arc<str>, Option<Vec<Rc<Compiled>>>>);

/// A rule that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleFault {
    /// Which rule, and which member of it: `[2].replace.pattern`.
    pub path: String,
    /// What is wrong with it.
    pub message: Cow<'static, str>,
}

impl fmt::Display for RuleFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.path, self.message)
    }
}

impl std::error::Error for RuleFault {}

impl RuleSets {
    /// Compiles a set and keeps it under its name.
    pub fn insert(&mut self, name: Arc<str>, rules: &[Rule]) -> Result<(), Vec<RuleFault>> {
        let compiled = compile(rules);
        let (kept, result) = match compiled {
            Ok(compiled) => (Some(compiled), Ok(())),
            Err(faults) => (None, Err(faults)),
        };
        self.0.insert(name, kept);
        result
    }

    /// Whether there is a set of that name, usable or not.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }
}

impl Rewrite {
    /// The rules of `sets`, one after the other, and then a provider's own. Its own are at fault with their places, a set as a whole.
    pub fn compile(own: &[Rule], sets: &[String], known: &RuleSets) -> Result<Self, Vec<RuleFault>> {
        let mut rules = Vec::new();
        let mut faults = Vec::new();
        for (index, name) in sets.iter().enumerate() {
            match known.0.get(name.as_str()) {
                Some(Some(set)) => rules.extend(set.iter().cloned()),
                Some(None) => faults.push((index, "is a rule set with faults")),
                None => faults.push((index, "is not the name of a rule set")),
            }
        }
        let mut faults: Vec<RuleFault> = faults
            .into_iter()
            .map(|(index, what)| RuleFault { path: format!("rule_sets[{index}]"), message: Cow::Borrowed(what) })
            .collect();
        match compile(own) {
            Ok(own) => rules.extend(own),
            Err(own) => faults
                .extend(own.into_iter().map(|fault| RuleFault { path: format!("rewrite{}", fault.path), ..fault })),
        }
        if faults.is_empty() { Ok(Self(rules)) } else { Err(faults) }
    }

    /// Whether there is no rule.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn rules(&self) -> impl Iterator<Item = &Compiled> {
        self.0.iter().map(|rule| &**rule)
    }
}

/// What is asked of a provider, as far as conditions look at it.
pub(super) struct Asked<'a> {
    pub(super) operation: Operation,
    pub(super) dialect: Dialect,
    pub(super) model: &'a str,
    pub(super) client_headers: &'a HeaderMap,
}

/// A rule, ready to be applied.
pub(super) struct Compiled {
    condition: Condition,
    headers: Box<[(HeaderName, Box<str>)]>,
    pub(super) action: Action,
}

/// What a rule does.
pub(super) enum Action {
    Headers(Headers),
    Query(Query),
    Body(BodyAction),
}

/// What a rule does to a body.
pub(super) enum BodyAction {
    Edit(Edit, Path),
    System(System),
    Replace(Replace),
    Cache(CacheBreakpoint),
}

impl Compiled {
    /// Whether the rule applies to what is asked.
    pub(super) fn applies(&self, asked: &Asked<'_>) -> bool {
        let Condition { operations, models, dialects, headers: _ } = &self.condition;
        let operation = match asked.operation {
            Operation::Generate => OperationName::Generate,
            Operation::CountTokens => OperationName::CountTokens,
            Operation::Embed | Operation::EmbedBatch => OperationName::Embed,
        };
        (operations.is_empty() || operations.contains(&operation))
            && (dialects.is_empty() || dialects.contains(&asked.dialect))
            && (models.is_empty() || models.iter().any(|pattern| glob::matches(pattern, asked.model)))
            && self.headers.iter().all(|(name, pattern)| {
                let values = asked.client_headers.get_all(name);
                values.iter().filter_map(|value| value.to_str().ok()).any(|value| glob::matches(pattern, value))
            })
    }
}

/// A fault within a rule.
type Fault = (String, Cow<'static, str>);

fn compile(rules: &[Rule]) -> Result<Vec<Rc<Compiled>>, Vec<RuleFault>> {
    if rules.len() > MAX_RULES {
        let message = Cow::Owned(format!("there are more than {MAX_RULES} rules"));
        return Err(vec![RuleFault { path: String::new(), message }]);
    }
    let mut compiled = Vec::with_capacity(rules.len());
    let mut faults = Vec::new();
    for (index, rule) in rules.iter().enumerate() {
        match compile_rule(rule) {
            Ok(rule) => compiled.push(Rc::new(rule)),
            Err((member, message)) => {
                let dot = if member.is_empty() { "" } else { "." };
                faults.push(RuleFault { path: format!("[{index}]{dot}{member}"), message });
            }
        }
    }
    if faults.is_empty() { Ok(compiled) } else { Err(faults) }
}

fn compile_rule(rule: &Rule) -> Result<Compiled, Fault> {
    let headers: Result<_, Fault> = rule
        .when
        .headers
        .iter()
        .map(|(name, pattern)| Ok((condition_header(name)?, pattern.as_str().into())))
        .collect();
    Ok(Compiled { condition: rule.when.clone(), headers: headers?, action: action(rule)? })
}

/// A header that rules may look at: one of those that both hosts hand over, and no credential.
fn condition_header(text: &str) -> Result<HeaderName, Fault> {
    let name = HeaderName::from_bytes(text.as_bytes()).ok();
    let is_read =
        |name: &HeaderName| READ_FROM_CLIENT.contains(&name.as_str()) && !CREDENTIALS.contains(&name.as_str());
    name.filter(is_read).ok_or_else(|| {
        let known: Vec<&str> = READ_FROM_CLIENT.into_iter().filter(|name| !CREDENTIALS.contains(name)).collect();
        (format!("when.headers.{text}"), Cow::Owned(format!("is not one of {}", known.join(", "))))
    })
}

fn action(rule: &Rule) -> Result<Action, Fault> {
    let Rule { when: _, set, default, append, remove, system, replace, header, query, cache_breakpoint } = rule;
    let mut actions: Vec<Result<Action, Fault>> = Vec::with_capacity(1);
    let mut place = |name, placed: &Option<Placed>, edit: fn(Box<str>) -> Edit| {
        if let Some(Placed { path, value }) = placed {
            actions.push(edit_at(name, path, edit(value.to_string().into())));
        }
    };
    place("set", set, Edit::Set);
    place("default", default, Edit::Default);
    place("append", append, Edit::Append);
    if let Some(place) = remove {
        actions.push(edit_at("remove", &place.path, Edit::Remove));
    }
    if let Some(text) = system {
        actions.push(system_action(text));
    }
    if let Some(rule) = replace {
        let compiled = Replace::compile(rule).map(|replace| Action::Body(BodyAction::Replace(replace)));
        actions.push(compiled.map_err(|(member, what)| (format!("replace.{member}"), what)));
    }
    let within = |name: &str, (member, what): Fault| {
        (if member.is_empty() { name.to_owned() } else { format!("{name}.{member}") }, what)
    };
    if let Some(pairs) = header {
        actions.push(Headers::compile(pairs).map(Action::Headers).map_err(|fault| within("header", fault)));
    }
    if let Some(pairs) = query {
        actions.push(Query::compile(pairs).map(Action::Query).map_err(|fault| within("query", fault)));
    }
    if let Some(breakpoint) = cache_breakpoint {
        actions.push(Ok(Action::Body(BodyAction::Cache(breakpoint.clone()))));
    }
    match (actions.pop(), actions.pop()) {
        (Some(action), None) => action,
        _ => {
            let what = "must have exactly one action: set, default, append, remove, system, replace, header, query or \
                        cache_breakpoint";
            Err((String::new(), Cow::Borrowed(what)))
        }
    }
}

fn edit_at(name: &str, path: &str, edit: Edit) -> Result<Action, Fault> {
    let fault = |what| (format!("{name}.path"), what);
    let path = Path::parse(path).map_err(fault)?;
    if is_owned(&path) {
        let what =
            "is the gateway's own: the model, whether the answer is streamed, and whether a stream tells its usage";
        return Err(fault(Cow::Borrowed(what)));
    }
    Ok(Action::Body(BodyAction::Edit(edit, path)))
}

/// Whether the gateway itself relies on what is there.
fn is_owned(path: &Path) -> bool {
    match path.first_name() {
        "model" | "stream" => true,
        "stream_options" => match path.second() {
            Some(Step::Name(name)) => &**name == "include_usage",
            _ => true,
        },
        _ => false,
    }
}

fn system_action(text: &SystemText) -> Result<Action, Fault> {
    let system = match (&text.prepend, &text.append, &text.replace) {
        (Some(text), None, None) => System::Prepend(text.as_str().into()),
        (None, Some(text), None) => System::Append(text.as_str().into()),
        (None, None, Some(text)) => System::Replace(text.as_str().into()),
        _ => return Err(("system".to_owned(), Cow::Borrowed("must have exactly one of prepend, append and replace"))),
    };
    Ok(Action::Body(BodyAction::System(system)))
}
