//! JSON Schemas as Claude takes them.

use serde_json::{Map, Value, json};

use crate::protocol::convert::{ConvertError, Losses};
use crate::protocol::wire::Raw;

/// Formats of strings that Claude keeps to.
const FORMATS: [&str; 10] =
    ["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"];

/// The schema of a function's arguments: of type `object`, without alternatives at its top, both of which Claude demands.
pub(super) fn of_arguments<'a>(
    parameters: Option<&'a Raw<'a>>,
    path: &str,
    losses: &mut Losses,
) -> Result<Raw<'a>, ConvertError> {
    let Some(parameters) = parameters else { return own(&json!({"type": "object", "properties": {}}), path) };
    let schema: Value = parse(parameters, path)?;
    let Value::Object(mut schema) = schema else {
        return Err(ConvertError::invalid(path, "the schema of a function's arguments has to be an object"));
    };
    let is_object = schema.get("type").is_some_and(|kind| kind == "object");
    let alternatives = ["anyOf", "oneOf", "allOf"].iter().any(|word| schema.contains_key(*word));
    if is_object && !alternatives {
        return Ok(parameters.by_ref());
    }
    for word in ["anyOf", "oneOf", "allOf"] {
        if schema.shift_remove(word).is_some() {
            losses.add(path, "alternatives at the top of a schema are left out, Claude refuses them");
        }
    }
    schema.insert("type".to_owned(), Value::from("object"));
    own(&Value::Object(schema), path)
}

/// The schema that Claude can be held to for `schema` with `strict`, if that is the same.
pub(super) fn enforceable<'a>(schema: &Raw<'_>) -> Option<Raw<'a>> {
    let mut changes = 0;
    let restricted = restrict(schema.read().ok()?, &mut changes);
    Raw::of(&restricted).ok().filter(|_| changes == 0)
}

/// The schema that Claude can be held to for `schema`: what it does not know becomes part of the descriptions, as its own SDKs
/// do it (`transform_schema` of anthropic 2.14.0), and objects are closed.
pub(super) fn of_output<'a>(schema: &Raw<'_>, path: &str, losses: &mut Losses) -> Result<Raw<'a>, ConvertError> {
    let mut changes = 0;
    let restricted = restrict(parse(schema, path)?, &mut changes);
    if changes > 0 {
        losses.add(path, "what Claude does not enforce of a schema is told in its descriptions");
    }
    own(&restricted, path)
}

fn parse(schema: &Raw<'_>, path: &str) -> Result<Value, ConvertError> {
    schema.read().map_err(|error| ConvertError::invalid(path, error.to_string()))
}

fn own<'a>(schema: &Value, path: &str) -> Result<Raw<'a>, ConvertError> {
    Raw::of(schema).map_err(|error| ConvertError::invalid(path, error.to_string()))
}

fn restrict(schema: Value, changes: &mut usize) -> Value {
    let Value::Object(mut schema) = schema else { return schema };
    let mut out = Map::new();
    let mut rest = Map::new();
    let is_object =
        schema.get("type").is_some_and(|kind| includes(kind, "object")) || schema.contains_key("properties");
    if is_object && schema.get("additionalProperties") != Some(&Value::Bool(false)) {
        *changes += 1;
    }
    if is_object {
        schema.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    for (word, value) in schema {
        match (word.as_str(), value) {
            ("$defs" | "definitions" | "properties", Value::Object(members)) => {
                let members = members.into_iter().map(|(name, member)| (name, restrict(member, changes)));
                out.insert(word, Value::Object(members.collect()));
            }
            ("anyOf" | "allOf", Value::Array(members)) => {
                let members = members.into_iter().map(|member| restrict(member, changes));
                out.insert(word, members.collect());
            }
            ("oneOf", Value::Array(members)) => {
                *changes += 1;
                let members = members.into_iter().map(|member| restrict(member, changes));
                out.insert("anyOf".to_owned(), members.collect());
            }
            ("items", value @ Value::Object(_)) => {
                out.insert(word, restrict(value, changes));
            }
            ("$ref" | "type" | "enum" | "const" | "title" | "description" | "default" | "required", value) => {
                out.insert(word, value);
            }
            ("additionalProperties", value @ Value::Bool(false)) => {
                out.insert(word, value);
            }
            ("format", Value::String(format)) if FORMATS.contains(&format.as_str()) => {
                out.insert(word, Value::String(format));
            }
            ("minItems", value) if value == 0 || value == 1 => {
                out.insert(word, value);
            }
            ("$schema" | "$id" | "$comment", _) => {}
            (_, value) => {
                *changes += 1;
                rest.insert(word, value);
            }
        }
    }
    if !rest.is_empty() {
        describe(&mut out, &rest);
    }
    Value::Object(out)
}

fn includes(kind: &Value, word: &str) -> bool {
    kind == word || kind.as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == word))
}

/// Tells in the description what cannot be enforced.
fn describe(schema: &mut Map<String, Value>, rest: &Map<String, Value>) {
    let rest: Vec<String> = rest.iter().map(|(word, value)| format!("{word}: {value}")).collect();
    let rest = format!("{{{}}}", rest.join(", "));
    let description = match schema.get("description").and_then(Value::as_str) {
        Some(description) => format!("{description}\n\n{rest}"),
        None => rest,
    };
    schema.insert("description".to_owned(), Value::String(description));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn restricted(schema: Value) -> Value {
        restrict(schema, &mut 0)
    }

    #[test]
    fn what_is_not_enforced_is_told() {
        assert_eq!(
            restricted(json!({"type": "object", "properties": {
                "n": {"type": "integer", "minimum": 1, "description": "A number"},
                "minimum": {"oneOf": [{"type": "string", "format": "uuid"}, {"type": "string", "format": "color"}]},
            }})),
            json!({"type": "object", "properties": {
                "n": {"type": "integer", "description": "A number\n\n{minimum: 1}"},
                "minimum": {"anyOf": [
                    {"type": "string", "format": "uuid"},
                    {"type": "string", "description": "{format: \"color\"}"},
                ]},
            }, "additionalProperties": false})
        );
        assert!(enforceable(&Raw::parse(r#"{"type":"object","properties":{}}"#).unwrap()).is_none());
        let closed = r#"{"type":"object","properties":{"a":{"type":["string","null"]}},"additionalProperties":false}"#;
        assert_eq!(enforceable(&Raw::parse(closed).unwrap()).unwrap().get(), closed);
    }

    #[test]
    fn arguments_are_an_object() {
        let mut losses = Losses::default();
        let of = |text, losses: &mut Losses| {
            let raw = Raw::parse(text).unwrap();
            of_arguments(Some(&raw), "p", losses).map(|schema| schema.get().to_owned())
        };
        assert_eq!(of_arguments(None, "p", &mut losses).unwrap().get(), r#"{"type":"object","properties":{}}"#);
        assert_eq!(of(r#"{"type":"object"}"#, &mut losses).unwrap(), r#"{"type":"object"}"#);
        assert_eq!(of("{}", &mut losses).unwrap(), r#"{"type":"object"}"#);
        assert!(losses.is_empty() && of("[]", &mut losses).is_err());
        assert_eq!(of(r#"{"type":"object","anyOf":[{}]}"#, &mut losses).unwrap(), r#"{"type":"object"}"#);
        assert!(losses.matters());
    }
}
