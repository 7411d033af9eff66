//! Schemas of arguments.

use crate::protocol::convert::{ConvertError, Losses};
use crate::protocol::gemini::json_schema::subset;
use crate::protocol::gemini::wire::tools::FunctionDeclaration;
use crate::protocol::wire::Raw;

/// The arguments of a function: a declaration that has nothing else.
///
/// A schema that refers to itself cannot be one of Gemini's own; it goes as JSON Schema, of which the vendor takes a part
/// (<https://ai.google.dev/api/caching#FunctionDeclaration>).
pub(super) fn parameters<'a>(
    given: &'a Raw<'a>,
    path: &str,
    losses: &mut Losses,
) -> Result<FunctionDeclaration<'a>, ConvertError> {
    match subset(given, path, losses) {
        Ok(parameters) => {
            Ok(FunctionDeclaration { parameters: parameters.map(Box::new), ..FunctionDeclaration::default() })
        }
        Err(ConvertError::Unsupported { .. }) => {
            Ok(FunctionDeclaration { parameters_json_schema: Some(given.by_ref()), ..FunctionDeclaration::default() })
        }
        Err(error) => Err(error),
    }
}
