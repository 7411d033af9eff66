//! JSON Schema and Gemini's own [`Schema`], which is a closed part of OpenAPI 3.0 (<https://ai.google.dev/api/caching#Schema>).
//!
//! The API refuses a request for one member that it does not know, however deep, for a `type` that is a list or missing, and for a
//! member that does not fit the type. So every schema is built anew from what the API has. A constraint for which it has nothing is
//! told to the model in the description.

mod keywords;
mod shape;
mod standard;
#[cfg(test)]
mod tests;

use serde_json::Value;

use super::wire::proto::Members;
use super::wire::schema::{Schema, Type};
use crate::protocol::convert::{ConvertError, Losses};
use crate::protocol::wire::{Raw, Text};
use keywords::Keywords;
pub use standard::standard;

/// Most schemas that one may become when its references are replaced by what they refer to.
const MAX_SCHEMAS: usize = 5000;

/// Deepest nesting of what it becomes.
const MAX_DEPTH: usize = 60;

/// The schema of a function's arguments; `None` where it has none, since the API refuses an object without members there.
///
/// `path` is where the schema stands, for what is told. What cannot be said at all, as a recursion, is unsupported.
pub fn subset(schema: &Raw<'_>, path: &str, losses: &mut Losses) -> Result<Option<Schema<'static>>, ConvertError> {
    let converted = as_object(response_subset(schema, path, losses)?, path, losses);
    let has_members = converted.properties.as_ref().is_some_and(|properties| !properties.0.is_empty());
    if !has_members && converted.description.as_ref().is_some_and(|text| text.contains("further members")) {
        losses.add(path, "Gemini's functions take no arguments without names, so this one takes none");
    }
    Ok(has_members.then_some(converted))
}

/// The schema of a whole answer, which may be of any type.
pub fn response_subset(schema: &Raw<'_>, path: &str, losses: &mut Losses) -> Result<Schema<'static>, ConvertError> {
    let root: Value = schema.read().map_err(|error| ConvertError::invalid(path, error.to_string()))?;
    let mut converter = Converter { root: &root, path, references: Vec::new(), schemas: 0, depth: 0, has_notes: false };
    let converted = converter.schema(&[&root], Keywords::default())?;
    if converter.has_notes {
        losses.add(path, "Gemini's schemas have no such constraints; the description tells them");
    }
    Ok(converted)
}

/// What is on the way while a schema is converted.
struct Converter<'a> {
    root: &'a Value,
    path: &'a str,
    /// The references that lead to where it is.
    references: Vec<&'a str>,
    schemas: usize,
    depth: usize,
    has_notes: bool,
}

impl<'a> Converter<'a> {
    /// The one schema for a value that has to match all of `nodes` and what `base` demands.
    fn schema(&mut self, nodes: &[&'a Value], base: Keywords<'a>) -> Result<Schema<'static>, ConvertError> {
        self.schemas += 1;
        if self.schemas > MAX_SCHEMAS || self.depth > MAX_DEPTH {
            return Err(ConvertError::unsupported(self.path, "the schema is too large for Gemini"));
        }
        self.depth += 1;
        let outer = self.references.len();
        let mut keywords = base;
        for node in nodes {
            self.gather(node, outer, &mut keywords)?;
        }
        let schema = shape::schema(self, keywords)?;
        self.references.truncate(outer);
        self.depth -= 1;
        Ok(schema)
    }

    /// Adds what `node` demands, with what it refers to and all of its `allOf`.
    fn gather(&mut self, node: &'a Value, outer: usize, keywords: &mut Keywords<'a>) -> Result<(), ConvertError> {
        let members = match node {
            Value::Object(members) => members,
            Value::Bool(_) => return Ok(()),
            _ => return Err(ConvertError::invalid(self.path, "a schema is neither an object nor a truth value")),
        };
        for (name, value) in members {
            match (name.as_str(), value) {
                ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(reference)) => {
                    if let Some(target) = self.target(reference, outer)? {
                        self.gather(target, outer, keywords)?;
                    }
                }
                ("allOf", Value::Array(all)) => {
                    for part in all {
                        self.gather(part, outer, keywords)?;
                    }
                }
                _ => keywords.add(name, value),
            }
        }
        Ok(())
    }

    /// What `reference` refers to; `None` if the schema at hand refers to it already.
    fn target(&mut self, reference: &'a str, outer: usize) -> Result<Option<&'a Value>, ConvertError> {
        if let Some(at) = self.references.iter().position(|known| *known == reference) {
            if at >= outer {
                return Ok(None);
            }
            let message =
                format!("the schema contains itself through {reference:?}, which Gemini's schemas cannot say");
            return Err(ConvertError::unsupported(self.path, message));
        }
        self.references.push(reference);
        let pointer = reference
            .strip_prefix('#')
            .map(|pointer| percent_encoding::percent_decode_str(pointer).decode_utf8_lossy().into_owned());
        let target = pointer.and_then(|pointer| self.root.pointer(&pointer));
        target.map(Some).ok_or_else(|| {
            ConvertError::unsupported(self.path, format!("the schema refers to {reference:?}, which is not in it"))
        })
    }
}

/// An object, as arguments have to be: of several kinds of objects one that may have the members of each.
fn as_object(schema: Schema<'static>, path: &str, losses: &mut Losses) -> Schema<'static> {
    if schema.any_of.is_empty() {
        return schema;
    }
    losses.add(path, "Gemini's functions take one kind of arguments; the kinds are merged into one");
    let mut merged = Schema { r#type: Some(Type::Object), description: schema.description, ..Schema::default() };
    let mut required: Option<Vec<Text<'static>>> = None;
    let mut members: Vec<(Text<'static>, Schema<'static>)> = Vec::new();
    for kind in schema.any_of.into_iter().filter(|kind| kind.r#type == Some(Type::Object)) {
        for (name, member) in kind.properties.unwrap_or(Members(vec![])).0 {
            match members.iter_mut().find(|(known, _)| *known == name) {
                Some((_, known)) if *known == member => {}
                Some((_, known)) => *known = either(std::mem::take(known), member),
                None => members.push((name, member)),
            }
        }
        required = Some(match required {
            Some(all) => all.into_iter().filter(|name| kind.required.contains(name)).collect(),
            None => kind.required,
        });
    }
    merged.properties = Some(Members(members));
    merged.required = required.unwrap_or_default();
    merged
}

/// What matches one of two schemas.
fn either(first: Schema<'static>, second: Schema<'static>) -> Schema<'static> {
    let mut any_of = Vec::new();
    for schema in [first, second] {
        let is_union = !schema.any_of.is_empty() && schema.r#type.is_none();
        any_of.extend(if is_union { schema.any_of } else { vec![schema] });
    }
    shape::union(any_of)
}
