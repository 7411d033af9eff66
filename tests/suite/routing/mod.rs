//! Who serves a request: rules, names of models, strategies, conversations, and what explains them.

mod continuations;
mod examples;
mod explain;
mod models;
mod namespaces;
mod strategies;

use serde_json::{Value, json};

use crate::support::script::Answer;
use crate::support::stage::Stage;
use crate::support::vendors::Wire;

/// A stage whose vendor always answers well, with members of the provider's document replaced.
async fn stage(wire: Wire, members: Value) -> Stage<'static> {
    let stage = Stage::with(wire, members).await;
    stage.upstream.always(Answer::json(200, wire.answer()));
    stage
}

/// The models that the vendor was asked for, in the order of the requests.
fn models_asked(stage: &Stage<'_>) -> Vec<String> {
    stage.upstream.requests().iter().map(|request| request.json()["model"].as_str().unwrap().to_owned()).collect()
}

/// The secrets that the vendor was called with, in the order of the requests.
fn secrets_used(stage: &Stage<'_>) -> Vec<String> {
    let name = stage.wire.authentication("").0;
    let requests = stage.upstream.requests();
    requests.iter().map(|request| request.header(name).unwrap().trim_start_matches("Bearer ").to_owned()).collect()
}

/// Credentials for a provider's document, with secrets by their names.
fn accounts(names: &[&str]) -> Value {
    names.iter().map(|name| json!({"name": name, "secret": format!("sk-account-{name}")})).collect()
}
