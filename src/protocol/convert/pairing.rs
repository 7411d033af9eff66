//! Which results belong to which calls.
//!
//! Every vendor demands that calls are answered before the conversation goes on, each in its own way. A history that a client has cut in
//! the wrong place is refused here, in its own dialect and without an upstream call: attaching a result to another call would
//! make the model believe something that did not happen.

use super::ConvertError;

/// The calls of one turn of the model, and which of them are answered.
#[derive(Debug, Default)]
pub struct Pairing {
    calls: Vec<Call>,
}

#[derive(Debug)]
struct Call {
    id: String,
    name: String,
    path: String,
    is_answered: bool,
}

impl Pairing {
    /// Notes a call; `path` is where it stands.
    pub fn call(&mut self, id: &str, name: &str, path: impl Into<String>) {
        self.calls.push(Call { id: id.to_owned(), name: name.to_owned(), path: path.into(), is_answered: false });
    }

    /// Notes the result of the call `id`: the call's place among those of the turn, and its tool's name.
    pub fn result(&mut self, id: &str, path: impl Into<String>) -> Result<(usize, &str), ConvertError> {
        match self.calls.iter_mut().enumerate().find(|(_, call)| call.id == id && !call.is_answered) {
            Some((index, call)) => {
                call.is_answered = true;
                Ok((index, &call.name))
            }
            None => Err(ConvertError::invalid(
                path,
                format!(
                    "there is no open tool call {id:?} that this result could answer; drop it, or send the call too"
                ),
            )),
        }
    }

    /// Notes the result of a call of the tool `name`, for dialects that match by name and order.
    pub fn result_by_name(&mut self, name: &str, path: impl Into<String>) -> Result<(usize, &str), ConvertError> {
        match self.calls.iter_mut().enumerate().find(|(_, call)| call.name == name && !call.is_answered) {
            Some((index, call)) => {
                call.is_answered = true;
                Ok((index, &call.id))
            }
            None => Err(ConvertError::invalid(
                path,
                format!(
                    "there is no open call of {name:?} that this result could answer; drop it, or send the call too"
                ),
            )),
        }
    }

    /// Whether a call waits for its result.
    pub fn is_open(&self) -> bool {
        self.calls.iter().any(|call| !call.is_answered)
    }

    /// Ends the turn, before anything that is no result, and at the end of the conversation: every call must have been answered.
    pub fn settle(&mut self) -> Result<(), ConvertError> {
        if let Some(call) = self.calls.iter().find(|call| !call.is_answered) {
            return Err(ConvertError::invalid(
                call.path.clone(),
                format!("the tool call {:?} has no result; send one for each call, or drop the call", call.id),
            ));
        }
        self.calls.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// B05: orphans on either side are named.
    #[test]
    fn orphans_are_refused_by_name() {
        let mut pairing = Pairing::default();
        pairing.call("t1", "ls", "messages[1]");
        pairing.call("t2", "ls", "messages[1]");
        assert_eq!(pairing.result("t2", "messages[2]"), Ok((1, "ls")));
        assert!(pairing.result("t2", "messages[3]").is_err());
        assert!(pairing.settle().unwrap_err().to_string().contains("t1"));
        assert_eq!(pairing.result_by_name("ls", "x"), Ok((0, "t1")));
        assert!(pairing.settle().is_ok() && !pairing.is_open());
        assert!(pairing.result("t9", "messages[1]").unwrap_err().to_string().contains("t9"));
    }
}
