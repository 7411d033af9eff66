//! The documents in `docs/examples/` are ones that can be applied.

use serde_json::Value;

use crate::support::host::{ADMIN_TOKEN, Host};
use crate::support::setup::repository;

/// An example as it would be applied, with something for each variable.
fn example(name: &str) -> Value {
    let text = std::fs::read_to_string(repository().join("docs/examples").join(name)).unwrap();
    let mut plain = String::new();
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once("${") {
        let (variable, tail) = after.split_once('}').unwrap();
        plain.push_str(&format!("{before}secret-of-{variable}"));
        rest = tail;
    }
    plain.push_str(rest);
    serde_saphyr::from_str(&plain).unwrap()
}

async fn dry_run(document: &Value) -> Value {
    let call = Host::shared().post("/admin/api/import?dry_run=1", document.to_string()).key(ADMIN_TOKEN);
    call.send().await.expect(200).json()
}

#[tokio::test]
async fn every_example_can_be_applied() {
    let mut names: Vec<String> = std::fs::read_dir(repository().join("docs/examples"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["coding-proxy.yaml", "simple-ai-gateway.yaml"]);
    for name in names {
        let document = example(&name);
        let report = dry_run(&document).await;
        let created =
            report["changes"].as_array().unwrap().iter().filter(|change| change["kind"] == "provider").count();
        assert_eq!(created, document["providers"].as_array().unwrap().len(), "{name}: {report}");
    }
}

/// S-404, S-362 to S-365: the figures of coding-proxy's own example.
#[tokio::test]
async fn coding_proxys_figures_are_in_its_example() {
    let document = example("coding-proxy.yaml");
    let [anthropic, copilot, _, zhipu] = document["providers"].as_array().unwrap().as_slice() else { panic!() };
    let figures = |quota: &Value| {
        ["budget", "window_hours", "threshold_percent", "probe_interval_seconds"]
            .map(|name| quota[name].as_f64().unwrap())
    };
    assert_eq!(figures(&anthropic["quotas"][0]), [5_000_000.0, 5.0, 95.0, 600.0]);
    assert_eq!(figures(&copilot["quotas"][0]), [3_000_000.0, 4.0, 95.0, 600.0]);
    assert_eq!(zhipu["model_map"]["default"], "glm-5.1");
    let members = document["routes"][0]["members"].as_array().unwrap();
    let order: Vec<&str> = members.iter().map(|member| member["provider"].as_str().unwrap()).collect();
    assert_eq!(order, ["anthropic", "copilot", "antigravity", "zhipu"]);
    assert_eq!(members[3]["terminal"], true);
}
