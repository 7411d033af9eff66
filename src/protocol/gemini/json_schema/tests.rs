//! Tests of the schemas.

use serde_json::{Value, json};

use super::*;

fn convert(schema: &Value) -> Result<Value, ConvertError> {
    let text = schema.to_string();
    let schema = response_subset(&Raw::parse(&text).unwrap(), "tools[0]", &mut Losses::default())?;
    Ok(serde_json::to_value(&schema).unwrap())
}

#[track_caller]
fn becomes(schema: Value, expected: Value) {
    assert_eq!(convert(&schema).unwrap(), expected, "{schema}");
}

/// B01: only members that the API has, at every depth; a property that is named like a keyword stays.
#[test]
fn unknown_keywords_go_at_every_depth_and_properties_named_like_them_stay() {
    becomes(
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "additionalProperties": false,
            "properties": {
                "rows": {"type": "array", "uniqueItems": true, "items": {
                    "type": "object",
                    "properties": {"w": {"type": "number", "multipleOf": 0.5}},
                    "patternProperties": {"^x_": {"type": "string"}},
                }},
                "propertyNames": {"type": "string"},
            },
        }),
        json!({
            "type": "OBJECT",
            "properties": {
                "rows": {"type": "ARRAY", "description": "(elements are unique)", "items": {
                    "type": "OBJECT",
                    "description": "(members by pattern: {\"^x_\":{\"type\":\"string\"}})",
                    "properties": {"w": {"type": "NUMBER", "description": "(multiple of: 0.5)"}},
                }},
                "propertyNames": {"type": "STRING"},
            },
        }),
    );
}

/// B02: null becomes `nullable`, and an exclusive bound of integers the next integer.
#[test]
fn null_and_exclusive_bounds() {
    becomes(
        json!({"type": "object", "properties": {
            "limit": {"anyOf": [{"type": "integer", "exclusiveMinimum": 0, "maximum": 50}, {"type": "null"}], "default": null},
            "path": {"type": ["string", "null"]},
            "ratio": {"type": "number", "exclusiveMaximum": 1},
            "old": {"type": "integer", "minimum": 3, "exclusiveMinimum": true},
        }}),
        json!({"type": "OBJECT", "properties": {
            "limit": {"type": "INTEGER", "nullable": true, "minimum": 1, "maximum": 50},
            "path": {"type": "STRING", "nullable": true},
            "ratio": {"type": "NUMBER", "maximum": 1, "description": "(less than: 1.0)"},
            "old": {"type": "INTEGER", "minimum": 4},
        }}),
    );
}

#[test]
fn types_in_lists_are_taken_apart_with_what_belongs_to_each() {
    becomes(
        json!({"type": ["string", "integer", "array", "null"], "minLength": 1, "minimum": 2, "description": "d"}),
        json!({"nullable": true, "description": "d", "anyOf": [
            {"type": "STRING", "minLength": 1}, {"type": "INTEGER", "minimum": 2},
            {"type": "ARRAY", "items": {"type": "STRING"}},
        ]}),
    );
    becomes(json!({"type": ["object", "null"], "properties": {"a": true}, "required": ["a", "gone"]}), {
        let any = json!({"anyOf": [{"type": "STRING"}, {"type": "NUMBER"}, {"type": "BOOLEAN"}, {"type": "OBJECT"},
            {"type": "ARRAY", "items": {"type": "STRING"}}]});
        json!({"type": "OBJECT", "nullable": true, "properties": {"a": any}, "required": ["a"]})
    });
}

#[test]
fn values_are_an_enum_only_as_strings() {
    becomes(json!({"enum": ["a", "b", "", null]}), json!({"type": "STRING", "enum": ["a", "b"], "nullable": true}));
    becomes(json!({"const": "a"}), json!({"type": "STRING", "enum": ["a"]}));
    becomes(
        json!({"type": "integer", "enum": [3, 1, 2]}),
        json!({"type": "INTEGER", "minimum": 1, "maximum": 3, "description": "(one of: 3, 1, 2)"}),
    );
    becomes(json!({"const": true}), json!({"type": "BOOLEAN", "description": "(one of: true)"}));
    becomes(
        json!({"enum": ["a", 1.5, 2]}),
        json!({"anyOf": [{"type": "STRING", "enum": ["a"]}, {"type": "NUMBER", "minimum": 1.5, "maximum": 2}],
            "description": "(one of: 1.5, 2)"}),
    );
    becomes(
        json!({"oneOf": [{"const": "a", "description": "first"}, {"const": "b"}]}),
        json!({"type": "STRING", "enum": ["a", "b"], "description": "a: first"}),
    );
    becomes(json!({"const": null}), json!({"type": "NULL"}));
}

#[test]
fn references_are_replaced_and_all_of_is_merged() {
    becomes(
        json!({
            "$ref": "#/$defs/a~1b%20c",
            "$defs": {
                "a/b c": {"allOf": [{"$ref": "#/$defs/base"}, {"properties": {"n": {"minimum": 1}}, "required": ["n"]}]},
                "base": {"type": "object", "description": "base",
                    "properties": {"n": {"type": "integer", "maximum": 9}, "s": {"$ref": "#/$defs/text"},
                        "t": {"$ref": "#/$defs/text", "description": "own"}}},
                "text": {"type": "string", "description": "a text"},
            },
        }),
        json!({"type": "OBJECT", "description": "base", "required": ["n"], "properties": {
            "n": {"type": "INTEGER", "minimum": 1, "maximum": 9},
            "s": {"type": "STRING", "description": "a text"},
            "t": {"type": "STRING", "description": "a text"},
        }}),
    );
    becomes(json!({"allOf": [{"type": "number"}, {"type": "integer"}]}), json!({"type": "INTEGER"}));
}

#[test]
fn recursion_strange_references_and_explosions_are_refused() {
    let recursive = json!({"type": "object", "properties": {"next": {"$ref": "#"}}});
    assert!(convert(&recursive).unwrap_err().to_string().contains("contains itself"));
    for reference in ["https://a.example/s.json", "#/$defs/none", "#anchor"] {
        assert!(matches!(convert(&json!({"$ref": reference})), Err(ConvertError::Unsupported { .. })));
    }
    assert!(matches!(convert(&json!({"properties": {"a": 3}})), Err(ConvertError::Invalid { .. })));
    let mut defs = serde_json::Map::new();
    for level in 0..40 {
        let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
        defs.insert(format!("d{level}"), json!({"type": "object", "properties": {"a": next, "b": next}}));
    }
    defs.insert("d40".to_owned(), json!({"type": "string"}));
    let bomb = json!({"$ref": "#/$defs/d0", "$defs": defs});
    assert!(convert(&bomb).unwrap_err().to_string().contains("too large"));
}

#[test]
fn alternatives_stand_alone_and_inherit_the_shape_around_them() {
    becomes(
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "description": "d",
            "anyOf": [{"properties": {"b": {"type": "string"}}, "required": ["b"]}, {"required": ["a"]}]}),
        json!({"description": "d", "anyOf": [
            {"type": "OBJECT", "properties": {"a": {"type": "STRING"}, "b": {"type": "STRING"}}, "required": ["b"]},
            {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}, "required": ["a"]},
        ]}),
    );
    becomes(
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}),
        json!({"type": "OBJECT", "properties": {"a": {"type": "STRING"}},
            "description": "(one of: [{\"required\":[\"a\"]},{\"required\":[\"b\"]}])"}),
    );
}

#[test]
fn tuples_and_formats() {
    becomes(
        json!({"type": "array", "prefixItems": [{"type": "number"}, {"type": "string"}], "items": false, "minItems": 2}),
        json!({"type": "ARRAY", "items": {"anyOf": [{"type": "NUMBER"}, {"type": "STRING"}]}, "minItems": 2,
            "description": "(elements in this order: NUMBER, STRING)"}),
    );
    becomes(json!({"type": "string", "format": "date-time"}), json!({"type": "STRING", "format": "date-time"}));
    becomes(
        json!({"type": "string", "format": "uri", "description": "where"}),
        json!({"type": "STRING", "description": "where (format: uri)"}),
    );
    becomes(json!({"type": "integer", "format": "uint8"}), json!({"type": "INTEGER"}));
}

#[test]
fn arguments_are_one_object_or_none() {
    let parameters = |schema: Value| {
        let text = schema.to_string();
        let mut losses = Losses::default();
        let schema = subset(&Raw::parse(&text).unwrap(), "tools[0]", &mut losses).unwrap();
        (schema.map(|schema| serde_json::to_value(&schema).unwrap()), losses.text())
    };
    for empty in [json!({}), json!({"type": "object"}), json!({"type": "object", "properties": {}})] {
        assert_eq!(parameters(empty).0, None);
    }
    let (none, losses) = parameters(json!({"type": "object", "additionalProperties": {"type": "string"}}));
    assert!(none.is_none() && losses.contains("takes none"), "{losses}");
    let (merged, losses) = parameters(json!({"anyOf": [
        {"type": "object", "properties": {"kind": {"const": "a"}, "x": {"type": "string"}}, "required": ["kind", "x"]},
        {"type": "object", "properties": {"kind": {"const": "b"}}, "required": ["kind"]},
    ]}));
    let expected = json!({"type": "OBJECT", "required": ["kind"],
        "properties": {"kind": {"type": "STRING", "enum": ["a", "b"]}, "x": {"type": "STRING"}}});
    assert_eq!(merged.unwrap(), expected);
    assert!(losses.contains("merged"), "{losses}");
}

#[test]
fn what_is_said_in_words_is_a_loss_and_the_rest_is_none() {
    let losses = |schema: &str| {
        let mut losses = Losses::default();
        response_subset(&Raw::parse(schema).unwrap(), "p", &mut losses).unwrap();
        losses
    };
    assert!(losses(r#"{"type":"object","$schema":"x","additionalProperties":false,"title":"t"}"#).is_empty());
    assert!(losses(r#"{"type":"array","items":{"type":"number","multipleOf":2}}"#).matters());
}

#[test]
fn geminis_schemas_become_json_schema() {
    let text = r#"{"type":"OBJECT","properties":{"b":{"type":"STRING","nullable":true,"enum":["x"],"format":"enum"},
        "a":{"type":"INTEGER","enum":["1","2"],"minimum":1},"c":{"anyOf":[{"type":"NUMBER"}],"nullable":true},
        "d":{"type":"ARRAY","items":{"type":"BOOLEAN"},"maxItems":"3","example":[true]}},"required":["a"],
        "propertyOrdering":["a"],"defs":{"n":{"type":"NULL"}}}"#;
    let schema: Schema<'_> = serde_json::from_str(text).unwrap();
    let expected = concat!(
        r#"{"type":"object","properties":{"a":{"type":"integer","minimum":1,"enum":[1,2]},"#,
        r#""b":{"type":["string","null"],"enum":["x",null]},"c":{"anyOf":[{"type":"number"},{"type":"null"}]},"#,
        r#""d":{"type":"array","maxItems":3,"items":{"type":"boolean"},"examples":[[true]]}},"#,
        r#""required":["a"],"$defs":{"n":{"type":"null"}}}"#,
    );
    assert_eq!(standard(&schema).get(), expected);
}

/// What comes out is accepted as it is: converting it back and forth changes nothing.
#[test]
fn there_and_back() {
    let schema = json!({"type": "OBJECT", "properties": {
        "a": {"type": "STRING", "nullable": true, "enum": ["x"], "description": "d"},
        "b": {"type": "ARRAY", "items": {"anyOf": [{"type": "NUMBER"}, {"type": "BOOLEAN"}]}, "maxItems": 2},
    }, "required": ["a"]});
    let typed: Schema<'_> = serde_json::from_value::<Value>(schema.clone())
        .map(|value| {
            let text: &'static str = Box::leak(value.to_string().into_boxed_str());
            serde_json::from_str(text).unwrap()
        })
        .unwrap();
    let back: Value = standard(&typed).read().unwrap();
    becomes(back, schema);
}
