//! What an answer loses on its way, it loses whole and streamed.

use std::collections::BTreeSet;
use std::rc::Rc;

use tollgate::protocol::convert::editor::StreamEditor;
use tollgate::protocol::convert::whole::{fold, unfold};
use tollgate::protocol::convert::{self, Losses};
use tollgate::protocol::dialect::Dialect;

use crate::corpus::{cases, none, pairs};
use crate::responses::reply;

/// Losses that only whole answers have: the source, the client, and the end of the path. A stream passes on the fragments of arguments
/// that are no JSON object, as Claude's own streams do; in a whole answer they have to stand in an object.
const OF_WHOLE_ANSWERS: [(Dialect, Dialect, &str); 2] =
    [(Dialect::OpenAiChat, Dialect::Claude, ".arguments"), (Dialect::OpenAiResponses, Dialect::Claude, ".arguments")];

/// Each kind of loss: where it stands without the numbers, why, and whether it matters.
fn kinds(losses: &Losses, from: Dialect, to: Dialect) -> BTreeSet<(String, &'static str, bool)> {
    let is_of_whole = |path: &str| {
        OF_WHOLE_ANSWERS.iter().any(|(source, client, end)| (*source, *client) == (from, to) && path.ends_with(end))
    };
    let told = losses.iter().filter(|loss| !is_of_whole(&loss.path));
    told.map(|loss| (loss.path.replace(|digit: char| digit.is_ascii_digit(), ""), loss.reason, loss.matters)).collect()
}

fn streamed(from: Dialect, to: Dialect, stream: &[u8]) -> Losses {
    let mut editor = StreamEditor::new(convert::stream(from, to, Rc::new(reply())).unwrap(), to);
    editor.feed(stream);
    editor.finish();
    editor.losses().clone()
}

#[test]
fn a_stream_loses_what_its_answer_loses() {
    let (mut faults, mut lossy) = (Vec::new(), 0);
    let mut compare = |from: Dialect, to: Dialect, name: &str, whole: &str, stream: &[u8]| {
        let Ok(converted) = convert::response(from, to, whole, &reply()) else { return };
        let (expected, found) = (kinds(&converted.losses, from, to), kinds(&streamed(from, to, stream), from, to));
        lossy += usize::from(!expected.is_empty());
        if found != expected {
            faults.push(format!("{from} to {to}, {name}: {found:?}, whole {expected:?}"));
        }
    };
    for (from, to) in pairs() {
        for case in cases(from, "stream") {
            let Ok(whole) = fold(from, case.text.as_bytes()) else { continue };
            compare(from, to, case.name(), &String::from_utf8(whole).unwrap(), case.text.as_bytes());
        }
        for case in cases(from, "response") {
            let Ok(stream) = unfold(from, &case.text, &reply()) else { continue };
            compare(from, to, case.name(), &case.text, &stream);
        }
    }
    none(&faults);
    assert!(lossy > 50, "{lossy} answers lose anything");
}
