//! Unpredictable bytes.

/// A source of random bytes fit for keys.
pub trait Random {
    /// Fills `bytes`.
    fn fill(&self, bytes: &mut [u8]);
}
