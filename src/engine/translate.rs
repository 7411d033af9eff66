//! How a call is put to a target: in the client's dialect where the target speaks it, else converted.

use std::borrow::Cow;

use bytes::Bytes;
use http::HeaderMap;

use super::attempt::ClientCall;
use super::error::EngineError;
use super::media;
use super::rewrite;
use super::select::{ConversionRules, Target};
use crate::platform::Scope;
use crate::protocol::convert::media::Media;
use crate::protocol::convert::{self, Context, ConvertError, ConvertedRequest, Losses, Reply, count, embeddings};
use crate::protocol::dialect::Dialect;
use crate::protocol::foreign::without_foreign_thinking;
use crate::protocol::headers;
use crate::protocol::operation::Operation;
use crate::store::provider::Streaming;
use crate::store::settings::MediaSettings;

/// A call as one target is to get it.
pub(super) struct Translated {
    /// The dialect of the target.
    pub dialect: Dialect,
    /// The operation there.
    pub operation: Operation,
    /// Whether the target is asked for a stream.
    pub stream: bool,
    /// The version in the path.
    pub version: Option<&'static str>,
    /// The query.
    pub query: Option<String>,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
    /// What the answer has to know of the request.
    pub reply: Reply,
    /// What was lost.
    pub losses: Losses,
}

impl Translated {
    /// Whether the target speaks another dialect than the client.
    pub(super) fn is_converted(&self, call: &ClientCall) -> bool {
        self.dialect != call.request.dialect
    }
}

/// Why a call cannot be put to a target.
pub(super) enum Untranslatable {
    /// It is at fault, whoever is asked.
    Invalid(EngineError),
    /// Another target may take it.
    Elsewhere(EngineError),
}

/// The dialect in which `target` is asked, which is the client's wherever the target speaks it; `None` if it cannot be asked.
pub(super) fn dialect_for(call: &ClientCall, target: &Target) -> Option<Dialect> {
    let (own, operation) = (call.request.dialect, call.request.operation);
    let spoken = &target.provider.endpoint.dialects;
    if spoken.contains(&own) {
        return Some(own);
    }
    let first = |suits: fn(Dialect) -> bool| spoken.iter().copied().find(|dialect| suits(*dialect));
    match (operation, own) {
        (Operation::Generate, _) => first(|_| true),
        // An estimate is better than nothing.
        (Operation::CountTokens, _) => first(count::can_count).or_else(|| first(|_| true)),
        (Operation::Embed | Operation::EmbedBatch, Dialect::Gemini) => first(|dialect| dialect == Dialect::OpenAiChat),
        (Operation::Embed | Operation::EmbedBatch, _) => first(|dialect| dialect == Dialect::Gemini),
    }
}

/// Whether `target` is asked for a stream.
fn is_streamed(call: &ClientCall, target: &Target) -> bool {
    call.request.operation == Operation::Generate
        && match target.provider.streaming {
            Streaming::Either => call.request.stream,
            Streaming::Always => true,
            Streaming::Never => false,
        }
}

/// `call` in the words of `target`, which is asked in another `dialect`, with the files that were `fetched` for it.
pub(super) fn convert(
    call: &ClientCall,
    target: &Target,
    dialect: Dialect,
    rules: ConversionRules,
    fetched: &Media,
) -> Result<ConvertedRequest, ConvertError> {
    let request = &call.request;
    let body = std::str::from_utf8(&request.body)
        .map_err(|_| ConvertError::invalid("", "the request body is not valid UTF-8"))?;
    let stream = is_streamed(call, target);
    let context = Context { model: &target.model, stream, server_tools: rules.server_tools, media: fetched };
    match request.operation {
        Operation::Generate => convert::request(request.dialect, dialect, body, &context),
        Operation::CountTokens if count::can_count(dialect) => count::request(request.dialect, dialect, body, &context),
        Operation::CountTokens => Ok(ConvertedRequest::default()),
        Operation::Embed | Operation::EmbedBatch if dialect == Dialect::Gemini => {
            embeddings::to_gemini(body, &target.model)
        }
        Operation::Embed | Operation::EmbedBatch => embeddings::to_openai(request.operation, body, &target.model),
    }
}

/// Puts `call` into the words of `target`, which is asked in `dialect`, and applies the provider's rules to them.
pub(super) async fn translate(
    scope: &Scope,
    call: &ClientCall,
    target: &Target,
    dialect: Dialect,
    rules: ConversionRules,
    media_settings: &MediaSettings,
) -> Result<Translated, Untranslatable> {
    let mut translated = in_dialect(scope, call, target, dialect, rules, media_settings).await?;
    let rewrite = &target.provider.rewrite;
    if !rewrite.is_empty() && rewrite::apply(rewrite, call, &target.model, &mut translated).is_err() {
        let provider = &*target.provider.name;
        tracing::error!(provider, "the provider's rewrite rules make too much of a request");
        return Err(Untranslatable::Invalid(EngineError::Rewriting));
    }
    Ok(translated)
}

async fn in_dialect(
    scope: &Scope,
    call: &ClientCall,
    target: &Target,
    dialect: Dialect,
    rules: ConversionRules,
    media_settings: &MediaSettings,
) -> Result<Translated, Untranslatable> {
    let request = &call.request;
    let stream = is_streamed(call, target);
    let as_array = request.stream && request.dialect == Dialect::Gemini && !asks_for_events(call.query.as_deref());
    if dialect == request.dialect {
        let body = request.body_for(&target.model, stream, target.provider.endpoint.ask_for_usage);
        let include_usage = request.stream && !request.usage_is_unasked();
        return Ok(Translated {
            dialect,
            operation: request.operation,
            stream,
            version: call.version,
            query: own_query(call, dialect, stream),
            headers: headers::to_upstream(dialect, &call.headers),
            body: without_foreign_thinking(dialect, &body).map_or(body, Bytes::from),
            // An answer in the client's own dialect brings the rest along.
            reply: Reply { include_usage, as_array, ..Reply::default() },
            losses: Losses::default(),
        });
    }
    let converted = convert_with_media(scope, call, target, dialect, rules, media_settings).await?;
    if converted.losses.matters() && (rules.strict || call.strict) {
        return Err(Untranslatable::Elsewhere(EngineError::Lossy(converted.losses.text())));
    }
    let operation = match (request.operation, dialect) {
        (Operation::Embed, Dialect::Gemini) => Operation::EmbedBatch,
        (Operation::EmbedBatch, Dialect::OpenAiChat) => Operation::Embed,
        (operation, _) => operation,
    };
    let Reply { id, model, created, .. } = new_reply(scope, call, target);
    Ok(Translated {
        dialect,
        operation,
        stream,
        version: None,
        query: (dialect == Dialect::Gemini && stream).then(|| "alt=sse".to_owned()),
        headers: HeaderMap::new(),
        body: converted.body.into(),
        reply: Reply { id, model, created, as_array, ..converted.reply },
        losses: converted.losses,
    })
}

fn new_reply(scope: &Scope, call: &ClientCall, target: &Target) -> Reply {
    let named = &call.request.model;
    Reply {
        id: call.request_id.to_string(),
        model: if named.is_empty() { target.model.to_string() } else { named.clone() },
        created: u64::try_from(scope.clock.now().seconds()).unwrap_or_default(),
        ..Reply::default()
    }
}

/// Whether a Gemini client wants its stream as events and not as one array.
fn asks_for_events(query: Option<&str>) -> bool {
    query.is_some_and(|query| query.split('&').any(|pair| pair.eq_ignore_ascii_case("alt=sse")))
}

/// The client's query for an upstream of its own dialect. A Gemini upstream that is asked for a stream which the client does not want
/// has to send events, and the other way round the client's wish would be misunderstood.
fn own_query(call: &ClientCall, dialect: Dialect, stream: bool) -> Option<String> {
    if dialect != Dialect::Gemini || stream == call.request.stream {
        return call.query.clone();
    }
    let others = call.query.iter().flat_map(|query| query.split('&')).filter(|pair| !pair.starts_with("alt="));
    let query: Vec<&str> = others.chain(stream.then_some("alt=sse")).filter(|pair| !pair.is_empty()).collect();
    (!query.is_empty()).then(|| query.join("&"))
}

/// Converts, and fetches what has to be fetched for it.
async fn convert_with_media(
    scope: &Scope,
    call: &ClientCall,
    target: &Target,
    dialect: Dialect,
    rules: ConversionRules,
    media_settings: &MediaSettings,
) -> Result<ConvertedRequest, Untranslatable> {
    let mut fetched = Media::new();
    loop {
        match convert(call, target, dialect, rules, &fetched) {
            Ok(converted) => return Ok(converted),
            Err(ConvertError::NeedsMedia(urls)) if fetched.is_empty() => {
                fetched = media::fetch_all(scope, &urls, media_settings)
                    .await
                    .map_err(|error| Untranslatable::Invalid(EngineError::MediaUnavailable(error)))?;
            }
            Err(error @ ConvertError::Invalid { .. }) => {
                return Err(Untranslatable::Invalid(EngineError::InvalidRequest(error.to_string())));
            }
            Err(ConvertError::Unsupported { path, message }) => {
                return Err(Untranslatable::Elsewhere(EngineError::Inconvertible {
                    dialect,
                    provider: target.provider.name.clone(),
                    path,
                    message: Cow::into_owned(message),
                }));
            }
            Err(error @ (ConvertError::NeedsMedia(_) | ConvertError::Unreadable(_) | ConvertError::Failed(_))) => {
                return Err(Untranslatable::Invalid(EngineError::MediaUnavailable(error.to_string())));
            }
        }
    }
}
