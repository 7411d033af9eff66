//! Errors in place of an answer, and the words in which clients know them.

use serde::Deserialize;

use super::{StreamFault, read};
use crate::protocol::claude::wire::response::{ErrorObject, Message};
use crate::protocol::dialect::Dialect;
use crate::protocol::error::is_context_overflow;
use crate::protocol::gemini::wire::response::{GenerateContentResponse, Status};
use crate::protocol::wire::Raw;
use crate::protocol::{claude, gemini, openai_chat, openai_responses};

/// How Claude Code knows that it has to make the conversation shorter.
const CLAUDES_BEGINNING: &str = "prompt is too long";

impl StreamFault<'_> {
    /// The same for clients of `dialect`, that know a conversation that has become too long by certain words: those of OpenAI by the
    /// code, those of Claude by the first words.
    pub fn for_client(&self, dialect: Dialect) -> StreamFault<'_> {
        let mut fault =
            StreamFault { status: self.status, code: (&*self.code).into(), message: (&*self.message).into() };
        let says_so = || matches!(self.status, 400 | 413) && is_context_overflow(&self.message);
        if self.code != "context_length_exceeded" && !says_so() {
            return fault;
        }
        fault.status = 400;
        fault.code = "context_length_exceeded".into();
        if dialect == Dialect::Claude && !self.message.starts_with(CLAUDES_BEGINNING) {
            fault.message = format!("{CLAUDES_BEGINNING}: {}", self.message).into();
        }
        fault
    }
}

/// A body with the status of a success, as it was read.
pub(super) trait Answered {
    /// The error that it tells all the same, as some vendors do.
    fn fault(&self) -> Option<StreamFault<'static>>;

    /// Whether it has what an answer cannot do without.
    fn is_answer(&self) -> bool;
}

impl Answered for openai_chat::wire::response::Response<'_> {
    fn fault(&self) -> Option<StreamFault<'static>> {
        self.error.as_ref().map(openai_chat::fault::of_member)
    }

    fn is_answer(&self) -> bool {
        !self.choices.is_empty()
    }
}

impl Answered for openai_responses::wire::response::Response<'_> {
    fn fault(&self) -> Option<StreamFault<'static>> {
        openai_responses::fault::of_unfinished(self)
    }

    fn is_answer(&self) -> bool {
        self.status.is_some() || !self.output.is_empty()
    }
}

impl Answered for Message<'_> {
    /// An error of Claude has no member of an answer.
    fn fault(&self) -> Option<StreamFault<'static>> {
        None
    }

    fn is_answer(&self) -> bool {
        self.stop_reason.is_some() || !self.content.is_empty()
    }
}

impl Answered for GenerateContentResponse<'_> {
    fn fault(&self) -> Option<StreamFault<'static>> {
        self.error.as_deref().cloned().map(gemini::fold::fault)
    }

    fn is_answer(&self) -> bool {
        !self.candidates.is_empty() || self.prompt_feedback.is_some()
    }
}

/// The error that `body` tells, which cannot be read as an answer.
pub(super) fn in_place_of_answer(dialect: Dialect, body: &str) -> Option<StreamFault<'static>> {
    #[derive(Deserialize)]
    struct Body<'a> {
        #[serde(borrow)]
        error: Option<Raw<'a>>,
    }
    let error = read::<Body<'_>>(body).ok()?.error?;
    match dialect {
        Dialect::OpenAiChat | Dialect::OpenAiResponses => Some(openai_chat::fault::of_member(&error)),
        Dialect::Claude => error.read::<ErrorObject<'_>>().ok().map(|error| claude::fold::fault(&error)),
        Dialect::Gemini => error.read::<Status<'_>>().ok().map(gemini::fold::fault),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::convert::{ConvertError, Reply, response};

    const ALL: [Dialect; 4] = [Dialect::OpenAiChat, Dialect::OpenAiResponses, Dialect::Claude, Dialect::Gemini];

    fn errors(from: Dialect, body: &str) -> Vec<ConvertError> {
        let others = ALL.into_iter().filter(|to| *to != from);
        others.map(|to| response(from, to, body, &Reply::default()).unwrap_err()).collect()
    }

    #[test]
    fn an_error_in_place_of_an_answer_is_told_with_its_words() {
        for (from, body, status, code) in [
            (
                Dialect::OpenAiChat,
                r#"{"error":{"message":"no","code":"rate_limit_exceeded"}}"#,
                429,
                "rate_limit_exceeded",
            ),
            (
                Dialect::OpenAiResponses,
                r#"{"status":"failed","error":{"message":"no","code":"server_error"}}"#,
                500,
                "server_error",
            ),
            (
                Dialect::Claude,
                r#"{"type":"error","error":{"type":"overloaded_error","message":"no"}}"#,
                529,
                "overloaded_error",
            ),
            (Dialect::Gemini, r#"{"error":{"code":503,"status":"UNAVAILABLE","message":"no"}}"#, 503, "UNAVAILABLE"),
        ] {
            let expected = StreamFault { status, code: code.into(), message: "no".into() };
            for error in errors(from, body) {
                assert_eq!(error, ConvertError::Failed(expected.clone()), "{from:?}");
            }
        }
    }

    #[test]
    fn what_is_no_answer_is_unreadable() {
        for from in ALL {
            for error in errors(from, "{}") {
                assert!(matches!(error, ConvertError::Unreadable(_)), "{from:?}: {error:?}");
            }
        }
    }

    #[test]
    fn clients_know_a_conversation_that_is_too_long() {
        let fault = |status, code: &'static str, message: &'static str| StreamFault {
            status,
            code: code.into(),
            message: message.into(),
        };
        for (said, client, heard) in [
            (fault(400, "context_length_exceeded", "a"), Dialect::Claude, "prompt is too long: a"),
            (
                fault(400, "invalid_request_error", "prompt is too long: 3 > 2"),
                Dialect::Claude,
                "prompt is too long: 3 > 2",
            ),
            (
                fault(413, "request_too_large", "prompt is too long: 3 > 2"),
                Dialect::OpenAiResponses,
                "prompt is too long: 3 > 2",
            ),
        ] {
            let expected = fault(400, "context_length_exceeded", heard);
            assert_eq!(said.for_client(client), expected);
        }
        let other = fault(502, "upstream_error", "the context window");
        assert_eq!(other.for_client(Dialect::Claude), other);
    }
}
