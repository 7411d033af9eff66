//! Which JSON Schemas OpenAI's models can be held to (<https://developers.openai.com/api/docs/guides/structured-outputs>).

use serde_json::{Map, Value};

use crate::protocol::wire::Raw;

/// What makes the vendor refuse a schema with `strict`.
const REFUSED: [&str; 9] =
    ["allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas", "patternProperties"];

/// Whether `strict` can stand beside `schema`: every object is closed, and each of its members is required.
pub(super) fn is_enforceable(schema: &Raw<'_>) -> bool {
    schema.read::<Value>().is_ok_and(|schema| schema.get("type").is_some_and(|kind| kind == "object") && holds(&schema))
}

fn holds(schema: &Value) -> bool {
    let Value::Object(schema) = schema else { return schema.is_boolean() };
    if REFUSED.iter().any(|word| schema.contains_key(*word)) {
        return false;
    }
    let members = ["properties", "$defs", "definitions"].into_iter().filter_map(|word| schema.get(word)?.as_object());
    let alternatives = schema.get("anyOf").and_then(Value::as_array);
    is_closed(schema)
        && members.flat_map(Map::values).all(holds)
        && alternatives.is_none_or(|alternatives| alternatives.iter().all(holds))
        && schema.get("items").is_none_or(holds)
}

fn is_closed(schema: &Map<String, Value>) -> bool {
    let is_object = schema.contains_key("properties")
        || schema.get("type").is_some_and(|kind| {
            kind == "object" || kind.as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "object"))
        });
    if !is_object {
        return true;
    }
    let required: Vec<&str> =
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let properties = schema.get("properties").and_then(Value::as_object);
    schema.get("additionalProperties") == Some(&Value::Bool(false))
        && properties.is_none_or(|properties| properties.keys().all(|name| required.contains(&name.as_str())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_object_has_to_be_closed_and_complete() {
        let holds = |text| is_enforceable(&Raw::parse(text).unwrap());
        assert!(holds(
            r#"{"type":"object","properties":{"a":{"type":["string","null"]}},"required":["a"],"additionalProperties":false}"#
        ));
        for text in [
            r#"{"type":"string"}"#,
            r#"{"type":"object","properties":{"a":{}},"required":["a"]}"#,
            r#"{"type":"object","properties":{"a":{}},"additionalProperties":false}"#,
            r#"{"type":"object","properties":{"a":{"items":{"type":"object"}}},"required":["a"],"additionalProperties":false}"#,
            r#"{"type":"object","properties":{"a":{"oneOf":[]}},"required":["a"],"additionalProperties":false}"#,
        ] {
            assert!(!holds(text), "{text}");
        }
    }
}
