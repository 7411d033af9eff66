//! Server-sent events, as the WHATWG describes them (<https://html.spec.whatwg.org/multipage/server-sent-events.html>).

use bytes::Bytes;
use serde_json::Value;

use super::dialect::Dialect;

/// Longest data that one event may have; what is longer is not kept, so that a stream without line ends cannot fill the
/// memory.
pub const MAX_EVENT_BYTES: usize = 16 * 1024 * 1024;

/// Stands for the data of an event that was too long. It is no JSON, so whoever cannot do without the event finds out.
pub const TOO_LONG: &[u8] = b"\0";

/// A mark that may stand at the beginning of a text in UTF-8 and is not part of it.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// What tells a client of `dialect`, between two events, that the stream is still alive.
pub fn heartbeat(dialect: Dialect) -> Bytes {
    Bytes::from_static(match dialect {
        Dialect::OpenAiChat | Dialect::OpenAiResponses => b": keep-alive\n\n",
        Dialect::Claude => b"event: ping\ndata: {\"type\": \"ping\"}\n\n",
        // Google's SDK for Python takes every line that is neither empty nor data for a piece of an error.
        Dialect::Gemini => b"\n",
    })
}

/// An event as it is written, with a name where it has one. `data` is JSON on one line.
pub fn event(name: Option<&str>, data: &Value) -> Bytes {
    let name = name.map(|name| format!("event: {name}\n")).unwrap_or_default();
    format!("{name}data: {data}\n\n").into()
}

/// One event: its name (empty when the stream gave none) and its data lines joined by newlines, as bytes, because a
/// stream is UTF-8 as a whole and not line by line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event<'a> {
    /// The `event` field.
    pub name: &'a [u8],
    /// The `data` fields.
    pub data: &'a [u8],
}

/// Finds events in a stream that arrives in any pieces.
#[derive(Debug, Default)]
pub struct Parser {
    /// A line whose end has not arrived.
    partial: Vec<u8>,
    name: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    too_long: bool,
    /// A carriage return ended the last line; a newline right after it belongs to it.
    after_return: bool,
    /// Whether the first line is through.
    has_begun: bool,
}

impl Parser {
    /// Takes the next piece and hands every event that it completes to `sink`. Time is linear in the bytes.
    pub fn feed(&mut self, mut piece: &[u8], sink: &mut dyn FnMut(Event<'_>)) {
        while !piece.is_empty() {
            if std::mem::take(&mut self.after_return) && piece.first() == Some(&b'\n') {
                piece = piece.get(1..).unwrap_or_default();
                continue;
            }
            let Some(end) = memchr::memchr2(b'\n', b'\r', piece) else {
                if self.partial.len() + piece.len() > MAX_EVENT_BYTES {
                    self.too_long = true;
                } else {
                    self.partial.extend_from_slice(piece);
                }
                return;
            };
            let (line, rest) = piece.split_at(end);
            self.after_return = rest.first() == Some(&b'\r');
            piece = rest.get(1..).unwrap_or_default();
            if self.partial.is_empty() {
                // Most events are one line of data and arrive whole: they are not copied.
                if self.has_begun
                    && !self.has_data
                    && !self.too_long
                    && let Some(following) = after_blank_line(rest)
                    && let Some(data) = field(line, b"data")
                {
                    sink(Event { name: &self.name, data });
                    self.name.clear();
                    self.after_return = false;
                    piece = following;
                    continue;
                }
                self.line(line, sink);
            } else {
                let mut whole = std::mem::take(&mut self.partial);
                whole.extend_from_slice(line);
                self.line(&whole, sink);
                whole.clear();
                self.partial = whole;
            }
        }
    }

    /// Tells the parser that the stream has ended. The last event counts even when its blank line is missing.
    pub fn finish(&mut self, sink: &mut dyn FnMut(Event<'_>)) {
        let line = std::mem::take(&mut self.partial);
        if !line.is_empty() {
            self.line(&line, sink);
        }
        self.line(b"", sink);
    }

    /// Whether everything so far ended with a whole event, so that something may be put in here.
    pub fn at_border(&self) -> bool {
        self.partial.is_empty() && !self.has_data && self.name.is_empty()
    }

    fn line(&mut self, mut line: &[u8], sink: &mut dyn FnMut(Event<'_>)) {
        if !std::mem::replace(&mut self.has_begun, true) {
            line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
        }
        if line.is_empty() {
            if self.has_data {
                let data = if self.too_long { TOO_LONG } else { &self.data };
                sink(Event { name: &self.name, data });
            }
            self.name.clear();
            self.data.clear();
            self.has_data = false;
            self.too_long = false;
        } else if let Some(value) = field(line, b"data") {
            if self.data.len() + value.len() > MAX_EVENT_BYTES {
                self.too_long = true;
                self.data = Vec::new();
                self.has_data = true;
                return;
            }
            if self.has_data {
                self.data.push(b'\n');
            }
            self.data.extend_from_slice(value);
            self.has_data = true;
        } else if let Some(value) = field(line, b"event") {
            self.name.clear();
            self.name.extend_from_slice(value.get(..value.len().min(256)).unwrap_or_default());
        }
    }
}

/// What follows the end of a line and the blank line after it, if they are the first of `rest`.
fn after_blank_line(rest: &[u8]) -> Option<&[u8]> {
    let line_end = |text: &'_ [u8]| text.strip_prefix(b"\r").unwrap_or(text).strip_prefix(b"\n").map(<[u8]>::len);
    let after = rest.len() - line_end(rest)?;
    let blank = rest.get(after..)?;
    rest.get(rest.len() - line_end(blank)?..)
}

/// The value of a line `name: value`, `name:value` or `name`.
fn field<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let rest = line.strip_prefix(name)?;
    if rest.is_empty() {
        return Some(rest);
    }
    let value = rest.strip_prefix(b":")?;
    Some(value.strip_prefix(b" ").unwrap_or(value))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(pieces: &[&[u8]]) -> Vec<(String, Vec<u8>)> {
        let mut events = vec![];
        let mut parser = Parser::default();
        let mut sink = |event: Event<'_>| {
            events.push((String::from_utf8_lossy(event.name).into_owned(), event.data.to_vec()));
        };
        for piece in pieces {
            parser.feed(piece, &mut sink);
        }
        parser.finish(&mut sink);
        events
    }

    /// B20: CRLF, no space after the colon, comments, several data lines.
    #[test]
    fn line_ends_comments_and_joined_data() {
        let stream =
            b": hi\r\nevent:content_block_delta\r\ndata:{\"index\":0,\r\ndata: \"delta\":1}\r\n\r\ndata:[DONE]\r\n\r\n";
        let expected = vec![
            ("content_block_delta".to_owned(), b"{\"index\":0,\n\"delta\":1}".to_vec()),
            (String::new(), b"[DONE]".to_vec()),
        ];
        assert_eq!(parse(&[stream]), expected);
        for cut in 0..stream.len() {
            let (head, tail) = stream.split_at(cut);
            assert_eq!(parse(&[head, tail]), expected, "cut at {cut}");
        }
    }

    /// B19: a character split over pieces is put together again.
    #[test]
    fn every_cut_gives_the_same_events() {
        let stream = "data: {\"content\":\"北🌍\"}\n\n".as_bytes();
        let whole = parse(&[stream]);
        for cut in 0..stream.len() {
            let (head, tail) = stream.split_at(cut);
            assert_eq!(parse(&[head, tail]), whole);
        }
        assert_eq!(parse(&stream.chunks(1).collect::<Vec<_>>()), whole);
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_first_event() {
        let stream = b"\xef\xbb\xbfdata: a\n\ndata: \xef\xbb\xbfb\n\n";
        let expected = vec![(String::new(), b"a".to_vec()), (String::new(), b"\xef\xbb\xbfb".to_vec())];
        for cut in 0..stream.len() {
            let (head, tail) = stream.split_at(cut);
            assert_eq!(parse(&[head, tail]), expected, "cut at {cut}");
        }
    }

    #[test]
    fn an_endless_line_is_not_kept_and_the_next_event_is_read() {
        let long = vec![b'x'; MAX_EVENT_BYTES / 2 + 1];
        let events = parse(&[b"data: ", &long, &long, b"\n\ndata: next\n\n"]);
        assert_eq!(events, [(String::new(), TOO_LONG.to_vec()), (String::new(), b"next".to_vec())]);
    }

    #[test]
    fn the_border_is_between_events_only() {
        let mut parser = Parser::default();
        for (piece, border) in [("data: a", false), ("\n", false), ("\n", true), ("event: e\n", false), ("\n", true)] {
            parser.feed(piece.as_bytes(), &mut |_| {});
            assert_eq!(parser.at_border(), border, "after {piece:?}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_in_any_pieces(bytes in proptest::collection::vec(any::<u8>(), 0..200), size in 1usize..20) {
            prop_assert_eq!(parse(&bytes.chunks(size).collect::<Vec<_>>()), parse(&[&bytes]));
        }
    }
}
