//! Claude's model list (<https://platform.claude.com/docs/en/api/models-list>).

use serde_json::{Value, json};

use crate::protocol::models::{ModelEntry, Page};

const DEFAULT_LIMIT: usize = 20;
const MAX_LIMIT: usize = 1000;

/// The answer to `GET /v1/models`, one page of it: `limit`, `after_id` and `before_id` as in the query.
pub fn list(models: &[ModelEntry], limit: Option<usize>, after_id: Option<&str>, before_id: Option<&str>) -> Value {
    let limit = limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT);
    let page = match before_id {
        Some(before) => Page::before(models, before, limit),
        None => Page::after(models, after_id, limit),
    };
    let id = |model: Option<&ModelEntry>| model.map(|model| model.id.clone());
    json!({
        "data": page.models.iter().map(one).collect::<Vec<_>>(),
        "has_more": page.has_more,
        "first_id": id(page.models.first()),
        "last_id": id(page.models.last()),
    })
}

/// The answer to `GET /v1/models/{model}`.
pub fn one(model: &ModelEntry) -> Value {
    let created_at = jiff::Timestamp::from_second(model.created).unwrap_or_default();
    json!({
        "type": "model",
        "id": model.id,
        "display_name": model.id,
        "created_at": created_at.to_string(),
        "lifecycle": "active",
    })
}
