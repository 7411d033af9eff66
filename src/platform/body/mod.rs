//! Bodies of requests and responses, in either direction.
//!
//! A body that is only forwarded should cost next to nothing in the core: natively chunks pass through by reference count, and
//! on Workers JavaScript carries them and shows a copy. So the core does not pull chunks through itself just to look at them;
//! it hangs an [`Observer`] on the stream and lets the host decide how to feed it.

use std::any::Any;
use std::fmt;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::future::LocalBoxFuture;

use super::clock::Clock;
use super::tasks::Tasks;

pub mod plain;

/// The body of a request or a response.
pub enum Body {
    /// All of it, perhaps nothing.
    Whole(Bytes),
    /// What arrives piece by piece.
    Stream(Box<dyn ByteStream>),
}

impl Body {
    /// A body of no bytes.
    pub fn empty() -> Self {
        Self::Whole(Bytes::new())
    }

    /// A stream of chunks that are all there already.
    pub fn from_chunks(chunks: Vec<Bytes>) -> Self {
        Self::Stream(Box::new(Chunks(chunks.into_iter())))
    }

    /// Reads everything, counting while it reads: a body longer than `limit` bytes is an error, whatever length it
    /// claimed to have.
    pub async fn collect(self, limit: usize) -> Result<Bytes, BodyError> {
        match self {
            Self::Whole(bytes) if bytes.len() > limit => Err(BodyError::TooLarge { limit }),
            Self::Whole(bytes) => Ok(bytes),
            Self::Stream(stream) => stream.collect(limit).await,
        }
    }

    /// Reads until at least `bytes` bytes are there, or all there are, before anything is passed on: as long as nothing was, an
    /// answer that breaks can still be asked for elsewhere.
    pub async fn read_ahead(self, bytes: usize) -> Result<Self, BodyError> {
        match self {
            Self::Whole(_) => Ok(self),
            Self::Stream(stream) => stream.read_ahead(bytes).await,
        }
    }

    /// Reads until `ahead` has seen enough, or waited enough; what was read is not lost. A stream that ends before comes back
    /// [whole](Self::Whole).
    pub async fn read_ahead_until(self, mut ahead: Ahead) -> Result<Self, BodyError> {
        match self {
            Self::Whole(bytes) => {
                (ahead.enough)(&bytes);
                Ok(Self::Whole(bytes))
            }
            Self::Stream(stream) => stream.read_ahead_until(ahead).await,
        }
    }

    /// Shows every chunk to `observer` on the way; it learns of the end exactly once, whatever way the body ends.
    pub fn observe(self, mut observer: Box<dyn Observer>) -> Self {
        match self {
            Self::Whole(bytes) => {
                if !bytes.is_empty() {
                    observer.chunk(&bytes);
                }
                match observer.end(Ending::Complete) {
                    Some(epilogue) if !epilogue.is_empty() => Self::Whole([bytes, epilogue].concat().into()),
                    _ => Self::Whole(bytes),
                }
            }
            Self::Stream(stream) => Self::Stream(stream.observe(observer)),
        }
    }

    /// Lets `editor` change the chunks on the way.
    pub fn edit(self, mut editor: Box<dyn Editor>) -> Self {
        match self {
            Self::Whole(bytes) => {
                let mut edited = BytesMut::from(editor.edit(bytes));
                edited.extend_from_slice(&editor.finish());
                Self::Whole(edited.freeze())
            }
            Self::Stream(stream) => Self::Stream(stream.edit(editor)),
        }
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(bytes) => write!(formatter, "Body({} bytes)", bytes.len()),
            Self::Stream(_) => formatter.write_str("Body(stream)"),
        }
    }
}

/// How far, and for how long, a body is read ahead.
pub struct Ahead {
    /// Sees each chunk, and says whether it is the last that has to be there.
    pub enough: Box<dyn FnMut(&Bytes) -> bool>,
    /// How long to wait for that.
    pub patience: Duration,
    /// What to measure that by.
    pub clock: Rc<dyn Clock>,
}

/// Looks at a body without changing it.
pub trait Observer {
    /// Sees a chunk. The host chooses where chunks begin and end.
    fn chunk(&mut self, chunk: &Bytes);

    /// Whether the body has said by itself that it is over, whatever its sender does with the connection.
    fn has_ended(&self) -> bool;

    /// How a reader of a quiet body is kept waiting, if at all.
    fn pulse(&self) -> Option<Pulse>;

    /// What to say to a reader who has heard nothing for a while; `None` where it would disturb.
    fn heartbeat(&self) -> Option<Bytes>;

    /// Whether it may have something to say at the end; the length of the body is then not known beforehand.
    fn may_append(&self) -> bool;

    /// Learns that the reader has left before the end. With tasks as the answer the sender is not cancelled: the rest is read among
    /// them, and shown to this observer.
    fn reader_left(&mut self) -> Option<Rc<dyn Tasks>> {
        None
    }

    /// Learns how the body ended, and decides what the reader learns of it: with `None` the body ends for him as it did, with
    /// an epilogue it ends properly after that, which may be empty.
    fn end(self: Box<Self>, ending: Ending) -> Option<Bytes>;
}

/// How a reader of a quiet body is kept waiting.
pub struct Pulse {
    /// How long a body may be quiet, roughly: a host may look only now and then.
    pub period: Duration,
    /// What to measure that by.
    pub clock: Rc<dyn Clock>,
}

/// How a body ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// With its last byte.
    Complete,
    /// The side that sent it broke off.
    Broken(BodyError),
    /// The side that reads it went away.
    Abandoned,
}

/// Changes a body on its way.
pub trait Editor {
    /// What to pass on for `chunk`; an editor may hold bytes back.
    fn edit(&mut self, chunk: Bytes) -> Bytes;

    /// What was held back, when the body has ended properly.
    fn finish(&mut self) -> Bytes;
}

/// A body that arrives piece by piece. Dropping it cancels the sender.
pub trait ByteStream: Unpin + 'static {
    /// The next chunk, never empty; `None` after the last byte; nothing more after an error.
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, BodyError>>>;

    /// The number of bytes still to come, where the sender has told it.
    fn length(&self) -> Option<u64> {
        None
    }

    /// See [`Body::collect`].
    fn collect(self: Box<Self>, limit: usize) -> LocalBoxFuture<'static, Result<Bytes, BodyError>>;

    /// See [`Body::read_ahead`].
    fn read_ahead(self: Box<Self>, bytes: usize) -> LocalBoxFuture<'static, Result<Body, BodyError>>;

    /// See [`Body::read_ahead_until`].
    fn read_ahead_until(self: Box<Self>, ahead: Ahead) -> LocalBoxFuture<'static, Result<Body, BodyError>>;

    /// See [`Body::observe`].
    fn observe(self: Box<Self>, observer: Box<dyn Observer>) -> Box<dyn ByteStream>;

    /// See [`Body::edit`].
    fn edit(self: Box<Self>, editor: Box<dyn Editor>) -> Box<dyn ByteStream>;

    /// Lets a host find its own kind of stream again, to hand it on without taking it apart.
    fn as_any(&mut self) -> &mut dyn Any;
}

/// Implements the parts of [`ByteStream`] for which a stream has no better way than the plain one.
#[macro_export]
macro_rules! plain_byte_stream {
    () => {
        fn collect(
            self: Box<Self>,
            limit: usize,
        ) -> futures_util::future::LocalBoxFuture<'static, Result<bytes::Bytes, $crate::platform::body::BodyError>> {
            $crate::platform::body::plain::collect(self, limit)
        }

        fn read_ahead(
            self: Box<Self>,
            bytes: usize,
        ) -> futures_util::future::LocalBoxFuture<
            'static,
            Result<$crate::platform::body::Body, $crate::platform::body::BodyError>,
        > {
            $crate::platform::body::plain::read_ahead(self, bytes)
        }

        fn read_ahead_until(
            self: Box<Self>,
            ahead: $crate::platform::body::Ahead,
        ) -> futures_util::future::LocalBoxFuture<
            'static,
            Result<$crate::platform::body::Body, $crate::platform::body::BodyError>,
        > {
            $crate::platform::body::plain::read_ahead_until(self, ahead)
        }

        fn observe(
            self: Box<Self>,
            observer: Box<dyn $crate::platform::body::Observer>,
        ) -> Box<dyn $crate::platform::body::ByteStream> {
            $crate::platform::body::plain::observe(self, observer)
        }

        fn edit(
            self: Box<Self>,
            editor: Box<dyn $crate::platform::body::Editor>,
        ) -> Box<dyn $crate::platform::body::ByteStream> {
            $crate::platform::body::plain::edit(self, editor)
        }

        fn as_any(&mut self) -> &mut dyn std::any::Any {
            self
        }
    };
}

struct Chunks(std::vec::IntoIter<Bytes>);

impl ByteStream for Chunks {
    fn poll_next(&mut self, _context: &mut Context<'_>) -> Poll<Option<Result<Bytes, BodyError>>> {
        Poll::Ready(self.0.next().map(Ok))
    }

    plain_byte_stream!();
}

/// Why a body could not be read to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BodyError {
    /// It is longer than `limit` bytes.
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// No byte came for too long, or all of it took too long.
    Timeout,
    /// The connection broke; the platform's words, for logs.
    Broken(String),
}

impl fmt::Display for BodyError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge { limit } => write!(formatter, "the body is longer than {limit} bytes"),
            Self::Timeout => formatter.write_str("no byte of the body came in time"),
            Self::Broken(message) => write!(formatter, "the body broke off: {message}"),
        }
    }
}

impl std::error::Error for BodyError {}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use futures_util::FutureExt;

    use super::*;

    fn chunks(parts: &[&'static str]) -> Body {
        Body::from_chunks(parts.iter().map(|part| Bytes::from_static(part.as_bytes())).collect())
    }

    fn collect(body: Body, limit: usize) -> Result<Bytes, BodyError> {
        body.collect(limit).now_or_never().expect("chunks are all there")
    }

    #[derive(Default)]
    struct Seen {
        bytes: Vec<u8>,
        endings: Vec<Ending>,
        epilogue: Option<&'static str>,
    }

    struct Recorder(Rc<RefCell<Seen>>);

    impl Observer for Recorder {
        fn chunk(&mut self, chunk: &Bytes) {
            self.0.borrow_mut().bytes.extend_from_slice(chunk);
        }

        fn has_ended(&self) -> bool {
            false
        }

        fn pulse(&self) -> Option<Pulse> {
            None
        }

        fn heartbeat(&self) -> Option<Bytes> {
            None
        }

        fn may_append(&self) -> bool {
            self.0.borrow().epilogue.is_some()
        }

        fn end(self: Box<Self>, ending: Ending) -> Option<Bytes> {
            self.0.borrow_mut().endings.push(ending);
            self.0.borrow().epilogue.map(|text| Bytes::from_static(text.as_bytes()))
        }
    }

    #[test]
    fn collect_counts_what_it_reads() {
        assert_eq!(collect(chunks(&["ab", "cd"]), 4).unwrap(), "abcd");
        assert_eq!(collect(chunks(&["ab", "cde"]), 4), Err(BodyError::TooLarge { limit: 4 }));
        assert_eq!(collect(chunks(&[]), 4).unwrap(), "");
        assert_eq!(collect(Body::Whole("abcde".into()), 4), Err(BodyError::TooLarge { limit: 4 }));
    }

    #[test]
    fn an_observer_sees_everything_and_one_end() {
        let seen = Rc::new(RefCell::new(Seen::default()));
        let body = chunks(&["ab", "c"]).observe(Box::new(Recorder(seen.clone())));
        assert_eq!(collect(body, 9).unwrap(), "abc");
        assert_eq!(seen.borrow().bytes, b"abc");
        assert_eq!(seen.borrow().endings, [Ending::Complete]);
    }

    #[test]
    fn a_dropped_body_is_abandoned() {
        let seen = Rc::new(RefCell::new(Seen::default()));
        drop(chunks(&["ab"]).observe(Box::new(Recorder(seen.clone()))));
        assert_eq!(seen.borrow().endings, [Ending::Abandoned]);
    }

    #[test]
    fn an_epilogue_is_the_last_that_is_read() {
        for body in [chunks(&["ab"]), Body::Whole("ab".into())] {
            let seen = Rc::new(RefCell::new(Seen { epilogue: Some("!"), ..Seen::default() }));
            assert_eq!(collect(body.observe(Box::new(Recorder(seen))), 9).unwrap(), "ab!");
        }
    }

    #[test]
    fn reading_ahead_loses_nothing() {
        let ahead =
            |parts, bytes| chunks(parts).read_ahead(bytes).now_or_never().expect("chunks are all there").unwrap();
        let is_whole = |body: &Body| matches!(body, Body::Whole(_));
        for (bytes, whole) in [(1, false), (2, false), (3, false), (9, true)] {
            let body = ahead(&["ab", "c"], bytes);
            assert_eq!(is_whole(&body), whole, "{bytes}");
            assert_eq!(collect(body, 9).unwrap(), "abc");
        }
        assert!(is_whole(&ahead(&[], 1)));
    }

    #[test]
    fn an_editor_may_hold_back_and_release() {
        struct Holding(Vec<u8>);
        impl Editor for Holding {
            fn edit(&mut self, chunk: Bytes) -> Bytes {
                self.0.extend_from_slice(&chunk);
                Bytes::new()
            }
            fn finish(&mut self) -> Bytes {
                std::mem::take(&mut self.0).into()
            }
        }
        assert_eq!(collect(chunks(&["ab", "c"]).edit(Box::new(Holding(vec![]))), 9).unwrap(), "abc");
        assert_eq!(collect(Body::Whole("xy".into()).edit(Box::new(Holding(vec![]))), 9).unwrap(), "xy");
    }
}
