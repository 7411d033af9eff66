//! OpenAI's model list (<https://developers.openai.com/api/reference/resources/models>). It has no pages.

use serde_json::{Value, json};

use crate::protocol::models::ModelEntry;

/// The answer to `GET /v1/models`.
pub fn list(models: &[ModelEntry]) -> Value {
    json!({"object": "list", "data": models.iter().map(one).collect::<Vec<_>>()})
}

/// The answer to `GET /v1/models/{model}`.
pub fn one(model: &ModelEntry) -> Value {
    json!({"id": model.id, "object": "model", "created": model.created, "owned_by": model.owner})
}
