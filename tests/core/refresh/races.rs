//! B62: refresh tokens that many want at once.

use futures_util::future::join_all;
use serde_json::json;
use tollgate::platform::database::DatabaseErrorKind;

use super::{ask, document, leases, tokens, used, version, world, world_with};
use crate::support::clock::BEGINNING;
use crate::support::database::Trouble;
use crate::support::world::step;

#[tokio::test]
async fn ten_requests_on_two_isolates_refresh_once() {
    let (world, vendor) = world_with(-10).await;
    let isolates = [world.isolate(), world.isolate()];
    let release = vendor.hold_next();
    let mut requests = Box::pin(join_all((0..10).map(|number| ask(&isolates[number % 2]))));
    // One asks the token endpoint, and the others wait.
    assert!(step(&mut requests).is_none());
    world.advance(100);
    assert!(step(&mut requests).is_none());
    assert_eq!((vendor.asked(), leases(&world), used(&world).len()), (1, 1, 0));
    release.send(()).unwrap();
    let replies = world.clock.hurry(requests).await;
    assert!(replies.iter().all(|reply| reply.status == 200), "{replies:?}");
    assert_eq!((vendor.asked(), version(&world), leases(&world)), (1, 1, 0));
    assert_eq!(used(&world), vec!["access-1".to_owned(); 10]);
}

/// All of them with a token that was ended before its time.
#[tokio::test]
async fn ten_refusals_refresh_once() {
    let (world, vendor) = world_with(3000).await;
    vendor.0.number.set(1);
    let isolates = [world.isolate(), world.isolate()];
    isolates[0]
        .import(&document(json!([{"name": "account", "secret": {
        "access_token": "access-0", "refresh_token": "refresh-1", "expires_at": BEGINNING.0 + 3_000_000}}])))
        .await;
    let version_before = version(&world);
    let release = vendor.hold_next();
    let mut requests = Box::pin(join_all((0..10).map(|number| ask(&isolates[number % 2]))));
    assert!(step(&mut requests).is_none());
    release.send(()).unwrap();
    let replies = world.clock.hurry(requests).await;
    assert!(replies.iter().all(|reply| reply.status == 200), "{replies:?}");
    assert_eq!((vendor.asked(), version(&world)), (1, version_before + 1));
}

/// Whoever dies with the lease gives it back by time.
#[tokio::test]
async fn a_dead_holders_lease_comes_back() {
    let (world, vendor) = world_with(-10).await;
    let insert = |until: i64| {
        world.store.run(&format!(
            "INSERT INTO leases SELECT 'refresh:' || id, 0, 'dead', {} FROM credentials WHERE name = 'account' \
             AND provider_id = (SELECT id FROM providers WHERE name = 'login')",
            BEGINNING.0 + until
        ));
    };
    insert(5000);
    let isolate = world.isolate();
    let reply = world.clock.hurry(ask(&isolate)).await;
    assert_eq!((reply.status, vendor.asked(), leases(&world)), (200, 1, 0));
    let now = world.isolate().scope.clock.now();
    assert!(now.0 >= BEGINNING.0 + 5000, "it had to wait");
}

/// Nobody waits for ever: with a token that is still good the request goes on at once, with none it goes elsewhere.
#[tokio::test]
async fn waiting_has_an_end() {
    for (left, expected) in [(50, Ok("access-0")), (-10, Err("token_refresh_failed"))] {
        let (world, vendor) = world_with(left).await;
        world.store.run(&format!(
            "INSERT INTO leases SELECT 'refresh:' || id, 0, 'busy', {} FROM credentials",
            BEGINNING.0 + 1_000_000
        ));
        let reply = world.clock.hurry(ask(&world.isolate())).await;
        assert_eq!(vendor.asked(), 0);
        match expected {
            Ok(token) => {
                assert_eq!((reply.status, used(&world)), (200, vec![token.to_owned()]));
                assert_eq!(world.isolate().scope.clock.now(), BEGINNING, "nothing is waited for");
            }
            Err(code) => assert_eq!((reply.status, &reply.json()["error"]["code"]), (502, &json!(code))),
        }
    }
}

/// Somebody gives the credential other tokens while its old ones are being refreshed: those that are stored count, and are not
/// overwritten.
#[tokio::test]
async fn tokens_that_came_meanwhile_are_not_overwritten() {
    let (world, vendor) = world_with(10).await;
    let (isolate, other) = (world.isolate(), world.isolate());
    let release = vendor.hold_next();
    let mut request = Box::pin(ask(&isolate));
    assert!(step(&mut request).is_none());
    let secret = json!({"access_token": "access-other", "refresh_token": "r", "expires_at": BEGINNING.0 + 3_000_000});
    other.import(&document(json!([{"name": "account", "secret": secret}]))).await;
    release.send(()).unwrap();
    assert_eq!(world.clock.hurry(request).await.status, 200);
    assert_eq!((vendor.asked(), version(&world), leases(&world)), (1, 1, 0));
    assert_eq!(used(&world), ["access-other"]);
}

/// The refresh token is refused because somebody else has used it; what they have stored is used, and nothing is dead.
#[tokio::test]
async fn a_refusal_reads_again_first() {
    let (world, vendor) = world_with(10).await;
    let (isolate, other) = (world.isolate(), world.isolate());
    vendor.0.number.set(3);
    let release = vendor.hold_next();
    let mut request = Box::pin(ask(&isolate));
    assert!(step(&mut request).is_none());
    other.import(&document(json!([{"name": "account", "secret": tokens(3, 3000)}]))).await;
    release.send(()).unwrap();
    assert_eq!(world.clock.hurry(request).await.status, 200);
    assert_eq!((vendor.asked(), version(&world), used(&world)), (1, 1, vec!["access-3".to_owned()]));
    assert_eq!(leases(&world), 0);
}

/// Even when whoever used it has not stored the new tokens yet.
#[tokio::test]
async fn a_refusal_looks_twice() {
    let (world, vendor) = world_with(10).await;
    let (isolate, other) = (world.isolate(), world.isolate());
    vendor.0.number.set(3);
    let mut request = Box::pin(ask(&isolate));
    assert!(step(&mut request).is_none());
    assert_eq!(vendor.asked(), 1);
    other.import(&document(json!([{"name": "account", "secret": tokens(3, 3000)}]))).await;
    assert_eq!(world.clock.hurry(request).await.status, 200);
    assert_eq!((vendor.asked(), used(&world)), (1, vec!["access-3".to_owned()]));
}

/// What is refused and has not changed is dead: the next credential is used, and the token endpoint is left alone.
#[tokio::test]
async fn a_refused_login_is_dead() {
    let (world, vendor) = world(json!([
        {"name": "a", "secret": tokens(9, 10), "weight": 1_000_000},
        {"name": "b", "secret": {"access_token": "access-other", "refresh_token": "refresh-8"}, "weight": 0},
    ]))
    .await;
    let isolate = world.isolate();
    for _ in 0..3 {
        assert_eq!(world.clock.hurry(ask(&isolate)).await.status, 200);
    }
    assert_eq!((vendor.asked(), used(&world)), (1, vec!["access-other".to_owned(); 3]));
    assert_eq!((version(&world), leases(&world)), (0, 0));
    // Alone it is an error that tells whose account it is about.
    isolate.import(&document(json!([{"name": "a", "secret": tokens(9, 10)}]))).await;
    let reply = world.clock.hurry(ask(&isolate)).await;
    assert_eq!((reply.status, &reply.json()["error"]["code"]), (503, &json!("no_target")));
    // New tokens bring it back at once.
    isolate.import(&document(json!([{"name": "a", "secret": tokens(0, 3000)}]))).await;
    assert_eq!(ask(&isolate).await.status, 200);
}

/// The client leaves while the token endpoint is at work: the new tokens are stored all the same.
#[tokio::test]
async fn tokens_survive_a_client_that_leaves() {
    let (world, vendor) = world_with(10).await;
    let isolate = world.isolate();
    let release = vendor.hold_next();
    let mut request = Box::pin(ask(&isolate));
    assert!(step(&mut request).is_none());
    drop(request);
    release.send(()).unwrap();
    world.tasks.run().await;
    assert_eq!((version(&world), leases(&world)), (1, 0));
    assert_eq!(ask(&isolate).await.status, 200);
    assert_eq!((vendor.asked(), used(&world)), (1, vec!["access-1".to_owned()]));
}

/// The new tokens are stored, and the word of it is lost: they are there, and are used.
#[tokio::test]
async fn a_lost_word_of_the_store_is_made_up_for() {
    let (world, vendor) = world_with(10).await;
    let isolate = world.isolate();
    isolate.status().await;
    world.store.trouble(Trouble::None);
    world.store.trouble(Trouble::None);
    world.store.trouble(Trouble::After(DatabaseErrorKind::Unavailable));
    assert_eq!(world.clock.hurry(ask(&isolate)).await.status, 200);
    assert_eq!((vendor.asked(), version(&world), used(&world)), (1, 1, vec!["access-1".to_owned()]));
}

/// A database in trouble gets several chances, since tokens that are not stored mean a new login.
#[tokio::test]
async fn a_failed_store_is_tried_again() {
    for failures in [2, 3] {
        let (world, vendor) = world_with(10).await;
        let isolate = world.isolate();
        isolate.status().await;
        world.store.trouble(Trouble::None);
        world.store.trouble(Trouble::None);
        for _ in 0..failures {
            world.store.trouble(Trouble::Before(DatabaseErrorKind::Unavailable));
        }
        let reply = world.clock.hurry(ask(&isolate)).await;
        // What could not be stored while the request waited is used all the same, since it is all that there is.
        assert_eq!((vendor.asked(), reply.status), (1, 200), "{failures}");
        assert_eq!((version(&world), leases(&world)), (1, 0));
        assert_eq!(ask(&isolate).await.status, 200);
        assert_eq!((vendor.asked(), used(&world).pop().unwrap()), (1, "access-1".to_owned()));
    }
}

/// Tokens that no attempt could store are used from memory, and stored with the first chance.
#[tokio::test]
async fn tokens_that_cannot_be_stored_are_not_lost() {
    let (world, vendor) = world_with(-10).await;
    let isolate = world.isolate();
    isolate.status().await;
    // The tick and the lease, then three attempts, the one that is left to the host, and the settlement.
    world.store.trouble(Trouble::None);
    world.store.trouble(Trouble::None);
    for _ in 0..5 {
        world.store.trouble(Trouble::Before(DatabaseErrorKind::Unavailable));
    }
    assert_eq!(world.clock.hurry(ask(&isolate)).await.status, 200);
    world.tasks.run().await;
    assert_eq!((vendor.asked(), version(&world)), (1, 0));
    // At once again: there is a pause, and the tokens are used.
    assert_eq!(ask(&isolate).await.status, 200);
    assert_eq!((vendor.asked(), version(&world)), (1, 0));
    world.advance(1000);
    assert_eq!(ask(&isolate).await.status, 200);
    assert_eq!((vendor.asked(), version(&world)), (1, 1));
    assert_eq!(used(&world), vec!["access-1".to_owned(); 3]);
    world.advance(20_000);
    assert_eq!(ask(&world.isolate()).await.status, 200);
    assert_eq!(vendor.asked(), 1);
}

/// The client leaves while the lease is being asked for: nothing is left behind.
#[tokio::test]
async fn no_lease_is_left_by_a_client_that_leaves() {
    let (world, vendor) = world_with(-10).await;
    let isolate = world.isolate();
    isolate.status().await;
    // The tick goes on, the lease waits.
    world.store.trouble(Trouble::None);
    let release = world.store.hold_next();
    let mut request = Box::pin(ask(&isolate));
    assert!(step(&mut request).is_none());
    drop(request);
    drop(release);
    world.tasks.run().await;
    assert_eq!((vendor.asked(), version(&world), leases(&world)), (1, 1, 0));
}
