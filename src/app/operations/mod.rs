//! What the management surface does: one module for each resource, functions named `noun_verb`.

pub mod configuration;
pub mod explain;
pub mod health;
pub mod model;
pub mod status;
pub mod usage;
