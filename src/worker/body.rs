//! The body of an upstream's answer, which JavaScript holds and carries.

use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;
use http::HeaderMap;
use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

use super::bridge;
use crate::platform::body::{Ahead, Body, BodyError, ByteStream, Editor, Ending, Observer, plain};

/// An upstream's answer as JavaScript holds it.
pub(super) struct UpstreamBody {
    upstream: JsValue,
    /// The headers as they came, to tell what was changed.
    pub(super) headers: HeaderMap,
    watcher: Watcher,
    pulling: Option<JsFuture>,
    /// A whole answer that the core has looked at, so that it is not copied over twice.
    seen: Option<Bytes>,
    /// Whether the body was handed on or read to its end.
    is_done: bool,
}

/// What the core wants to see of a body, and to change in it. JavaScript holds it while the body passes.
#[wasm_bindgen]
#[derive(Default)]
pub struct Watcher {
    observer: Option<Box<dyn Observer>>,
    editor: Option<Box<dyn Editor>>,
}

#[wasm_bindgen]
impl Watcher {
    /// Sees what comes, and returns what is to go on in its place, if not itself.
    pub fn edit(&mut self, chunk: Vec<u8>) -> Option<Vec<u8>> {
        self.pass(chunk.into())
    }
}

impl Watcher {
    fn pass(&mut self, chunk: Bytes) -> Option<Vec<u8>> {
        if let Some(observer) = &mut self.observer {
            observer.chunk(&chunk);
        }
        self.editor.as_mut().map(|editor| editor.edit(chunk).into())
    }
}

#[wasm_bindgen]
impl Watcher {
    /// Whether the body has said that it is over.
    #[wasm_bindgen(js_name = hasEnded)]
    pub fn has_ended(&self) -> bool {
        self.observer.as_ref().is_some_and(|observer| observer.has_ended())
    }

    /// Learns that the client has left; whether the rest is read all the same.
    #[wasm_bindgen(js_name = readerLeft)]
    pub fn reader_left(&mut self) -> bool {
        self.observer.as_mut().is_some_and(|observer| observer.reader_left().is_some())
    }

    /// A sign of life for the client, where it does not disturb.
    pub fn heartbeat(&mut self) -> Option<Vec<u8>> {
        let heartbeat = self.observer.as_ref().and_then(|observer| observer.heartbeat())?;
        let edited = match &mut self.editor {
            Some(editor) => editor.edit(heartbeat),
            None => heartbeat,
        };
        (!edited.is_empty()).then(|| edited.into())
    }

    /// Learns the end, by the numbers in `bridge.js`, and decides what the client learns of it: with nothing the body ends for
    /// him as it did, with bytes it ends properly after them.
    pub fn end(mut self, ending: u8) -> Option<Vec<u8>> {
        let ending = match ending {
            0 => Ending::Complete,
            // A Worker cannot break a response off for certain, so a stream has to say by itself that it is not whole.
            1 => Ending::Complete,
            3 => Ending::Broken(BodyError::Timeout),
            _ => Ending::Abandoned,
        };
        let is_read = ending != Ending::Abandoned;
        let epilogue = self.observer.take().and_then(|observer| observer.end(ending));
        let Some(editor) = self.editor.as_mut().filter(|_| is_read) else { return epilogue.map(Vec::from) };
        // What the observer has to say passes through the editor as well.
        let is_proper = epilogue.is_some();
        let mut last =
            epilogue.filter(|epilogue| !epilogue.is_empty()).map_or_else(Vec::new, |it| editor.edit(it).into());
        last.extend_from_slice(&editor.finish());
        (is_proper || !last.is_empty()).then_some(last)
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        if let Some(observer) = self.observer.take() {
            observer.end(Ending::Abandoned);
        }
    }
}

impl UpstreamBody {
    /// The body of `upstream`.
    pub(super) fn new(upstream: JsValue, headers: HeaderMap) -> Self {
        Self { upstream, headers, watcher: Watcher::default(), pulling: None, seen: None, is_done: false }
    }

    /// Hands the body on as a response with this status and these headers.
    pub(super) fn respond(&mut self, status: u16, headers: &HeaderMap, context: &JsValue) -> JsValue {
        self.is_done = true;
        let mut watcher = std::mem::take(&mut self.watcher);
        let stream = if watcher.observer.is_none() && watcher.editor.is_none() {
            None
        } else if let Some(bytes) = self.whole() {
            watcher.pass(bytes);
            watcher.end(0);
            None
        } else {
            let pulse = watcher.observer.as_ref().and_then(|observer| observer.pulse());
            let period = pulse.map_or(0.0, |pulse| pulse.period.as_millis() as f64);
            Some(bridge::stream(&self.upstream, watcher, context, period))
        };
        let (deleted, set) = self.changes(headers);
        bridge::respond_from_upstream(&self.upstream, status, &deleted, &set, stream)
    }

    /// All of it, where it was read whole.
    fn whole(&mut self) -> Option<Bytes> {
        self.seen.take().or_else(|| bridge::whole_bytes(&self.upstream).map(Bytes::from))
    }

    /// How `headers` differ from those that came: the names that are gone, and the lines that are new.
    fn changes(&self, headers: &HeaderMap) -> (String, String) {
        let mut deleted: Vec<&str> =
            self.headers.keys().map(|name| name.as_str()).filter(|name| !headers.contains_key(*name)).collect();
        deleted.dedup();
        let mut set = HeaderMap::new();
        for (name, value) in headers {
            if self.headers.get(name) != Some(value) {
                set.append(name, value.clone());
            }
        }
        (deleted.join("\n"), super::fetch::to_lines(&set, ""))
    }
}

impl ByteStream for UpstreamBody {
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, BodyError>>> {
        if self.is_done {
            return Poll::Ready(None);
        }
        if let Some(failure) = bridge::failure_of(&self.upstream) {
            self.is_done = true;
            return Poll::Ready(Some(Err(self::failure(failure))));
        }
        if let Some(bytes) = self.whole() {
            self.is_done = true;
            return Poll::Ready((!bytes.is_empty()).then_some(Ok(bytes)));
        }
        let upstream = &self.upstream;
        let pulling = self.pulling.get_or_insert_with(|| JsFuture::from(bridge::pull(upstream)));
        let result = std::task::ready!(std::pin::Pin::new(pulling).poll(context));
        self.pulling = None;
        Poll::Ready(match result {
            Ok(piece) => match piece.dyn_ref::<Uint8Array>() {
                Some(piece) => Some(Ok(piece.to_vec().into())),
                None => {
                    self.is_done = true;
                    None
                }
            },
            Err(error) => {
                self.is_done = true;
                Some(Err(failure(bridge::error_text(&error))))
            }
        })
    }

    fn collect(self: Box<Self>, limit: usize) -> LocalBoxFuture<'static, Result<Bytes, BodyError>> {
        plain::collect(self, limit)
    }

    fn read_ahead(self: Box<Self>, _bytes: usize) -> LocalBoxFuture<'static, Result<Body, BodyError>> {
        // That was done when the request was sent: anything of ordinary size was read whole.
        Box::pin(std::future::ready(match bridge::failure_of(&self.upstream) {
            Some(failure) => Err(self::failure(failure)),
            None if bridge::whole_length(&self.upstream) == 0 => Ok(Body::empty()),
            None => Ok(Body::Stream(self)),
        }))
    }

    fn read_ahead_until(mut self: Box<Self>, mut ahead: Ahead) -> LocalBoxFuture<'static, Result<Body, BodyError>> {
        Box::pin(async move {
            if let Some(failure) = bridge::failure_of(&self.upstream) {
                return Err(self::failure(failure));
            }
            if let Some(bytes) = self.whole() {
                if !(ahead.enough)(&bytes) {
                    return Ok(Body::Whole(bytes));
                }
                self.seen = Some(bytes);
                return Ok(Body::Stream(self));
            }
            let began = ahead.clock.now();
            let mut read = Vec::new();
            loop {
                let waited = u64::try_from(ahead.clock.now().millis_since(began)).unwrap_or_default();
                let left = ahead.patience.saturating_sub(Duration::from_millis(waited));
                let pulled = JsFuture::from(bridge::pull_ahead(&self.upstream, left.as_millis() as f64)).await;
                let piece = pulled.map_err(|error| failure(bridge::error_text(&error)))?;
                match piece.dyn_ref::<Uint8Array>() {
                    Some(piece) => {
                        let piece = Bytes::from(piece.to_vec());
                        if (ahead.enough)(&piece) {
                            return Ok(Body::Stream(self));
                        }
                        read.push(piece);
                    }
                    None if piece.is_null() => return Ok(Body::Stream(self)),
                    None => {
                        self.is_done = true;
                        return Ok(Body::Whole(read.concat().into()));
                    }
                }
            }
        })
    }

    fn observe(mut self: Box<Self>, observer: Box<dyn Observer>) -> Box<dyn ByteStream> {
        if self.watcher.observer.is_some() || self.watcher.editor.is_some() {
            return plain::observe(self, observer);
        }
        self.watcher.observer = Some(observer);
        self
    }

    fn edit(mut self: Box<Self>, editor: Box<dyn Editor>) -> Box<dyn ByteStream> {
        if self.watcher.editor.is_some() {
            return plain::edit(self, editor);
        }
        self.watcher.editor = Some(editor);
        self
    }

    fn as_any(&mut self) -> &mut dyn std::any::Any {
        self
    }
}

/// Why a body broke off, told from JavaScript's words.
fn failure(message: String) -> BodyError {
    if message == "timeout" { BodyError::Timeout } else { BodyError::Broken(message) }
}

impl Drop for UpstreamBody {
    fn drop(&mut self) {
        if !self.is_done {
            bridge::abandon(&self.upstream);
        }
    }
}
