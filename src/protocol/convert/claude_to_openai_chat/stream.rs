//! A Claude Messages upstream's stream for a Chat Completions client.

use std::rc::Rc;

use crate::protocol::convert::{Reply, StreamConverter};

/// The state of a stream that is converted.
pub struct Stream {
    _reply: Rc<Reply>,
}

impl Stream {
    /// A stream that answers what left `reply` behind.
    pub fn new(reply: Rc<Reply>) -> Self {
        Self { _reply: reply }
    }
}

impl StreamConverter for Stream {
    fn event(&mut self, _data: &str, _out: &mut Vec<u8>) {}

    fn is_over(&self) -> bool {
        false
    }

    fn finish(&mut self, _out: &mut Vec<u8>) {}
}
