//! Tollgate: a gateway in front of LLM providers.
//!
//! One core, single-threaded and written against ports, runs inside a Cloudflare Worker and inside a native process. The
//! modules stand in the order of their layers, the ground first: each uses only those before it.

pub mod app;
pub mod channel;
pub mod engine;
pub mod http;
pub mod platform;
pub mod protocol;
pub mod sdk;
pub mod store;
