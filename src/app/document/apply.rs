//! Comparing a document with what is stored, and making the writes that close the gap.
//!
//! Nothing is written here. [`plan`] checks the whole document, finds what differs, and makes the statements; with no
//! difference there are none, so that applying a document twice changes nothing.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use serde::Serialize;

use super::{CredentialDocument, Document, KeyDocument, NetworkDocument, ProviderDocument, RouteDocument};
use crate::app::error::{AppError, Fault};
use crate::app::identity::{KEY_PREFIX, new_secret, shown_prefix};
use crate::engine::snapshot;
use crate::platform::Scope;
use crate::platform::clock::Timestamp;
use crate::platform::database::{Rows, Statement};
use crate::store::api_key::{self, ApiKeyRow};
use crate::store::credential::{self, CredentialRow};
use crate::store::provider::{self, ProviderOptions, ProviderRow};
use crate::store::revision::{self, Scopes};
use crate::store::route::{self, MemberRow, RouteOptions, RouteRow};
use crate::store::settings::{self, Settings};
use crate::store::vault::Vault;
use crate::store::{BadRow, id};

/// Shortest gateway key that a document may bring along.
const MIN_KEY_CHARACTERS: usize = 20;
/// Longest name of anything.
const MAX_NAME_CHARACTERS: usize = 200;

/// The whole stored configuration.
#[derive(Debug, Default)]
pub struct Stored {
    /// The revision it was read at.
    pub revision: i64,
    /// The settings.
    pub settings: Settings,
    /// The providers by name.
    pub providers: Vec<ProviderRow>,
    /// The credentials, each provider's together.
    pub credentials: Vec<CredentialRow>,
    /// The routes by name.
    pub routes: Vec<RouteRow>,
    /// The members, each route's together.
    pub members: Vec<MemberRow>,
    /// The keys by name.
    pub keys: Vec<ApiKeyRow>,
}

impl Stored {
    /// What reads it: one batch.
    pub fn read() -> Vec<Statement> {
        vec![
            revision::read(),
            settings::read(),
            provider::list(),
            credential::list(),
            route::list(),
            route::list_members(),
            api_key::list(),
        ]
    }

    /// Decodes what [`Stored::read`] returned, and the rows that are damaged.
    pub fn decode(rows: &[Rows]) -> (Self, Vec<BadRow>) {
        let [revisions, settings, providers, credentials, routes, members, keys] = rows else {
            return (Self::default(), vec![]);
        };
        let revision = revisions.0.first().and_then(|row| revision::decode(row).ok()).unwrap_or_default().config;
        let (instance, mut bad) = settings::decode(settings);
        fn keep<T>(decoded: (Vec<T>, Vec<BadRow>), bad: &mut Vec<BadRow>) -> Vec<T> {
            bad.extend(decoded.1);
            decoded.0
        }
        let stored = Self {
            revision,
            settings: instance.settings,
            providers: keep(provider::decode(providers), &mut bad),
            credentials: keep(credential::decode(credentials), &mut bad),
            routes: keep(route::decode(routes), &mut bad),
            members: keep(route::decode_members(members), &mut bad),
            keys: keep(api_key::decode(keys), &mut bad),
        };
        (stored, bad)
    }
}

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
    /// What it is: `settings`, `provider`, `credential`, `route` or `key`.
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
    pub key: String,
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
    planner.providers(document.providers.as_deref())?;
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
        ]);
        self.change(Action::Update, "settings", "settings".to_owned(), fields);
        self.plan.statements.push(settings::write(wanted));
        self.plan.scopes.routing = true;
    }

    fn providers(&mut self, wanted: Option<&[ProviderDocument]>) -> Result<(), AppError> {
        let Some(wanted) = wanted else { return Ok(()) };
        self.check_names("providers", wanted.iter().map(|provider| provider.name.as_str()));
        if self.prune {
            self.prune_providers(wanted);
        }
        let stored: HashMap<&str, &ProviderRow> = self.stored.providers.iter().map(|row| (&*row.name, row)).collect();
        let mut credentials_of: HashMap<&Arc<str>, Vec<&CredentialRow>> = HashMap::new();
        for row in &self.stored.credentials {
            credentials_of.entry(&row.provider_id).or_default().push(row);
        }
        let mut rows = Vec::new();
        let mut credentials = CredentialWrites::default();
        for (index, provider) in wanted.iter().enumerate() {
            let path = format!("providers[{index}]");
            let before = stored.get(provider.name.as_str()).copied();
            let row = provider_row(provider, before.map_or_else(|| id::new(self.scope), |row| row.id.clone()));
            if provider.name.contains('/') {
                self.fault(format!("{path}.name"), "must not contain a slash, which separates provider and model");
            }
            if let Err(reason) = snapshot::provider(&row) {
                self.fault(path.clone(), reason);
            }
            self.provider_ids.insert(provider.name.clone(), row.id.clone());
            let known = before.and_then(|row| credentials_of.get(&row.id)).map(Vec::as_slice).unwrap_or_default();
            if let Some(wanted) = &provider.credentials {
                self.credentials(&path, &row, wanted, known, &mut credentials)?;
            }
            match before {
                None => self.change(Action::Create, "provider", provider.name.clone(), vec![]),
                Some(before) => {
                    let fields = differing_provider(before, &row);
                    if fields.is_empty() {
                        continue;
                    }
                    self.change(Action::Update, "provider", provider.name.clone(), fields);
                }
            }
            rows.push(row);
        }
        self.plan.scopes.routing |= !rows.is_empty();
        self.plan.statements.extend(provider::upsert(&rows, self.now));
        self.plan.statements.extend(credential::delete(&credentials.deleted));
        self.plan.statements.extend(credential::upsert(&credentials.upserted, self.now));
        Ok(())
    }

    fn prune_providers(&mut self, wanted: &[ProviderDocument]) {
        let names: HashSet<&str> = wanted.iter().map(|provider| provider.name.as_str()).collect();
        let stored = self.stored;
        let gone: Vec<_> = stored.providers.iter().filter(|row| !names.contains(&*row.name)).collect();
        for row in &gone {
            self.change(Action::Delete, "provider", row.name.to_string(), vec![]);
            self.provider_ids.remove(&*row.name);
        }
        let ids: Vec<_> = gone.iter().map(|row| row.id.clone()).collect();
        self.plan.scopes.routing |= !ids.is_empty();
        self.plan.statements.extend(provider::delete(&ids));
    }

    fn credentials(
        &mut self,
        path: &str,
        provider: &ProviderRow,
        wanted: &[CredentialDocument],
        known: &[&CredentialRow],
        writes: &mut CredentialWrites,
    ) -> Result<(), AppError> {
        self.check_names(&format!("{path}.credentials"), wanted.iter().map(|credential| credential.name.as_str()));
        let full_name = |name: &str| format!("{}/{name}", provider.name);
        for row in known.iter().filter(|row| wanted.iter().all(|credential| *credential.name != *row.name)) {
            self.change(Action::Delete, "credential", full_name(&row.name), vec![]);
            writes.deleted.push(row.id.clone());
            self.plan.scopes.routing = true;
        }
        for (index, credential) in wanted.iter().enumerate() {
            let before = known.iter().find(|row| *row.name == *credential.name).copied();
            let digest = credential.secret.as_deref().map(|secret| self.vault.digest(secret).to_text());
            let secret_path = || format!("{path}.credentials[{index}].secret");
            if credential.secret.as_deref().is_some_and(|secret| !is_header_text(secret)) {
                self.fault(secret_path(), "must be visible ASCII text, since it is sent in a header");
                continue;
            }
            let row_id = before.map_or_else(|| id::new(self.scope), |row| row.id.clone());
            let secret_differs =
                digest.as_deref().is_some_and(|digest| before.is_none_or(|row| *row.secret_digest != *digest));
            let (secret, secret_digest) = match (&credential.secret, digest, before) {
                (Some(secret), Some(digest), _) if secret_differs => {
                    (self.vault.seal(&row_id, secret, &*self.scope.random)?, digest.into())
                }
                (_, _, Some(before)) => (before.secret.clone(), before.secret_digest.clone()),
                _ => {
                    self.fault(secret_path(), "is needed for a new credential");
                    continue;
                }
            };
            let row = CredentialRow {
                id: row_id,
                provider_id: provider.id.clone(),
                name: credential.name.as_str().into(),
                secret,
                secret_digest,
                enabled: credential.enabled,
                weight: credential.weight,
            };
            match before {
                None => {
                    self.change(Action::Create, "credential", full_name(&credential.name), vec![]);
                    self.plan.scopes.routing = true;
                }
                Some(before) => {
                    let other = differing([
                        ("weight", before.weight != row.weight),
                        ("enabled", before.enabled != row.enabled),
                    ]);
                    let fields = [differing([("secret", secret_differs)]), other.clone()].concat();
                    if fields.is_empty() {
                        continue;
                    }
                    self.change(Action::Update, "credential", full_name(&credential.name), fields);
                    // A new secret alone takes the cheaper reload.
                    self.plan.scopes.credentials = true;
                    self.plan.scopes.routing |= !other.is_empty();
                }
            }
            writes.upserted.push(row);
        }
        Ok(())
    }

    fn routes(&mut self, wanted: Option<&[RouteDocument]>) {
        let Some(wanted) = wanted else { return };
        self.check_names("routes", wanted.iter().map(|route| route.name.as_str()));
        let stored = self.stored;
        if self.prune {
            let names: HashSet<&str> = wanted.iter().map(|route| route.name.as_str()).collect();
            let gone: Vec<_> = stored.routes.iter().filter(|row| !names.contains(&*row.name)).collect();
            for row in &gone {
                self.change(Action::Delete, "route", row.name.to_string(), vec![]);
            }
            let ids: Vec<_> = gone.iter().map(|row| row.id.clone()).collect();
            self.plan.statements.extend(route::delete(&ids));
        }
        let by_name: HashMap<&str, &RouteRow> = stored.routes.iter().map(|row| (&*row.name, row)).collect();
        let mut members_of: HashMap<&Arc<str>, Vec<&MemberRow>> = HashMap::new();
        for row in &stored.members {
            members_of.entry(&row.route_id).or_default().push(row);
        }
        let (mut rows, mut members, mut gone) = (Vec::new(), Vec::new(), Vec::new());
        for (index, route) in wanted.iter().enumerate() {
            if route.max_attempts == Some(0) {
                self.fault(format!("routes[{index}].max_attempts"), "must be at least 1");
            }
            let before = by_name.get(route.name.as_str()).copied();
            let row = RouteRow {
                id: before.map_or_else(|| id::new(self.scope), |row| row.id.clone()),
                name: route.name.as_str().into(),
                enabled: route.enabled,
                options: RouteOptions { max_attempts: route.max_attempts },
                created_at: self.now,
            };
            let known = before.and_then(|row| members_of.get(&row.id)).map(Vec::as_slice).unwrap_or_default();
            let members_differ = self.members(index, route, &row, known, &mut members, &mut gone);
            let fields = match before {
                None => vec![],
                Some(before) => differing([
                    ("enabled", before.enabled != row.enabled),
                    ("max_attempts", before.options != row.options),
                    ("members", members_differ),
                ]),
            };
            match before {
                None => self.change(Action::Create, "route", route.name.clone(), vec![]),
                Some(_) if fields.is_empty() => continue,
                Some(_) => self.change(Action::Update, "route", route.name.clone(), fields),
            }
            rows.push(row);
        }
        self.plan.statements.extend(route::upsert(&rows, self.now));
        self.plan.statements.extend(route::delete_members(&gone));
        self.plan.statements.extend(route::upsert_members(&members, self.now));
        self.plan.scopes.routing |= self.plan.changes.iter().any(|change| change.kind == "route");
    }

    /// Plans the members of one route; `true` when any differs.
    fn members(
        &mut self,
        index: usize,
        route: &RouteDocument,
        row: &RouteRow,
        known: &[&MemberRow],
        upserted: &mut Vec<MemberRow>,
        deleted: &mut Vec<Arc<str>>,
    ) -> bool {
        let mut seen: HashSet<(Arc<str>, Arc<str>)> = HashSet::new();
        let mut differ = false;
        for (place, member) in route.members.iter().enumerate() {
            let path = format!("routes[{index}].members[{place}]");
            let Some(provider_id) = self.provider_ids.get(&member.provider).cloned() else {
                self.fault(format!("{path}.provider"), format!("there is no provider {:?}", member.provider));
                continue;
            };
            if member.model.is_empty() {
                self.fault(format!("{path}.model"), "must not be empty");
            }
            let model: Arc<str> = member.model.as_str().into();
            if !seen.insert((provider_id.clone(), model.clone())) {
                self.fault(path, "the same provider and model are there twice");
                continue;
            }
            let before = known.iter().find(|known| known.provider_id == provider_id && known.model == model);
            let wanted = MemberRow {
                id: before.map_or_else(|| id::new(self.scope), |before| before.id.clone()),
                route_id: row.id.clone(),
                provider_id,
                model,
                tier: member.tier,
                weight: member.weight,
                enabled: member.enabled,
            };
            if before.is_none_or(|before| **before != wanted) {
                upserted.push(wanted);
                differ = true;
            }
        }
        for known in known {
            if !seen.contains(&(known.provider_id.clone(), known.model.clone())) {
                deleted.push(known.id.clone());
                differ = true;
            }
        }
        differ
    }

    fn keys(&mut self, wanted: Option<&[KeyDocument]>) {
        let Some(wanted) = wanted else { return };
        self.check_names("keys", wanted.iter().map(|key| key.name.as_str()));
        let stored = self.stored;
        if self.prune {
            let names: HashSet<&str> = wanted.iter().map(|key| key.name.as_str()).collect();
            let gone: Vec<_> = stored.keys.iter().filter(|row| !names.contains(&*row.name)).collect();
            for row in &gone {
                self.change(Action::Delete, "key", row.name.to_string(), vec![]);
            }
            let ids: Vec<_> = gone.iter().map(|row| row.id.clone()).collect();
            self.plan.statements.extend(api_key::delete(&ids));
        }
        let by_name: HashMap<&str, &ApiKeyRow> = stored.keys.iter().map(|row| (&*row.name, row)).collect();
        let mut owners: HashMap<Rc<str>, &str> = HashMap::new();
        for row in &stored.keys {
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
                let needs =
                    format!("must begin with {KEY_PREFIX} and have {MIN_KEY_CHARACTERS} visible characters or more");
                self.fault(format!("{path}.key"), needs);
                continue;
            }
            let (digest, prefix): (Arc<str>, Arc<str>) = match (&key.key, before) {
                (Some(text), _) => (self.vault.digest(text).to_text().into(), shown_prefix(text)),
                (None, Some(before)) => (before.digest.clone(), before.prefix.clone()),
                (None, None) => {
                    let text = new_secret(KEY_PREFIX, self.scope);
                    let made = (self.vault.digest(&text).to_text().into(), shown_prefix(&text));
                    self.plan.new_keys.push(NewKey { name: key.name.clone(), key: text });
                    made
                }
            };
            if owners.insert((&*digest).into(), &key.name).is_some_and(|owner| owner != key.name) {
                self.fault(format!("{path}.key"), "is the key of another name already");
                continue;
            }
            let row = ApiKeyRow {
                id: before.map_or_else(|| id::new(self.scope), |row| row.id.clone()),
                name: key.name.as_str().into(),
                digest,
                prefix,
                enabled: key.enabled,
                expires_at,
            };
            match before {
                None => self.change(Action::Create, "key", key.name.clone(), vec![]),
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

    fn change(&mut self, action: Action, kind: &'static str, name: String, fields: Vec<&'static str>) {
        self.plan.changes.push(Change { action, kind, name, fields });
    }

    fn fault(&mut self, path: impl Into<String>, message: impl Into<String>) {
        self.faults.push(Fault { path: path.into(), message: message.into() });
    }
}

#[derive(Default)]
struct CredentialWrites {
    upserted: Vec<CredentialRow>,
    deleted: Vec<Arc<str>>,
}

fn provider_row(provider: &ProviderDocument, id: Arc<str>) -> ProviderRow {
    ProviderRow {
        id,
        name: provider.name.as_str().into(),
        channel: provider.channel.as_str().into(),
        base_url: provider.base_url.as_deref().map(Into::into),
        enabled: provider.enabled,
        options: ProviderOptions {
            private_network: provider.network == NetworkDocument::Private,
            dialects: provider.dialects.clone(),
            headers: provider.headers.clone(),
            models: provider.models.clone(),
            refuses_stream_options: provider.refuses_stream_options,
        },
        created_at: Timestamp(0),
    }
}

fn differing_provider(before: &ProviderRow, after: &ProviderRow) -> Vec<&'static str> {
    let (old, new) = (&before.options, &after.options);
    differing([
        ("channel", before.channel != after.channel),
        ("base_url", before.base_url != after.base_url),
        ("network", old.private_network != new.private_network),
        ("dialects", old.dialects != new.dialects),
        ("headers", old.headers != new.headers),
        ("models", old.models != new.models),
        ("refuses_stream_options", old.refuses_stream_options != new.refuses_stream_options),
        ("enabled", before.enabled != after.enabled),
    ])
}

fn differing<const N: usize>(fields: [(&'static str, bool); N]) -> Vec<&'static str> {
    fields.into_iter().filter(|field| field.1).map(|field| field.0).collect()
}

fn is_header_text(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic())
}

fn is_key_text(text: &str) -> bool {
    text.starts_with(KEY_PREFIX) && text.len() >= MIN_KEY_CHARACTERS && is_header_text(text)
}
