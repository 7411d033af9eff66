//! The models that a caller may name.

use std::collections::BTreeMap;

use crate::engine::snapshot::{Provider, Snapshot};
use crate::protocol::models::ModelEntry;

/// Who is told to own a route.
const ROUTE_OWNER: &str = "tollgate";

/// All models by name: the routes that somebody serves, and for each provider the models that it lists. In a namespace a provider's
/// models have their own names, and only those of its providers are there.
pub fn model_list(snapshot: &Snapshot, namespace: Option<&str>) -> Vec<ModelEntry> {
    let mut models = BTreeMap::new();
    if let Some(namespace) = namespace {
        for member in snapshot.routing.serving(namespace) {
            for model in &member.provider.models {
                models.insert(model.clone(), bare_entry(&member.provider, model));
            }
        }
        return models.into_values().collect();
    }
    for provider in snapshot.routing.providers.values() {
        for model in &provider.models {
            let entry = provider_entry(provider, model);
            models.insert(entry.id.clone(), entry);
        }
    }
    // A route goes before a provider's model of the same name, as it does when the name is resolved.
    for route in snapshot.routing.routes.values().filter(|route| !route.members.list().is_empty()) {
        let entry = ModelEntry {
            id: route.name.to_string(),
            created: route.created_at.seconds(),
            owner: ROUTE_OWNER.to_owned(),
        };
        models.insert(entry.id.clone(), entry);
    }
    models.into_values().collect()
}

/// The model `name`, if a call to it would have somewhere to go.
pub fn model_get(snapshot: &Snapshot, name: &str, namespace: Option<&str>) -> Option<ModelEntry> {
    if let Some(route) = snapshot.routing.routes.get(name).filter(|route| !route.members.list().is_empty()) {
        let (id, created) = (name.to_owned(), route.created_at.seconds());
        return Some(ModelEntry { id, created, owner: ROUTE_OWNER.to_owned() });
    }
    if let Some(namespace) = namespace {
        let member = snapshot.routing.serving(namespace).next()?;
        return Some(bare_entry(&member.provider, name));
    }
    let (provider, model) = name.split_once('/').filter(|(_, model)| !model.is_empty())?;
    Some(provider_entry(snapshot.routing.providers.get(provider)?, model))
}

fn provider_entry(provider: &Provider, model: &str) -> ModelEntry {
    ModelEntry { id: format!("{}/{model}", provider.name), ..bare_entry(provider, model) }
}

fn bare_entry(provider: &Provider, model: &str) -> ModelEntry {
    ModelEntry { id: model.to_owned(), created: provider.created_at.seconds(), owner: provider.name.to_string() }
}
