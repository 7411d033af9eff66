//! The bodies of requests: their limit and their coding.

use std::io::Read;

use bytes::Bytes;
use http::HeaderMap;
use http::header::CONTENT_ENCODING;

use super::Exchange;
use crate::app::error::AppError;
use crate::platform::body::{Body, BodyError};

impl Exchange<'_> {
    /// Reads a body whole and undoes its coding; `limit` holds for what comes out as well.
    pub(super) async fn read_body(&self, body: Body, limit: usize) -> Result<Bytes, AppError> {
        let coding = content_coding(&self.parts.headers);
        let bytes = body.collect(limit).await?;
        match coding.as_deref() {
            None => Ok(bytes),
            Some("gzip" | "x-gzip") => gunzip(&bytes, limit).map_err(AppError::Body),
            Some(other) => Err(AppError::UnsupportedCoding(other.to_owned())),
        }
    }
}

fn content_coding(headers: &HeaderMap) -> Option<String> {
    let coding = headers.get(CONTENT_ENCODING)?.to_str().unwrap_or("?").trim().to_ascii_lowercase();
    (!matches!(coding.as_str(), "" | "identity")).then_some(coding)
}

/// Decompresses at most `limit` bytes: a small body can hold a very large one.
fn gunzip(bytes: &[u8], limit: usize) -> Result<Bytes, BodyError> {
    let mut plain = Vec::new();
    let mut decoder = flate2::read::MultiGzDecoder::new(bytes).take(limit as u64 + 1);
    decoder.read_to_end(&mut plain).map_err(|error| BodyError::Broken(error.to_string()))?;
    if plain.len() > limit { Err(BodyError::TooLarge { limit }) } else { Ok(plain.into()) }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn gzip(plain: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(plain).unwrap();
        encoder.finish().unwrap()
    }

    /// B79: what comes out of a compressed body counts.
    #[test]
    fn a_bomb_is_stopped_at_the_limit() {
        assert_eq!(gunzip(&gzip(b"hello"), 5).unwrap(), "hello");
        assert_eq!(gunzip(&gzip(&vec![0; 1 << 20]), 1000), Err(BodyError::TooLarge { limit: 1000 }));
        assert!(matches!(gunzip(b"not gzip", 1000), Err(BodyError::Broken(_))));
    }
}
