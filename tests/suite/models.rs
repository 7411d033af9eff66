//! Model lists, in the shape of each vendor.

use serde_json::{Value, json};

use crate::check;
use crate::support::client::Call;
use crate::support::host::Host;
use crate::support::setup::Setup;
use crate::support::stage::new_key;
use crate::support::vendors::Wire;

const MODELS: [&str; 4] = ["acme/large", "acme/small", "chat", "pool/of:all"];

/// A gateway of its own, since lists show everything that is there.
async fn catalogue() -> (Host, String) {
    let host = Host::start(Setup::default());
    let key = new_key();
    host.import(&json!({
        "providers": [
            {"name": "acme", "channel": "echo", "models": ["small", "large"]},
            {"name": "off", "channel": "echo", "models": ["hidden"], "enabled": false},
        ],
        "routes": [
            {"name": "chat", "members": [{"provider": "acme", "model": "large"}]},
            {"name": "pool/of:all", "members": [{"provider": "acme", "model": "a"}, {"provider": "off", "model": "b"}]},
            {"name": "unserved", "members": [{"provider": "off", "model": "hidden"}]},
            {"name": "empty", "members": []},
            {"name": "off", "enabled": false, "members": [{"provider": "acme", "model": "large"}]},
        ],
        "keys": [{"name": "reader", "key": key}],
    }))
    .await;
    (host, key)
}

fn names(list: &Value, member: &str) -> Vec<String> {
    list.as_array().expect("a list").iter().map(|model| model[member].as_str().unwrap().to_owned()).collect()
}

/// The models that a fresh gateway has of itself are not what this is about.
fn without_echo(mut names: Vec<String>) -> Vec<String> {
    names.retain(|name| !name.ends_with("echo/echo"));
    names
}

/// B56: one path, three shapes; the client's headers tell which.
#[tokio::test]
async fn b56_one_path_has_the_shape_of_each_vendor() {
    let (host, key) = catalogue().await;
    let call = |path: &str| host.get(path).key(&key);

    let openai = call("/v1/models").send().await.expect(200).json();
    assert_eq!(openai["object"], "list");
    assert_eq!(without_echo(names(&openai["data"], "id")), MODELS);
    for model in openai["data"].as_array().unwrap() {
        let owner = if model["id"].as_str().unwrap().starts_with("acme/") { "acme" } else { "tollgate" };
        let created = model["created"].as_i64().unwrap();
        if !model["id"].as_str().unwrap().ends_with("echo") {
            assert_eq!(*model, json!({"id": model["id"], "object": "model", "created": created, "owned_by": owner}));
        }
        assert!(created > 1_700_000_000, "{model}");
    }

    for version in ["2023-06-01", "2026-10-21"] {
        let claude = call("/v1/models").header("anthropic-version", version).send().await.expect(200).json();
        assert_eq!(without_echo(names(&claude["data"], "id")), MODELS);
        assert_eq!(claude["has_more"], false);
        assert_eq!(claude["first_id"], claude["data"][0]["id"]);
        assert_eq!(&claude["last_id"], &claude["data"].as_array().unwrap().last().unwrap()["id"]);
        for model in claude["data"].as_array().unwrap() {
            assert_eq!((&model["type"], &model["display_name"]), (&json!("model"), &model["id"]));
            assert_eq!(model["lifecycle"], "active");
            let created = model["created_at"].as_str().unwrap();
            assert!(created.starts_with("20") && created.ends_with('Z'), "{created}");
        }
    }

    let calls = [
        call("/v1beta/models"),
        host.get("/v1beta/models").header("x-goog-api-key", &key),
        host.get("/v1/models").header("x-goog-api-key", &key),
        host.get(format!("/v1/models?key={key}")),
        host.get(format!("/v1beta/models?key={key}&pageSize=50")),
    ];
    for call in calls {
        let gemini = call.send().await.expect(200).json();
        let listed: Vec<String> = MODELS.iter().map(|name| format!("models/{name}")).collect();
        assert_eq!(without_echo(names(&gemini["models"], "name")), listed);
        assert_eq!(gemini.get("nextPageToken"), None);
        for model in gemini["models"].as_array().unwrap() {
            let methods = model["supportedGenerationMethods"].as_array().unwrap();
            assert!(methods.contains(&json!("generateContent")), "{model}");
            assert_eq!(format!("models/{}", model["displayName"].as_str().unwrap()), model["name"]);
        }
    }
}

/// A parameter whose name only ends like that is not a key.
#[tokio::test]
async fn only_a_parameter_named_key_tells_of_gemini() {
    let (host, key) = catalogue().await;
    for query in ["?monkey=1", "?api_key=1", "?sort=key=up"] {
        let list = host.get(format!("/v1/models{query}")).key(&key).send().await.expect(200).json();
        assert_eq!(list["object"], "list", "{query}: {list}");
    }
    let list = host.get(format!("/v1/models?k%65y={key}")).send().await.expect(200).json();
    assert!(list["models"].is_array(), "{list}");
}

#[tokio::test]
async fn lists_have_the_pages_of_their_vendor() {
    let (host, key) = catalogue().await;
    let walk = async |base: &str, next: &dyn Fn(&Value) -> Option<String>, shape: &dyn Fn(Call) -> Call| {
        let (mut found, mut query) = (Vec::new(), String::new());
        for _ in 0..10 {
            let page = shape(host.get(format!("{base}{query}"))).send().await.expect(200).json();
            let models = page["data"].as_array().or(page["models"].as_array()).unwrap();
            assert!(models.len() <= 2, "{page}");
            found.extend(
                models.iter().map(|model| model["id"].as_str().or(model["displayName"].as_str()).unwrap().to_owned()),
            );
            match next(&page) {
                Some(more) => query = more,
                None => return without_echo(found),
            }
        }
        panic!("the pages do not end: {found:?}")
    };
    let claude = |page: &Value| {
        (page["has_more"] == true)
            .then(|| format!("&after_id={}", page["last_id"].as_str().unwrap().replace('/', "%2F")))
    };
    let as_claude = |call: Call| call.header("x-api-key", &key).header("anthropic-version", "2023-06-01");
    assert_eq!(walk("/v1/models?limit=2", &claude, &as_claude).await, MODELS);
    let gemini = |page: &Value| {
        page["nextPageToken"]
            .as_str()
            .map(|token| format!("&pageToken={}", token.replace('/', "%2F").replace(':', "%3A")))
    };
    let as_gemini = |call: Call| call.header("x-goog-api-key", &key);
    assert_eq!(walk("/v1beta/models?pageSize=2", &gemini, &as_gemini).await, MODELS);

    let before = as_claude(host.get("/v1/models?limit=1&before_id=chat")).send().await.expect(200).json();
    assert_eq!(before["data"].as_array().unwrap().len(), 1);
    assert!(before["data"][0]["id"].as_str().unwrap() < "chat", "{before}");
    // Figures that make no sense are as good as none.
    for query in ["?limit=0", "?limit=-1", "?limit=many", "?limit=99999999999999999999"] {
        as_claude(host.get(format!("/v1/models{query}"))).send().await.expect(200);
    }
}

/// B56: one model, with slashes, in the shape of the list it is from.
#[tokio::test]
async fn b56_one_model_is_found_with_its_slashes() {
    let (host, key) = catalogue().await;
    for (path, id) in [
        ("chat", "chat"),
        ("acme/large", "acme/large"),
        ("acme%2Flarge", "acme/large"),
        ("acme/never-listed", "acme/never-listed"),
        ("pool/of:all", "pool/of:all"),
        ("pool%2Fof%3Aall", "pool/of:all"),
    ] {
        let openai = host.get(format!("/v1/models/{path}")).key(&key).send().await.expect(200).json();
        assert_eq!((&openai["id"], &openai["object"]), (&json!(id), &json!("model")), "{path}");
        let claude = host.get(format!("/v1/models/{path}")).key(&key).header("anthropic-version", "2026-10-21");
        let claude = claude.send().await.expect(200).json();
        assert_eq!((&claude["id"], &claude["type"]), (&json!(id), &json!("model")), "{path}");
        for prefix in ["", "models/"] {
            let gemini = host.get(format!("/v1beta/models/{prefix}{path}")).key(&key).send().await.expect(200).json();
            assert_eq!(gemini["name"], format!("models/{id}"), "{path}");
        }
    }
    for name in ["unserved", "empty", "off", "off/hidden", "nothing", "acme/", "%FF", "acme%252Flarge"] {
        check::error(
            &host.get(format!("/v1/models/{name}")).key(&key).send().await,
            Wire::Chat,
            404,
            "model_not_found",
        );
        let gemini = host.get(format!("/v1beta/models/{name}")).key(&key).send().await;
        check::error(&gemini, Wire::Gemini, 404, "model_not_found");
    }
}
