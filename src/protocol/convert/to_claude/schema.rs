//! JSON Schemas as Claude takes them: those of arguments, and those that answers and calls are sure to follow
//! (<https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations>).
//!
//! Claude can be held to a part of JSON Schema and refuses the rest. What it does not know becomes words in the description, as the
//! vendor's SDKs do it (`transform_schema` in `anthropic` 2.14.0), where the model still reads it.

use serde_json::{Map, Value, json};

use crate::protocol::convert::{ConvertError, Losses};
use crate::protocol::wire::Raw;

/// Deepest schema that is looked into; the reader of requests allows no deeper one.
const MAX_DEPTH: usize = 100;

/// The formats of texts that Claude keeps to.
const FORMATS: [&str; 10] =
    ["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"];

/// Alternatives, which Claude refuses at the top of a function's schema.
const ALTERNATIVES: [&str; 3] = ["anyOf", "oneOf", "allOf"];

/// The schema of a function's arguments: of type `object` and without alternatives at its top, both of which Claude demands. Some
/// clients leave the type out, or send `{}` for "no parameters".
pub fn of_arguments<'a>(given: Option<Raw<'a>>, path: &str, losses: &mut Losses) -> Result<Raw<'a>, ConvertError> {
    let Some(given) = given else { return own(&json!({"type": "object", "properties": {}}), path) };
    let Value::Object(mut schema) = read(&given, path)? else {
        return Err(ConvertError::invalid(path, "the schema of a function's arguments has to be an object"));
    };
    let is_object = schema.get("type").is_some_and(|kind| kind == "object");
    let has_alternatives = ALTERNATIVES.iter().any(|word| schema.contains_key(*word));
    if is_object && !has_alternatives {
        return Ok(given);
    }
    if has_alternatives {
        ALTERNATIVES.iter().for_each(|word| {
            schema.shift_remove(*word);
        });
        losses.add(path, "alternatives at the top of a schema are left out, Claude refuses them");
    }
    schema.insert("type".to_owned(), "object".into());
    schema.entry("properties").or_insert_with(|| json!({}));
    own(&Value::Object(schema), path)
}

/// The schema to hold an answer to: all objects closed, and what cannot be enforced told in descriptions.
pub fn of_answer<'a>(given: &Raw<'_>, path: &str, losses: &mut Losses) -> Result<Raw<'a>, ConvertError> {
    let (schema, changes) = strict(read(given, path)?);
    if changes.says_less {
        losses.add(path, "what cannot be enforced of the schema is told in its descriptions");
    }
    own(&schema, path)
}

/// The schema that calls can be held to with `strict`, if that says the same as `given`.
pub fn enforceable<'a>(given: &Raw<'_>) -> Option<Raw<'a>> {
    let (schema, changes) = strict(given.read().ok()?);
    Raw::of(&schema).ok().filter(|_| changes == Changes::default())
}

/// What making a schema strict has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Changes {
    /// Something is only told.
    says_less: bool,
    /// Something is demanded that was not: an object may have no further members, alternatives may match both.
    says_else: bool,
}

fn strict(schema: Value) -> (Value, Changes) {
    let mut changes = Changes::default();
    let schema = node(schema, &mut changes, 0);
    (schema, changes)
}

fn node(schema: Value, changes: &mut Changes, depth: usize) -> Value {
    let Value::Object(members) = schema else { return schema };
    if depth > MAX_DEPTH {
        changes.says_less = true;
        return Value::Object(Map::new());
    }
    let is_object = members.contains_key("properties") || is_of(&members, "object");
    changes.says_else |= is_object && members.get("additionalProperties") != Some(&Value::Bool(false));
    let (mut kept, mut told) = (Map::new(), Vec::new());
    for (name, value) in members {
        match (&*name, value) {
            ("properties" | "$defs" | "definitions", Value::Object(schemas)) => {
                let schemas = schemas.into_iter().map(|(name, schema)| (name, node(schema, changes, depth + 1)));
                kept.insert(name, Value::Object(schemas.collect()));
            }
            ("anyOf" | "allOf" | "oneOf", Value::Array(schemas)) => {
                let schemas = schemas.into_iter().map(|schema| node(schema, changes, depth + 1)).collect();
                changes.says_else |= name == "oneOf";
                let name = if name == "oneOf" { "anyOf".to_owned() } else { name };
                kept.insert(name, Value::Array(schemas));
            }
            ("items", schema @ Value::Object(_)) => {
                kept.insert(name, node(schema, changes, depth + 1));
            }
            ("additionalProperties", Value::Bool(false)) => {}
            // They say nothing about the answer.
            ("$schema" | "$id" | "$comment" | "example" | "examples" | "propertyOrdering" | "nullable", _) => {}
            ("minItems", value) if matches!(value.as_u64(), Some(0 | 1)) => {
                kept.insert(name, value);
            }
            ("format", Value::String(format)) if FORMATS.contains(&&*format) => {
                kept.insert(name, format.into());
            }
            ("type" | "title" | "description" | "enum" | "const" | "default" | "required" | "$ref", value) => {
                kept.insert(name, value);
            }
            (_, value) => told.push(format!("{name}: {value}")),
        }
    }
    if is_object {
        kept.insert("additionalProperties".to_owned(), false.into());
    }
    if !told.is_empty() {
        changes.says_less = true;
        let told = format!("{{{}}}", told.join(", "));
        let description = match kept.get("description").and_then(Value::as_str) {
            Some(description) => format!("{description}\n\n{told}"),
            None => told,
        };
        kept.insert("description".to_owned(), description.into());
    }
    Value::Object(kept)
}

fn is_of(members: &Map<String, Value>, kind: &str) -> bool {
    match members.get("type") {
        Some(Value::String(own)) => own == kind,
        Some(Value::Array(kinds)) => kinds.iter().any(|own| own == kind),
        _ => false,
    }
}

fn read(schema: &Raw<'_>, path: &str) -> Result<Value, ConvertError> {
    schema.read().map_err(|error| ConvertError::invalid(path, error.to_string()))
}

fn own<'a>(schema: &Value, path: &str) -> Result<Raw<'a>, ConvertError> {
    Raw::of(schema).map_err(|error| ConvertError::invalid(path, error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_claude_does_not_know_is_told_in_words() {
        let (schema, changes) = strict(json!({
            "$schema": "x",
            "type": "object",
            "properties": {
                "minimum": {"type": "integer", "minimum": 1, "description": "How many."},
                "names": {"type": "array", "minItems": 2, "items": {"oneOf": [{"type": "string"}, {"type": "null"}]}},
                "id": {"anyOf": [{"type": "string", "format": "uuid"}, {"type": "string", "format": "color"}]},
            },
            "required": ["minimum"],
        }));
        assert_eq!(changes, Changes { says_less: true, says_else: true });
        let wanted = json!({
            "type": "object",
            "properties": {
                "minimum": {"type": "integer", "description": "How many.\n\n{minimum: 1}"},
                "names": {
                    "type": "array",
                    "items": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                    "description": "{minItems: 2}",
                },
                "id": {"anyOf": [
                    {"type": "string", "format": "uuid"},
                    {"type": "string", "description": "{format: \"color\"}"},
                ]},
            },
            "required": ["minimum"],
            "additionalProperties": false,
        });
        assert_eq!(schema, wanted);
        assert_eq!(strict(wanted.clone()), (wanted, Changes::default()));
    }

    #[test]
    fn calls_are_held_to_schemas_that_stay_the_same() {
        assert!(enforceable(&Raw::parse(r#"{"type":"object","properties":{}}"#).unwrap()).is_none());
        let closed = r#"{"type":"object","properties":{"a":{"type":["string","null"]}},"additionalProperties":false}"#;
        assert_eq!(enforceable(&Raw::parse(closed).unwrap()).unwrap().get(), closed);
    }

    #[test]
    fn arguments_are_an_object() {
        let mut losses = Losses::default();
        let empty = r#"{"type":"object","properties":{}}"#;
        let of = |text, losses: &mut Losses| {
            of_arguments(Some(Raw::parse(text).unwrap()), "p", losses).map(|schema| schema.get().to_owned())
        };
        assert_eq!(of_arguments(None, "p", &mut losses).unwrap().get(), empty);
        assert_eq!(of(r#"{"type":"object"}"#, &mut losses).unwrap(), r#"{"type":"object"}"#);
        assert_eq!(of("{}", &mut losses).unwrap(), empty);
        assert!(losses.is_empty() && of("[]", &mut losses).is_err());
        assert_eq!(of(r#"{"type":"object","anyOf":[{}]}"#, &mut losses).unwrap(), empty);
        assert!(losses.matters());
    }
}
