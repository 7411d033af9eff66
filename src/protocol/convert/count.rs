//! How many tokens a request has, asked in one dialect and counted in another.
//!
//! Claude, Gemini and Responses each have an operation for it that takes most of a request for an answer. So the request is converted as
//! one, and cut down to what the operation takes. Chat Completions has no such operation: there the number is an [`estimate`].

use serde::{Deserialize, Serialize};
use tollgate_macros::Read;

use super::{
    Context, ConvertError, ConvertedRequest, Notes, Reply, claude_to_gemini, claude_to_openai_responses,
    gemini_to_claude, gemini_to_openai_responses, openai_responses_to_claude, openai_responses_to_gemini, read, write,
};
use crate::protocol::claude::wire::request::MessagesRequest;
use crate::protocol::dialect::Dialect;
use crate::protocol::gemini::path::resource;
use crate::protocol::gemini::wire::request::GenerateContentRequest;
use crate::protocol::openai_responses::wire::request::Request;
use crate::protocol::wire::{Raw, Text};

/// Whether upstreams of `dialect` can count.
pub fn can_count(dialect: Dialect) -> bool {
    dialect != Dialect::OpenAiChat
}

/// Converts a request for a number of tokens.
pub fn request(
    from: Dialect,
    to: Dialect,
    body: &str,
    context: &Context<'_>,
) -> Result<ConvertedRequest, ConvertError> {
    use Dialect::{Claude, Gemini, OpenAiResponses};
    let mut notes = Notes::default();
    let invalid =
        |error: serde_json::Error| ConvertError::invalid("", format!("the request body is not valid: {error}"));
    let body = match (from, to) {
        (Claude, Gemini) => {
            let request = read(body).map_err(invalid)?;
            gemini(claude_to_gemini::request::convert(&request, context, &mut notes)?, context)?
        }
        (Claude, OpenAiResponses) => {
            let request = read(body).map_err(invalid)?;
            responses(claude_to_openai_responses::request::convert(&request, context, &mut notes)?)?
        }
        (OpenAiResponses, Claude) => {
            let request = read(body).map_err(invalid)?;
            claude(openai_responses_to_claude::request::convert(&request, context, &mut notes)?)?
        }
        (OpenAiResponses, Gemini) => {
            let request = read(body).map_err(invalid)?;
            gemini(openai_responses_to_gemini::request::convert(&request, context, &mut notes)?, context)?
        }
        (Gemini, Claude) => {
            let request = read_gemini(body).map_err(invalid)?;
            claude(gemini_to_claude::request::convert(&request, context, &mut notes)?)?
        }
        (Gemini, OpenAiResponses) => {
            let request = read_gemini(body).map_err(invalid)?;
            responses(gemini_to_openai_responses::request::convert(&request, context, &mut notes)?)?
        }
        _ => return Err(ConvertError::unsupported("", format!("{to} cannot count tokens for {from}"))),
    };
    Ok(ConvertedRequest { body, losses: notes.losses, reply: Reply::default() })
}

/// `countTokens` takes contents alone, or a whole request (<https://ai.google.dev/api/tokens#method:-models.counttokens>).
fn read_gemini(body: &str) -> Result<GenerateContentRequest<'_>, serde_json::Error> {
    #[derive(Read)]
    struct CountTokensRequest<'a> {
        #[serde(borrow, rename = "generateContentRequest", alias = "generate_content_request")]
        request: Option<Raw<'a>>,
    }
    match read::<CountTokensRequest<'_>>(body)?.request {
        Some(Raw(std::borrow::Cow::Borrowed(request))) => read(request.get()),
        _ => read(body),
    }
}

fn gemini(request: GenerateContentRequest<'_>, context: &Context<'_>) -> Result<Vec<u8>, ConvertError> {
    #[derive(Serialize)]
    struct CountTokensRequest<'a> {
        #[serde(rename = "generateContentRequest")]
        request: GenerateContentRequest<'a>,
    }
    let model = Some(Text(resource(context.model)));
    write(&CountTokensRequest { request: GenerateContentRequest { model, ..request } })
}

/// What `count_tokens` does not take is taken out (<https://platform.claude.com/docs/en/api/messages/count_tokens>).
fn claude(request: MessagesRequest<'_>) -> Result<Vec<u8>, ConvertError> {
    write(&MessagesRequest {
        max_tokens: None,
        stream: None,
        temperature: None,
        top_p: None,
        top_k: None,
        stop_sequences: None,
        metadata: None,
        service_tier: None,
        ..request
    })
}

/// What `input_tokens` does not take is taken out
/// (<https://developers.openai.com/api/reference/resources/responses/subresources/input_tokens>).
fn responses(request: Request<'_>) -> Result<Vec<u8>, ConvertError> {
    write(&Request {
        model: request.model,
        input: request.input,
        instructions: request.instructions,
        tools: request.tools,
        tool_choice: request.tool_choice,
        parallel_tool_calls: request.parallel_tool_calls,
        reasoning: request.reasoning,
        text: request.text,
        ..Request::default()
    })
}

/// The number in an upstream's answer.
pub fn read_answer(dialect: Dialect, body: &str) -> Option<u64> {
    #[derive(Deserialize)]
    struct Counted {
        #[serde(alias = "totalTokens")]
        input_tokens: u64,
    }
    (dialect != Dialect::OpenAiChat)
        .then(|| serde_json::from_str::<Counted>(body).ok())?
        .map(|count| count.input_tokens)
}

/// The answer for a client.
pub fn answer(dialect: Dialect, tokens: u64) -> Vec<u8> {
    match dialect {
        Dialect::Gemini => format!(r#"{{"totalTokens":{tokens}}}"#),
        Dialect::OpenAiResponses => format!(r#"{{"object":"response.input_tokens","input_tokens":{tokens}}}"#),
        Dialect::Claude | Dialect::OpenAiChat => format!(r#"{{"input_tokens":{tokens}}}"#),
    }
    .into_bytes()
}

/// About how many tokens a request has: one for four bytes of its JSON, without the data of files, of which each counts as much as
/// an image of ordinary size does with most vendors.
pub fn estimate(body: &[u8]) -> u64 {
    const FILE_TOKENS: u64 = 1200;
    const LONGEST_WORD: usize = 1024;
    let (mut text_bytes, mut files, mut word) = (0u64, 0u64, 0usize);
    let mut end_word = |word: &mut usize| {
        // Nothing that is written by people is so long without a space or a quote.
        if *word > LONGEST_WORD {
            files += 1
        } else {
            text_bytes += *word as u64
        }
        *word = 0;
    };
    for byte in body {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_') {
            word += 1;
        } else {
            end_word(&mut word);
            word = 1;
            end_word(&mut word);
        }
    }
    end_word(&mut word);
    text_bytes.div_ceil(4) + files * FILE_TOKENS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_counts_text_and_files() {
        assert_eq!(estimate(br#"{"a":"word word"}"#), 5);
        let image = format!(r#"{{"data":"{}"}}"#, "A".repeat(100_000));
        assert!((1200..1220).contains(&estimate(image.as_bytes())));
    }

    #[test]
    fn each_dialect_has_its_answer() {
        for dialect in [Dialect::Claude, Dialect::Gemini, Dialect::OpenAiResponses] {
            let body = String::from_utf8(answer(dialect, 7)).unwrap();
            assert_eq!(read_answer(dialect, &body), Some(7));
        }
        assert_eq!(read_answer(Dialect::Claude, "{}"), None);
    }
}
