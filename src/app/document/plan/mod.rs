//! Comparing a document with what is stored, and making the writes that close the gap.
//!
//! Nothing is written here. [`plan`] checks the whole document, finds what differs, and makes the statements; with no
//! difference there are none, so that applying a document twice changes nothing.

mod keys;
mod logins;
mod options;
mod providers;
mod routes;
mod rule_sets;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde::Serialize;

use super::Document;
use super::secret::Secret;
use super::stored::Stored;
use crate::app::error::{AppError, Fault};
use crate::platform::Scope;
use crate::platform::clock::Timestamp;
use crate::platform::database::Statement;
use crate::store::id;
use crate::store::revision::Scopes;
use crate::store::settings::{self, Settings};
use crate::store::vault::Vault;

/// Longest name of anything.
const MAX_NAME_CHARACTERS: usize = 200;

/// What applying a document would do.
#[derive(Debug, Default)]
pub struct Plan {
    /// In words, in the order of the document.
    pub changes: Vec<Change>,
    /// In SQL, without the revision.
    pub statements: Vec<Statement>,
    /// What it touches.
    pub scopes: Scopes,
    /// The keys that were made up; nobody can read them again.
    pub new_keys: Vec<NewKey>,
}

/// One difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// What happens to it.
    pub action: Action,
    /// What it is: `settings`, `rule_set`, `provider`, `credential`, `route` or `key`.
    pub kind: &'static str,
    /// Its name; a credential's with its provider's before it.
    pub name: String,
    /// What differs, where it is changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<&'static str>,
}

/// What happens to a thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// It is new.
    Create,
    /// It is there and differs.
    Update,
    /// It is there and not in the document.
    Delete,
}

/// A key that was made up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NewKey {
    /// Its name.
    pub name: String,
    /// The key.
    pub key: Secret,
}

/// Compares `document` with `stored`. With `prune`, what a section of the document does not name is deleted.
pub fn plan(document: &Document, stored: &Stored, prune: bool, vault: &Vault, scope: &Scope) -> Result<Plan, AppError> {
    let mut planner = Planner {
        stored,
        prune,
        vault,
        scope,
        now: scope.clock.now(),
        plan: Plan::default(),
        faults: Vec::new(),
        provider_ids: stored.providers.iter().map(|row| (row.name.to_string(), row.id.clone())).collect(),
    };
    planner.settings(document.settings.as_ref());
    let rule_sets = planner.rule_sets(document.rule_sets.as_deref());
    planner.providers(document.providers.as_deref(), &rule_sets)?;
    planner.check_use_of_rule_sets(document, &rule_sets);
    planner.routes(document.routes.as_deref());
    planner.keys(document.keys.as_deref());
    if planner.faults.is_empty() { Ok(planner.plan) } else { Err(AppError::Document(planner.faults)) }
}

struct Planner<'a> {
    stored: &'a Stored,
    prune: bool,
    vault: &'a Vault,
    scope: &'a Scope,
    now: Timestamp,
    plan: Plan,
    faults: Vec<Fault>,
    /// The ids of all providers that will be there, by name.
    provider_ids: HashMap<String, Arc<str>>,
}

impl Planner<'_> {
    fn settings(&mut self, wanted: Option<&Settings>) {
        let Some(wanted) = wanted.filter(|wanted| **wanted != self.stored.settings) else { return };
        if wanted.max_attempts == Some(0) {
            self.fault("settings.max_attempts", "must be at least 1");
        }
        let before = &self.stored.settings;
        let fields = differing([
            ("max_attempts", wanted.max_attempts != before.max_attempts),
            ("tick", wanted.tick != before.tick),
            ("stream", wanted.stream != before.stream),
            ("media", wanted.media != before.media),
        ]);
        self.change(Action::Update, "settings", "settings".to_owned(), fields);
        self.plan.statements.push(settings::write(wanted));
        self.plan.scopes.routing = true;
    }

    /// The id of a named thing: the one that it has, be its row readable or not, or a new one.
    fn id_for(&self, table: &str, name: &str, known: Option<&Arc<str>>) -> Arc<str> {
        known.cloned().or_else(|| self.stored.damaged_id(table, name)).unwrap_or_else(|| id::new(self.scope))
    }

    fn check_names<'b>(&mut self, path: &str, names: impl Iterator<Item = &'b str>) {
        let mut seen = HashSet::new();
        for (index, name) in names.enumerate() {
            let path = format!("{path}[{index}].name");
            if name.is_empty() || name.chars().count() > MAX_NAME_CHARACTERS || name.chars().any(char::is_control) {
                self.fault(path, format!("must have 1 to {MAX_NAME_CHARACTERS} characters and no control characters"));
            } else if !seen.insert(name) {
                self.fault(path, format!("{name:?} is there twice"));
            }
        }
    }

    /// Notes a thing that is new, or whose row cannot be read and is replaced.
    fn create(&mut self, table: &str, kind: &'static str, name: &str) {
        let action = if self.stored.damaged_id(table, name).is_some() { Action::Update } else { Action::Create };
        self.change(action, kind, name.to_owned(), vec![]);
    }

    fn change(&mut self, action: Action, kind: &'static str, name: String, fields: Vec<&'static str>) {
        self.plan.changes.push(Change { action, kind, name, fields });
    }

    fn fault(&mut self, path: impl Into<String>, message: impl Into<String>) {
        self.faults.push(Fault { path: path.into(), message: message.into() });
    }
}

fn differing<const N: usize>(fields: [(&'static str, bool); N]) -> Vec<&'static str> {
    fields.into_iter().filter(|field| field.1).map(|field| field.0).collect()
}

/// Whether `text` can stand in a header.
fn is_header_text(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic())
}
