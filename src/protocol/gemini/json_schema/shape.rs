//! From what is demanded to a schema that the API accepts: one type, and only members that go with it.

use serde_json::Value;

use super::super::wire::proto::{Count, Members, Number};
use super::super::wire::schema::{Schema, Type};
use super::Converter;
use super::keywords::Keywords;
use crate::protocol::convert::ConvertError;
use crate::protocol::wire::{Raw, Text};

/// The schema for what `keywords` demands.
pub(super) fn schema<'a>(
    converter: &mut Converter<'a>,
    mut keywords: Keywords<'a>,
) -> Result<Schema<'static>, ConvertError> {
    let mut schema = match alternatives(converter, &mut keywords)? {
        Some(schema) => schema,
        None => by_type(converter, &mut keywords)?,
    };
    if keywords.allows_null && schema.r#type != Some(Type::Null) {
        schema.nullable = Some(true);
    }
    annotate(converter, &keywords, &mut schema);
    Ok(schema)
}

/// One of several schemas, without repetitions.
pub(super) fn union(mut schemas: Vec<Schema<'static>>) -> Schema<'static> {
    let mut seen: Vec<Schema<'static>> = Vec::with_capacity(schemas.len());
    schemas.retain(|schema| {
        let is_new = !seen.contains(schema);
        if is_new {
            seen.push(schema.clone());
        }
        is_new
    });
    if schemas.len() > 1 && schemas.iter().all(is_plain_enum) {
        return merged_enum(&schemas);
    }
    match schemas.len() {
        1 => schemas.remove(0),
        _ => Schema { any_of: schemas, ..Schema::default() },
    }
}

fn is_plain_enum(schema: &Schema<'_>) -> bool {
    schema.r#type == Some(Type::String) && !schema.r#enum.is_empty() && schema.nullable.is_none()
}

/// The values of all, each with what its schema says of it.
fn merged_enum(schemas: &[Schema<'static>]) -> Schema<'static> {
    let mut merged = Schema { r#type: Some(Type::String), ..Schema::default() };
    let mut said = Vec::new();
    for schema in schemas {
        let words: Vec<&str> = schema.r#enum.iter().map(|word| &**word).collect();
        said.extend(schema.description.as_ref().map(|text| format!("{}: {}", words.join(", "), &**text)));
        for word in &schema.r#enum {
            if !merged.r#enum.contains(word) {
                merged.r#enum.push(word.clone());
            }
        }
    }
    merged.description = (!said.is_empty()).then(|| said.join("; ").into());
    merged
}

/// What `anyOf` and `oneOf` allow; `None` where there is none that counts.
fn alternatives<'a>(
    converter: &mut Converter<'a>,
    keywords: &mut Keywords<'a>,
) -> Result<Option<Schema<'static>>, ConvertError> {
    let mut lists = std::mem::take(&mut keywords.any_of).into_iter().filter(|list| !list.is_empty());
    let Some(list) = lists.next() else { return Ok(None) };
    for further in lists {
        keywords.note("also one of", &Value::Array(further.clone()));
    }
    // Such as "one of these members has to be there", which is no choice between shapes.
    if keywords.has_structure() && list.iter().all(is_condition) {
        keywords.note("one of", &Value::Array(list.clone()));
        return Ok(None);
    }
    let base = inherited(keywords);
    let mut schemas = Vec::new();
    for alternative in list.iter().filter(|alternative| **alternative != Value::Bool(false)) {
        let schema = converter.schema(&[alternative], base.clone())?;
        keywords.allows_null |= schema.nullable == Some(true) || schema.r#type == Some(Type::Null);
        match schema {
            Schema { r#type: Some(Type::Null), .. } => {}
            // Null is said once, for all.
            Schema { r#type: None, any_of, description: None, .. } => schemas.extend(any_of),
            schema => schemas.push(Schema { nullable: None, ..schema }),
        }
    }
    if schemas.is_empty() {
        return Ok(Some(Schema { r#type: Some(Type::Null), ..Schema::default() }));
    }
    Ok(Some(union(schemas)))
}

/// What each alternative has to match too.
fn inherited<'a>(keywords: &Keywords<'a>) -> Keywords<'a> {
    if !keywords.has_structure() {
        return Keywords::default();
    }
    Keywords {
        title: None,
        description: None,
        default: None,
        notes: Vec::new(),
        allows_null: false,
        ..keywords.clone()
    }
}

/// Whether it only says when a shape that is given elsewhere is valid.
fn is_condition(schema: &Value) -> bool {
    let is_known = |name: &String| matches!(name.as_str(), "required" | "not" | "description" | "title");
    schema.as_object().is_some_and(|members| members.keys().all(is_known))
}

fn by_type<'a>(converter: &mut Converter<'a>, keywords: &mut Keywords<'a>) -> Result<Schema<'static>, ConvertError> {
    let types = match keywords.types.clone() {
        Some(types) => types,
        None => implied(keywords),
    };
    let mut schemas = Vec::with_capacity(types.len());
    for one in &types {
        if keywords.values.as_ref().is_none_or(|values| values.iter().any(|value| fits(value, one))) {
            schemas.push(typed(converter, keywords, one.clone())?);
        }
    }
    Ok(match schemas.len() {
        0 if keywords.allows_null => Schema { r#type: Some(Type::Null), ..Schema::default() },
        // Values that no type allows; the first type is as good as any.
        0 => Schema { r#type: Some(types.first().cloned().unwrap_or(Type::String)), ..Schema::default() },
        _ => union(schemas),
    })
}

/// The types that are meant where none is given; all of them where anything will do.
fn implied(keywords: &Keywords<'_>) -> Vec<Type<'static>> {
    const ALL: [Type<'static>; 5] = [Type::String, Type::Number, Type::Boolean, Type::Object, Type::Array];
    if let Some(values) = &keywords.values {
        let kinds = [Type::String, Type::Integer, Type::Number, Type::Boolean, Type::Object, Type::Array];
        let mut types: Vec<_> = kinds.into_iter().filter(|kind| values.iter().any(|value| fits(value, kind))).collect();
        if types.contains(&Type::Number) && types.contains(&Type::Integer) {
            let is_whole = values.iter().filter(|value| value.is_number()).all(|value| fits(value, &Type::Integer));
            types.retain(|kind| *kind != if is_whole { Type::Number } else { Type::Integer });
        }
        return types;
    }
    let is_object = !keywords.properties.is_empty() || !keywords.required.is_empty();
    let is_array = !keywords.items.is_empty() || keywords.tuple.is_some();
    let is_number = [keywords.minimum, keywords.maximum, keywords.above, keywords.below].iter().any(Option::is_some);
    let is_string = keywords.pattern.is_some() || keywords.min_length.is_some() || keywords.format.is_some();
    match (is_object, is_array, is_number, is_string) {
        (true, ..) => vec![Type::Object],
        (_, true, ..) => vec![Type::Array],
        (_, _, true, _) => vec![Type::Number],
        (_, _, _, true) => vec![Type::String],
        _ => ALL.to_vec(),
    }
}

fn fits(value: &Value, kind: &Type<'_>) -> bool {
    match kind {
        Type::String => value.is_string(),
        Type::Number => value.is_number(),
        Type::Integer => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        Type::Boolean => value.is_boolean(),
        Type::Object => value.is_object(),
        Type::Array => value.is_array(),
        Type::Null | Type::Other(_) => false,
    }
}

fn typed<'a>(
    converter: &mut Converter<'a>,
    keywords: &mut Keywords<'a>,
    kind: Type<'static>,
) -> Result<Schema<'static>, ConvertError> {
    let mut schema = Schema { r#type: Some(kind.clone()), ..Schema::default() };
    match kind {
        Type::Object => object(converter, keywords, &mut schema)?,
        Type::Array => array(converter, keywords, &mut schema)?,
        Type::String => string(keywords, &mut schema),
        Type::Number | Type::Integer => number(keywords, kind == Type::Integer, &mut schema),
        Type::Boolean | Type::Null | Type::Other(_) => {}
    }
    note_values(keywords, &kind);
    Ok(schema)
}

fn object<'a>(
    converter: &mut Converter<'a>,
    keywords: &Keywords<'a>,
    schema: &mut Schema<'static>,
) -> Result<(), ConvertError> {
    let mut members = Vec::with_capacity(keywords.properties.len());
    for (name, schemas) in &keywords.properties {
        // A member that must not be there is left out.
        if schemas.iter().any(|schema| **schema == Value::Bool(false)) {
            continue;
        }
        members.push((Text::from((*name).to_owned()), converter.schema(schemas, Keywords::default())?));
    }
    // The API refuses names that are not among the members.
    let known = |names: &[&str]| -> Vec<Text<'static>> {
        let is_known = |name: &&&str| members.iter().any(|(member, _)| member == **name);
        names.iter().filter(is_known).map(|name| Text::from((*name).to_owned())).collect()
    };
    schema.required = known(&keywords.required);
    schema.property_ordering = known(&keywords.ordering);
    schema.min_properties = keywords.min_properties.map(Count);
    schema.max_properties = keywords.max_properties.map(Count);
    schema.properties = (!members.is_empty()).then_some(Members(members));
    Ok(())
}

fn array<'a>(
    converter: &mut Converter<'a>,
    keywords: &mut Keywords<'a>,
    schema: &mut Schema<'static>,
) -> Result<(), ConvertError> {
    let mut items = Vec::new();
    if let Some(tuple) = keywords.tuple.filter(|tuple| !tuple.is_empty()) {
        for element in tuple {
            items.push(Schema { title: None, ..converter.schema(&[element], Keywords::default())? });
        }
        if tuple.len() > 1 {
            let words: Vec<&str> = items.iter().map(|item| item.r#type.as_ref().map_or("any", Type::as_str)).collect();
            keywords.notes.push(format!("elements in this order: {}", words.join(", ")));
        }
    } else if !keywords.items.is_empty() {
        items.push(converter.schema(&keywords.items, Keywords::default())?);
    }
    // The API wants to know what the elements are.
    let any = || Schema { r#type: Some(Type::String), ..Schema::default() };
    schema.items = Some(Box::new(if items.is_empty() { any() } else { union(items) }));
    schema.min_items = keywords.min_items.map(Count);
    schema.max_items = keywords.max_items.map(Count);
    Ok(())
}

fn string(keywords: &mut Keywords<'_>, schema: &mut Schema<'static>) {
    let words = keywords.values.iter().flatten().filter_map(|value| value.as_str());
    // The API refuses an empty one.
    schema.r#enum = words.filter(|word| !word.is_empty()).map(|word| Text::from(word.to_owned())).collect();
    schema.min_length = keywords.min_length.map(Count);
    schema.max_length = keywords.max_length.map(Count);
    schema.pattern = keywords.pattern.map(|pattern| pattern.to_owned().into());
    match keywords.format {
        Some(format @ ("date-time" | "enum")) => schema.format = Some(format.to_owned().into()),
        Some(format) => keywords.note("format", &Value::from(format)),
        None => {}
    }
}

fn number(keywords: &mut Keywords<'_>, is_integer: bool, schema: &mut Schema<'static>) {
    let values = keywords.values.iter().flatten().filter_map(|value| value.as_f64());
    let (least, greatest) = values.fold((None, None), |(least, greatest): (Option<f64>, Option<f64>), value| {
        (Some(least.map_or(value, |least| least.min(value))), Some(greatest.map_or(value, |most| most.max(value))))
    });
    let above = keywords.above.or(keywords.minimum.filter(|_| keywords.excludes_minimum));
    let below = keywords.below.or(keywords.maximum.filter(|_| keywords.excludes_maximum));
    let (from_above, from_below) = if is_integer {
        (above.map(|bound| bound.floor() + 1.0), below.map(|bound| bound.ceil() - 1.0))
    } else {
        for (name, bound) in [("greater than", above), ("less than", below)] {
            if let Some(bound) = bound {
                keywords.note(name, &Value::from(bound));
            }
        }
        (above, below)
    };
    let most = |bounds: [Option<f64>; 3]| bounds.into_iter().flatten().reduce(f64::max);
    let least_of = |bounds: [Option<f64>; 3]| bounds.into_iter().flatten().reduce(f64::min);
    schema.minimum = most([keywords.minimum, from_above, least]).map(Number);
    schema.maximum = least_of([keywords.maximum, from_below, greatest]).map(Number);
    let formats: &[&str] = if is_integer { &["int32", "int64"] } else { &["float", "double"] };
    schema.format = keywords.format.filter(|format| formats.contains(format)).map(|format| format.to_owned().into());
}

/// Tells the values of a type for which the API has no `enum`.
fn note_values(keywords: &mut Keywords<'_>, kind: &Type<'_>) {
    let Some(values) = &keywords.values else { return };
    let values: Vec<String> =
        values.iter().filter(|value| fits(value, kind) && !value.is_string()).map(ToString::to_string).collect();
    if !values.is_empty() {
        let note = format!("one of: {}", values.join(", "));
        if !keywords.notes.contains(&note) {
            keywords.notes.push(note);
        }
    }
}

/// Title, description and default, which stand in any schema.
fn annotate(converter: &mut Converter<'_>, keywords: &Keywords<'_>, schema: &mut Schema<'static>) {
    if let Some(title) = keywords.title {
        schema.title = Some(title.to_owned().into());
    }
    // Vertex AI refuses a default beside alternatives.
    if schema.any_of.is_empty() {
        schema.default = schema.default.take().or_else(|| Raw::of(keywords.default?).ok());
    }
    let own = keywords.description.map(str::to_owned);
    let inner = schema.description.take().map(|text| text.into_owned()).filter(|inner| Some(inner) != own.as_ref());
    let notes = (!keywords.notes.is_empty()).then(|| format!("({})", keywords.notes.join("; ")));
    converter.has_notes |= keywords.loses();
    let said: Vec<String> = [own, inner, notes].into_iter().flatten().filter(|text| !text.is_empty()).collect();
    schema.description = (!said.is_empty()).then(|| said.join(" ").into());
}
