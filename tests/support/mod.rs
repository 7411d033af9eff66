//! What the test crates share: a gateway as a process and a vendor to put behind it, both of which speak HTTP; and a fake
//! of each port, under the port's name, for tests of the core inside this process.

#![allow(dead_code, unreachable_pub, reason = "each test crate uses a part of it")]

pub mod client;
pub mod corpus;
pub mod host;
pub mod process;
pub mod raw;
pub mod script;
pub mod setup;
pub mod stage;
pub mod upstream;
pub mod validate;
pub mod vendors;

pub mod clock;
pub mod database;
pub mod fetch;
pub mod notices;
pub mod random;
pub mod tasks;
pub mod variables;
pub mod world;
