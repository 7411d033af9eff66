//! An environment of the test's own.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use tollgate::platform::variables::Variables;

/// Variables that are set.
#[derive(Clone, Default)]
pub struct FakeVariables(Rc<RefCell<HashMap<String, String>>>);

impl FakeVariables {
    pub fn set(&self, name: &str, value: &str) {
        self.0.borrow_mut().insert(name.to_owned(), value.to_owned());
    }
}

impl Variables for FakeVariables {
    fn get(&self, name: &str) -> Option<String> {
        self.0.borrow().get(name).cloned()
    }
}
