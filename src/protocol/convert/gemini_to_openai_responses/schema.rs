//! Schemas of arguments and of answers.

use crate::protocol::convert::ConvertError;
use crate::protocol::gemini::wire::schema::Schema;
use crate::protocol::wire::Raw;

/// `schema` as JSON Schema.
pub(super) fn json_schema(schema: &Schema<'_>, path: &str) -> Result<Raw<'static>, ConvertError> {
    Raw::of(schema).map_err(|error| ConvertError::invalid(path, error.to_string()))
}
