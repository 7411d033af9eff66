//! Images and documents: `data:` URLs, base64 in its two alphabets, and what had to be fetched for a conversion.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::ConvertError;

/// What stands in a `data:` URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataUrl<'a> {
    /// Its media type, such as `image/png`.
    pub media_type: &'a str,
    /// Base64.
    pub data: &'a str,
}

/// Takes a `data:` URL in base64 apart; `None` if `url` is none.
pub fn data_url(url: &str) -> Option<DataUrl<'_>> {
    let rest = url.get(..5).filter(|scheme| scheme.eq_ignore_ascii_case("data:")).and_then(|_| url.get(5..))?;
    let (description, data) = rest.split_once(',')?;
    let description = description.strip_suffix(";base64")?;
    let media_type = description.split(';').next().unwrap_or_default();
    Some(DataUrl { media_type, data })
}

/// Base64 in the ordinary alphabet, padded and on one line. Google's SDKs write it in the alphabet for URLs, mail has lines.
pub fn standard_base64(text: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    if text.len().is_multiple_of(4) && text.bytes().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut standard: String = text
        .chars()
        .filter(|character| !character.is_ascii_whitespace())
        .map(|character| match character {
            '-' => '+',
            '_' => '/',
            character => character,
        })
        .collect();
    let padding = (4 - standard.len() % 4) % 4;
    standard.extend(std::iter::repeat_n('=', if padding == 3 { 0 } else { padding }));
    Cow::Owned(standard)
}

/// The same, of what a client has sent at `path`; refused if it is no base64.
pub fn checked_base64<'a>(text: &'a str, path: &str) -> Result<Cow<'a, str>, ConvertError> {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_');
    let data = text.trim_end_matches(|character: char| character == '=' || character.is_ascii_whitespace());
    if data.bytes().all(|byte| is_allowed(byte) || byte.is_ascii_whitespace()) {
        return Ok(standard_base64(text));
    }
    Err(ConvertError::invalid(path, "is no base64"))
}

/// A file that was fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MediaFile {
    /// Its media type, as the server told it.
    pub media_type: String,
    /// Base64.
    pub data: String,
}

/// Files that were fetched for a conversion, by their URL.
pub type Media = BTreeMap<String, MediaFile>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_urls_are_taken_apart() {
        let parts = |url| data_url(url).map(|url| (url.media_type, url.data));
        assert_eq!(parts("data:image/png;base64,AAAA"), Some(("image/png", "AAAA")));
        assert_eq!(parts("DATA:text/plain;charset=utf-8;base64,QQ=="), Some(("text/plain", "QQ==")));
        for other in ["https://a.example/b.png", "data:image/png,AAAA", "data:", "", "dat\u{e4}:"] {
            assert_eq!(parts(other), None, "{other}");
        }
    }

    #[test]
    fn base64_of_either_alphabet_becomes_the_ordinary_one() {
        for (text, standard) in [
            ("AAAA", "AAAA"),
            ("-_-_", "+/+/"),
            ("QQ", "QQ=="),
            ("QUE", "QUE="),
            ("QQ==", "QQ=="),
            ("QU\r\nE= \n", "QUE="),
        ] {
            assert_eq!(standard_base64(text), standard);
            assert_eq!(checked_base64(text, "p").unwrap(), standard);
        }
        for other in ["<svg>", "QQ=A", "data:x"] {
            assert_eq!(checked_base64(other, "p"), Err(ConvertError::invalid("p", "is no base64")));
        }
    }
}
