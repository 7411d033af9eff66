//! Work that outlives the response.

use futures_util::future::LocalBoxFuture;

/// Runs tasks beside, and after, the request that started them.
///
/// Workers end them 30 seconds after the response; the native shim lets them finish before it exits.
pub trait Tasks {
    /// Keeps `task` running until it ends.
    fn wait_until(&self, task: LocalBoxFuture<'static, ()>);
}
