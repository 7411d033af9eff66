//! Which JSON Schemas OpenAI's models can be held to (<https://developers.openai.com/api/docs/guides/structured-outputs>).

use serde_json::Value;

/// Whether each object names all its properties as required and allows no others, without which OpenAI refuses `strict`.
pub fn is_strict(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => {
            let own = match members.get("properties") {
                Some(Value::Object(properties)) => {
                    let required = members.get("required").and_then(Value::as_array);
                    let is_required = |name: &String| {
                        required.is_some_and(|required| required.iter().any(|entry| entry.as_str() == Some(name)))
                    };
                    members.get("additionalProperties") == Some(&Value::Bool(false))
                        && properties.keys().all(is_required)
                        && properties.values().all(is_strict)
                }
                _ => members.get("type").is_none_or(|kind| kind != "object"),
            };
            let others =
                members.iter().filter(|(name, _)| !matches!(&***name, "properties" | "enum" | "const" | "default"));
            own && others.map(|(_, value)| value).all(is_strict)
        }
        Value::Array(values) => values.iter().all(is_strict),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_property_has_to_be_required() {
        let object = |required: Value| json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": required, "additionalProperties": false});
        assert!(is_strict(&object(json!(["a"]))));
        assert!(!is_strict(&object(json!([]))));
        assert!(is_strict(&json!({"type": "array", "items": object(json!(["a"]))})));
        assert!(!is_strict(&json!({"anyOf": [object(json!([])), {"type": "null"}]})));
        assert!(!is_strict(&json!({"type": "object"})));
        assert!(is_strict(&json!({"type": "string"})));
    }
}
