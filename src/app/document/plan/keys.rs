//! Gateway keys.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use super::{Action, NewKey, Planner, differing, is_header_text};
use crate::app::document::KeyDocument;
use crate::app::document::secret::Secret;
use crate::app::identity::{KEY_PREFIX, new_secret, shown_prefix};
use crate::platform::clock::Timestamp;
use crate::store::api_key::{self, ApiKeyRow};

/// Shortest and longest gateway key that a document may bring along.
const MIN_KEY_CHARACTERS: usize = 20;
const MAX_KEY_CHARACTERS: usize = 512;

impl Planner<'_> {
    pub(super) fn keys(&mut self, wanted: Option<&[KeyDocument]>) {
        let Some(wanted) = wanted else { return };
        self.check_names("keys", wanted.iter().map(|key| key.name.as_str()));
        let stored = self.stored;
        let names: HashSet<&str> = wanted.iter().map(|key| key.name.as_str()).collect();
        if self.prune {
            let gone: Vec<_> = stored.keys.iter().filter(|row| !names.contains(&*row.name)).collect();
            for row in &gone {
                self.change(Action::Delete, "key", row.name.to_string(), vec![]);
            }
            let ids: Vec<_> = gone.iter().map(|row| row.id.clone()).collect();
            self.plan.statements.extend(api_key::delete(&ids));
        }
        let by_name: HashMap<&str, &ApiKeyRow> = stored.keys.iter().map(|row| (&*row.name, row)).collect();
        let mut owners: HashMap<Rc<str>, &str> = HashMap::new();
        for row in stored.keys.iter().filter(|row| !self.prune || names.contains(&*row.name)) {
            owners.insert((&*row.digest).into(), &row.name);
        }
        let mut rows = Vec::new();
        for (index, key) in wanted.iter().enumerate() {
            let path = format!("keys[{index}]");
            let before = by_name.get(key.name.as_str()).copied();
            let expires_at = match key.expires_at.as_deref().map(str::parse::<jiff::Timestamp>).transpose() {
                Ok(time) => time.map(|time| Timestamp(time.as_millisecond())),
                Err(_) => {
                    self.fault(format!("{path}.expires_at"), "must be a time such as 2027-01-31T00:00:00Z");
                    continue;
                }
            };
            if key.key.as_deref().is_some_and(|text| !is_key_text(text)) {
                let needs = format!(
                    "must begin with {KEY_PREFIX} and have {MIN_KEY_CHARACTERS} to {MAX_KEY_CHARACTERS} visible characters"
                );
                self.fault(format!("{path}.key"), needs);
                continue;
            }
            let (digest, prefix): (Arc<str>, Arc<str>) = match (&key.key, before) {
                (Some(text), _) => (self.vault.digest(text).to_text().into(), shown_prefix(text)),
                (None, Some(before)) => (before.digest.clone(), before.prefix.clone()),
                (None, None) => {
                    let text = new_secret(KEY_PREFIX, self.scope);
                    let made = (self.vault.digest(&text).to_text().into(), shown_prefix(&text));
                    self.plan.new_keys.push(NewKey { name: key.name.clone(), key: Secret(text) });
                    made
                }
            };
            if owners.insert((&*digest).into(), &key.name).is_some_and(|owner| owner != key.name) {
                self.fault(format!("{path}.key"), "is the key of another name already");
                continue;
            }
            let row = ApiKeyRow {
                id: self.id_for("api_keys", &key.name, before.map(|row| &row.id)),
                name: key.name.as_str().into(),
                digest,
                prefix,
                enabled: key.enabled,
                expires_at,
            };
            match before {
                None => self.create("api_keys", "key", &key.name),
                Some(before) => {
                    let fields = differing([
                        ("key", before.digest != row.digest),
                        ("expires_at", before.expires_at != row.expires_at),
                        ("enabled", before.enabled != row.enabled),
                    ]);
                    if fields.is_empty() {
                        continue;
                    }
                    self.change(Action::Update, "key", key.name.clone(), fields);
                }
            }
            rows.push(row);
        }
        self.plan.statements.extend(api_key::upsert(&rows, self.now));
        self.plan.scopes.identity |= self.plan.changes.iter().any(|change| change.kind == "key");
    }
}

fn is_key_text(text: &str) -> bool {
    text.starts_with(KEY_PREFIX)
        && (MIN_KEY_CHARACTERS..=MAX_KEY_CHARACTERS).contains(&text.len())
        && is_header_text(text)
}
