//! Every request that is taken on ends in exactly one settlement, whatever becomes of it.

use tollgate::platform::body::Body;
use tollgate::platform::database::{Intent, Value};
use tollgate::platform::fetch::FetchErrorKind;

use crate::support::fetch::{FakeAnswer, Piece};
use crate::support::vendors::{Wire, chat, claude, event, responses};
use crate::support::world::{Isolate, KEY, Whole, World, next, step};

/// How a request and its last call stand in the records.
#[derive(Debug, PartialEq)]
struct Settled {
    outcome: String,
    response_status: i64,
    response_error: Option<String>,
    call_status: i64,
    call_error: Option<String>,
    tokens: (i64, i64),
    estimated: bool,
}

fn text(value: &Value) -> Option<String> {
    if let Value::Text(text) = value { Some(text.to_string()) } else { None }
}

fn integer(value: &Value) -> i64 {
    if let Value::Integer(number) = value { *number } else { panic!("{value:?}") }
}

/// The only settlement of a world, which must be the only row as well.
fn settled(world: &World) -> Settled {
    let rows = world.store.run(
        "SELECT outcome, response_status, response_error, status, error, input, output + reasoning, estimated FROM usage",
    );
    let deferred = world.store.batches.borrow().iter().filter(|batch| batch.intent == Intent::Deferred).count();
    assert_eq!((rows.len(), deferred), (1, 1), "{rows:?}");
    let row = &rows[0];
    Settled {
        outcome: text(&row[0]).unwrap(),
        response_status: integer(&row[1]),
        response_error: text(&row[2]),
        call_status: integer(&row[3]),
        call_error: text(&row[4]),
        tokens: (integer(&row[5]), integer(&row[6])),
        estimated: integer(&row[7]) == 1,
    }
}

fn record(outcome: &str, response: (i64, Option<&str>), call: (i64, Option<&str>), tokens: (i64, i64)) -> Settled {
    Settled {
        outcome: outcome.to_owned(),
        response_status: response.0,
        response_error: response.1.map(str::to_owned),
        call_status: call.0,
        call_error: call.1.map(str::to_owned),
        tokens,
        estimated: false,
    }
}

fn estimated(settled: Settled) -> Settled {
    Settled { estimated: true, ..settled }
}

/// The bytes of a request at four to a token.
fn prompt(wire: Wire, stream: bool) -> i64 {
    wire.request(&format!("{}/m", wire.dialect()), stream).len().div_ceil(4) as i64
}

#[tokio::test]
async fn a_complete_answer() {
    for wire in Wire::ALL {
        for stream in [false, true] {
            let world = World::configured().await;
            let answer = if stream { FakeAnswer::sse(wire.events()) } else { FakeAnswer::json(200, wire.answer()) };
            world.fetch.answer(answer);
            world.isolate().ask(wire, stream).await;
            assert_eq!(settled(&world), record("ok", (200, None), (200, None), (11, 5)), "{wire:?}");
            assert_eq!(world.fetch.cancelled(), 0);
        }
    }
}

#[tokio::test]
async fn an_answer_that_is_cut() {
    let cut = Some("upstream_cut");
    for (wire, pieces, tokens, is_estimated) in [
        (Wire::Chat, vec![chat::role(), chat::delta("a")], (prompt(Wire::Chat, true), 2), true),
        (
            Wire::Responses,
            vec![responses::created(), responses::delta(1, "a")],
            (prompt(Wire::Responses, true), 1),
            true,
        ),
        (Wire::Claude, vec![claude::message_start(11, 1), claude::delta("a")], (11, 1), false),
        (Wire::Gemini, vec![Wire::Gemini.events().swap_remove(1)], (11, 1), false),
    ] {
        for ending in [None, Some(Piece::Break)] {
            let world = World::configured().await;
            let mut all: Vec<Piece> = pieces.iter().map(|piece| Piece::Bytes(piece.clone().into())).collect();
            all.extend(ending);
            world.fetch.answer(FakeAnswer::pieces(all));
            world.isolate().ask(wire, true).await;
            let expected = record("upstream_cut", (200, cut), (200, cut), tokens);
            let expected = if is_estimated { estimated(expected) } else { expected };
            assert_eq!(settled(&world), expected, "{wire:?}");
        }
    }
}

/// A stream that reports an error by itself.
#[tokio::test]
async fn an_answer_that_fails() {
    let world = World::configured().await;
    let error = event("error", r#""error":{"type":"overloaded_error","message":"Overloaded"}"#);
    world.fetch.answer(FakeAnswer::sse([claude::message_start(11, 1), claude::delta("a"), error]));
    world.isolate().ask(Wire::Claude, true).await;
    let failed = Some("upstream_failed");
    assert_eq!(settled(&world), record("upstream_failed", (200, failed), (200, failed), (11, 1)));
}

/// The host drops the request's future when the client leaves before there is a head.
#[tokio::test]
async fn a_client_that_leaves_before_the_head() {
    for stream in [false, true] {
        let world = World::configured().await;
        let isolate = world.isolate();
        world.fetch.answer(FakeAnswer::Never);
        let mut request = Box::pin(isolate.open(Wire::Claude, stream));
        assert!(step(&mut request).is_none());
        drop(request);
        let left = Some("client_closed");
        let expected = record("client_closed", (0, left), (0, left), (prompt(Wire::Claude, stream), 0));
        assert_eq!(settled(&world), estimated(expected));
        assert_eq!(world.fetch.cancelled(), 1);
    }
}

/// The host drops the body when the client leaves later.
#[tokio::test]
async fn a_client_that_leaves_a_stream() {
    let world = World::configured().await;
    let isolate = world.isolate();
    let pieces = [claude::message_start(11, 1), claude::delta("a")].map(|event| Piece::Bytes(event.into()));
    world.fetch.answer(FakeAnswer::pieces(pieces.into_iter().chain([Piece::Silence]).collect()));
    let mut body = stream_of(&isolate, Wire::Claude).await;
    for _ in 0..2 {
        next(&mut *body).await.unwrap().unwrap();
    }
    drop(body);
    let left = Some("client_closed");
    assert_eq!(settled(&world), record("client_closed", (200, left), (200, left), (11, 1)));
    assert_eq!(world.fetch.cancelled(), 1);
}

async fn stream_of(isolate: &Isolate, wire: Wire) -> Box<dyn tollgate::platform::body::ByteStream> {
    match isolate.open(wire, true).await.into_body() {
        Body::Stream(stream) => stream,
        whole => panic!("{whole:?}"),
    }
}

/// A client that never looks at its stream has left as well. A buffered answer is complete before it is passed on.
#[tokio::test]
async fn a_response_that_nobody_reads() {
    for (stream, outcome) in [(true, "client_closed"), (false, "ok")] {
        let world = World::configured().await;
        let answer =
            if stream { FakeAnswer::sse(Wire::Chat.events()) } else { FakeAnswer::json(200, Wire::Chat.answer()) };
        world.fetch.answer(answer);
        drop(world.isolate().open(Wire::Chat, stream).await);
        assert_eq!(settled(&world).outcome, outcome);
    }
}

/// A client that leaves after the end has had its answer.
#[tokio::test]
async fn a_client_that_leaves_after_the_end() {
    for wire in Wire::ALL {
        let world = World::configured().await;
        let isolate = world.isolate();
        let events = wire.events().into_iter().map(|event| Piece::Bytes(event.into()));
        world.fetch.answer(FakeAnswer::pieces(events.chain([Piece::Silence]).collect()));
        let mut body = stream_of(&isolate, wire).await;
        for _ in wire.events_for_client() {
            next(&mut *body).await.unwrap().unwrap();
        }
        drop(body);
        assert_eq!(settled(&world), record("ok", (200, None), (200, None), (11, 5)), "{wire:?}");
    }
}

/// A break after the end is none: the answer was whole.
#[tokio::test]
async fn a_break_after_the_end() {
    for wire in Wire::ALL {
        let world = World::configured().await;
        let events = wire.events().into_iter().map(|event| Piece::Bytes(event.into()));
        world.fetch.answer(FakeAnswer::pieces(events.chain([Piece::Break]).collect()));
        world.isolate().ask(wire, true).await;
        assert_eq!(settled(&world), record("ok", (200, None), (200, None), (11, 5)), "{wire:?}");
    }
}

#[tokio::test]
async fn an_error_for_an_answer() {
    for (status, response_status, code) in [
        (400, 400, "upstream_error"),
        (404, 404, "upstream_error"),
        (429, 429, "upstream_error"),
        (500, 500, "upstream_error"),
        (401, 502, "upstream_credential_refused"),
        (302, 502, "upstream_redirected"),
    ] {
        for stream in [false, true] {
            let world = World::configured().await;
            world.fetch.answer(FakeAnswer::json(status, Wire::Chat.vendor_error(status, "no")));
            let reply = world.isolate().ask(Wire::Chat, stream).await;
            assert_eq!(i64::from(reply.status), response_status);
            let expected = record("failed", (response_status, Some(code)), (i64::from(status), Some(code)), (0, 0));
            assert_eq!(settled(&world), expected);
        }
    }
}

#[tokio::test]
async fn a_vendor_that_cannot_be_asked() {
    for (kind, status, code) in [
        (FetchErrorKind::Connect, 502, "upstream_unreachable"),
        (FetchErrorKind::Broken, 502, "upstream_unreachable"),
        (FetchErrorKind::Timeout, 504, "upstream_timeout"),
        (FetchErrorKind::Forbidden, 502, "upstream_address_forbidden"),
    ] {
        for wire in Wire::ALL {
            let world = World::configured().await;
            world.fetch.answer(FakeAnswer::Fail(kind));
            let reply = world.isolate().ask(wire, true).await;
            let request_id = reply.headers["x-gateway-request-id"].to_str().unwrap();
            let message = crate::support::vendors::message_of(&reply.json()).to_owned();
            assert_eq!(reply.text, wire.error(status, code, &message, request_id));
            let expected = record("failed", (i64::from(status), Some(code)), (0, Some(code)), (0, 0));
            assert_eq!(settled(&world), expected);
        }
    }
}

/// Requests that reach no vendor have one row all the same, which is no call.
#[tokio::test]
async fn a_request_without_a_call() {
    for (wire, model, status, code) in
        [(Wire::Chat, "nobody/knows", 404, "model_not_found"), (Wire::Claude, "gone/m", 404, "model_not_found")]
    {
        let world = World::configured().await;
        let reply = Whole::of(world.isolate().open_with(wire, model, false, KEY).await).await;
        assert_eq!(reply.status, status);
        assert_eq!(settled(&world), record("failed", (i64::from(status), Some(code)), (0, None), (0, 0)));
        assert_eq!(world.store.run("SELECT COUNT(provider_id) FROM usage")[0][0], 0.into());
    }
}
