//! A client's request, read only as far as passing it on requires.

use std::fmt;
use std::ops::Range;

use bytes::Bytes;
use serde_json::value::RawValue;

use super::dialect::Dialect;
use super::gemini;
use super::json::{self, JsonError, Object, Splice, quote};
use super::operation::Operation;

/// Longest name of a model, in bytes. It is repeated in errors and in the record of the request.
pub const MAX_MODEL_BYTES: usize = 512;

/// A request in a client's dialect. Its body keeps the client's bytes.
#[derive(Debug)]
pub struct ClientRequest {
    /// The dialect.
    pub dialect: Dialect,
    /// What is asked for.
    pub operation: Operation,
    /// The model as the client names it; empty where it names none.
    pub model: String,
    /// Whether the answer is to be streamed.
    pub stream: bool,
    /// The body as it came.
    pub body: Bytes,
    /// Where the body names the model.
    model_spans: Vec<Range<usize>>,
    /// Where a model can be put, before others, in a body that should name one and does not.
    model_place: Option<usize>,
    /// Where the body says whether it is streamed, or where it can be put.
    stream_place: Option<StreamPlace>,
    /// Where it says how.
    stream_options: Option<Range<usize>>,
    usage: UsageInStream,
}

/// Where a body says whether its answer is streamed.
#[derive(Debug, Clone, PartialEq, Eq)]
enum StreamPlace {
    /// The value stands here.
    Value(Range<usize>),
    /// The member can be put here, before others.
    Before(usize),
}

/// Whether a Chat Completions stream will tell its usage.
#[derive(Debug, Clone, PartialEq, Eq)]
enum UsageInStream {
    /// It will, or there is nothing to ask for.
    Told,
    /// It will if this text is put in the place of that range.
    OnRequest(Range<usize>, &'static str),
}

impl ClientRequest {
    /// Reads a request whose model stands in its body, as OpenAI and Claude have it.
    pub fn from_body(dialect: Dialect, operation: Operation, body: Bytes) -> Result<Self, RequestError> {
        let object = Object::parse(&body)?;
        let model = object.string("model")?.unwrap_or_default();
        check_length(&model)?;
        let stream = operation == Operation::Generate && object.read::<Option<bool>>("stream")?.flatten() == Some(true);
        let usage = if operation == Operation::Generate && dialect == Dialect::OpenAiChat {
            match usage_in_stream(&object) {
                Ok(usage) => usage,
                Err(error) if stream => return Err(error),
                // What is wrong with options of a stream that nobody asked for is the vendor's to tell.
                Err(_) => UsageInStream::Told,
            }
        } else {
            UsageInStream::Told
        };
        let stream_place = Some(match object.member("stream")? {
            Some(value) => StreamPlace::Value(object.span(value)),
            None => StreamPlace::Before(object.first_member_at()),
        });
        let stream_options = object.member("stream_options")?.map(|value| object.span(value));
        let model_span = object.member("model")?.map(|value| object.span(value));
        let model_place = (model_span.is_none() && !object.is_empty()).then(|| object.first_member_at());
        let model_spans = model_span.into_iter().collect();
        let model = model.into_owned();
        Ok(Self {
            dialect,
            operation,
            model,
            stream,
            body,
            model_spans,
            model_place,
            stream_place,
            stream_options,
            usage,
        })
    }

    /// Reads a Gemini request, whose model and manner stand in the path. Where the body names the model again, the
    /// upstream demands the same one.
    pub fn from_gemini_path(
        operation: Operation,
        model: String,
        stream: bool,
        body: Bytes,
    ) -> Result<Self, RequestError> {
        if model.is_empty() {
            return Err(RequestError::NoModel);
        }
        check_length(&model)?;
        let object = Object::parse(&body)?;
        let model_spans = match operation {
            Operation::Generate => vec![],
            Operation::Embed => model_span(&body, &object)?.into_iter().collect(),
            Operation::CountTokens => match either(&object, "generateContentRequest", "generate_content_request")? {
                Some(inner) => inner_model_span(&body, inner)?.into_iter().collect(),
                None => vec![],
            },
            Operation::EmbedBatch => {
                let requests = object.member("requests")?.map(json::elements).transpose()?.unwrap_or_default();
                let spans: Result<Vec<_>, _> =
                    requests.into_iter().map(|inner| inner_model_span(&body, inner)).collect();
                spans?.into_iter().flatten().collect()
            }
        };
        Ok(Self {
            dialect: Dialect::Gemini,
            operation,
            model,
            stream,
            body,
            model_spans,
            model_place: None,
            stream_place: None,
            stream_options: None,
            usage: UsageInStream::Told,
        })
    }

    /// The body for an upstream of the same dialect that knows the model as `model` and is to stream its answer, or not; with
    /// `ask_for_usage`, a Chat stream is made to tell its usage. Everything else keeps its bytes.
    pub fn body_for(&self, model: &str, stream: bool, ask_for_usage: bool) -> Bytes {
        let mut splice = Splice::default();
        if model != self.model {
            let name = match self.dialect {
                Dialect::Gemini => quote(&gemini::path::resource(model)),
                _ => quote(model),
            };
            for span in &self.model_spans {
                splice.replace(span.clone(), name.as_str());
            }
            if let Some(place) = self.model_place {
                splice.replace(place..place, format!("\"model\":{name},"));
            }
        }
        if stream != self.stream {
            match &self.stream_place {
                Some(StreamPlace::Value(range)) => splice.replace(range.clone(), stream.to_string()),
                Some(StreamPlace::Before(at)) => splice.replace(*at..*at, format!("\"stream\":{stream},")),
                None => {}
            }
            if let (false, Some(options)) = (stream, &self.stream_options) {
                // They are refused where there is no stream.
                splice.replace(options.clone(), "null");
            }
        }
        if let (true, UsageInStream::OnRequest(range, text)) = (stream && ask_for_usage, &self.usage) {
            splice.replace(range.clone(), *text);
        }
        splice.apply(&self.body)
    }

    /// Whether a Chat stream that tells its usage tells it only because the gateway asked.
    pub fn usage_is_unasked(&self) -> bool {
        self.stream && self.usage != UsageInStream::Told
    }
}

fn usage_in_stream(object: &Object<'_>) -> Result<UsageInStream, RequestError> {
    const OPTIONS: &str = r#"{"include_usage":true}"#;
    let Some(options) = object.member("stream_options")? else {
        let start = object.first_member_at();
        return Ok(UsageInStream::OnRequest(start..start, r#""stream_options":{"include_usage":true},"#));
    };
    let span = object.span(options);
    if options.get() == "null" {
        return Ok(UsageInStream::OnRequest(span, OPTIONS));
    }
    let inner = object.object("stream_options", options)?;
    let within = |range: Range<usize>| span.start + range.start..span.start + range.end;
    match inner.member("include_usage")? {
        Some(value) if value.get() == "true" => Ok(UsageInStream::Told),
        Some(value) => Ok(UsageInStream::OnRequest(within(inner.span(value)), "true")),
        None if inner.is_empty() => Ok(UsageInStream::OnRequest(span, OPTIONS)),
        None => {
            let start = inner.first_member_at();
            Ok(UsageInStream::OnRequest(within(start..start), r#""include_usage":true,"#))
        }
    }
}

fn either<'a>(
    object: &Object<'a>,
    camel: &'static str,
    snake: &'static str,
) -> Result<Option<&'a RawValue>, JsonError> {
    Ok(object.member(camel)?.or(object.member(snake)?))
}

fn inner_model_span(body: &[u8], inner: &RawValue) -> Result<Option<Range<usize>>, JsonError> {
    model_span(body, &Object::parse(inner.get().as_bytes())?)
}

fn model_span(body: &[u8], object: &Object<'_>) -> Result<Option<Range<usize>>, JsonError> {
    Ok(object.member("model")?.map(|value| json::span(body, value)))
}

/// Why a request cannot be read. Its words go to the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestError {
    /// The body is not the JSON that it should be.
    Json(JsonError),
    /// The path names no model.
    NoModel,
    /// The name of the model is longer than [`MAX_MODEL_BYTES`].
    LongModel,
}

fn check_length(model: &str) -> Result<(), RequestError> {
    if model.len() > MAX_MODEL_BYTES { Err(RequestError::LongModel) } else { Ok(()) }
}

impl From<JsonError> for RequestError {
    fn from(error: JsonError) -> Self {
        Self::Json(error)
    }
}

impl fmt::Display for RequestError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(error) => write!(formatter, "the request body is not valid: {error}"),
            Self::NoModel => {
                formatter.write_str("`model` is missing: name a route, or a provider and its model as `provider/model`")
            }
            Self::LongModel => write!(formatter, "`model` is longer than {MAX_MODEL_BYTES} bytes"),
        }
    }
}

impl std::error::Error for RequestError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn chat(body: &'static str) -> ClientRequest {
        ClientRequest::from_body(Dialect::OpenAiChat, Operation::Generate, body.into()).unwrap()
    }

    #[track_caller]
    fn check_chat(body: &'static str, ask_for_usage: bool, expected: &str) {
        assert_eq!(chat(body).body_for("up", chat(body).stream, ask_for_usage), expected);
    }

    #[test]
    fn the_model_is_replaced_and_usage_is_asked_for() {
        check_chat(r#"{"model":"a","temperature":1.0}"#, true, r#"{"model":"up","temperature":1.0}"#);
        check_chat(
            r#"{ "model":"a","stream":true}"#,
            true,
            r#"{"stream_options":{"include_usage":true}, "model":"up","stream":true}"#,
        );
        check_chat(r#"{"model":"a","stream":true}"#, false, r#"{"model":"up","stream":true}"#);
        check_chat(
            r#"{"stream_options":null,"model":"a","stream":true}"#,
            true,
            r#"{"stream_options":{"include_usage":true},"model":"up","stream":true}"#,
        );
        check_chat(
            r#"{"stream_options":{ },"model":"a","stream":true}"#,
            true,
            r#"{"stream_options":{"include_usage":true},"model":"up","stream":true}"#,
        );
        check_chat(
            r#"{"model":"a","stream":true,"stream_options":{"include_obfuscation":false,"include_usage":false}}"#,
            true,
            r#"{"model":"up","stream":true,"stream_options":{"include_obfuscation":false,"include_usage":true}}"#,
        );
        check_chat(
            r#"{"model":"a","stream":true,"stream_options":{"include_obfuscation":false}}"#,
            true,
            r#"{"model":"up","stream":true,"stream_options":{"include_usage":true,"include_obfuscation":false}}"#,
        );
    }

    #[test]
    fn a_client_that_asked_for_usage_is_left_alone() {
        let body = r#"{"model":"a","stream":true,"stream_options":{"include_usage":true}}"#;
        assert!(!chat(body).usage_is_unasked());
        assert_eq!(chat(body).body_for("a", chat(body).stream, true), body);
        assert!(chat(r#"{"model":"a","stream":true}"#).usage_is_unasked());
        assert!(!chat(r#"{"model":"a"}"#).usage_is_unasked());
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        for body in ["", "[]", r#"{"model":1}"#, r#"{"model":"a","model":"b"}"#] {
            let read = ClientRequest::from_body(Dialect::Claude, Operation::Generate, body.into());
            assert!(read.is_err(), "{body}");
        }
        for body in [r#"{"model":"a","stream":"yes"}"#, r#"{"model":"a","stream":true,"stream_options":3}"#] {
            assert!(ClientRequest::from_body(Dialect::OpenAiChat, Operation::Generate, body.into()).is_err(), "{body}");
        }
    }

    #[test]
    fn a_model_is_put_in_where_none_is_named() {
        check_chat(r#"{"temperature":1.0}"#, true, r#"{"model":"up","temperature":1.0}"#);
        check_chat(r#"{"model":null,"n":1}"#, true, r#"{"model":"up","n":1}"#);
        check_chat(r#"{"model":"","n":1}"#, true, r#"{"model":"up","n":1}"#);
        check_chat(
            r#"{ "stream":true}"#,
            true,
            r#"{"model":"up","stream_options":{"include_usage":true}, "stream":true}"#,
        );
        assert!(ClientRequest::from_gemini_path(Operation::Generate, String::new(), false, "{}".into()).is_err());
    }

    #[test]
    fn gemini_names_the_model_again_in_some_bodies() {
        let body_for = |operation, body: &'static str| {
            ClientRequest::from_gemini_path(operation, "a".to_owned(), false, body.into())
                .unwrap()
                .body_for("up", false, true)
        };
        assert_eq!(body_for(Operation::Generate, r#"{"model":"a"}"#), r#"{"model":"a"}"#);
        assert_eq!(
            body_for(Operation::Embed, r#"{"model":"models/a","content":{}}"#),
            r#"{"model":"models/up","content":{}}"#
        );
        assert_eq!(
            body_for(Operation::EmbedBatch, r#"{"requests":[{"model":"models/a"},{},{"model":"models/a","x":1e2}]}"#),
            r#"{"requests":[{"model":"models/up"},{},{"model":"models/up","x":1e2}]}"#
        );
        assert_eq!(
            body_for(Operation::CountTokens, r#"{"generateContentRequest":{"model":"models/a"}}"#),
            r#"{"generateContentRequest":{"model":"models/up"}}"#
        );
        assert_eq!(body_for(Operation::CountTokens, r#"{"contents":[]}"#), r#"{"contents":[]}"#);
    }

    #[test]
    fn an_answer_can_be_asked_for_in_the_other_manner() {
        for (body, expected) in [
            (r#"{"model":"a"}"#, r#"{"stream":true,"stream_options":{"include_usage":true},"model":"a"}"#),
            (
                r#"{"model":"a","stream":false}"#,
                r#"{"stream_options":{"include_usage":true},"model":"a","stream":true}"#,
            ),
        ] {
            assert_eq!(chat(body).body_for("a", true, true), expected);
        }
        let body = r#"{"model":"a","stream":true,"stream_options":{"include_usage":true}}"#;
        assert_eq!(chat(body).body_for("a", false, true), r#"{"model":"a","stream":false,"stream_options":null}"#);
    }
}
