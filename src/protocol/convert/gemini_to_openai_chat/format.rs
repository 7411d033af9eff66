//! What the answer has to look like.

use serde_json::Value;
use tollgate_macros::Read;

use crate::protocol::convert::Notes;
use crate::protocol::convert::to_openai::schema::{NOT_STRICT, is_enforceable};
use crate::protocol::gemini::json_schema;
use crate::protocol::gemini::wire::request::GenerationConfig;
use crate::protocol::json::compact;
use crate::protocol::openai_chat::wire::content::{Content, Part};
use crate::protocol::openai_chat::wire::message::{Message, Role};
use crate::protocol::openai_chat::wire::request::{JsonSchema, JsonSchemaFormat, Request as Target, ResponseFormat};
use crate::protocol::openai_chat::wire::tools::Bare;
use crate::protocol::wire::{Raw, Text};

/// What Chat Completions wants a schema to be called.
const NAME: &str = "answer";

/// Adds the form of the answer to `target`, whose messages are there.
pub(super) fn response_format<'a>(config: &'a GenerationConfig<'a>, target: &mut Target<'a>, notes: &mut Notes) {
    let schema = match (&config.response_json_schema, &config.response_schema) {
        (Some(schema), _) => Some(schema.by_ref()),
        (None, Some(schema)) => Some(json_schema::standard(schema)),
        (None, None) => None,
    };
    let schema = match (config.response_mime_type.as_deref(), schema) {
        (None | Some("text/plain"), _) => return,
        (Some("application/json"), None) => {
            target.response_format = Some(ResponseFormat::JsonObject(Bare {}));
            // OpenAI refuses the format where nothing in the messages asks for JSON.
            if !target.messages.iter().any(says_json) {
                instruct("Answer with a JSON object.".into(), target);
            }
            return;
        }
        (Some("application/json"), Some(schema)) if is_object(&schema) => schema,
        (Some("application/json"), Some(schema)) => {
            // OpenAI knows only answers that are objects.
            notes.losses.add("generationConfig.responseSchema", "is told to the model and not enforced");
            instruct(format!("Answer only with JSON that follows this JSON Schema: {}", compact(schema.get())), target);
            return;
        }
        (Some("text/x.enum"), Some(schema)) => {
            notes.losses.add("generationConfig.responseSchema", "is told to the model and not enforced");
            let words = schema.read::<Enum<'_>>().map(|schema| schema.words).unwrap_or_default();
            let words: Vec<_> = words.iter().map(|word| &**word).collect();
            instruct(format!("Answer only with one of these, and nothing else: {}", words.join(", ")), target);
            return;
        }
        (Some(_), _) => {
            notes.losses.add("generationConfig.responseMimeType", "the answer is not kept to this form");
            return;
        }
    };
    let is_strict = is_enforceable(&schema);
    if !is_strict {
        notes.losses.add("generationConfig.responseSchema", NOT_STRICT);
    }
    target.response_format = Some(ResponseFormat::JsonSchema(JsonSchemaFormat {
        json_schema: JsonSchema {
            name: NAME.into(),
            description: None,
            schema: Some(schema),
            strict: is_strict.then_some(true),
        },
    }));
}

/// The words of an enum.
#[derive(Read)]
struct Enum<'a> {
    #[serde(borrow, default, rename = "enum")]
    words: Vec<Text<'a>>,
}

/// Adds a message of the application after those that are there.
fn instruct(text: String, target: &mut Target<'_>) {
    let place = target.messages.iter().take_while(|message| message.role == Role::System).count();
    let content = Some(Content::Text(text.into()));
    target.messages.insert(place, Message { role: Role::System, content, ..Message::default() });
}

fn is_object(schema: &Raw<'_>) -> bool {
    schema.read::<Value>().is_ok_and(|schema| schema.get("type").is_some_and(|kind| kind == "object"))
}

fn says_json(message: &Message<'_>) -> bool {
    let says = |text: &str| text.as_bytes().windows(4).any(|word| word.eq_ignore_ascii_case(b"json"));
    match &message.content {
        None => false,
        Some(Content::Text(text)) => says(text),
        Some(Content::Parts(parts)) => parts.iter().any(|part| matches!(part, Part::Text(part) if says(&part.text))),
    }
}
