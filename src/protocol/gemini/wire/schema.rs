//! `Schema` (<https://ai.google.dev/api/caching#Schema>): a part of OpenAPI 3.0, closed. What is not here, the API refuses.

use super::proto::{Count, Members, Number, message, words};
use crate::protocol::wire::{Raw, Text};

message! {
    /// What a value looks like.
    pub struct Schema<'a> {
        /// One type, never a list.
        r#type: Option<Type<'a>>,
        /// Such as `int32`, `double`, `date-time`, `enum`. Most have no effect.
        format: Option<Text<'a>>,
        /// A title.
        title: Option<Text<'a>>,
        /// What the value means. May be Markdown.
        description: Option<Text<'a>>,
        /// Whether it may be null.
        nullable: Option<bool>,
        /// What it may be. Strings only, whatever the type.
        r#enum: Vec<Text<'a>>,
        /// The elements of an array.
        items: Option<Box<Schema<'a>>>,
        /// The least number of elements.
        min_items = "minItems": Option<Count>,
        /// The greatest number of elements.
        max_items = "maxItems": Option<Count>,
        /// The members of an object. An object of `parameters` must have some.
        properties: Option<Members<'a, Schema<'a>>>,
        /// The members that must be there.
        required: Vec<Text<'a>>,
        /// The order in which members are generated.
        property_ordering = "propertyOrdering": Vec<Text<'a>>,
        /// The least number of members.
        min_properties = "minProperties": Option<Count>,
        /// The greatest number of members.
        max_properties = "maxProperties": Option<Count>,
        /// The least length of a string.
        min_length = "minLength": Option<Count>,
        /// The greatest length of a string.
        max_length = "maxLength": Option<Count>,
        /// A regular expression that a string matches.
        pattern: Option<Text<'a>>,
        /// The least number.
        minimum: Option<Number>,
        /// The greatest number.
        maximum: Option<Number>,
        /// The value matches one of these.
        any_of = "anyOf": Vec<Schema<'a>>,
        /// An example, which has no effect.
        example: Option<Raw<'a>>,
        /// What it is when absent, which has no effect.
        default: Option<Raw<'a>>,
        /// Whether other members are allowed: a truth value or a schema. In the SDK's types only; the public API may refuse it.
        additional_properties = "additionalProperties": Option<Raw<'a>>,
        /// A reference into `defs`. In the SDK's types only; the public API may refuse it.
        r#ref | "$ref": Option<Text<'a>>,
        /// What is referred to. In the SDK's types only; the public API may refuse it.
        defs | "$defs": Option<Members<'a, Schema<'a>>>,
    }
}

words! {
    /// A type. The canonical words are in upper case; clients write JSON Schema's lower case too.
    pub enum Type {
        "STRING" => String,
        "NUMBER" => Number,
        "INTEGER" => Integer,
        "BOOLEAN" => Boolean,
        "ARRAY" => Array,
        "OBJECT" => Object,
        "NULL" => Null,
    }
}
