//! Just enough HTTP/1.1 to find where a message ends, for the load generator and the mock upstream.

use std::io;

/// How far a message has been read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// More bytes are needed.
    Partial,
    /// The message is complete: where its body starts, and where the message ends.
    Complete { body: usize, end: usize },
}

#[derive(Debug, Clone, Copy)]
enum State {
    Head { searched: usize },
    Length { body: usize, end: usize },
    Chunks { body: usize, next: usize },
}

/// Follows one message through a growing buffer without looking at a byte twice.
pub struct MessageReader(State);

impl Default for MessageReader {
    fn default() -> Self {
        Self(State::Head { searched: 0 })
    }
}

impl MessageReader {
    /// Looks at what `buffer` has gained; the buffer starts with the message.
    pub fn advance(&mut self, buffer: &[u8]) -> io::Result<Progress> {
        loop {
            match self.0 {
                State::Head { searched } => {
                    let from = searched.saturating_sub(3);
                    let Some(at) = memchr::memmem::find(&buffer[from..], b"\r\n\r\n") else {
                        self.0 = State::Head { searched: buffer.len() };
                        return Ok(Progress::Partial);
                    };
                    let body = from + at + 4;
                    self.0 = body_state(&buffer[..body], body)?;
                }
                State::Length { body, end } => {
                    return Ok(if buffer.len() >= end { Progress::Complete { body, end } } else { Progress::Partial });
                }
                State::Chunks { body, next } => {
                    let Some(line) = buffer.get(next..).and_then(|rest| memchr::memchr(b'\n', rest)) else {
                        return Ok(Progress::Partial);
                    };
                    let size = parse_hex(&buffer[next..next + line])?;
                    let end = next + line + 1 + size + 2;
                    if buffer.len() < end {
                        return Ok(Progress::Partial);
                    }
                    if size == 0 {
                        return Ok(Progress::Complete { body, end });
                    }
                    self.0 = State::Chunks { body, next: end };
                }
            }
        }
    }
}

fn body_state(head: &[u8], body: usize) -> io::Result<State> {
    for line in head.split(|byte| *byte == b'\n') {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        if name.eq_ignore_ascii_case(b"content-length") {
            let text = std::str::from_utf8(value).map_err(|_| invalid("content-length"))?;
            let length: usize = text.parse().map_err(|_| invalid("content-length"))?;
            return Ok(State::Length { body, end: body + length });
        }
        if name.eq_ignore_ascii_case(b"transfer-encoding") && value.eq_ignore_ascii_case(b"chunked") {
            return Ok(State::Chunks { body, next: body });
        }
    }
    Ok(State::Length { body, end: body })
}

fn parse_hex(line: &[u8]) -> io::Result<usize> {
    let text = std::str::from_utf8(line.trim_ascii()).map_err(|_| invalid("chunk size"))?;
    usize::from_str_radix(text, 16).map_err(|_| invalid("chunk size"))
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("malformed {what}"))
}
