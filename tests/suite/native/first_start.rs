//! The first start: from nothing to an answer, and its secrets shown once.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::setup;
use crate::support::host::Host;
use crate::support::setup::Setup;

fn nothing_set() -> Setup {
    setup().without("TOLLGATE_ADMIN_TOKEN").without("TOLLGATE_MASTER_KEY")
}

/// The word after `label` in what was printed.
fn shown<'a>(stdout: &'a str, label: &str) -> &'a str {
    let line = stdout.lines().find_map(|line| line.trim().strip_prefix(label));
    line.unwrap_or_else(|| panic!("{label} is not in {stdout}")).trim()
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777
}

#[tokio::test]
async fn it_prints_what_a_new_user_needs_and_how_to_go_on() {
    let host = Host::start(nothing_set());
    let stdout = host.stdout();
    let (token, key) = (shown(&stdout, "admin token"), shown(&stdout, "gateway key"));
    assert!(token.starts_with("tga-") && token.len() > 40, "{token}");
    assert!(key.starts_with("tg-") && key.len() > 40, "{key}");
    let address = host.address;
    let expected = format!(
        "This is the first start. Keep these two, they are not shown again:\n\n  \
         admin token   {token}\n  \
         gateway key   {key}\n\n\
         Providers: echo. Try it:\n\n  \
         curl http://{address}/v1/chat/completions \\\n    \
         -H 'authorization: Bearer {key}' -H 'content-type: application/json' \\\n    \
         -d '{{\"model\":\"echo/echo\",\"messages\":[{{\"role\":\"user\",\"content\":\"Hello!\"}}]}}'\n\n\
         tollgate listens on http://{address}\n"
    );
    assert_eq!(stdout, expected);
    host.get("/admin/api/status").key(token).send().await.expect(200);
    let models = host.get("/v1/models").key(key).send().await.expect(200).json();
    assert_eq!(models["data"][0]["id"], "echo/echo");
}

/// The line that is printed is run as a user would run it.
#[tokio::test]
async fn the_printed_command_has_an_answer() {
    let host = Host::start(nothing_set());
    let stdout = host.stdout();
    let start = stdout.find("curl ").expect("a command");
    let end = start + stdout[start..].find("\n\n").expect("the end of the command");
    let output = Command::new("sh").args(["-c", &stdout[start..end]]).output().expect("a shell with curl");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    assert_eq!(answer["choices"][0]["message"]["content"], "Hello!");
}

#[tokio::test]
async fn a_second_start_prints_no_secret_and_keeps_them_all() {
    let host = Host::start(nothing_set());
    let stdout = host.stdout();
    let (token, key) = (shown(&stdout, "admin token").to_owned(), shown(&stdout, "gateway key").to_owned());
    let host = host.restart();
    assert_eq!(host.stdout(), format!("tollgate listens on http://{}\n", host.address));
    host.get("/admin/api/status").key(&token).send().await.expect(200);
    host.get("/v1/models").key(&key).send().await.expect(200);
    for secret in [&token, &key] {
        assert!(!host.stderr().contains(secret.as_str()));
    }
}

/// With no argument at all it lives in a folder `data` beside it, for its owner only.
#[tokio::test]
async fn without_arguments_it_makes_its_own_folder() {
    let host = Host::start(nothing_set().bare().variable("TOLLGATE_PORT", "0"));
    let data_dir = &host.setup.data_dir;
    assert_eq!(mode(data_dir), 0o700);
    assert_eq!(mode(&data_dir.join("master.key")), 0o600);
    assert!(data_dir.join("tollgate.db").exists());
    host.get("/health").send().await.expect(200);
}

/// A master key from the environment is not written down.
#[tokio::test]
async fn a_given_master_key_is_not_kept() {
    let host = Host::start(setup());
    assert!(!host.setup.data_dir.join("master.key").exists());
}

#[tokio::test]
async fn a_given_admin_token_is_not_printed() {
    let host = Host::start(setup());
    assert_eq!(shown(&host.stdout(), "admin token"), "(the one in TOLLGATE_ADMIN_TOKEN)");
    assert!(!host.stdout().contains("tga-"));
}

/// Each vendor whose usual variable is set becomes a provider.
#[tokio::test]
async fn vendors_in_the_environment_become_providers() {
    let setup = setup()
        .variable("OPENAI_API_KEY", "sk-openai-from-env")
        .variable("ANTHROPIC_API_KEY", "sk-ant-from-env")
        .variable("GEMINI_API_KEY", " ");
    let host = Host::start(setup);
    assert!(host.stdout().contains("Providers: echo, openai, anthropic. Try it:"), "{}", host.stdout());
    let export = host.admin("/admin/api/export").await;
    let account = json!([{"name": "default"}]);
    assert_eq!(
        export["providers"],
        json!([
            {"name": "anthropic", "channel": "claude", "credentials": account},
            {"name": "echo", "channel": "echo", "models": ["echo"]},
            {"name": "openai", "channel": "openai", "credentials": account},
        ])
    );
    // They are the first start's only; what an operator removes stays removed.
    host.try_import("?prune=1", &json!({"providers": []})).await.expect(200);
    let host = host.restart();
    assert_eq!(host.admin("/admin/api/export").await["providers"], json!([]));
}

/// Nothing that opens anything is in the data folder in plain text, but for the master key.
#[tokio::test]
async fn no_secret_is_stored_in_plain_text() {
    let host = Host::start(nothing_set().variable("OPENAI_API_KEY", "sk-openai-never-in-plain"));
    let stdout = host.stdout();
    let (token, key) = (shown(&stdout, "admin token").to_owned(), shown(&stdout, "gateway key").to_owned());
    host.get("/v1/models").key(&key).send().await.expect(200);
    let master_key = std::fs::read_to_string(host.setup.data_dir.join("master.key")).expect("a master key");
    assert!(master_key.trim().len() >= 32);
    for entry in std::fs::read_dir(&host.setup.data_dir).expect("a folder") {
        let path = entry.expect("an entry").path();
        let bytes = std::fs::read(&path).expect("a file");
        let text = String::from_utf8_lossy(&bytes);
        for secret in [token.as_str(), &key, "sk-openai-never-in-plain"] {
            assert!(!text.contains(secret), "{secret} is in {}", path.display());
        }
        assert!(path.ends_with("master.key") || !text.contains(master_key.trim()), "{}", path.display());
    }
}
