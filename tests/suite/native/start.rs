//! Starting: options, and reasons not to.

use std::net::TcpListener;

use super::setup;
use crate::support::host::{Host, MASTER_KEY};
use crate::support::setup::Setup;

#[track_caller]
fn refused(setup: Setup, words: &[&str]) {
    let exit = match Host::try_start(setup) {
        Ok(_) => panic!("it starts"),
        Err(exit) => exit,
    };
    assert_eq!(exit.status.code(), Some(1), "{exit:?}");
    let last = exit.stderr.lines().last().unwrap_or_default();
    assert!(last.starts_with("tollgate: "), "{exit:?}");
    for word in words {
        assert!(last.contains(word), "{word} is not in {last}");
    }
    assert!(!exit.stderr.contains("panicked") && !exit.stdout.contains("listens"), "{exit:?}");
}

/// Each flag has a variable of its own.
#[tokio::test]
async fn every_flag_is_a_variable_as_well() {
    let setup = setup();
    let config = setup.file("config.yaml", "providers: [{name: from-config, channel: echo}]\n");
    let data_dir = setup.data_dir.with_file_name("elsewhere");
    let setup = setup
        .bare()
        .variable("TOLLGATE_HOST", "127.0.0.2")
        .variable("TOLLGATE_PORT", "0")
        .variable("TOLLGATE_THREADS", "1")
        .variable("TOLLGATE_DATA_DIR", data_dir.to_str().unwrap())
        .variable("TOLLGATE_CONFIG", config.to_str().unwrap());
    let host = Host::start(setup);
    assert_eq!(host.address.ip().to_string(), "127.0.0.2");
    assert!(data_dir.join("tollgate.db").exists());
    assert!(host.admin("/admin/api/export").await.to_string().contains("from-config"));
    let threads = std::fs::read_dir(format!("/proc/{}/task", host.process_id())).unwrap();
    let isolates = threads
        .filter(|thread| {
            let name = std::fs::read_to_string(thread.as_ref().unwrap().path().join("comm")).unwrap_or_default();
            name.starts_with("isolate-")
        })
        .count();
    assert_eq!(isolates, 1);
}

#[tokio::test]
async fn a_flag_goes_before_its_variable() {
    let host = Host::start(setup().argument("--host", "127.0.0.3").variable("TOLLGATE_HOST", "127.0.0.2"));
    assert_eq!(host.address.ip().to_string(), "127.0.0.3");
}

#[tokio::test]
async fn it_listens_on_ipv6() {
    let host = Host::start(setup().argument("--host", "::1"));
    host.get("/health").send().await.expect(200);
}

#[test]
fn a_port_that_is_taken_is_told() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut setup = setup();
    setup.port = taken.local_addr().unwrap().port();
    let port = setup.port.to_string();
    refused(setup, &["cannot listen", &port, "in use"]);
}

/// Two gateways on one port would share the connections between them, by chance.
#[test]
fn a_port_that_another_gateway_has_is_told() {
    let first = Host::start(setup());
    let mut setup = setup();
    setup.port = first.address.port();
    let port = setup.port.to_string();
    refused(setup, &["cannot listen", &port, "in use"]);
}

#[test]
fn an_address_that_is_not_this_machines_is_told() {
    refused(setup().argument("--host", "192.0.2.1"), &["cannot listen", "192.0.2.1"]);
}

#[test]
fn a_short_master_key_is_told() {
    let setup = setup().variable("TOLLGATE_MASTER_KEY", "short");
    refused(setup, &["TOLLGATE_MASTER_KEY", "32"]);
}

/// Under another master key no secret would open, so it does not even start.
#[tokio::test]
async fn another_master_key_is_told() {
    let host = Host::start(setup());
    let exit = {
        host.signal("TERM");
        let setup = host.setup.clone();
        host.exit(std::time::Duration::from_secs(10));
        setup.variable("TOLLGATE_MASTER_KEY", &MASTER_KEY.replace('0', "9"))
    };
    refused(exit, &["TOLLGATE_MASTER_KEY"]);
}

/// A lost key file is not replaced by a new one: that would make every secret unreadable.
#[tokio::test]
async fn a_lost_master_key_is_told() {
    let host = Host::start(setup().without("TOLLGATE_MASTER_KEY"));
    host.signal("TERM");
    let setup = host.setup.clone();
    host.exit(std::time::Duration::from_secs(10));
    let path = setup.data_dir.join("master.key");
    let key = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    refused(setup.clone(), &["master.key", "TOLLGATE_MASTER_KEY"]);
    assert!(!path.exists());
    // As the message says, the key may also come from the environment.
    let host = Host::start(setup.variable("TOLLGATE_MASTER_KEY", &key));
    host.admin("/admin/api/status").await;
}

#[test]
fn a_database_that_is_none_is_told() {
    let setup = setup();
    std::fs::create_dir_all(&setup.data_dir).unwrap();
    std::fs::write(setup.data_dir.join("tollgate.db"), "this is no database, whatever its name says".repeat(50))
        .unwrap();
    refused(setup, &["tollgate.db", "cannot be used"]);
}

#[test]
fn a_folder_that_cannot_be_made_is_told() {
    let mut setup = setup();
    let file = setup.file("a-file", "");
    setup.data_dir = file.join("data");
    refused(setup, &["a-file", "cannot be made"]);
}

#[test]
fn a_flag_that_makes_no_sense_is_told() {
    for arguments in [["--port", "99999"], ["--threads", "0"], ["--host", "nowhere"], ["--nonsense", "1"]] {
        let output = setup().command(&arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(arguments[0]), "{output:?}");
    }
}

#[test]
fn the_version_is_told() {
    let output = setup().command(&["--version"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), concat!("tollgate ", env!("CARGO_PKG_VERSION"), "\n"));
}
