//! What happens between an admitted request and its answer.
//!
//! The engine gets targets and the credentials that may be spent on them; it never sees a caller and matches no path. Every
//! request that it takes on leaves through [`settle`], whatever becomes of it.

mod access;
pub mod answer;
pub mod attempt;
mod backoff;
mod call;
mod carried;
mod classify;
pub mod continuation;
mod deadline;
mod deliver;
pub mod error;
pub mod explain;
pub mod failover;
pub mod failure;
mod glob;
pub mod health;
pub mod load;
mod media;
pub mod model_map;
pub mod price;
mod reasons;
pub mod refresh;
pub mod rewrite;
pub mod select;
pub mod settle;
pub mod snapshot;
mod stream;
pub mod trace;
mod translate;
mod turn;
