//! Variables in a document: `${NAME}` anywhere in a text, and `env://NAME` as the whole of one.

use serde_json::Value;

use crate::app::error::Fault;
use crate::app::{ADMIN_TOKEN_VARIABLE, MASTER_KEY_VARIABLE};

/// Puts the values of variables in their places. A variable that is not set is a fault: an empty secret would only fail
/// later, and with less to tell why.
pub fn expand(document: &mut Value, lookup: &dyn Fn(&str) -> Option<String>) -> Result<(), Vec<Fault>> {
    let mut faults = Vec::new();
    walk(document, &mut String::new(), lookup, &mut faults);
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

fn walk(value: &mut Value, path: &mut String, lookup: &dyn Fn(&str) -> Option<String>, faults: &mut Vec<Fault>) {
    let length = path.len();
    match value {
        Value::String(text) => match expand_text(text, lookup) {
            Ok(Some(expanded)) => *text = expanded,
            Ok(None) => {}
            Err(message) => faults.push(Fault { path: path.clone(), message }),
        },
        Value::Array(elements) => {
            for (index, element) in elements.iter_mut().enumerate() {
                path.push_str(&format!("[{index}]"));
                walk(element, path, lookup, faults);
                path.truncate(length);
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                if length > 0 {
                    path.push('.');
                }
                path.push_str(name);
                walk(member, path, lookup, faults);
                path.truncate(length);
            }
        }
        _ => {}
    }
}

/// The text with its variables expanded; `None` when it has none.
fn expand_text(text: &str, lookup: &dyn Fn(&str) -> Option<String>) -> Result<Option<String>, String> {
    if let Some(name) = text.strip_prefix("env://") {
        return value_of(name, lookup).map(Some);
    }
    let mut expanded = String::new();
    let mut rest = text;
    let mut changed = false;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((name, tail)) = after.split_once('}') else { break };
        expanded.push_str(before);
        expanded.push_str(&value_of(name, lookup)?);
        rest = tail;
        changed = true;
    }
    expanded.push_str(rest);
    Ok(changed.then_some(expanded))
}

fn value_of(name: &str, lookup: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    if [MASTER_KEY_VARIABLE, ADMIN_TOKEN_VARIABLE].contains(&name) {
        return Err(format!("the variable {name} is the gateway's own and cannot be used in a document"));
    }
    lookup(name).ok_or_else(|| format!("the variable {name:?} is not set"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn lookup(name: &str) -> Option<String> {
        (name == "KEY").then(|| "s3cret".to_owned())
    }

    #[test]
    fn variables_are_replaced_wherever_they_stand() {
        let mut document = json!({"a": ["env://KEY", {"b": "x-${KEY}-${KEY}", "c": "$KEY ${KEY"}], "d": 1});
        expand(&mut document, &lookup).unwrap();
        assert_eq!(document, json!({"a": ["s3cret", {"b": "x-s3cret-s3cret", "c": "$KEY ${KEY"}], "d": 1}));
    }

    #[test]
    fn missing_and_forbidden_variables_are_faults_with_their_paths() {
        let mut document = json!({"a": [{"b": "${NONE}"}], "c": "env://TOLLGATE_MASTER_KEY"});
        let faults = expand(&mut document, &lookup).unwrap_err();
        let paths: Vec<_> = faults.iter().map(|fault| fault.path.as_str()).collect();
        assert_eq!(paths, ["a[0].b", "c"]);
    }
}
