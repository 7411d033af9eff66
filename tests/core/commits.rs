//! The one way to change configuration: all or nothing, never over somebody else's change, and announced when it can be
//! served.

use serde_json::{Value, json};
use tollgate::platform::database::{DatabaseErrorKind, Intent};

use crate::support::database::Trouble;
use crate::support::world::{World, step};

fn echo(name: &str) -> Value {
    json!({"providers": [{"name": name, "channel": "echo"}]})
}

fn names(world: &World) -> Vec<String> {
    let rows = world.store.run("SELECT name FROM providers ORDER BY name");
    rows.iter().map(|row| format!("{:?}", row[0]).replace("Text(\"", "").replace("\")", "")).collect()
}

fn revision(world: &World) -> i64 {
    match world.store.run("SELECT config_revision FROM settings")[0][0] {
        tollgate::platform::database::Value::Integer(revision) => revision,
        ref other => panic!("{other:?}"),
    }
}

/// Read, write in one batch with the bump as its last statement, load the own snapshot, tell the others.
#[tokio::test]
async fn a_write_is_loaded_before_it_is_announced() {
    let world = World::new();
    let isolate = world.isolate_of_process();
    isolate.status().await;
    world.journal.take();
    isolate.import(&echo("a")).await;
    // Who asks; what is there; the write: provider, mark, bump; the own tick, which sees a change and loads it.
    assert_eq!(world.journal.take(), ["read 2", "read 8", "write 2", "read 2", "read 7", "notice 1"]);
    let batches = world.store.batches.borrow();
    let write = batches.iter().find(|batch| batch.intent == Intent::Write).unwrap();
    assert!(write.statements.last().unwrap().sql.contains("config_revision"));
    assert_eq!(isolate.gateway.handle.snapshot().unwrap().revisions.config, 1);
}

#[tokio::test]
async fn nothing_to_change_writes_nothing() {
    let world = World::new();
    let isolate = world.isolate_of_process();
    isolate.import(&echo("a")).await;
    world.journal.take();
    isolate.import(&echo("a")).await;
    assert_eq!(world.journal.take(), ["read 2", "read 8"]);
}

/// A change that came between is seen, and the document is compared with it anew.
#[tokio::test]
async fn a_conflict_starts_over_with_what_is_there_now() {
    let world = World::new();
    let (isolate, other) = (world.isolate(), world.isolate());
    isolate.import(&echo("a")).await;
    // The import has read; before it writes, somebody else does.
    world.store.trouble(Trouble::None);
    let release = world.store.hold_next();
    let document = echo("b");
    let mut first = Box::pin(isolate.import(&document));
    assert!(step(&mut first).is_none());
    other.import(&echo("c")).await;
    release.send(()).unwrap();
    let report = world.clock.hurry(first).await;
    assert_eq!(report["revision"], 3);
    assert_eq!(names(&world), ["a", "b", "c"]);
    assert_eq!(revision(&world), 3);
}

/// Both wanted the same: the second has nothing left to do.
#[tokio::test]
async fn a_conflict_over_the_same_thing_is_none() {
    let world = World::new();
    let (isolate, other) = (world.isolate(), world.isolate());
    world.store.trouble(Trouble::None);
    let release = world.store.hold_next();
    let document = echo("a");
    let mut first = Box::pin(isolate.import(&document));
    assert!(step(&mut first).is_none());
    other.import(&document).await;
    release.send(()).unwrap();
    assert_eq!(world.clock.hurry(first).await, json!({"dry_run": false, "revision": 1, "changes": []}));
    assert_eq!(names(&world), ["a"]);
}

/// It does not try for ever.
#[tokio::test]
async fn lasting_conflicts_are_told() {
    let world = World::new();
    let isolate = world.isolate();
    isolate.status().await;
    let conflicts = |count: usize| {
        world.store.trouble(Trouble::None);
        for _ in 0..count {
            world.store.trouble(Trouble::None);
            world.store.trouble(Trouble::Before(DatabaseErrorKind::Constraint));
        }
    };
    conflicts(30);
    let reply = world.clock.hurry(isolate.try_import(&echo("a"))).await;
    assert_eq!((reply.status, &reply.json()["error"]["code"]), (409, &json!("conflict")));
    assert!(names(&world).is_empty());
    conflicts(29);
    assert_eq!(world.clock.hurry(isolate.try_import(&echo("a"))).await.status, 200);
    assert_eq!(names(&world), ["a"]);
}

#[tokio::test]
async fn a_failed_write_changes_nothing() {
    let world = World::new();
    let isolate = world.isolate();
    isolate.import(&echo("a")).await;
    for kind in [DatabaseErrorKind::Unavailable, DatabaseErrorKind::Unknown, DatabaseErrorKind::Limit] {
        world.store.trouble(Trouble::None);
        world.store.trouble(Trouble::None);
        world.store.trouble(Trouble::Before(kind));
        let reply = isolate.try_import(&echo("b")).await;
        assert_eq!((reply.status, &reply.json()["error"]["code"]), (503, &json!("database_unavailable")));
        assert_eq!((names(&world), revision(&world)), (vec!["a".to_owned()], 1));
    }
    assert_eq!(isolate.import(&echo("b")).await["revision"], 2);
}

/// A write whose answer is lost is there, and applying it again finds that out.
#[tokio::test]
async fn a_write_whose_answer_is_lost_can_be_repeated() {
    let world = World::new();
    let isolate = world.isolate();
    isolate.status().await;
    world.store.trouble(Trouble::None);
    world.store.trouble(Trouble::None);
    world.store.trouble(Trouble::After(DatabaseErrorKind::Unknown));
    assert_eq!(isolate.try_import(&echo("a")).await.status, 503);
    assert_eq!(isolate.import(&echo("a")).await, json!({"dry_run": false, "revision": 1, "changes": []}));
    assert_eq!(isolate.status().await["providers"], 1);
}

/// What is written is acknowledged even when it cannot be read back at once.
#[tokio::test]
async fn a_write_that_cannot_be_read_back_is_acknowledged() {
    let world = World::new();
    let isolate = world.isolate_of_process();
    isolate.status().await;
    for _ in 0..3 {
        world.store.trouble(Trouble::None);
    }
    world.store.trouble(Trouble::Before(DatabaseErrorKind::Unavailable));
    assert_eq!(isolate.import(&echo("a")).await["revision"], 1);
    assert_eq!(isolate.status().await["providers"], 1);
}

/// A fault anywhere in a document is found before anything is written.
#[tokio::test]
async fn a_document_with_a_fault_writes_nothing() {
    let world = World::new();
    let isolate = world.isolate();
    isolate.status().await;
    world.journal.take();
    let document = json!({"providers": [{"name": "a", "channel": "echo"}], "keys": [{"name": "k", "key": "short"}]});
    assert_eq!(isolate.try_import(&document).await.status, 422);
    assert_eq!(world.journal.take(), ["read 2", "read 8"]);
}
