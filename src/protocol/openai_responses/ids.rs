//! The ids of what is made for a client of Responses, in whole answers and in streams alike.

use crate::protocol::convert::Reply;

/// The answer's.
pub fn response(reply: &Reply) -> String {
    format!("resp_{}", reply.id)
}

/// A message's, by its place in the output.
pub fn message(reply: &Reply, index: usize) -> String {
    item("msg", reply, index)
}

/// A reasoning item's, by its place in the output.
pub fn reasoning(reply: &Reply, index: usize) -> String {
    item("rs", reply, index)
}

/// That of the item of a function call, by its place in the output. The call's own id is another one.
pub fn function_call(reply: &Reply, index: usize) -> String {
    item("fc", reply, index)
}

/// That of the item of a custom tool's call, by its place in the output.
pub fn custom_tool_call(reply: &Reply, index: usize) -> String {
    item("ctc", reply, index)
}

/// That of another item, by what its kind begins with, such as `ws`, and its place in the output.
pub fn item(prefix: &str, reply: &Reply, index: usize) -> String {
    format!("{prefix}_{}_{index}", reply.id)
}
