//! Whole answers from streams, and streams from whole answers, within one dialect.

use super::{ConvertError, Reply, StreamFault};
use crate::protocol::dialect::Dialect;
use crate::protocol::sse::{Event, Parser};
use crate::protocol::{claude, gemini, openai_chat, openai_responses};

/// The answer that a stream of `dialect` amounts to; an error if it reports one or breaks off.
pub fn fold(dialect: Dialect, stream: &[u8]) -> Result<Vec<u8>, StreamFault<'static>> {
    macro_rules! fold {
        ($dialect:ident) => {{
            let mut fold = $dialect::fold::Fold::default();
            each_event(stream, |data| fold.event(data));
            fold.finish()
        }};
    }
    match dialect {
        Dialect::OpenAiChat => fold!(openai_chat),
        Dialect::OpenAiResponses => fold!(openai_responses),
        Dialect::Claude => fold!(claude),
        Dialect::Gemini => fold!(gemini),
    }
}

fn each_event(stream: &[u8], mut take: impl FnMut(&str)) {
    let mut sink = |event: Event<'_>| take(&String::from_utf8_lossy(event.data));
    let mut parser = Parser::default();
    parser.feed(stream, &mut sink);
    parser.finish(&mut sink);
}

/// The stream that a client of `dialect` gets for a whole answer.
pub fn unfold(dialect: Dialect, body: &str, reply: &Reply) -> Result<Vec<u8>, ConvertError> {
    let mut out = Vec::with_capacity(body.len() * 2);
    let unreadable = |error: String| ConvertError::Unreadable(error);
    match dialect {
        Dialect::OpenAiChat => openai_chat::unfold::unfold(body, reply.include_usage, &mut out)
            .map_err(|error| unreadable(error.to_string())),
        Dialect::OpenAiResponses => {
            openai_responses::unfold::unfold(body, &mut out).map_err(|error| unreadable(error.to_string()))
        }
        Dialect::Claude => claude::unfold::unfold(body, &mut out).map_err(|error| unreadable(error.to_string())),
        Dialect::Gemini => {
            gemini::unfold::unfold(body, reply.as_array, &mut out).map_err(|error| unreadable(error.to_string()))
        }
    }?;
    Ok(out)
}
