//! The ports: everything that the core may ask of the world it runs in, and no logic.
//!
//! All of them are local: a future may hold an `Rc` across an await, because an isolate, be it one of Cloudflare's or a
//! thread of the native shim, runs on one thread. Nothing outside this module does I/O, reads a clock or draws a random
//! number, which is what lets a test replay a whole run from a seed.

pub mod body;
pub mod clock;
pub mod database;
pub mod fetch;
pub mod notices;
pub mod random;
pub mod tasks;
pub mod variables;

use std::rc::Rc;

/// The ports as one request sees them.
///
/// On Workers an I/O object belongs to the request that made it, so a scope is assembled for each request and dropped
/// with it. What outlives requests (the snapshot, the key cache) holds none of these.
#[derive(Clone)]
pub struct Scope {
    /// Where configuration, usage and settlements live.
    pub database: Rc<dyn database::Database>,
    /// The way to the vendors.
    pub fetch: Rc<dyn fetch::Fetch>,
    /// The time.
    pub clock: Rc<dyn clock::Clock>,
    /// Unpredictable bytes.
    pub random: Rc<dyn random::Random>,
    /// Work that goes on after the response.
    pub tasks: Rc<dyn tasks::Tasks>,
    /// Hints between the isolates of one process.
    pub notices: Rc<dyn notices::Notices>,
    /// The host's environment variables or bindings.
    pub variables: Rc<dyn variables::Variables>,
}
