//! The commands beside `serve`: import, export, schema; and `--config`.

use std::io::Write;
use std::process::{Output, Stdio};

use serde_json::{Value, json};

use super::setup;
use crate::support::host::Host;
use crate::support::setup::{Setup, repository};
use crate::support::stage::new_key;

const YAML: &str = "\
# Names, not ids.
providers:
  - name: local
    channel: custom
    base_url: http://127.0.0.1:9/v1
    network: private
    dialects: [openai_chat]
    models: &models [small, large]
    credentials:
      - {name: main, secret: \"env://LOCAL_SECRET\"}
routes:
  - name: chat
    members:
      - {provider: local, model: small}
keys:
  - name: team
    key: ${TEAM_KEY}
";

fn with_variables(setup: Setup, key: &str) -> Setup {
    setup.variable("LOCAL_SECRET", "sk-local").variable("TEAM_KEY", key)
}

#[track_caller]
fn run(setup: &Setup, arguments: &[&str]) -> (String, String) {
    let output = setup.command(arguments).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{output:?}");
    (text(&output.stdout), text(&output.stderr))
}

#[track_caller]
fn failure(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!text.contains("panicked"), "{text}");
    text[text.find("tollgate: ").unwrap_or_else(|| panic!("{text}"))..].to_owned()
}

#[test]
fn import_tells_what_it_changes() {
    let setup = with_variables(setup(), &new_key());
    let file = setup.file("config.yaml", YAML);
    let file = file.to_str().unwrap();
    let changes = "+ credential local/main\n+ provider local\n+ route chat\n+ key team\n";
    let nowhere = failure(&setup.command(&["import", file, "--dry-run"]).output().unwrap());
    assert!(nowhere.contains("there is no database"), "{nowhere}");
    assert!(!setup.data_dir.exists(), "asking makes nothing");
    let nothing = setup.file("nothing.json", "{}");
    run(&setup, &["import", nothing.to_str().unwrap()]);
    let (dry, _) = run(&setup, &["import", file, "--dry-run"]);
    assert_eq!(dry, format!("{changes}4 would change; nothing was written\n"));
    let (first, _) = run(&setup, &["import", file]);
    assert_eq!(first, format!("{changes}4 changed; the configuration is at revision 1\n"));
    let (again, _) = run(&setup, &["import", file]);
    assert_eq!(again, "nothing differs; the configuration stays at revision 1\n");
    let changed =
        setup.file("changed.yaml", &YAML.replace("small, large", "small").replace("name: chat", "name: talk"));
    let (changed, _) = run(&setup, &["import", changed.to_str().unwrap(), "--prune"]);
    let expected =
        "~ provider local (models)\n- route chat\n+ route talk\n3 changed; the configuration is at revision 2\n";
    assert_eq!(changed, expected);
    let made = setup.file("made.json", r#"{"keys": [{"name": "made"}]}"#);
    let (made, _) = run(&setup, &["import", made.to_str().unwrap()]);
    let (lines, key) = made.rsplit_once("key made: ").unwrap();
    assert_eq!(lines, "+ key made\n1 changed; the configuration is at revision 3\n");
    assert!(key.starts_with("tg-") && key.ends_with(" (not shown again)\n"), "{key}");
}

/// A gateway that runs on the database takes an import up with its next request.
#[tokio::test]
async fn import_reaches_a_running_gateway() {
    let key = new_key();
    let host = Host::start(with_variables(setup(), &key));
    host.get("/v1/models").key(&key).send().await.expect(401);
    let file = host.setup.file("config.yaml", YAML);
    run(&host.setup, &["import", file.to_str().unwrap()]);
    let models = host.get("/v1/models").key(&key).send().await.expect(200).json();
    let ids: Vec<&str> = models["data"].as_array().unwrap().iter().map(|model| model["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["chat", "echo/echo", "local/large", "local/small"]);
}

#[test]
fn import_reads_its_standard_input() {
    let setup = with_variables(setup(), &new_key());
    let mut import = setup.command(&["import", "-"]);
    let mut child = import.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(YAML.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(
        String::from_utf8_lossy(&output.stdout).ends_with("4 changed; the configuration is at revision 1\n"),
        "{output:?}"
    );
}

#[test]
fn export_is_what_import_takes() {
    let setup = with_variables(setup(), &new_key());
    let file = setup.file("config.yaml", YAML);
    run(&setup, &["import", file.to_str().unwrap()]);
    let expected = json!({
        "providers": [{
            "name": "local",
            "channel": "custom",
            "base_url": "http://127.0.0.1:9/v1",
            "network": "private",
            "dialects": ["openai_chat"],
            "models": ["small", "large"],
            "credentials": [{"name": "main"}],
        }],
        "routes": [{"name": "chat", "members": [{"provider": "local", "model": "small"}]}],
        "keys": [{"name": "team"}],
    });
    let (exported, _) = run(&setup, &["export", "--format", "json"]);
    assert_eq!(serde_json::from_str::<Value>(&exported).unwrap(), expected);
    let (yaml, log) = run(&setup, &["export"]);
    assert!(yaml.starts_with("providers:\n"), "{yaml}");
    for text in [&yaml, &exported, &log] {
        assert!(!text.contains("sk-local") && !text.contains("suite-secret"), "{text}");
    }
    for (name, text) in [("again.yaml", &yaml), ("again.json", &exported)] {
        let file = setup.file(name, text);
        let (again, _) = run(&setup, &["import", file.to_str().unwrap(), "--prune"]);
        assert_eq!(again, "nothing differs; the configuration stays at revision 1\n");
    }
}

#[test]
fn a_document_with_faults_changes_nothing_and_says_why() {
    let setup = setup();
    for (text, words) in [
        (YAML, &["LOCAL_SECRET", "TEAM_KEY", "providers[0].credentials[0].secret"][..]),
        ("providers: [{name: a/b, channel: nonsense}]", &["providers[0].name", "nonsense"]),
        ("providers: [{name: a, chanel: echo}]", &["chanel"]),
        ("routes: [{name: r, members: [{provider: nobody, model: m}]}]", &["routes[0].members[0].provider"]),
        ("providers: [", &["config.yaml"]),
        ("providers: x: y", &["config.yaml"]),
    ] {
        let file = setup.file("config.yaml", text);
        let words_said = failure(&setup.command(&["import", file.to_str().unwrap()]).output().unwrap());
        for word in words {
            assert!(words_said.contains(word), "{word} is not in {words_said}");
        }
    }
    let missing = failure(&setup.command(&["import", "no-such-file.yaml"]).output().unwrap());
    assert!(missing.contains("no-such-file.yaml"), "{missing}");
    let (exported, _) = run(&setup, &["export", "--format", "json"]);
    assert_eq!(serde_json::from_str::<Value>(&exported).unwrap(), json!({"providers": [], "routes": [], "keys": []}));
}

/// A document that expands into more than it is must not take the memory.
#[test]
fn a_yaml_bomb_is_refused() {
    let setup = setup();
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..10 {
        let below = level - 1;
        let references = vec![format!("*a{below}"); 10].join(", ");
        bomb.push_str(&format!("a{level}: &a{level} [{references}]\n"));
    }
    let file = setup.file("bomb.yaml", &bomb);
    failure(&setup.command(&["import", file.to_str().unwrap()]).output().unwrap());
}

#[tokio::test]
async fn a_configuration_file_is_applied_at_the_start() {
    let key = new_key();
    let setup = with_variables(setup(), &key);
    let file = setup.file("config.yaml", YAML);
    let host = Host::start(setup.argument("--config", file.to_str().unwrap()));
    host.get("/v1/models/chat").key(&key).send().await.expect(200);
    let revision = host.admin("/admin/api/status").await["revision"].clone();
    // The second start applies it again and changes nothing.
    let host = host.restart();
    assert_eq!(host.admin("/admin/api/status").await["revision"], revision);
    // What the file no longer names stays; what it says differently is changed.
    host.setup.file("config.yaml", &YAML.replace("small, large", "medium"));
    let host = host.restart();
    host.get("/v1/models/chat").key(&key).send().await.expect(200);
    let models = host.get("/v1/models").key(&key).send().await.expect(200).text().to_owned();
    assert!(models.contains("local/medium") && !models.contains("local/large"), "{models}");
}

/// An invalid file says why and harms nothing.
#[tokio::test]
async fn an_invalid_configuration_file_says_why() {
    let key = new_key();
    let setup = with_variables(setup(), &key);
    let file = setup.file("config.yaml", YAML);
    let host = Host::start(setup.clone().argument("--config", file.to_str().unwrap()));
    host.signal("TERM");
    host.exit(std::time::Duration::from_secs(10));
    setup.file("config.yaml", &YAML.replace("channel: custom", "channel: nonsense"));
    let exit = Host::try_start(setup.clone().argument("--config", file.to_str().unwrap()));
    let exit = exit.err().expect("it does not start on a file that makes no sense");
    assert!(exit.stderr.contains("nonsense") && exit.stderr.contains("providers[0]"), "{exit:?}");
    let host = Host::start(setup);
    host.get("/v1/models/chat").key(&key).send().await.expect(200);
}

/// The schema that is printed is the one that is documented.
#[test]
fn the_schema_is_the_documented_one() {
    let (printed, _) = run(&setup(), &["schema"]);
    let printed: Value = serde_json::from_str(&printed).unwrap();
    assert!(printed["properties"]["providers"].is_object(), "{printed}");
    let path = repository().join("docs/import.schema.json");
    let documented = std::fs::read_to_string(&path).expect("docs/import.schema.json is there");
    let documented: Value = serde_json::from_str(&documented).unwrap();
    assert_eq!(documented, printed, "write it anew: tollgate schema > docs/import.schema.json");
}
