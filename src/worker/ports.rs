//! The small ports: clock, random, tasks, variables.

use std::rc::Rc;
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, future_to_promise};

use super::bridge;
use crate::platform::clock::{Clock, Timestamp};
use crate::platform::random::{PagedRandom, Random};
use crate::platform::tasks::Tasks;
use crate::platform::variables::Variables;

/// `Date.now()`, which stands still between two I/O operations.
pub(super) struct WorkerClock;

impl Clock for WorkerClock {
    fn now(&self) -> Timestamp {
        Timestamp(bridge::now() as i64)
    }

    fn sleep(&self, duration: Duration) -> LocalBoxFuture<'static, ()> {
        let slept = bridge::sleep(duration.as_millis() as f64);
        Box::pin(async move {
            // It ends early only when the request does.
            let _ = JsFuture::from(slept).await;
        })
    }
}

/// `crypto.getRandomValues()`, one page for the whole isolate.
pub(super) fn random() -> Rc<dyn Random> {
    thread_local! {
        static RANDOM: Rc<dyn Random> = Rc::new(PagedRandom::new(bridge::fill_random));
    }
    RANDOM.with(Rc::clone)
}

/// `waitUntil` of one request.
pub(super) struct WorkerTasks(JsValue);

impl WorkerTasks {
    /// The tasks of the request with this context.
    pub(super) fn new(context: JsValue) -> Self {
        Self(context)
    }
}

impl Tasks for WorkerTasks {
    fn wait_until(&self, task: LocalBoxFuture<'static, ()>) {
        let promise = future_to_promise(async move {
            task.await;
            Ok(JsValue::UNDEFINED)
        });
        bridge::wait_until(&self.0, promise);
    }
}

/// Variables and secrets of the Worker.
pub(super) struct Bindings(JsValue);

impl Bindings {
    /// What is bound in this environment.
    pub(super) fn new(environment: JsValue) -> Self {
        Self(environment)
    }
}

impl Variables for Bindings {
    fn get(&self, name: &str) -> Option<String> {
        bridge::variable(&self.0, name)
    }
}
