//! Leases: so many at a time, over all isolates, and back by time.

use std::rc::Rc;

use tollgate::platform::clock::Timestamp;
use tollgate::platform::database::{Database, Intent};
use tollgate::store::lease;

use crate::support::world::World;

async fn take(database: &Rc<dyn Database>, slots: u32, owner: &str, now: i64) -> bool {
    let statement = lease::take("subject", slots, owner, Timestamp(now), Timestamp(now + 100));
    lease::is_taken(&database.batch(Intent::Write, vec![statement]).await.unwrap()[0])
}

#[tokio::test]
async fn there_are_so_many_places_and_they_come_back() {
    let world = World::configured().await;
    let database = &world.isolate().scope.database;
    let mut taken = Vec::new();
    for (owner, now) in [("a", 0), ("b", 1), ("c", 2), ("d", 99), ("d", 100), ("e", 100), ("e", 101)] {
        taken.push(take(database, 2, owner, now).await);
    }
    // The first two get the places, and each is free again 100 milliseconds later.
    assert_eq!(taken, [true, true, false, false, true, false, true]);
    database.batch(Intent::Write, vec![lease::give_back("subject", "d")]).await.unwrap();
    assert!(take(database, 2, "f", 102).await);
    assert!(!take(database, 2, "g", 102).await);
}
