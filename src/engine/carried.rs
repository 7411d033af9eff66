//! Work that goes on when the request that waits for it is dropped.

use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use futures_util::future::LocalBoxFuture;

use crate::platform::tasks::Tasks;

/// Work that goes on as a task when the one that waits for it is dropped.
pub(super) struct Carried<T: 'static> {
    pub(super) work: Option<LocalBoxFuture<'static, T>>,
    pub(super) tasks: Rc<dyn Tasks>,
}

impl<T> Future for Carried<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let Some(work) = &mut self.work else { return Poll::Pending };
        let result = std::task::ready!(work.as_mut().poll(context));
        self.work = None;
        Poll::Ready(result)
    }
}

impl<T: 'static> Drop for Carried<T> {
    fn drop(&mut self) {
        if let Some(work) = self.work.take() {
            self.tasks.wait_until(Box::pin(async move { drop(work.await) }));
        }
    }
}
