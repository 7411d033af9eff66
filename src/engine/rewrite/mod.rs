//! Rewrite rules: what is changed in a request before it goes to a provider.
//!
//! Rules are compiled once, when the configuration is assembled, and see the request as the provider gets it. What can be wrong with a
//! rule is found there; at run time a rule only finds what it looks for, or does not. A provider without rules costs nothing, and a body
//! is only looked into when a rule about bodies applies. docs/rewriting.md describes the rules.

mod cache;
mod compile;
mod edit;
mod fields;
mod head;
mod path;
mod replace;
mod system;
#[cfg(test)]
mod tests;
mod tree;

pub use compile::{Rewrite, RuleFault, RuleSets};

use self::compile::{Action, Asked, BodyAction};
use self::tree::{Budget, Node, TooMuch, readable, root};
use super::attempt::ClientCall;
use super::translate::Translated;
use crate::protocol::dialect::Dialect;

/// Rules would make more of a body than an isolate can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unwritable;

impl From<TooMuch> for Unwritable {
    fn from(_: TooMuch) -> Self {
        Self
    }
}

/// Applies a provider's rules to a call that is ready for it. `model` is the name that the provider has for the model.
pub(super) fn apply(
    rewrite: &Rewrite,
    call: &ClientCall,
    model: &str,
    translated: &mut Translated,
) -> Result<(), Unwritable> {
    let asked =
        Asked { operation: translated.operation, dialect: translated.dialect, model, client_headers: &call.headers };
    let mut actions = Vec::new();
    for rule in rewrite.rules().filter(|rule| rule.applies(&asked)) {
        match &rule.action {
            Action::Headers(headers) => headers.apply(&mut translated.headers),
            Action::Query(query) => query.apply(&mut translated.query),
            Action::Body(action) => actions.push(action),
        }
    }
    if !actions.is_empty()
        && let Some(body) = rewrite_body(translated.dialect, &translated.body, &actions)?
    {
        translated.body = body.into();
    }
    Ok(())
}

/// The body after `actions`; `None` if they change nothing.
fn rewrite_body(dialect: Dialect, body: &[u8], actions: &[&BodyAction]) -> Result<Option<String>, TooMuch> {
    let Some(text) = readable(body) else { return Ok(None) };
    let mut tree = root(&text);
    let mut budget = Budget::new();
    let mut has_changed = false;
    for action in actions {
        has_changed |= match action {
            BodyAction::Edit(edit, path) => edit::apply(edit, path, &mut tree, &mut budget)?,
            BodyAction::System(system) => system.apply(dialect, &mut tree, &mut budget)?,
            BodyAction::Replace(replace) => replace.apply(dialect, &mut tree, &mut budget)?,
            BodyAction::Cache(_) if dialect != Dialect::Claude => false,
            BodyAction::Cache(rule) => cache::apply(rule, &mut tree, &mut budget)?,
        };
    }
    Ok(has_changed.then(|| written(&tree, text.len())))
}

fn written(tree: &Node<'_>, length: usize) -> String {
    let mut out = String::with_capacity(length + length / 8);
    tree.write(&mut out);
    out
}
