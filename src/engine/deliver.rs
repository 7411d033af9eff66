//! What becomes of a good answer on its way to the client: it passes as it is, is converted event by event, or is read whole and
//! written anew.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue};

use super::answer::Answer;
use super::attempt::ClientCall;
use super::select::Target;
use super::settle::Settlement;
use super::stream::{Conversion, Metered, WithoutUsageChunk};
use super::translate::Translated;
use crate::platform::Scope;
use crate::platform::body::{Ahead, Body, BodyError, Editor};
use crate::platform::fetch::UpstreamResponse;
use crate::protocol::convert::editor::StreamEditor;
use crate::protocol::convert::whole::{fold, unfold};
use crate::protocol::convert::{self, ConvertError, ConvertedResponse, Losses, Reply, StreamFault, count, embeddings};
use crate::protocol::dialect::Dialect;
use crate::protocol::headers;
use crate::protocol::meter::{Meter, Reading};
use crate::protocol::opening::{Opening, Verdict, of_whole};
use crate::protocol::operation::Operation;

/// Answers up to this size are read before they are passed on.
const MAX_AHEAD_BYTES: usize = 4 * 1024 * 1024;

/// Longest answer that is written anew.
const MAX_REWRITTEN_BYTES: usize = 32 * 1024 * 1024;

/// An answer that is sure to reach the client.
pub(super) enum Delivery {
    /// It goes on as it comes, converted on the way or not.
    Passing(UpstreamResponse),
    /// It was read and written anew.
    Rewritten(Rewritten),
}

/// An answer that was read and written anew.
pub(super) struct Rewritten {
    status: StatusCode,
    body: Vec<u8>,
    content_type: &'static str,
    reading: Reading,
    losses: Losses,
}

/// Why an answer that began well does not reach the client.
pub(super) enum Undelivered {
    /// It broke off.
    Broken(BodyError),
    /// It reports an error by itself.
    Fault(StreamFault<'static>),
    /// It is not an answer of its dialect; for the log.
    Unreadable(String),
}

impl From<BodyError> for Undelivered {
    fn from(error: BodyError) -> Self {
        Self::Broken(error)
    }
}

impl From<ConvertError> for Undelivered {
    fn from(error: ConvertError) -> Self {
        match error {
            ConvertError::Failed(fault) => Self::Fault(fault),
            error => Self::Unreadable(error.to_string()),
        }
    }
}

/// Waits until nothing can go wrong any more before the client hears of the answer: for the first content of a stream, for the whole
/// of anything else of ordinary size. As long as nothing has reached the client, others can be asked.
pub(super) async fn receive(
    scope: &Scope,
    call: &ClientCall,
    translated: &Translated,
    response: UpstreamResponse,
) -> Result<Delivery, Undelivered> {
    let UpstreamResponse { status, headers, body } = response;
    let events = is_event_stream(&headers);
    if passes(call, translated, events) {
        // Gemini streams as an array of JSON where its client does not ask for events.
        let is_stream = (call.request.stream || events) && call.request.operation == Operation::Generate;
        let body = if is_stream {
            open(scope, call, translated.dialect, events, body).await?
        } else {
            whole(scope, call, translated.dialect, &headers, body.read_ahead(MAX_AHEAD_BYTES).await?).await?
        };
        return Ok(Delivery::Passing(UpstreamResponse { status, headers, body }));
    }
    let bytes = body.collect(MAX_REWRITTEN_BYTES).await?;
    if !events && call.request.operation == Operation::Generate {
        judge(of_whole(translated.dialect, &bytes))?;
    }
    rewrite(call, translated, status, bytes, events).map(Delivery::Rewritten)
}

/// Looks at an answer that is no stream: one that is an error, or no answer at all, is none whatever its status says.
async fn whole(
    scope: &Scope,
    call: &ClientCall,
    dialect: Dialect,
    headers: &HeaderMap,
    body: Body,
) -> Result<Body, Undelivered> {
    if call.request.operation != Operation::Generate || headers.contains_key(CONTENT_ENCODING) {
        return Ok(body);
    }
    if let Body::Whole(bytes) = &body {
        judge(of_whole(dialect, bytes))?;
        return Ok(body);
    }
    // A host may keep what it has read whole, and shows it in one piece.
    let verdict = Rc::new(Cell::new(Verdict::Begun));
    let judged = verdict.clone();
    let enough = Box::new(move |piece: &Bytes| {
        judged.set(of_whole(dialect, piece));
        true
    });
    let ahead = Ahead { enough, patience: call.read_ahead, clock: scope.clock.clone() };
    let body = body.read_ahead_until(ahead).await?;
    judge(verdict.replace(Verdict::Begun))?;
    Ok(body)
}

fn judge(verdict: Verdict) -> Result<(), Undelivered> {
    match verdict {
        Verdict::Begun => Ok(()),
        Verdict::Waiting => Err(Undelivered::Unreadable("it is no JSON".to_owned())),
        Verdict::Failed(fault) => Err(Undelivered::Fault(fault)),
    }
}

/// Reads a stream up to its first content. One that reports an error before is none, nor is one that ends before without a proper end;
/// one that has nothing to say yet goes on when the client has waited long enough.
async fn open(
    scope: &Scope,
    call: &ClientCall,
    dialect: Dialect,
    events: bool,
    body: Body,
) -> Result<Body, Undelivered> {
    let opening = Rc::new(RefCell::new(Opening::new(dialect, events)));
    let watching = opening.clone();
    let enough = Box::new(move |piece: &Bytes| watching.borrow_mut().piece(piece));
    let ahead = Ahead { enough, patience: call.read_ahead, clock: scope.clock.clone() };
    let body = body.read_ahead_until(ahead).await?;
    let mut opening = opening.borrow_mut();
    let has_ended = matches!(body, Body::Whole(_));
    match if has_ended { opening.finish() } else { opening.verdict() } {
        Verdict::Failed(fault) => Err(Undelivered::Fault(fault.clone())),
        Verdict::Waiting if has_ended => {
            Err(Undelivered::Broken(BodyError::Broken("it ended before its first content".to_owned())))
        }
        Verdict::Waiting | Verdict::Begun => Ok(body),
    }
}

/// Whether an answer can go on as it comes.
fn passes(call: &ClientCall, translated: &Translated, events: bool) -> bool {
    let wanted = call.request.stream;
    if translated.is_converted(call) {
        return call.request.operation == Operation::Generate && wanted && events;
    }
    let as_array = translated.dialect == Dialect::Gemini && translated.stream && !events;
    call.request.operation != Operation::Generate || events == wanted || (as_array && wanted)
}

fn rewrite(
    call: &ClientCall,
    translated: &Translated,
    status: StatusCode,
    bytes: Bytes,
    events: bool,
) -> Result<Rewritten, Undelivered> {
    let mut meter = Meter::new(translated.dialect, events);
    meter.chunk(&bytes);
    let reading = meter.finish();
    let whole = if events { fold(translated.dialect, &bytes).map_err(Undelivered::Fault)? } else { bytes.to_vec() };
    let text = String::from_utf8(whole).map_err(|_| Undelivered::Unreadable("it is not UTF-8".to_owned()))?;
    let client = call.request.dialect;
    let ConvertedResponse { body, losses } = if translated.is_converted(call) {
        answer(call, translated, &text)?
    } else {
        ConvertedResponse { body: text.into_bytes(), losses: Losses::default() }
    };
    let (body, content_type) = if call.request.stream {
        let text = String::from_utf8(body).map_err(|_| Undelivered::Unreadable("it is not UTF-8".to_owned()))?;
        (unfold(client, &text, &translated.reply)?, stream_type(&translated.reply))
    } else {
        (body, "application/json")
    };
    Ok(Rewritten { status, body, content_type, reading, losses })
}

fn answer(call: &ClientCall, translated: &Translated, text: &str) -> Result<ConvertedResponse, ConvertError> {
    let (from, to) = (translated.dialect, call.request.dialect);
    match call.request.operation {
        Operation::Generate => convert::response(from, to, text, &translated.reply),
        Operation::CountTokens => {
            let tokens = count::read_answer(from, text)
                .ok_or_else(|| ConvertError::Unreadable("it has no number of tokens".to_owned()))?;
            Ok(ConvertedResponse { body: count::answer(to, tokens), losses: Losses::default() })
        }
        Operation::Embed | Operation::EmbedBatch if to == Dialect::Gemini => {
            embeddings::answer_to_gemini(call.request.operation, text)
        }
        Operation::Embed | Operation::EmbedBatch => embeddings::answer_to_openai(text, &translated.reply),
    }
}

/// Lets the answer through, and settles the request when its last byte is through.
pub(super) fn deliver(
    delivery: Delivery,
    call: &ClientCall,
    target: &Target,
    translated: Translated,
    heartbeat: Option<Duration>,
    mut settlement: Settlement,
) -> Answer {
    let provider = target.provider.name.clone();
    let mut losses = translated.losses.clone();
    if translated.is_converted(call) {
        settlement.keeps_nothing();
    }
    match delivery {
        Delivery::Rewritten(rewritten) => {
            settlement.saw(&rewritten.body);
            losses.append(rewritten.losses);
            let losses = losses.text();
            settlement.converted_with(&losses);
            settlement.response_began(rewritten.status.as_u16());
            let trace = settlement.trace();
            settlement.answer_ended("ok", &rewritten.reading, None);
            let mut headers = HeaderMap::new();
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(rewritten.content_type));
            Answer {
                status: rewritten.status,
                headers,
                body: Body::Whole(rewritten.body.into()),
                provider,
                losses,
                trace,
            }
        }
        Delivery::Passing(UpstreamResponse { status, headers: upstream_headers, mut body }) => {
            let text = losses.text();
            settlement.converted_with(&text);
            settlement.response_began(status.as_u16());
            if call.request.stream {
                settlement.stream_began();
            }
            let mut headers = headers::to_client(&upstream_headers);
            let events = is_event_stream(&upstream_headers);
            let trace = settlement.trace();
            let mut metered = Metered::new(translated.dialect, events, heartbeat, settlement).until(call.deadline);
            if call.drains {
                metered.drain();
            }
            let mut editor: Option<Box<dyn Editor>> = None;
            if translated.is_converted(call) {
                headers.insert(CONTENT_TYPE, HeaderValue::from_static(stream_type(&translated.reply)));
                headers.remove(CONTENT_LENGTH);
                headers.remove(CONTENT_ENCODING);
                let reply = Rc::new(translated.reply);
                if let Some(converter) = convert::stream(translated.dialect, call.request.dialect, reply) {
                    let conversion = Conversion::new(StreamEditor::new(converter, call.request.dialect), losses);
                    metered = metered.converted(conversion.clone());
                    editor = Some(Box::new(conversion));
                    // What is all there would be settled before it is converted.
                    if let Body::Whole(bytes) = body {
                        body = Body::from_chunks(vec![bytes]);
                    }
                }
            } else if events
                && call.request.operation == Operation::Generate
                && target.provider.endpoint.ask_for_usage
                && call.request.usage_is_unasked()
            {
                editor = Some(Box::new(WithoutUsageChunk::default()));
            }
            body = body.observe(Box::new(metered));
            if let Some(editor) = editor {
                body = body.edit(editor);
            }
            Answer { status, headers, body, provider, losses: text, trace }
        }
    }
}

/// An answer to a question for a number of tokens that no upstream has to be asked for.
pub(super) fn deliver_estimate(call: &ClientCall, target: &Target, mut settlement: Settlement) -> Answer {
    settlement.response_began(StatusCode::OK.as_u16());
    let body = count::answer(call.request.dialect, count::estimate(&call.request.body));
    let trace = settlement.trace();
    settlement.answered_here();
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(headers::TOKEN_COUNT, HeaderValue::from_static("estimate"));
    Answer {
        status: StatusCode::OK,
        headers,
        body: Body::Whole(body.into()),
        provider: target.provider.name.clone(),
        losses: String::new(),
        trace,
    }
}

fn stream_type(reply: &Reply) -> &'static str {
    if reply.as_array { "application/json" } else { "text/event-stream" }
}

pub(super) fn is_event_stream(headers: &HeaderMap) -> bool {
    has_type(headers, "text/event-stream")
}

pub(super) fn has_type(headers: &HeaderMap, wanted: &str) -> bool {
    headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.as_bytes().get(..wanted.len()))
        .is_some_and(|start| start.eq_ignore_ascii_case(wanted.as_bytes()))
}
