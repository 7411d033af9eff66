//! Marks the secrets of one vendor's thinking while another vendor's client keeps them.
//!
//! Claude signs its thinking, OpenAI encrypts it, Gemini signs the parts that follow from it, and each wants its own back, byte for
//! byte, and refuses what another made. Between two turns the client holds them, in the member that its dialect has for such
//! things; the mark tells whose they are, so that they go back to the family that made them and to nobody else.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};

/// Begins everything that was sealed; no vendor's own value does.
pub const MARK: &str = "tollgate-";

/// The same as base64 begins with it.
pub const ENCODED_MARK: &str = "dG9sbGdhdGUt";

/// Whose thinking it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// A signature of Claude.
    Claude,
    /// The data of a redacted thinking block of Claude.
    ClaudeRedacted,
    /// The encrypted content of a reasoning item of OpenAI.
    OpenAi,
    /// A thought signature of Gemini.
    Gemini,
}

impl Family {
    const ALL: [Self; 4] = [Self::Claude, Self::ClaudeRedacted, Self::OpenAi, Self::Gemini];

    /// Whether a model of this name is of the family. Behind Chat Completions stand models of all of them.
    pub fn has_model(self, name: &str) -> bool {
        match self {
            Self::Claude | Self::ClaudeRedacted => name.contains("claude"),
            Self::OpenAi => false,
            Self::Gemini => name.contains("gemini"),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::ClaudeRedacted => "claude-redacted",
            Self::OpenAi => "openai",
            Self::Gemini => "gemini",
        }
    }
}

/// `payload` with the mark of `family`, for a client whose dialect takes any text there.
pub fn seal(family: Family, payload: &str) -> String {
    format!("{MARK}{}:{payload}", family.name())
}

/// The same for a Gemini client, whose SDKs read the member as base64.
pub fn seal_base64(family: Family, payload: &str) -> String {
    STANDARD.encode(seal(family, payload))
}

/// Whose `text` is, and what was sealed; `None` for what was not sealed here, which is the own vendor's. The text may have been
/// through a client that reads and writes it as base64 in either alphabet.
pub fn unseal(text: &str) -> Option<(Family, Cow<'_, str>)> {
    if text.starts_with(MARK) {
        let (family, payload) = split(text)?;
        return Some((family, Cow::Borrowed(payload)));
    }
    let decoded = decode_base64(text).filter(|decoded| decoded.starts_with(MARK.as_bytes()))?;
    let decoded = String::from_utf8(decoded).ok()?;
    let (family, payload) = split(&decoded)?;
    Some((family, Cow::Owned(payload.to_owned())))
}

/// Whether `text` was made by the vendor in whose dialect it stands.
pub fn is_genuine(text: &str) -> bool {
    !text.is_empty() && unseal(text).is_none()
}

fn split(text: &str) -> Option<(Family, &str)> {
    let (name, payload) = text.strip_prefix(MARK)?.split_once(':')?;
    let family = Family::ALL.into_iter().find(|family| family.name() == name)?;
    Some((family, payload))
}

fn decode_base64(text: &str) -> Option<Vec<u8>> {
    // Only what begins like the mark is worth decoding: signatures are long.
    if !text.starts_with(ENCODED_MARK) {
        return None;
    }
    [&STANDARD, &STANDARD_NO_PAD, &URL_SAFE, &URL_SAFE_NO_PAD].into_iter().find_map(|engine| engine.decode(text).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sealed_comes_out_again() {
        for family in Family::ALL {
            for payload in ["", "c2ln", "a:b", "??>>~~", "ä"] {
                assert_eq!(unseal(&seal(family, payload)), Some((family, payload.into())));
                let encoded = seal_base64(family, payload);
                assert_eq!(unseal(&encoded), Some((family, payload.into())));
                let url_safe = encoded.replace('+', "-").replace('/', "_");
                assert_eq!(unseal(url_safe.trim_end_matches('=')), Some((family, payload.into())));
            }
        }
    }

    #[test]
    fn a_vendors_own_is_left_alone() {
        for own in ["", "c2ln", "EqQBCkYIBxgCKkDx", "tollgate-", "tollgate-nobody:x", "dG9sbGdhdGUt!"] {
            assert_eq!(unseal(own), None, "{own}");
        }
        assert!(is_genuine("c2ln") && !is_genuine("") && !is_genuine(&seal(Family::OpenAi, "x")));
    }
}
