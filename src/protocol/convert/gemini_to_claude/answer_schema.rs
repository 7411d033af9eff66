//! The JSON Schema that Claude can bind an answer to
//! (<https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations>).

use serde_json::{Map, Value};

use crate::protocol::convert::{ConvertError, Losses};
use crate::protocol::wire::Raw;

/// Limits that Claude refuses. They are told in the description instead.
const LIMITS: [&str; 12] = [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
];

/// Members that say nothing about the answer, or that Claude does not know.
const MEANINGLESS: [&str; 6] = ["$schema", "$id", "propertyOrdering", "example", "examples", "nullable"];

/// The formats of texts that Claude knows.
const FORMATS: [&str; 10] =
    ["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"];

/// The schema as Claude takes it: all objects closed, no limits.
pub(super) fn answer_schema<'a>(schema: &Raw<'_>, path: &str, losses: &mut Losses) -> Result<Raw<'a>, ConvertError> {
    let fault = |error: serde_json::Error| ConvertError::invalid(path, error.to_string());
    let mut value: Value = schema.read().map_err(fault)?;
    let mut has_limits = false;
    bind(&mut value, &mut has_limits);
    if has_limits {
        losses.add(path, "limits of numbers, texts and lists are told in descriptions");
    }
    Raw::of(&value).map_err(fault)
}

fn bind(schema: &mut Value, has_limits: &mut bool) {
    let Value::Object(members) = schema else { return };
    MEANINGLESS.iter().for_each(|name| {
        members.remove(*name);
    });
    if members.get("format").is_some_and(|format| !FORMATS.iter().any(|known| format == known)) {
        members.remove("format");
    }
    describe_limits(members, has_limits);
    let is_object = members.get("type").is_some_and(|kind| match kind {
        Value::Array(kinds) => kinds.iter().any(|kind| kind == "object"),
        kind => kind == "object",
    });
    if is_object || members.contains_key("properties") {
        members.insert("additionalProperties".to_owned(), false.into());
    }
    for (name, member) in members {
        match (name.as_str(), member) {
            ("properties" | "$defs" | "definitions", Value::Object(schemas)) => {
                schemas.values_mut().for_each(|schema| bind(schema, has_limits));
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(schemas)) => {
                schemas.iter_mut().for_each(|schema| bind(schema, has_limits));
            }
            ("items" | "not", schema) => bind(schema, has_limits),
            _ => {}
        }
    }
}

fn describe_limits(members: &mut Map<String, Value>, has_limits: &mut bool) {
    let mut told = Vec::new();
    for name in LIMITS {
        // A list may have to have one element.
        if name == "minItems" && members.get(name).is_some_and(|least| *least == 0 || *least == 1) {
            continue;
        }
        if let Some(limit) = members.remove(name) {
            told.push(format!("{name}: {limit}"));
        }
    }
    if told.is_empty() {
        return;
    }
    *has_limits = true;
    let told = told.join(", ");
    let description = match members.get("description").and_then(Value::as_str) {
        Some(description) => format!("{description} ({told})"),
        None => told,
    };
    members.insert("description".to_owned(), description.into());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_closed_and_limits_told() {
        let schema = Raw::parse(
            r#"{"type":"object","properties":{"minimum":{"type":"integer","minimum":1,"description":"Count."},
                "list":{"type":"array","minItems":1,"items":{"type":["object","null"],"format":"int32"}}}}"#,
        )
        .unwrap();
        let mut losses = Losses::default();
        let bound = answer_schema(&schema, "x", &mut losses).unwrap();
        let expected = Raw::parse(
            r#"{"type":"object","properties":{"minimum":{"type":"integer","description":"Count. (minimum: 1)"},
                "list":{"type":"array","minItems":1,"items":{"type":["object","null"],"additionalProperties":false}}},
                "additionalProperties":false}"#,
        );
        assert_eq!(bound, expected.unwrap());
        assert!(losses.matters());
    }
}
