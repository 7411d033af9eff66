//! What a schema demands, gathered from all the places where it says so.

use serde_json::Value;

use super::super::wire::schema::Type;

/// Longest text that one constraint adds to a description, in characters.
const MAX_NOTE: usize = 200;

/// What a value has to be like.
#[derive(Debug, Clone, Default)]
pub(super) struct Keywords<'a> {
    /// The types that are allowed, null left out; `None` where nothing is said.
    pub(super) types: Option<Vec<Type<'static>>>,
    /// Whether null is allowed as one of the types or values.
    pub(super) allows_null: bool,
    pub(super) title: Option<&'a str>,
    pub(super) description: Option<&'a str>,
    pub(super) values: Option<Vec<&'a Value>>,
    pub(super) format: Option<&'a str>,
    pub(super) pattern: Option<&'a str>,
    pub(super) min_length: Option<u64>,
    pub(super) max_length: Option<u64>,
    pub(super) minimum: Option<f64>,
    pub(super) maximum: Option<f64>,
    pub(super) above: Option<f64>,
    pub(super) below: Option<f64>,
    /// Draft 4: the bounds themselves are excluded.
    pub(super) excludes_minimum: bool,
    pub(super) excludes_maximum: bool,
    /// The elements match all of these.
    pub(super) items: Vec<&'a Value>,
    /// The elements one by one.
    pub(super) tuple: Option<&'a Vec<Value>>,
    pub(super) min_items: Option<u64>,
    pub(super) max_items: Option<u64>,
    /// The members, each of which matches all of its schemas.
    pub(super) properties: Vec<(&'a str, Vec<&'a Value>)>,
    pub(super) required: Vec<&'a str>,
    pub(super) ordering: Vec<&'a str>,
    pub(super) min_properties: Option<u64>,
    pub(super) max_properties: Option<u64>,
    pub(super) default: Option<&'a Value>,
    /// Lists of alternatives, one of each of which has to match.
    pub(super) any_of: Vec<&'a Vec<Value>>,
    /// What the API has no member for, in words.
    pub(super) notes: Vec<String>,
}

impl<'a> Keywords<'a> {
    /// Adds the keyword `name`. Where two of one kind cannot hold together, the first one stays.
    pub(super) fn add(&mut self, name: &'a str, value: &'a Value) {
        match name {
            "type" => self.add_types(value),
            "nullable" => self.allows_null |= value == &Value::Bool(true),
            "title" => set(&mut self.title, value.as_str()),
            "description" => set(&mut self.description, value.as_str()),
            "enum" => self.add_values(value.as_array().into_iter().flatten().collect()),
            "const" => self.add_values(vec![value]),
            "format" => set(&mut self.format, value.as_str()),
            "pattern" => set(&mut self.pattern, value.as_str()),
            "minLength" => raise(&mut self.min_length, count(value)),
            "maxLength" => lower(&mut self.max_length, count(value)),
            "minimum" => raise(&mut self.minimum, value.as_f64()),
            "maximum" => lower(&mut self.maximum, value.as_f64()),
            "exclusiveMinimum" => match value {
                Value::Bool(excludes) => self.excludes_minimum = *excludes,
                _ => raise(&mut self.above, value.as_f64()),
            },
            "exclusiveMaximum" => match value {
                Value::Bool(excludes) => self.excludes_maximum = *excludes,
                _ => lower(&mut self.below, value.as_f64()),
            },
            "items" | "prefixItems" => match value {
                Value::Array(tuple) => set(&mut self.tuple, Some(tuple)),
                Value::Object(_) => self.items.push(value),
                // Any element will do, or none beyond the tuple.
                _ => {}
            },
            "minItems" => raise(&mut self.min_items, count(value)),
            "maxItems" => lower(&mut self.max_items, count(value)),
            "properties" => self.add_properties(value),
            "required" => add_names(&mut self.required, value),
            "propertyOrdering" => add_names(&mut self.ordering, value),
            "minProperties" => raise(&mut self.min_properties, count(value)),
            "maxProperties" => lower(&mut self.max_properties, count(value)),
            "default" => set(&mut self.default, Some(value).filter(|value| !value.is_null())),
            "anyOf" | "oneOf" => self.any_of.extend(value.as_array()),
            // What has no influence on values, or only says what models do anyway.
            "$schema" | "$id" | "id" | "$anchor" | "$comment" | "$defs" | "definitions" | "$vocabulary"
            | "deprecated" | "readOnly" | "writeOnly" | "additionalItems" | "unevaluatedItems" | "discriminator"
            | "strict" => {}
            // None, or any: what models do anyway.
            "additionalProperties" | "unevaluatedProperties"
                if value.as_object().is_none_or(|schema| schema.is_empty()) => {}
            "additionalProperties" | "unevaluatedProperties" => self.note("further members", value),
            "uniqueItems" if value == &Value::Bool(false) => {}
            "uniqueItems" => self.notes.push("elements are unique".to_owned()),
            "multipleOf" => self.note("multiple of", value),
            "patternProperties" => self.note("members by pattern", value),
            "propertyNames" => self.note("member names", value),
            "example" | "examples" => self.note("examples", value),
            "not" => self.note("not", value),
            "contains" | "minContains" | "maxContains" | "dependentRequired" | "dependentSchemas" | "dependencies"
            | "if" | "then" | "else" | "contentEncoding" | "contentMediaType" | "contentSchema" => {
                self.note(name, value);
            }
            // Extensions of some tool, such as `x-order`.
            _ => {}
        }
    }

    /// Tells a constraint in words.
    pub(super) fn note(&mut self, name: &str, value: &Value) {
        let text = match value {
            Value::String(text) => text.clone(),
            _ => value.to_string(),
        };
        let mut note: String = format!("{name}: {text}").chars().take(MAX_NOTE).collect();
        if note.chars().count() == MAX_NOTE {
            note.push('…');
        }
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Whether a constraint stands in words only. A format or an example is none.
    pub(super) fn loses(&self) -> bool {
        self.notes.iter().any(|note| !note.starts_with("format: ") && !note.starts_with("examples: "))
    }

    /// Whether anything is said about what a value looks like inside.
    pub(super) fn has_structure(&self) -> bool {
        self.types.is_some() || self.values.is_some() || !self.properties.is_empty() || !self.items.is_empty()
    }

    fn add_types(&mut self, value: &Value) {
        let words: Vec<&str> = match value {
            Value::String(word) => vec![word],
            Value::Array(words) => words.iter().filter_map(Value::as_str).collect(),
            _ => return,
        };
        let mut allowed: Vec<Type<'static>> = words.iter().filter_map(|word| type_of_word(word)).collect();
        let allows_null = words.iter().any(|word| word.eq_ignore_ascii_case("null"));
        match &mut self.types {
            None => {
                self.allows_null |= allows_null;
                self.types = Some(allowed);
            }
            Some(types) => {
                self.allows_null &= allows_null;
                // An integer is a number too.
                if types.contains(&Type::Number) && allowed.contains(&Type::Integer) && !types.contains(&Type::Integer)
                {
                    types.push(Type::Integer);
                }
                if types.contains(&Type::Integer) && allowed.contains(&Type::Number) {
                    allowed.push(Type::Integer);
                }
                types.retain(|known| allowed.contains(known));
            }
        }
    }

    fn add_values(&mut self, mut values: Vec<&'a Value>) {
        if values.iter().any(|value| value.is_null()) {
            self.allows_null |= self.types.is_none() && self.values.is_none();
            values.retain(|value| !value.is_null());
            if values.is_empty() && self.types.is_none() {
                self.types = Some(vec![]);
                return;
            }
        }
        match &mut self.values {
            None => self.values = Some(values),
            Some(known) => known.retain(|value| values.contains(value)),
        }
    }

    fn add_properties(&mut self, value: &'a Value) {
        for (name, schema) in value.as_object().into_iter().flatten() {
            match self.properties.iter_mut().find(|(known, _)| known == name) {
                Some((_, schemas)) => schemas.push(schema),
                None => self.properties.push((name, vec![schema])),
            }
        }
    }
}

fn type_of_word(word: &str) -> Option<Type<'static>> {
    Some(match word.to_ascii_lowercase().as_str() {
        "string" => Type::String,
        "number" => Type::Number,
        "integer" => Type::Integer,
        "boolean" => Type::Boolean,
        "array" => Type::Array,
        "object" => Type::Object,
        _ => return None,
    })
}

fn set<T>(place: &mut Option<T>, value: Option<T>) {
    if place.is_none() {
        *place = value;
    }
}

fn raise<T: PartialOrd>(place: &mut Option<T>, value: Option<T>) {
    if let Some(value) = value
        && place.as_ref().is_none_or(|known| *known < value)
    {
        *place = Some(value);
    }
}

fn lower<T: PartialOrd>(place: &mut Option<T>, value: Option<T>) {
    if let Some(value) = value
        && place.as_ref().is_none_or(|known| *known > value)
    {
        *place = Some(value);
    }
}

/// A count, which some write as `1.0`.
fn count(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_f64().filter(|number| *number >= 0.0).map(|number| number as u64))
}

fn add_names<'a>(names: &mut Vec<&'a str>, value: &'a Value) {
    for name in value.as_array().into_iter().flatten().filter_map(Value::as_str) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
}
