//! The host's environment: process variables natively, variables and secrets of the Worker on the edge.

/// Reads the host's environment.
pub trait Variables {
    /// The value of `name`, if it is set to text.
    fn get(&self, name: &str) -> Option<String>;
}
