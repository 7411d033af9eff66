//! What several subjects check in the same way.

use crate::support::client::Reply;
use crate::support::vendors::{Wire, message_of};

/// Checks an error of the gateway byte for byte, but for the wording of its message, which is returned. A message is one
/// line and tells nothing of what is inside.
#[track_caller]
pub fn error(reply: &Reply, wire: Wire, status: u16, code: &str) -> String {
    assert_eq!(reply.status, status, "{wire:?}: {}", String::from_utf8_lossy(&reply.body));
    assert_eq!(reply.header("content-type"), Some("application/json"));
    let message = message_of(&reply.json()).to_owned();
    assert_eq!(reply.text(), wire.error(status, code, &message, reply.request_id()));
    plain_words(&message);
    message
}

/// Checks an error of the admin API in the same way.
#[track_caller]
pub fn admin_error(reply: &Reply, status: u16, code: &str) -> String {
    assert_eq!(reply.status, status, "{}", String::from_utf8_lossy(&reply.body));
    let body = reply.json();
    assert_eq!(body["error"]["code"], code);
    let message = message_of(&body).to_owned();
    assert!(!reply.request_id().is_empty());
    plain_words(&message);
    message
}

#[track_caller]
fn plain_words(message: &str) {
    assert!(message.len() > 10 && !message.contains('\n'), "{message:?}");
    for inside in ["SELECT", "sqlite", "SQLite", "panicked", "src/", "DatabaseError", "hyper", "tollgate.db"] {
        assert!(!message.contains(inside), "{message:?} tells of {inside:?}");
    }
}
