//! Whole answers.

use serde_json::{Value, json};
use tollgate::protocol::convert::{self, Reply};
use tollgate::protocol::dialect::Dialect;

use crate::corpus::{Case, cases, compare, none, pairs, pretty};
use crate::validate;

/// What a plain request leaves behind.
pub fn reply() -> Reply {
    Reply {
        id: "0123456789abcdef".to_owned(),
        model: "the-model".to_owned(),
        created: 1_796_000_000,
        include_usage: true,
        ..Reply::default()
    }
}

fn convert(from: Dialect, to: Dialect, case: &Case) -> Value {
    match convert::response(from, to, &case.text, &reply()) {
        Ok(converted) => {
            let losses: Vec<String> =
                converted.losses.iter().map(|loss| format!("{}: {}", loss.path, loss.reason)).collect();
            json!({"body": serde_json::from_slice::<Value>(&converted.body).unwrap(), "losses": losses})
        }
        Err(error) => json!({"error": error.to_string()}),
    }
}

#[test]
fn each_case_is_converted_as_its_snapshot_says() {
    let mut faults = Vec::new();
    for (from, to) in pairs() {
        for case in cases(from, "response") {
            let converted = convert(from, to, &case);
            compare(&case, from, to, &pretty(&converted), &mut faults);
        }
    }
    none(&faults);
}

#[test]
fn each_converted_answer_is_understood() {
    let mut faults = Vec::new();
    for (from, to) in pairs() {
        for case in cases(from, "response") {
            let converted = convert(from, to, &case);
            let Some(body) = converted.get("body") else { continue };
            let found = validate::response(to, body);
            faults.extend(found.into_iter().map(|fault| format!("{from} to {to}, {}: {fault}", case.name())));
        }
    }
    none(&faults);
}
