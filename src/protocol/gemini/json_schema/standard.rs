//! Gemini's schemas as JSON Schema.

use std::borrow::Cow;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::super::wire::proto::Members;
use super::super::wire::schema::{Schema, Type};
use crate::protocol::wire::{Raw, Text};

/// `schema` as JSON Schema (draft 2020-12): types in lower case, null as one of them.
pub fn standard(schema: &Schema<'_>) -> Raw<'static> {
    // All names are strings, so it can be written.
    Raw::of(&Standard(schema)).unwrap_or(Raw(Cow::Borrowed(RawValue::NULL)))
}

/// Writes a schema as JSON Schema.
struct Standard<'a>(&'a Schema<'a>);

impl Serialize for Standard<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(schema) = self;
        let mut map = serializer.serialize_map(None)?;
        let is_nullable = schema.nullable == Some(true);
        match schema.r#type.as_ref().map(word) {
            Some(word) if is_nullable && word != "null" => map.serialize_entry("type", &[&word, "null"])?,
            Some(word) => map.serialize_entry("type", &word)?,
            None => {}
        }
        macro_rules! entries {
            ($( $name:literal: $value:expr, )*) => {
                $( if let Some(value) = $value { map.serialize_entry($name, value)?; } )*
            };
        }
        entries! {
            "$ref": &schema.r#ref,
            "title": &schema.title,
            "description": &schema.description,
            "format": schema.format.as_ref().filter(|format| **format != *"enum"),
            "pattern": &schema.pattern,
            "minLength": &schema.min_length,
            "maxLength": &schema.max_length,
            "minimum": &schema.minimum,
            "maximum": &schema.maximum,
            "minItems": &schema.min_items,
            "maxItems": &schema.max_items,
            "minProperties": &schema.min_properties,
            "maxProperties": &schema.max_properties,
            "default": &schema.default,
            "additionalProperties": &schema.additional_properties,
        }
        if !schema.r#enum.is_empty() {
            map.serialize_entry("enum", &values(schema))?;
        }
        if let Some(items) = &schema.items {
            map.serialize_entry("items", &Standard(items))?;
        }
        if let Some(members) = &schema.properties {
            map.serialize_entry("properties", &StandardMembers(members, &schema.property_ordering))?;
        }
        if !schema.required.is_empty() {
            map.serialize_entry("required", &schema.required)?;
        }
        if !schema.any_of.is_empty() {
            let null = Schema { r#type: Some(Type::Null), ..Schema::default() };
            let null = (is_nullable && schema.r#type.is_none()).then_some(&null);
            let any_of: Vec<_> = schema.any_of.iter().chain(null).map(Standard).collect();
            map.serialize_entry("anyOf", &any_of)?;
        }
        if let Some(example) = &schema.example {
            map.serialize_entry("examples", &[example])?;
        }
        if let Some(defs) = &schema.defs {
            map.serialize_entry("$defs", &StandardMembers(defs, &[]))?;
        }
        map.end()
    }
}

/// Writes members in the order in which they are to be generated.
struct StandardMembers<'a>(&'a Members<'a, Schema<'a>>, &'a [Text<'a>]);

impl Serialize for StandardMembers<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(Members(members), ordering) = self;
        let mut members: Vec<_> = members.iter().collect();
        members.sort_by_key(|(name, _)| ordering.iter().position(|first| first == name).unwrap_or(ordering.len()));
        serializer.collect_map(members.into_iter().map(|(name, schema)| (name, Standard(schema))))
    }
}

fn word(kind: &Type<'_>) -> String {
    kind.as_str().to_ascii_lowercase()
}

/// The values of an `enum`, which Gemini writes as strings whatever the type.
fn values(schema: &Schema<'_>) -> Vec<Value> {
    let is_text = !matches!(schema.r#type, Some(Type::Integer | Type::Number | Type::Boolean));
    let value = |text: &str| match serde_json::from_str::<Value>(text) {
        Ok(value) if !is_text && (value.is_number() || value.is_boolean()) => value,
        _ => Value::from(text),
    };
    let null = (schema.nullable == Some(true)).then_some(Value::Null);
    schema.r#enum.iter().map(|text| value(text)).chain(null).collect()
}
