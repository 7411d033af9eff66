//! A Worker that is not set up yet says what is missing. A process sets itself up.

use crate::support::host::{Host, Kind, kind};
use crate::support::setup::Setup;
use crate::support::vendors::Wire;

#[tokio::test]
async fn a_database_without_its_schema_is_told_with_the_command() {
    if kind() == Kind::Native {
        return;
    }
    let host = Host::start(Setup::default().variable("TOLLGATE_SKIP_MIGRATIONS", "1"));
    for wire in Wire::ALL {
        let reply =
            host.post(wire.target("echo/echo", false), wire.request("echo/echo", false)).key("tg-any").send().await;
        assert_eq!(reply.status, 503, "{wire:?}: {}", reply.text());
        assert!(reply.text().contains("wrangler d1 migrations apply"), "{wire:?}: {}", reply.text());
        assert!(!reply.request_id().is_empty());
    }
}

#[tokio::test]
async fn a_missing_master_key_is_told_with_the_command() {
    if kind() == Kind::Native {
        return;
    }
    let host = Host::start(Setup::default().without("TOLLGATE_MASTER_KEY"));
    let reply = host.get("/v1/models").send().await;
    assert_eq!(reply.status, 503, "{}", reply.text());
    assert!(reply.text().contains("wrangler secret put TOLLGATE_MASTER_KEY"), "{}", reply.text());
    assert!(!reply.request_id().is_empty());
}

#[tokio::test]
async fn an_admin_token_that_could_be_guessed_is_refused() {
    for token in ["short", "tga-", "not-tga-0123456789abcdefgh"] {
        let setup = Setup::default().without("TOLLGATE_ADMIN_TOKEN").variable("TOLLGATE_ADMIN_TOKEN", token);
        let told = match Host::try_start(setup) {
            Ok(host) => host.get("/v1/models").send().await.expect(503).text().to_owned(),
            Err(exit) => exit.stderr,
        };
        assert!(told.contains("TOLLGATE_ADMIN_TOKEN must begin with tga-"), "{told}");
    }
}
