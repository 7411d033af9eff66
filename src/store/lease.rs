//! Leases: who may do alone what only one, or only so many, may do at a time.
//!
//! A lease ends by time, so that one whose holder died comes back by itself.

use serde_json::json;

use crate::platform::clock::Timestamp;
use crate::platform::database::{Rows, Statement};

/// Takes one of `slots` places of `subject` for `owner` until `until`, if one is free at `now`. [`is_taken`] tells whether it was.
pub fn take(subject: &str, slots: u32, owner: &str, now: Timestamp, until: Timestamp) -> Statement {
    const SQL: &str = "INSERT INTO leases (subject, slot, owner, until) \
         SELECT ?1, places.value, ?3, ?5 FROM json_each(?2) AS places WHERE NOT EXISTS \
         (SELECT 1 FROM leases WHERE subject = ?1 AND slot = places.value AND until > ?4) ORDER BY places.value LIMIT 1 \
         ON CONFLICT (subject, slot) DO UPDATE SET owner = excluded.owner, until = excluded.until RETURNING slot";
    let places: Vec<u32> = (0..slots).collect();
    Statement::new(
        SQL,
        vec![subject.into(), json!(places).to_string().into(), owner.into(), now.0.into(), until.0.into()],
    )
}

/// Whether [`take`] got a place.
pub fn is_taken(rows: &Rows) -> bool {
    !rows.0.is_empty()
}

/// Asks when the next place of `subject` is free again, if one is taken at `now`. [`free_at`] reads it.
pub fn next_free(subject: &str, now: Timestamp) -> Statement {
    const SQL: &str = "SELECT MIN(until) AS free_at FROM leases WHERE subject = ?1 AND until > ?2";
    Statement::new(SQL, vec![subject.into(), now.0.into()])
}

/// Decodes what [`next_free`] returns.
pub fn free_at(rows: &Rows) -> Option<Timestamp> {
    rows.0.first()?.integer(0).ok().map(Timestamp)
}

/// Gives back what `owner` holds of `subject`.
pub fn give_back(subject: &str, owner: &str) -> Statement {
    Statement::new("DELETE FROM leases WHERE subject = ?1 AND owner = ?2", vec![subject.into(), owner.into()])
}
