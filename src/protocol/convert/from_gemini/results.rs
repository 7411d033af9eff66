//! What functions gave, out of the objects in which clients wrap it.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::protocol::gemini::wire::content::FunctionResponse;
use crate::protocol::gemini::wire::proto::Members;
use crate::protocol::json::compact;
use crate::protocol::wire::Text;

/// The text of a response, and whether it tells an error.
///
/// The vendor understands `output` and `error`; its SDK for Python writes `result` when it calls functions itself, LiteLLM `content`,
/// Vercel's SDK `name` and `content`. Everything else is the result as a whole, as JSON.
pub fn unwrapped<'a>(response: &'a FunctionResponse<'a>) -> (Text<'a>, bool) {
    let Some(whole) = &response.response else { return (Text::default(), false) };
    let members = whole.read::<Members<'a, &'a RawValue>>().map(|members| members.0).unwrap_or_default();
    let is_own_name = |value: &RawValue| text(value).is_some_and(|name| Some(&*name) == response.name.as_deref());
    match members.as_slice() {
        [(key, value)] if matches!(&**key, "output" | "result" | "content") => (text_or_json(value), false),
        [(key, value)] if *key == "error" => (text_or_json(value), true),
        [(name, own), (content, value)] | [(content, value), (name, own)]
            if *name == "name" && *content == "content" && is_own_name(own) =>
        {
            (text_or_json(value), false)
        }
        _ => (Text(compact(whole.get())), false),
    }
}

/// The same for vendors that have no sign for errors: the text tells it (B11).
pub fn told<'a>(response: &'a FunctionResponse<'a>) -> Text<'a> {
    match unwrapped(response) {
        (text, true) => format!("error: {}", &*text).into(),
        (text, false) => text,
    }
}

fn text_or_json(value: &RawValue) -> Text<'_> {
    text(value).unwrap_or_else(|| Text(compact(value.get())))
}

fn text(value: &RawValue) -> Option<Text<'_>> {
    Text::deserialize(value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// B11: what clients wrap is unwrapped, and an error stays one.
    #[test]
    fn results_are_unwrapped() {
        for (response, expected) in [
            (r#"{"output":"a"}"#, "a"),
            (r#"{"result":{"x": 1}}"#, r#"{"x":1}"#),
            (r#"{"name":"f","content":"a"}"#, "a"),
            (r#"{"name":"g","content":"a"}"#, r#"{"name":"g","content":"a"}"#),
            (r#"{"error":"bad"}"#, "error: bad"),
            (r#"{"output":"a", "y":2}"#, r#"{"output":"a","y":2}"#),
            ("{}", "{}"),
        ] {
            let response = format!(r#"{{"name":"f","response":{response}}}"#);
            let response: FunctionResponse<'_> = serde_json::from_str(&response).unwrap();
            assert_eq!(&*told(&response), expected);
        }
    }
}
