//! Undoes gzip in an answer.

use std::io::Write;
use std::task::{Context, Poll};

use bytes::Bytes;
use flate2::write::MultiGzDecoder;
use tollgate::plain_byte_stream;
use tollgate::platform::body::{BodyError, ByteStream};

/// Most bytes that one piece may grow to; more is no honest answer.
const MAX_PIECE_BYTES: usize = 64 * 1024 * 1024;

/// A stream whose gzip is undone.
pub(super) struct Gunzip {
    stream: Box<dyn ByteStream>,
    decoder: Option<MultiGzDecoder<Vec<u8>>>,
}

impl Gunzip {
    pub(super) fn new(stream: Box<dyn ByteStream>) -> Self {
        Self { stream, decoder: Some(MultiGzDecoder::new(Vec::new())) }
    }
}

impl ByteStream for Gunzip {
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, BodyError>>> {
        loop {
            let Some(decoder) = &mut self.decoder else { return Poll::Ready(None) };
            let polled = std::task::ready!(self.stream.poll_next(context));
            let is_last = polled.is_none();
            let result = match polled {
                Some(Ok(piece)) => decoder.write_all(&piece).and_then(|()| decoder.flush()),
                Some(Err(error)) => {
                    self.decoder = None;
                    return Poll::Ready(Some(Err(error)));
                }
                None => decoder.try_finish(),
            };
            let plain = std::mem::take(decoder.get_mut());
            if is_last || result.is_err() || plain.len() > MAX_PIECE_BYTES {
                self.decoder = None;
            }
            if plain.len() > MAX_PIECE_BYTES {
                return Poll::Ready(Some(Err(BodyError::TooLarge { limit: MAX_PIECE_BYTES })));
            }
            if let Err(error) = result {
                return Poll::Ready(Some(Err(BodyError::Broken(error.to_string()))));
            }
            if !plain.is_empty() {
                return Poll::Ready(Some(Ok(plain.into())));
            }
        }
    }

    plain_byte_stream!();
}
