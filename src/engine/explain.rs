//! What would become of a call at a target, found out without asking anybody.

use super::attempt::ClientCall;
use super::select::{ConversionRules, Target};
use super::translate::dialect_for;
use crate::protocol::convert::media::Media;
use crate::protocol::convert::{self, Context, ConvertError, count, embeddings};
use crate::protocol::dialect::Dialect;
use crate::protocol::operation::Operation;

/// What would become of a call at one target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Prospect {
    /// It is asked in the client's own dialect.
    Own,
    /// It is asked in another dialect. What would be lost, on one line; empty where nothing is.
    Converted {
        /// The dialect.
        dialect: Dialect,
        /// The losses.
        losses: String,
    },
    /// Files have to be fetched before it can be told.
    NeedsFiles(Dialect),
    /// It would be passed over: the request loses something there, and it or its route is strict.
    TooLossy(Dialect, String),
    /// It cannot be asked for this, and why.
    Impossible(Dialect, String),
    /// It has nothing like the operation.
    NoOperation,
}

/// Tells what would become of `call` at `target`.
pub fn prospect(call: &ClientCall, target: &Target, rules: ConversionRules) -> Prospect {
    let Some(dialect) = dialect_for(call, target) else { return Prospect::NoOperation };
    let request = &call.request;
    if dialect == request.dialect {
        return Prospect::Own;
    }
    let Ok(body) = std::str::from_utf8(&request.body) else {
        return Prospect::Impossible(dialect, "the request body is not valid UTF-8".to_owned());
    };
    let nothing = Media::new();
    let context =
        Context { model: &target.model, stream: request.stream, server_tools: rules.server_tools, media: &nothing };
    let result = match request.operation {
        Operation::Generate => convert::request(request.dialect, dialect, body, &context),
        Operation::CountTokens if count::can_count(dialect) => count::request(request.dialect, dialect, body, &context),
        Operation::CountTokens => Ok(convert::ConvertedRequest::default()),
        Operation::Embed | Operation::EmbedBatch if dialect == Dialect::Gemini => {
            embeddings::to_gemini(body, &target.model)
        }
        Operation::Embed | Operation::EmbedBatch => embeddings::to_openai(request.operation, body, &target.model),
    };
    match result {
        Ok(converted) if converted.losses.matters() && (rules.strict || call.strict) => {
            Prospect::TooLossy(dialect, converted.losses.text())
        }
        Ok(converted) => Prospect::Converted { dialect, losses: converted.losses.text() },
        Err(ConvertError::NeedsMedia(_)) => Prospect::NeedsFiles(dialect),
        Err(error) => Prospect::Impossible(dialect, error.to_string()),
    }
}
