//! From the stored configuration to a document, secrets left out.

use std::collections::HashMap;
use std::sync::Arc;

use super::stored::Stored;
use super::{
    CredentialDocument, Document, KeyDocument, MemberDocument, NetworkDocument, OAuthDocument, ProviderDocument,
    RouteDocument, RuleSetDocument,
};
use crate::app::rfc3339;
use crate::store::settings::Settings;

/// The document that describes `stored`. Applied again it changes nothing.
pub fn export(stored: &Stored) -> Document {
    let mut credentials: HashMap<&Arc<str>, Vec<CredentialDocument>> = HashMap::new();
    for row in &stored.credentials {
        credentials.entry(&row.provider_id).or_default().push(CredentialDocument {
            name: row.name.to_string(),
            secret: None,
            weight: row.weight,
            quotas: row.policy.quotas.clone(),
            max_concurrency: row.policy.max_concurrency,
            enabled: row.enabled,
        });
    }
    let provider_names: HashMap<&Arc<str>, &Arc<str>> =
        stored.providers.iter().map(|row| (&row.id, &row.name)).collect();
    let mut members: HashMap<&Arc<str>, Vec<MemberDocument>> = HashMap::new();
    for row in &stored.members {
        let Some(provider) = provider_names.get(&row.provider_id) else { continue };
        members.entry(&row.route_id).or_default().push(MemberDocument {
            provider: provider.to_string(),
            model: (!row.model.is_empty()).then(|| row.model.to_string()),
            tier: row.tier,
            weight: row.weight,
            triggers: row.policy.triggers.clone(),
            terminal: row.policy.terminal,
            retry: row.policy.retry.clone(),
            enabled: row.enabled,
        });
    }
    let providers = stored.providers.iter().map(|row| ProviderDocument {
        name: row.name.to_string(),
        channel: row.channel.to_string(),
        base_url: row.base_url.as_ref().map(ToString::to_string),
        network: if row.options.private_network { NetworkDocument::Private } else { NetworkDocument::Public },
        dialects: row.options.dialects.clone(),
        headers: row.options.headers.clone(),
        models: row.options.models.clone(),
        refuses_stream_options: row.options.refuses_stream_options,
        streaming: row.options.streaming,
        strategy: row.options.policy.strategy,
        model_map: row.options.policy.model_map.clone(),
        timeouts: row.options.policy.timeouts.clone(),
        retry: row.options.policy.retry.clone(),
        failover: row.options.policy.failover.clone(),
        rest: row.options.policy.rest.clone(),
        breaker: row.options.policy.breaker.clone(),
        quotas: row.options.policy.quotas.clone(),
        oauth: row.options.oauth.as_ref().map(|oauth| OAuthDocument {
            token_url: oauth.token_url.clone(),
            client_id: oauth.client_id.clone(),
            client_secret: None,
            scope: oauth.scope.clone(),
            margin_seconds: oauth.margin_seconds,
            refresh_statuses: oauth.refresh_statuses.clone(),
        }),
        rule_sets: row.options.rule_sets.clone(),
        rewrite: row.options.rewrite.clone(),
        enabled: row.enabled,
        credentials: credentials.remove(&row.id),
    });
    let routes = stored.routes.iter().map(|row| RouteDocument {
        name: row.name.to_string(),
        max_attempts: row.options.max_attempts,
        strict: row.options.strict,
        server_tools: row.options.server_tools,
        strategy: row.options.strategy,
        matching: row.options.matching.clone(),
        enabled: row.enabled,
        members: members.remove(&row.id).unwrap_or_default(),
    });
    let rule_sets =
        stored.rule_sets.iter().map(|row| RuleSetDocument { name: row.name.to_string(), rules: row.rules.clone() });
    let keys = stored.keys.iter().map(|row| KeyDocument {
        name: row.name.to_string(),
        key: None,
        expires_at: row.expires_at.map(rfc3339),
        enabled: row.enabled,
    });
    Document {
        settings: (stored.settings != Settings::default()).then(|| stored.settings.clone()),
        // Most instances have none.
        rule_sets: (!stored.rule_sets.is_empty()).then(|| rule_sets.collect()),
        providers: Some(providers.collect()),
        routes: Some(routes.collect()),
        keys: Some(keys.collect()),
    }
}
