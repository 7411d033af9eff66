//! Gemini's model list (<https://ai.google.dev/api/models>).

use serde_json::{Value, json};

use crate::protocol::models::{ModelEntry, Page};

const DEFAULT_PAGE_SIZE: usize = 50;
const MAX_PAGE_SIZE: usize = 1000;

/// The answer to `GET /v1beta/models`, one page of it. A page token is the name of the last model of the page before.
pub fn list(models: &[ModelEntry], page_size: Option<usize>, page_token: Option<&str>) -> Value {
    let size = page_size.filter(|size| *size > 0).unwrap_or(DEFAULT_PAGE_SIZE).min(MAX_PAGE_SIZE);
    let page = Page::after(models, page_token, size);
    let models: Vec<Value> = page.models.iter().map(one).collect();
    match page.models.last() {
        Some(last) if page.has_more => json!({"models": models, "nextPageToken": last.id}),
        _ => json!({"models": models}),
    }
}

/// The answer to `GET /v1beta/models/{model}`.
pub fn one(model: &ModelEntry) -> Value {
    json!({
        "name": format!("models/{}", model.id),
        "baseModelId": model.id,
        "version": "1",
        "displayName": model.id,
        "supportedGenerationMethods": ["generateContent", "streamGenerateContent", "countTokens"],
    })
}
