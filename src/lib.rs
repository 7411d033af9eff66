//! Tollgate: a gateway in front of LLM providers.
//!
//! One core, single-threaded and written against ports, runs inside a Cloudflare Worker and inside a native process. The
//! modules stand in the order of their layers, the ground first: each uses only those before it.

pub mod platform;
pub mod protocol;
pub mod channel;
pub mod store;
pub mod engine;
pub mod sdk;
pub mod app;
pub mod http;
#[cfg(target_arch = "wasm32")]
pub mod worker;
