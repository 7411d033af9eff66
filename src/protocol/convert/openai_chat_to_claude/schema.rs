//! JSON Schemas that Claude's answers and calls are sure to follow
//! (<https://platform.claude.com/docs/en/build-with-claude/structured-outputs>).
//!
//! Claude knows a part of JSON Schema there and refuses the rest. What it does not know becomes words in the description, as the
//! vendor's SDKs do it (`transform_schema` in `anthropic` 2.14.0), where the model still reads it.

use serde_json::{Map, Value};

/// Deepest schema that is looked into; the reader of requests allows no deeper one.
const MAX_DEPTH: usize = 100;

/// `schema` as Claude takes it, and whether it says less than before.
pub fn strict(schema: Value) -> (Value, bool) {
    let mut is_changed = false;
    let schema = node(schema, &mut is_changed, 0);
    (schema, is_changed)
}

fn node(schema: Value, is_changed: &mut bool, depth: usize) -> Value {
    let Value::Object(members) = schema else { return schema };
    if depth > MAX_DEPTH {
        *is_changed = true;
        return Value::Object(Map::new());
    }
    let is_object = members.contains_key("properties") || is_of(&members, "object");
    let (mut kept, mut told) = (Map::new(), Vec::new());
    for (name, value) in members {
        match (&*name, value) {
            ("properties" | "$defs" | "definitions", Value::Object(schemas)) => {
                let schemas = schemas.into_iter().map(|(name, schema)| (name, node(schema, is_changed, depth + 1)));
                kept.insert(name, Value::Object(schemas.collect()));
            }
            ("anyOf" | "allOf" | "oneOf", Value::Array(schemas)) => {
                let schemas = schemas.into_iter().map(|schema| node(schema, is_changed, depth + 1)).collect();
                let name = if name == "oneOf" { "anyOf".to_owned() } else { name };
                kept.insert(name, Value::Array(schemas));
            }
            ("items", schema @ Value::Object(_)) => {
                kept.insert(name, node(schema, is_changed, depth + 1));
            }
            ("additionalProperties", Value::Bool(false)) => {}
            ("$schema", _) => {}
            ("minItems", value) if matches!(value.as_u64(), Some(0 | 1)) => {
                kept.insert(name, value);
            }
            ("format", Value::String(format)) if FORMATS.contains(&&*format) => {
                kept.insert(name, format.into());
            }
            (
                "type" | "title" | "description" | "enum" | "const" | "default" | "required" | "$ref" | "pattern",
                value,
            ) => {
                kept.insert(name, value);
            }
            (_, value) => told.push(format!("{name}: {value}")),
        }
    }
    if is_object {
        kept.insert("additionalProperties".to_owned(), false.into());
    }
    if !told.is_empty() {
        *is_changed = true;
        let told = format!("{{{}}}", told.join(", "));
        let description = match kept.get("description").and_then(Value::as_str) {
            Some(description) => format!("{description}\n\n{told}"),
            None => told,
        };
        kept.insert("description".to_owned(), description.into());
    }
    Value::Object(kept)
}

/// The formats of strings that Claude keeps to.
const FORMATS: [&str; 9] = ["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6"];

fn is_of(members: &Map<String, Value>, kind: &str) -> bool {
    match members.get("type") {
        Some(Value::String(own)) => own == kind,
        Some(Value::Array(kinds)) => kinds.iter().any(|own| own == kind),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_claude_does_not_know_is_told_in_words() {
        let (schema, is_changed) = strict(json!({
            "$schema": "x",
            "type": "object",
            "properties": {
                "minimum": {"type": "integer", "minimum": 1, "description": "How many."},
                "names": {"type": "array", "minItems": 2, "items": {"oneOf": [{"type": "string"}, {"type": "null"}]}},
            },
            "required": ["minimum"],
        }));
        assert!(is_changed);
        let wanted = json!({
            "type": "object",
            "properties": {
                "minimum": {"type": "integer", "description": "How many.\n\n{minimum: 1}"},
                "names": {
                    "type": "array",
                    "items": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                    "description": "{minItems: 2}",
                },
            },
            "required": ["minimum"],
            "additionalProperties": false,
        });
        assert_eq!(schema, wanted);
        let again = strict(wanted.clone());
        assert_eq!(again, (wanted, false));
    }
}
