//! What answers and streams have in common.
