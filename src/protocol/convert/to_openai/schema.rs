//! Which JSON Schemas OpenAI's models can be held to
//! (<https://developers.openai.com/api/docs/guides/structured-outputs#supported-schemas>).

use serde_json::{Map, Value};

use crate::protocol::wire::Raw;

/// What is said of a schema, or of `strict`, where the model is shown the schema and not held to it.
pub const NOT_STRICT: &str = "is followed less strictly, OpenAI demands closed objects whose members are all required";

/// What makes the vendor refuse a schema with `strict`.
const REFUSED: [&str; 9] =
    ["allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas", "patternProperties"];

/// Whether `strict` can stand beside `schema`: it is of an object, and every object is closed and demands all of its members.
pub fn is_enforceable(schema: &Raw<'_>) -> bool {
    schema.read::<Value>().is_ok_and(|schema| schema.get("type").is_some_and(|kind| kind == "object") && holds(&schema))
}

fn holds(schema: &Value) -> bool {
    let Value::Object(schema) = schema else { return schema.is_boolean() };
    if REFUSED.iter().any(|word| schema.contains_key(*word)) {
        return false;
    }
    let members = ["properties", "$defs", "definitions"].into_iter().filter_map(|word| schema.get(word)?.as_object());
    let lists = ["anyOf", "prefixItems"].into_iter().filter_map(|word| schema.get(word)?.as_array());
    is_closed(schema)
        && members.flat_map(Map::values).all(holds)
        && lists.flatten().all(holds)
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
        let is = |schema: Value| is_enforceable(&Raw::of(&schema).unwrap());
        let object = |required: Value| {
            serde_json::json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": required,
                "additionalProperties": false})
        };
        let within = |inner: Value| serde_json::json!({"type": "object", "properties": {"x": inner}, "required": ["x"], "additionalProperties": false});
        let whole = object(serde_json::json!(["a"]));
        let part = object(serde_json::json!([]));
        assert!(is(whole.clone()) && is(within(serde_json::json!({"type": "array", "items": whole}))));
        assert!(!is(part.clone()) && !is(within(serde_json::json!({"anyOf": [part, {"type": "null"}]}))));
        for schema in [
            serde_json::json!({"type": "object"}),
            serde_json::json!({"type": "string"}),
            within(serde_json::json!({"oneOf": [{"type": "string"}]})),
        ] {
            assert!(!is(schema.clone()), "{schema}");
        }
    }
}
