//! What would become of a call at a target, found out without asking anybody.

use super::attempt::ClientCall;
use super::select::{ConversionRules, Target};
use super::translate::{convert, dialect_for};
use crate::protocol::convert::ConvertError;
use crate::protocol::convert::media::Media;
use crate::protocol::dialect::Dialect;

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
    if dialect == call.request.dialect {
        return Prospect::Own;
    }
    match convert(call, target, dialect, rules, &Media::new()) {
        Ok(converted) if converted.losses.matters() && (rules.strict || call.strict) => {
            Prospect::TooLossy(dialect, converted.losses.text())
        }
        Ok(converted) => Prospect::Converted { dialect, losses: converted.losses.text() },
        Err(ConvertError::NeedsMedia(_)) => Prospect::NeedsFiles(dialect),
        Err(error) => Prospect::Impossible(dialect, error.to_string()),
    }
}
