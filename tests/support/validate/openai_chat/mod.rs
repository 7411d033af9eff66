//! OpenAI Chat Completions.
//!
//! <https://developers.openai.com/api/reference/resources/chat>, the types of openai (Python) 3.57.0.

mod request;
mod response;
mod stream;

use std::sync::LazyLock;

use serde_json::json;

use super::schema::Schema;
pub(super) use request::request;
pub(super) use response::response;
pub(super) use stream::stream;

/// The SDK's types, with what the vendor or its clients know beyond them.
static SCHEMA: LazyLock<Schema> = LazyLock::new(|| {
    let mut schema = Schema::parse(include_str!("../schemas/openai_chat.json"));
    let text = json!({"anyOf": [{"type": "string"}, {"type": "null"}]});
    let objects = json!({"type": "array", "items": {"type": "object"}});
    let messages = ["ChatCompletionMessage", "ChoiceDelta"];
    // DeepSeek, vLLM and their clients.
    schema.declare(&messages, "reasoning_content", &text);
    // <https://docs.litellm.ai/docs/reasoning_content>, <https://openrouter.ai/docs/use-cases/reasoning-tokens>
    schema.declare(&messages, "thinking_blocks", &objects);
    schema.declare(&messages, "reasoning_details", &objects);
    // <https://openrouter.ai/docs/features/multimodal/image-generation>
    schema.declare(&messages, "images", &objects);
    // <https://openrouter.ai/docs/features/web-search>
    schema.declare(&["AnnotationURLCitation"], "content", &json!({"type": "string"}));
    // <https://ai.google.dev/gemini-api/docs/thought-signatures#openai>
    let signed =
        ["ChatCompletionMessage", "ChoiceDelta", "ChatCompletionMessageFunctionToolCall", "ChoiceDeltaToolCall"];
    schema.declare(&signed, "extra_content", &json!({"type": "object"}));
    schema.declare(&["ChoiceDelta"], "annotations", &json!({"type": "array", "items": {"$ref": "Annotation"}}));
    // The SDK's type of a fragment knows functions only; the vendor streams custom tools as well.
    schema.declare(&["ChoiceDeltaToolCall"], "type", &json!({"enum": ["function", "custom"]}));
    let custom = json!({"type": "object", "properties": {"name": {"type": "string"}, "input": {"type": "string"}},
        "additionalProperties": false});
    schema.declare(&["ChoiceDeltaToolCall"], "custom", &custom);
    schema
});
