//! The obvious ways to do what [`ByteStream`] asks for, for streams that have no better one.

use std::collections::VecDeque;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use futures_util::FutureExt;
use futures_util::future::{Either, LocalBoxFuture, poll_fn, select};

use super::{Ahead, Body, BodyError, ByteStream, Editor, Ending, Observer, Pulse};
use crate::plain_byte_stream;

/// Reads `stream` to its end, at most `limit` bytes.
pub fn collect(mut stream: Box<dyn ByteStream>, limit: usize) -> LocalBoxFuture<'static, Result<Bytes, BodyError>> {
    Box::pin(async move {
        if stream.length().is_some_and(|length| length > limit as u64) {
            return Err(BodyError::TooLarge { limit });
        }
        let Some(first) = next(&mut *stream).await else { return Ok(Bytes::new()) };
        let first = first?;
        let mut total = first.len();
        let mut rest: Option<BytesMut> = None;
        loop {
            if total > limit {
                return Err(BodyError::TooLarge { limit });
            }
            let Some(chunk) = next(&mut *stream).await else { break };
            let chunk = chunk?;
            total += chunk.len();
            rest.get_or_insert_with(|| BytesMut::from(&first[..])).extend_from_slice(&chunk);
        }
        // The usual small body is one chunk, which then needs no copy.
        Ok(rest.map_or(first, BytesMut::freeze))
    })
}

/// Reads at least `bytes` bytes of `stream` and puts them before the rest.
pub fn read_ahead(mut stream: Box<dyn ByteStream>, bytes: usize) -> LocalBoxFuture<'static, Result<Body, BodyError>> {
    Box::pin(async move {
        let mut pieces = VecDeque::new();
        let mut length = 0;
        while length < bytes {
            match next(&mut *stream).await {
                Some(piece) => {
                    let piece = piece?;
                    length += piece.len();
                    pieces.push_back(piece);
                }
                None => return Ok(Body::Whole(join(pieces))),
            }
        }
        Ok(Body::Stream(Box::new(ReadAhead { pieces, stream })))
    })
}

/// Reads `stream` until `ahead` has enough or has waited enough, and puts what was read before the rest.
pub fn read_ahead_until(
    mut stream: Box<dyn ByteStream>,
    mut ahead: Ahead,
) -> LocalBoxFuture<'static, Result<Body, BodyError>> {
    Box::pin(async move {
        let mut pieces = VecDeque::new();
        let mut patience: Option<LocalBoxFuture<'static, ()>> = None;
        loop {
            let mut reading = poll_fn(|context| stream.poll_next(context));
            // What is there already needs no timer.
            let polled = poll_fn(|context| Poll::Ready(reading.poll_unpin(context))).await;
            let piece = match polled {
                Poll::Ready(piece) => piece,
                Poll::Pending => {
                    let patience = patience.get_or_insert_with(|| ahead.clock.sleep(ahead.patience));
                    match select(reading, patience).await {
                        Either::Left((piece, _)) => piece,
                        Either::Right(_) => break,
                    }
                }
            };
            let Some(piece) = piece else { return Ok(Body::Whole(join(pieces))) };
            let piece = piece?;
            let is_enough = (ahead.enough)(&piece);
            pieces.push_back(piece);
            if is_enough {
                break;
            }
        }
        Ok(Body::Stream(Box::new(ReadAhead { pieces, stream })))
    })
}

/// Shows each chunk of `stream` to `observer` as it is pulled.
pub fn observe(stream: Box<dyn ByteStream>, observer: Box<dyn Observer>) -> Box<dyn ByteStream> {
    let pulse = observer.pulse();
    Box::new(Observed { stream: Some(stream), observer: Some(observer), pulse, timer: None, was_quiet: true })
}

/// Reads the rest of a body that nobody waits for any more, for its observer's sake.
async fn drain(mut stream: Box<dyn ByteStream>, mut observer: Box<dyn Observer>) {
    let ending = loop {
        match next(&mut *stream).await {
            Some(Ok(chunk)) => {
                observer.chunk(&chunk);
                if observer.has_ended() {
                    break Ending::Complete;
                }
            }
            Some(Err(error)) => break Ending::Broken(error),
            None => break Ending::Complete,
        }
    };
    observer.end(ending);
}

/// Lets `editor` change each chunk of `stream` as it is pulled.
pub fn edit(stream: Box<dyn ByteStream>, editor: Box<dyn Editor>) -> Box<dyn ByteStream> {
    Box::new(Edited { stream, editor: Some(editor) })
}

fn join(mut pieces: VecDeque<Bytes>) -> Bytes {
    match pieces.len() {
        0 | 1 => pieces.pop_front().unwrap_or_default(),
        _ => pieces.make_contiguous().concat().into(),
    }
}

async fn next(stream: &mut dyn ByteStream) -> Option<Result<Bytes, BodyError>> {
    poll_fn(|context| stream.poll_next(context)).await
}

struct Observed {
    /// `None` when it is read elsewhere.
    stream: Option<Box<dyn ByteStream>>,
    observer: Option<Box<dyn Observer>>,
    pulse: Option<Pulse>,
    /// Runs from the first silence on, half a period each time.
    timer: Option<LocalBoxFuture<'static, ()>>,
    /// Whether nothing has come since the timer was started.
    was_quiet: bool,
}

impl Observed {
    fn end(&mut self, ending: Ending) -> Option<Bytes> {
        self.observer.take().and_then(|observer| observer.end(ending))
    }
}

impl ByteStream for Observed {
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, BodyError>>> {
        let (Some(observer), Some(stream)) = (&mut self.observer, &mut self.stream) else { return Poll::Ready(None) };
        let (epilogue, error) = match stream.poll_next(context) {
            Poll::Ready(Some(Ok(chunk))) => {
                observer.chunk(&chunk);
                self.was_quiet = false;
                return Poll::Ready(Some(Ok(chunk)));
            }
            Poll::Ready(Some(Err(error))) => (self.end(Ending::Broken(error.clone())), Some(error)),
            Poll::Ready(None) => (self.end(Ending::Complete), None),
            Poll::Pending => {
                let Some(pulse) = &self.pulse else { return Poll::Pending };
                std::task::ready!(poll_silence(&mut self.timer, &mut self.was_quiet, pulse, context));
                if observer.has_ended() {
                    (self.end(Ending::Complete), None)
                } else if let Some(heartbeat) = observer.heartbeat() {
                    return Poll::Ready(Some(Ok(heartbeat)));
                } else {
                    // In the middle of something; the timer runs again.
                    context.waker().wake_by_ref();
                    return Poll::Pending;
                }
            }
        };
        Poll::Ready(match epilogue {
            None => error.map(Err),
            Some(epilogue) => (!epilogue.is_empty()).then_some(Ok(epilogue)),
        })
    }

    fn length(&self) -> Option<u64> {
        self.observer.as_ref().filter(|observer| !observer.may_append()).and(self.stream.as_ref()?.length())
    }

    plain_byte_stream!();
}

/// Ready when nothing has come for half a period or more. The timer is not set anew for each chunk; when it rings, it is told
/// whether anything came meanwhile.
fn poll_silence(
    timer: &mut Option<LocalBoxFuture<'static, ()>>,
    was_quiet: &mut bool,
    pulse: &Pulse,
    context: &mut Context<'_>,
) -> Poll<()> {
    loop {
        let running = timer.get_or_insert_with(|| {
            *was_quiet = true;
            pulse.clock.sleep(pulse.period / 2)
        });
        std::task::ready!(running.as_mut().poll(context));
        *timer = None;
        if std::mem::replace(was_quiet, true) {
            return Poll::Ready(());
        }
    }
}

impl Drop for Observed {
    fn drop(&mut self) {
        let tasks = self.observer.as_mut().and_then(|observer| observer.reader_left());
        match (tasks, self.stream.take(), self.observer.take()) {
            (Some(tasks), Some(stream), Some(observer)) => tasks.wait_until(Box::pin(drain(stream, observer))),
            (_, _, observer) => drop(observer.and_then(|observer| observer.end(Ending::Abandoned))),
        }
    }
}

struct ReadAhead {
    pieces: VecDeque<Bytes>,
    stream: Box<dyn ByteStream>,
}

impl ByteStream for ReadAhead {
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, BodyError>>> {
        match self.pieces.pop_front() {
            Some(piece) => Poll::Ready(Some(Ok(piece))),
            None => self.stream.poll_next(context),
        }
    }

    fn length(&self) -> Option<u64> {
        let ahead: usize = self.pieces.iter().map(Bytes::len).sum();
        self.stream.length().map(|rest| rest + ahead as u64)
    }

    plain_byte_stream!();
}

struct Edited {
    stream: Box<dyn ByteStream>,
    /// `None` when the stream has ended.
    editor: Option<Box<dyn Editor>>,
}

impl ByteStream for Edited {
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, BodyError>>> {
        while let Some(editor) = &mut self.editor {
            let edited = match std::task::ready!(self.stream.poll_next(context)) {
                Some(Ok(chunk)) => editor.edit(chunk),
                Some(Err(error)) => {
                    self.editor = None;
                    return Poll::Ready(Some(Err(error)));
                }
                None => {
                    let rest = editor.finish();
                    self.editor = None;
                    rest
                }
            };
            if !edited.is_empty() {
                return Poll::Ready(Some(Ok(edited)));
            }
        }
        Poll::Ready(None)
    }

    plain_byte_stream!();
}
