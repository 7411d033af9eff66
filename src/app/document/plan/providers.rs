//! Providers and their credentials.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::logins::secret_text;
use super::{Action, Planner, differing};
use crate::app::document::{CredentialDocument, NetworkDocument, ProviderDocument};
use crate::app::error::AppError;
use crate::engine::model_map::ModelMap;
use crate::engine::rewrite::{Rewrite, RuleSets};
use crate::engine::snapshot;
use crate::platform::clock::Timestamp;
use crate::store::credential::{self, CredentialRow};
use crate::store::id;
use crate::store::options::{CredentialPolicy, ProviderPolicy};
use crate::store::provider::{self, ProviderOptions, ProviderRow};

/// The headers whose value is a secret, or has one in it.
const CREDENTIAL_HEADERS: [&str; 6] =
    ["authorization", "x-api-key", "x-goog-api-key", "api-key", "cookie", "proxy-authorization"];

impl Planner<'_> {
    pub(super) fn providers(
        &mut self,
        wanted: Option<&[ProviderDocument]>,
        rule_sets: &RuleSets,
    ) -> Result<(), AppError> {
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
            let mut row = provider_row(provider, self.id_for("providers", &provider.name, before.map(|row| &row.id)));
            row.options.oauth = self.oauth(&path, provider, &row.id, before)?;
            if provider.name.contains('/') {
                self.fault(format!("{path}.name"), "must not contain a slash, which separates provider and model");
            }
            if let Err(faults) = Rewrite::compile(&provider.rewrite, &provider.rule_sets, rule_sets) {
                for fault in faults {
                    self.fault(format!("{path}.{}", fault.path), fault.message);
                }
            } else if let Err(bad) = ModelMap::compile(&provider.model_map) {
                let rule = bad.rule.map(|rule| format!(".rules[{rule}]")).unwrap_or_default();
                self.fault(format!("{path}.model_map{rule}.{}", bad.member), bad.message);
            } else if let Err(reason) = snapshot::provider(&row, rule_sets) {
                self.fault(path.clone(), reason);
            }
            self.provider_options(&path, provider);
            for (name, value) in &provider.headers {
                let holds_secret = CREDENTIAL_HEADERS.iter().any(|known| name.eq_ignore_ascii_case(known));
                if holds_secret && !value.contains("{secret}") {
                    let place = format!("{path}.headers.{name}");
                    self.fault(place, "is not sealed: write {secret} here, and the secret into a credential");
                }
            }
            self.provider_ids.insert(provider.name.clone(), row.id.clone());
            let known = credentials_of.get(&row.id).map(Vec::as_slice).unwrap_or_default();
            if let Some(wanted) = &provider.credentials {
                self.credentials(&path, &row, wanted, known, &mut credentials)?;
            }
            match before {
                None => self.create("providers", "provider", &provider.name),
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
            let credential_path = format!("{path}.credentials[{index}]");
            self.quotas(&format!("{credential_path}.quotas"), &credential.quotas);
            let may_call = credential.max_concurrency != Some(0);
            self.check(
                may_call,
                &credential_path,
                "max_concurrency",
                "must be at least 1; set `enabled` to false for none",
            );
            let before = known.iter().find(|row| *row.name == *credential.name).copied();
            let secret_path = || format!("{path}.credentials[{index}].secret");
            let given =
                credential.secret.as_deref().map(|secret| secret_text(secret, provider.options.oauth.is_some()));
            let given = match given.transpose() {
                Ok(given) => given,
                Err(what) => {
                    self.fault(secret_path(), what);
                    continue;
                }
            };
            let digest = given.as_deref().map(|secret| self.vault.digest(secret).to_text());
            let row_id = before.map_or_else(|| id::new(self.scope), |row| row.id.clone());
            let secret_differs =
                digest.as_deref().is_some_and(|digest| before.is_none_or(|row| *row.secret_digest != *digest));
            let (secret, secret_digest) = match (&given, digest, before) {
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
                policy: CredentialPolicy {
                    quotas: credential.quotas.clone(),
                    max_concurrency: credential.max_concurrency,
                },
                version: 0,
            };
            match before {
                None => {
                    self.change(Action::Create, "credential", full_name(&credential.name), vec![]);
                    self.plan.scopes.routing = true;
                }
                Some(before) => {
                    let other = differing([
                        ("weight", before.weight != row.weight),
                        ("quotas", before.policy.quotas != row.policy.quotas),
                        ("max_concurrency", before.policy.max_concurrency != row.policy.max_concurrency),
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
            streaming: provider.streaming,
            policy: ProviderPolicy {
                strategy: provider.strategy,
                model_map: provider.model_map.clone(),
                timeouts: provider.timeouts.clone(),
                retry: provider.retry.clone(),
                failover: provider.failover.clone(),
                rest: provider.rest.clone(),
                breaker: provider.breaker.clone(),
                quotas: provider.quotas.clone(),
            },
            oauth: None,
            rule_sets: provider.rule_sets.clone(),
            rewrite: provider.rewrite.clone(),
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
        ("streaming", old.streaming != new.streaming),
        ("strategy", old.policy.strategy != new.policy.strategy),
        ("model_map", old.policy.model_map != new.policy.model_map),
        ("timeouts", old.policy.timeouts != new.policy.timeouts),
        ("retry", old.policy.retry != new.policy.retry),
        ("failover", old.policy.failover != new.policy.failover),
        ("rest", old.policy.rest != new.policy.rest),
        ("breaker", old.policy.breaker != new.policy.breaker),
        ("quotas", old.policy.quotas != new.policy.quotas),
        ("oauth", old.oauth != new.oauth),
        ("rule_sets", old.rule_sets != new.rule_sets),
        ("rewrite", old.rewrite != new.rewrite),
        ("enabled", before.enabled != after.enabled),
    ])
}
