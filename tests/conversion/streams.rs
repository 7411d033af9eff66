//! Streams.

use std::rc::Rc;

use tollgate::protocol::convert::{self, editor::StreamEditor};
use tollgate::protocol::dialect::Dialect;
use tollgate::protocol::sse::{Parser, heartbeat};

use crate::corpus::{Case, cases, compare, none, pairs};
use crate::responses::reply;
use crate::validate;

/// Converts what comes in `pieces`, without the signs of life.
fn convert<'a>(from: Dialect, to: Dialect, pieces: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut editor = StreamEditor::new(convert::stream(from, to, Rc::new(reply())).unwrap(), to);
    let mut out = Vec::new();
    for piece in pieces {
        let converted = editor.feed(piece);
        if converted != heartbeat(to) {
            out.extend_from_slice(&converted);
        }
    }
    out.extend_from_slice(&editor.finish());
    out
}

fn convert_whole(from: Dialect, to: Dialect, case: &Case) -> Vec<u8> {
    convert(from, to, std::iter::once(case.text.as_bytes()))
}

#[test]
fn each_case_is_converted_as_its_snapshot_says() {
    let mut faults = Vec::new();
    for (from, to) in pairs() {
        for case in cases(from, "stream") {
            let converted = String::from_utf8(convert_whole(from, to, &case)).unwrap();
            compare(&case, from, to, &converted, &mut faults);
        }
    }
    none(&faults);
}

#[test]
fn each_converted_stream_is_understood() {
    let mut faults = Vec::new();
    for (from, to) in pairs() {
        for case in cases(from, "stream") {
            let mut events = Vec::new();
            let mut sink = |event: tollgate::protocol::sse::Event<'_>| {
                let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
                events.push((text(event.name), text(event.data)));
            };
            let mut parser = Parser::default();
            parser.feed(&convert_whole(from, to, &case), &mut sink);
            parser.finish(&mut sink);
            let found = validate::stream(to, &events);
            faults.extend(found.into_iter().map(|fault| format!("{from} to {to}, {}: {fault}", case.name())));
        }
    }
    none(&faults);
}

/// However the bytes of a stream are cut, what comes out is the same.
#[test]
fn every_cut_gives_the_same_stream() {
    let mut faults = Vec::new();
    for (from, to) in pairs() {
        for case in cases(from, "stream") {
            let whole = convert_whole(from, to, &case);
            let bytes = case.text.as_bytes();
            for size in [1, 7, 64] {
                if convert(from, to, bytes.chunks(size)) != whole {
                    faults.push(format!("{from} to {to}, {} in pieces of {size}", case.name()));
                }
            }
            // Every cut into two of every stream would take minutes; these meet each place of some stream.
            let step = (bytes.len() / 40).max(1);
            for cut in (case.name().len() % step..bytes.len()).step_by(step) {
                let (head, tail) = bytes.split_at(cut);
                if convert(from, to, [head, tail].into_iter()) != whole {
                    faults.push(format!("{from} to {to}, {} cut at {cut}", case.name()));
                }
            }
        }
    }
    none(&faults);
}
