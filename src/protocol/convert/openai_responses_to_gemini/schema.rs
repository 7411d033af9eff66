//! Schemas of arguments and of answers.

use crate::protocol::convert::{ConvertError, Losses};
use crate::protocol::gemini::wire::schema::Schema;
use crate::protocol::gemini::wire::tools::FunctionDeclaration;
use crate::protocol::wire::Raw;

/// The arguments of a function: a declaration that has nothing else.
pub(super) fn parameters<'a>(
    given: &'a Raw<'a>,
    _path: &str,
    _losses: &mut Losses,
) -> Result<FunctionDeclaration<'a>, ConvertError> {
    let schema = given.read::<Schema<'_>>().ok();
    let parameters = schema.filter(|schema| schema.properties.as_ref().is_some_and(|members| !members.0.is_empty()));
    Ok(FunctionDeclaration { parameters: parameters.map(Box::new), ..FunctionDeclaration::default() })
}
