//! Requests.

use serde_json::{Value, json};
use tollgate::protocol::convert::media::{Media, MediaFile};
use tollgate::protocol::convert::{self, Context, ConvertError, ServerTools};
use tollgate::protocol::dialect::Dialect;

use crate::corpus::{Case, cases, compare, none, pairs, pretty};
use crate::validate;

/// A model of the vendor whose dialect it is.
fn model(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::OpenAiChat | Dialect::OpenAiResponses => "gpt-6",
        Dialect::Claude => "claude-sonnet-4-5",
        Dialect::Gemini => "gemini-3-pro",
    }
}

/// Converts, and fetches what the conversion asks for.
fn convert(from: Dialect, to: Dialect, case: &Case) -> Value {
    let mut media = Media::new();
    let mut result = Err(ConvertError::NeedsMedia(vec![]));
    for _ in 0..2 {
        let context = Context {
            model: model(to),
            stream: case.text.contains("\"stream\": true") || case.text.contains("\"stream\":true"),
            server_tools: ServerTools::Drop,
            media: &media,
        };
        result = convert::request(from, to, &case.text, &context);
        let Err(ConvertError::NeedsMedia(urls)) = &result else { break };
        let file = |url: &String| {
            let media_type = if url.ends_with(".pdf") { "application/pdf" } else { "image/png" };
            (url.clone(), MediaFile { media_type: media_type.to_owned(), data: "RkVUQ0hFRA==".to_owned() })
        };
        media = urls.iter().map(file).collect();
    }
    match result {
        Ok(converted) => {
            let losses: Vec<String> = converted
                .losses
                .iter()
                .map(|loss| format!("{}{}: {}", if loss.matters { "" } else { "(hint) " }, loss.path, loss.reason))
                .collect();
            json!({"body": serde_json::from_slice::<Value>(&converted.body).unwrap(), "losses": losses})
        }
        Err(error) => {
            let kind = if matches!(error, ConvertError::Invalid { .. }) { "invalid" } else { "unsupported" };
            json!({kind: error.to_string()})
        }
    }
}

#[test]
fn each_case_is_converted_as_its_snapshot_says() {
    let mut faults = Vec::new();
    for (from, to) in pairs() {
        for case in cases(from, "request") {
            let converted = convert(from, to, &case);
            compare(&case, from, to, &pretty(&converted), &mut faults);
        }
    }
    none(&faults);
}

#[test]
fn each_converted_request_is_accepted() {
    let mut faults = Vec::new();
    for (from, to) in pairs() {
        for case in cases(from, "request") {
            let converted = convert(from, to, &case);
            let Some(body) = converted.get("body") else { continue };
            let found = validate::request(to, body);
            faults.extend(found.into_iter().map(|fault| format!("{from} to {to}, {}: {fault}", case.name())));
        }
    }
    none(&faults);
}
