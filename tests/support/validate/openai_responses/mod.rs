//! OpenAI Responses.
//!
//! <https://developers.openai.com/api/reference/resources/responses>, the types of openai (Python) 3.57.0.

mod request;
mod response;
mod stream;

use std::sync::LazyLock;

use serde_json::json;

use super::schema::Schema;
pub(super) use request::request;
pub(super) use response::response;
pub(super) use stream::stream;

/// The SDK's types, with what the vendor knows beyond them.
static SCHEMA: LazyLock<Schema> = LazyLock::new(|| {
    let mut schema = Schema::parse(include_str!("../schemas/openai_responses.json"));
    let flag = json!({"type": "boolean"});
    schema.declare(&["Response"], "store", &flag);
    schema.declare(
        &["ResponseCustomToolCall", "ResponseCustomToolCallParam"],
        "status",
        &json!({"enum": ["in_progress", "completed", "incomplete"]}),
    );
    // The vendor sends codes that the SDK does not list, such as `context_length_exceeded`.
    schema.declare(&["ResponseError"], "code", &json!({"type": "string"}));
    schema.optional("ResponseFunctionWebSearch", &["action"]);
    // A message of the model may be sent back without what the server gave it.
    schema.optional("ResponseOutputMessageParam", &["id", "status", "type"]);
    schema.optional("ResponseOutputTextParam", &["annotations"]);
    schema.optional("ResponseInputImageParam", &["detail"]);
    schema.optional("FunctionToolParam", &["strict"]);
    schema
});
