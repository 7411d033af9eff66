//! Gemini's paths, which hold the model and what is to be done with it.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// What may stand unescaped in a path segment: RFC 3986's unreserved characters.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Splits `{model}:{action}` at the last colon and decodes the model once. `None` when there is no action or the model
/// is not UTF-8.
pub fn model_and_action(segment: &str) -> Option<(String, &str)> {
    let (model, action) = segment.rsplit_once(':')?;
    Some((decode_model(model)?, action))
}

/// The model that a path names, decoded once, without the `models/` that some clients double.
pub fn decode_model(segment: &str) -> Option<String> {
    let decoded = percent_decode_str(segment).decode_utf8().ok()?;
    Some(decoded.strip_prefix("models/").unwrap_or(&decoded).to_owned())
}

/// The resource name of a model: `models/…` unless it already is one.
pub fn resource(model: &str) -> Cow<'_, str> {
    if model.starts_with("models/") || model.starts_with("tunedModels/") {
        Cow::Borrowed(model)
    } else {
        Cow::Owned(format!("models/{model}"))
    }
}

/// The path of `action` on `model`, such as `/models/gemini-3-flash:generateContent`. Nothing in a model's name can
/// change the path.
pub fn upstream_path(model: &str, action: &str) -> String {
    let resource = resource(model);
    let (collection, name) = resource.split_once('/').unwrap_or(("models", model));
    format!("/{collection}/{}:{action}", utf8_percent_encode(name, SEGMENT))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// B52: the last colon separates, and the model is decoded exactly once.
    #[test]
    fn models_with_slashes_colons_and_escapes() {
        let read = |segment| model_and_action(segment).unwrap();
        let check = |segment, model: &str, action| assert_eq!(read(segment), (model.to_owned(), action));
        check("acme/llama3.1:70b:streamGenerateContent", "acme/llama3.1:70b", "streamGenerateContent");
        check("acme%2Fllama3.1%3A70b:generateContent", "acme/llama3.1:70b", "generateContent");
        check("m%252Fx:generateContent", "m%2Fx", "generateContent");
        check("models/m:countTokens", "m", "countTokens");
        assert_eq!(model_and_action("no-action"), None);
        assert_eq!(model_and_action("%ff:generateContent"), None);
    }

    #[test]
    fn a_model_name_cannot_leave_its_segment() {
        assert_eq!(upstream_path("gemini-3-flash", "countTokens"), "/models/gemini-3-flash:countTokens");
        assert_eq!(upstream_path("tunedModels/x", "generateContent"), "/tunedModels/x:generateContent");
        assert_eq!(upstream_path("../a?b#c:d", "generateContent"), "/models/..%2Fa%3Fb%23c%3Ad:generateContent");
        assert_eq!(upstream_path("m%2Fx", "generateContent"), "/models/m%252Fx:generateContent");
    }
}
