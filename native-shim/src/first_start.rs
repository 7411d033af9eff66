//! The first start: makes what a new user needs to see an answer, and shows the secrets of it once.

use std::net::SocketAddr;

use serde_json::{Value, json};
use tollgate::app::ADMIN_TOKEN_VARIABLE;
use tollgate::app::document::stored::Stored;
use tollgate::app::identity::{ADMIN_TOKEN_PREFIX, new_secret, store_admin_token};
use tollgate::app::operations::configuration::{ImportOptions, configuration_import};
use tollgate::platform::Scope;
use tollgate::platform::database::Intent;
use tollgate::store::admin_token;

use crate::cli::Failure;
use crate::instance::Parts;
use crate::manage::describe;

/// The vendors whose usual variable makes a provider.
const VENDORS: [(&str, &str, &str); 3] = [
    ("openai", "openai", "OPENAI_API_KEY"),
    ("anthropic", "claude", "ANTHROPIC_API_KEY"),
    ("gemini", "gemini", "GEMINI_API_KEY"),
];

/// On an instance that nobody has configured yet: makes a gateway key, the echo provider and a provider for each vendor whose
/// key is in the environment. On one that has no admin token, it makes one. What it made it prints, and how to go on; on any
/// other instance it does nothing.
pub async fn greet(parts: &Parts, address: SocketAddr) -> Result<(), Failure> {
    let scope = &parts.scope;
    let rows = scope.database.batch(Intent::Read, Stored::read()).await?;
    let token = make_admin_token(parts).await?;
    if Stored::decode(&rows).revision > 0 {
        if let Some(token) = token {
            show(&token);
        }
        return Ok(());
    }
    let report = match configuration_import(&parts.gateway, scope, first_document(), ImportOptions::default()).await {
        Ok(report) => report,
        Err(error) => {
            if let Some(token) = token {
                show(&token);
            }
            return Err(format!("the first configuration could not be written: {}", describe(error)).into());
        }
    };
    let token = token.unwrap_or_else(|| match in_environment(scope) {
        true => format!("(the one in {ADMIN_TOKEN_VARIABLE})"),
        false => "(the one that an earlier start has shown)".to_owned(),
    });
    let key = report.keys.first().map(|key| &*key.key).unwrap_or_default();
    let providers: Vec<&str> =
        report.changes.iter().filter(|change| change.kind == "provider").map(|change| change.name.as_str()).collect();
    println!(
        "This is the first start. Keep these two, they are not shown again:\n\n  \
         admin token   {token}\n  \
         gateway key   {key}\n\n\
         Providers: {}. Try it:\n\n  \
         curl http://{address}/v1/chat/completions \\\n    \
         -H 'authorization: Bearer {key}' -H 'content-type: application/json' \\\n    \
         -d '{{\"model\":\"echo/echo\",\"messages\":[{{\"role\":\"user\",\"content\":\"Hello!\"}}]}}'\n",
        providers.join(", ")
    );
    Ok(())
}

fn show(token: &str) {
    println!("The admin token is {token}\nKeep it, it is not shown again.\n");
}

/// Makes an admin token, unless there is one in the environment or in the database.
async fn make_admin_token(parts: &Parts) -> Result<Option<String>, Failure> {
    let scope = &parts.scope;
    let stored = scope.database.batch(Intent::Read, vec![admin_token::any()]).await?;
    if in_environment(scope) || stored.first().is_some_and(|rows| !rows.0.is_empty()) {
        return Ok(None);
    }
    let token = new_secret(ADMIN_TOKEN_PREFIX, scope);
    scope.database.batch(Intent::Write, vec![store_admin_token(&parts.gateway, scope, &token)]).await?;
    Ok(Some(token))
}

fn in_environment(scope: &Scope) -> bool {
    scope.variables.get(ADMIN_TOKEN_VARIABLE).is_some_and(|token| !token.is_empty())
}

fn first_document() -> Value {
    let mut providers = vec![json!({"name": "echo", "channel": "echo", "models": ["echo"]})];
    for (name, channel, variable) in VENDORS {
        // Often with a line end, when it comes out of a file.
        let key = std::env::var(variable).unwrap_or_default();
        if !key.trim().is_empty() {
            let credentials = json!([{"name": "default", "secret": key.trim()}]);
            providers.push(json!({"name": name, "channel": channel, "credentials": credentials}));
        }
    }
    json!({"providers": providers, "keys": [{"name": "default"}]})
}
