//! Calls under way are counted as long as they are, whatever becomes of them.

use serde_json::json;
use tollgate::platform::fetch::FetchErrorKind;

use crate::support::fetch::{FakeAnswer, Piece};
use crate::support::vendors::{Wire, sse};
use crate::support::world::{Isolate, Whole, World, provider, step};

/// An isolate whose provider for Chat has one account, which may have one call at a time.
async fn isolate(world: &World) -> Isolate {
    let mut provider = provider(Wire::Chat);
    provider["credentials"][0]["max_concurrency"] = 1.into();
    let isolate = world.isolate();
    isolate.import(&json!({"providers": [provider]})).await;
    isolate
}

/// A stream that has begun and does not go on.
fn begun() -> FakeAnswer {
    let beginning = sse(&Wire::Chat.events()[..3]);
    FakeAnswer::pieces(vec![Piece::Bytes(beginning.into()), Piece::Silence])
}

async fn check_free(world: &World, isolate: &Isolate) {
    world.fetch.forget_answers();
    world.fetch.answer(FakeAnswer::json(200, Wire::Chat.answer()));
    let reply = isolate.ask(Wire::Chat, false).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
}

#[tokio::test]
async fn a_call_ends_with_its_stream_or_with_its_client() {
    let world = World::configured().await;
    let isolate = isolate(&world).await;
    world.fetch.answer(begun());
    let open = isolate.open(Wire::Chat, true).await;
    let busy = isolate.ask(Wire::Chat, false).await;
    assert_eq!((busy.status, busy.headers.get("retry-after").is_some()), (503, true), "{}", busy.text);
    // Another isolate does not know of it: the figure is for each.
    world.fetch.answer(FakeAnswer::json(200, Wire::Chat.answer()));
    assert_eq!(world.isolate().ask(Wire::Chat, false).await.status, 200);
    drop(open);
    check_free(&world, &isolate).await;
}

#[tokio::test]
async fn a_call_ends_when_it_fails_or_is_left() {
    let world = World::configured().await;
    let isolate = isolate(&world).await;
    for answer in [FakeAnswer::Fail(FetchErrorKind::Timeout), FakeAnswer::json(500, "{}"), FakeAnswer::json(400, "{}")]
    {
        world.fetch.answer(answer);
        Whole::of(isolate.open(Wire::Chat, false).await).await;
        check_free(&world, &isolate).await;
    }
    world.fetch.answer(FakeAnswer::Never);
    let mut left = Box::pin(isolate.open(Wire::Chat, false));
    assert!(step(&mut left).is_none());
    drop(left);
    check_free(&world, &isolate).await;
}

/// A new configuration does not forget the calls of the old one.
#[tokio::test]
async fn calls_are_counted_on_over_a_reload() {
    let world = World::configured().await;
    let isolate = isolate(&world).await;
    world.fetch.answer(begun());
    let open = isolate.open(Wire::Chat, true).await;
    let mut provider = provider(Wire::Chat);
    provider["credentials"][0]["max_concurrency"] = 1.into();
    provider["credentials"][0]["secret"] = "sk-another".into();
    provider["models"] = json!(["m"]);
    isolate.import(&json!({"providers": [provider]})).await;
    assert_eq!(isolate.ask(Wire::Chat, false).await.status, 503);
    drop(open);
    check_free(&world, &isolate).await;
}
