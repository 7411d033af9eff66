//! Tasks that run when the test says so, as those of a Worker run beside its requests.

use std::cell::RefCell;
use std::rc::Rc;

use futures_util::future::LocalBoxFuture;
use tollgate::platform::tasks::Tasks;

/// Keeps tasks until they are run.
#[derive(Clone, Default)]
pub struct FakeTasks(Rc<RefCell<Vec<LocalBoxFuture<'static, ()>>>>);

impl FakeTasks {
    /// How many wait.
    pub fn waiting(&self) -> usize {
        self.0.borrow().len()
    }

    /// Runs all to their ends.
    pub async fn run(&self) {
        loop {
            let Some(task) = self.0.borrow_mut().pop() else { return };
            task.await;
        }
    }
}

impl Tasks for FakeTasks {
    fn wait_until(&self, task: LocalBoxFuture<'static, ()>) {
        self.0.borrow_mut().push(task);
    }
}
