//! Schemas (<https://ai.google.dev/api/caching#Schema>).

use serde_json::Value;

use super::super::check::{Check, list};

/// Checks a schema at every depth.
pub(super) fn check(check: &mut Check, at: &str, schema: &Value) {
    check.members(
        at,
        schema,
        "type:text format:text title:str description:str nullable:bool enum:list items:obj minItems:any maxItems:any \
         properties:obj required:list propertyOrdering:list minProperties:any maxProperties:any minLength:any maxLength:any \
         pattern:str minimum:num maximum:num anyOf:list example:any default:any",
    );
    let kind = schema["type"].as_str().map(str::to_ascii_uppercase);
    let kind = kind.as_deref().unwrap_or_default();
    let known = ["STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL", ""];
    check.require(known.contains(&kind), at, format!("unknown type {kind:?}"));
    let any_of = list(&schema["anyOf"]);
    check.require(!kind.is_empty() || !any_of.is_empty(), at, "type: must be specified when not using any_of");
    for (member, kinds) in [
        ("properties", &["OBJECT"][..]),
        ("required", &["OBJECT"]),
        ("propertyOrdering", &["OBJECT"]),
        ("items", &["ARRAY"]),
        ("enum", &["STRING"]),
        ("minLength", &["STRING"]),
        ("pattern", &["STRING"]),
        ("minimum", &["NUMBER", "INTEGER"]),
        ("maximum", &["NUMBER", "INTEGER"]),
        ("format", &["STRING", "NUMBER", "INTEGER"]),
    ] {
        let fits = schema.get(member).is_none() || kinds.contains(&kind);
        check.require(fits, at, format!("{member}: only allowed for {kinds:?} type"));
    }
    check.require(kind != "ARRAY" || schema["items"].is_object(), at, "items: missing field");
    words(check, at, schema, kind);
    for (name, member) in schema["properties"].as_object().into_iter().flatten() {
        self::check(check, &format!("{at}.properties[{name}]"), member);
    }
    if schema["items"].is_object() {
        self::check(check, &format!("{at}.items"), &schema["items"]);
    }
    for (index, one) in any_of.iter().enumerate() {
        self::check(check, &format!("{at}.anyOf[{index}]"), one);
        check.require(!is_type(one, "NULL"), at, "null is said by nullable");
    }
}

/// Whether a schema is of a type, in either case.
pub(super) fn is_type(schema: &Value, kind: &str) -> bool {
    schema["type"].as_str().is_some_and(|word| word.eq_ignore_ascii_case(kind))
}

fn words(check: &mut Check, at: &str, schema: &Value, kind: &str) {
    let values = list(&schema["enum"]);
    let is_text = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
    check.require(values.iter().all(is_text), at, "enum: only strings, none empty");
    let formats: &[&str] = match kind {
        "STRING" => &["enum", "date-time"],
        "INTEGER" => &["int32", "int64"],
        _ => &["float", "double"],
    };
    check.word(at, &schema["format"], formats);
    let members = schema["properties"].as_object();
    for name in list(&schema["required"]).iter().chain(list(&schema["propertyOrdering"])) {
        let is_known = name.as_str().is_some_and(|name| members.is_some_and(|members| members.contains_key(name)));
        check.require(is_known, at, format!("required: property {name} is not defined"));
    }
}
