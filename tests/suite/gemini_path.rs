//! Gemini's paths, which hold the model and what is to be done with it.

use serde_json::json;

use crate::check;
use crate::support::script::Answer;
use crate::support::stage::{Stage, unique};
use crate::support::vendors::{Wire, gemini, sse};

/// B52: the action follows the last colon; the rest is the model, decoded exactly once, and goes to the vendor encoded.
#[tokio::test]
async fn b52_model_names_with_slashes_colons_and_percents() {
    let stage = Stage::new(Wire::Gemini).await;
    let provider = &stage.provider;
    for (model, sent) in [
        ("llama3.1:70b", "llama3.1%3A70b"),
        ("llama3.1%3A70b", "llama3.1%3A70b"),
        ("meta/llama-4", "meta%2Fllama-4"),
        ("meta%2Fllama-4", "meta%2Fllama-4"),
        ("m%252Fx", "m%252Fx"),
        ("caf%C3%A9", "caf%C3%A9"),
        ("a%20b", "a%20b"),
        ("a+b", "a%2Bb"),
        ("a~b_c.d-e", "a~b_c.d-e"),
        ("models/inner", "inner"),
        ("tunedModels/mine", "mine"),
    ] {
        let collection = if model.starts_with("tunedModels") { "tunedModels" } else { "models" };
        for version in ["v1", "v1beta"] {
            for (action, stream) in [("generateContent", false), ("streamGenerateContent?alt=sse", true)] {
                let wire = Wire::Gemini;
                stage.upstream.answer(if stream {
                    Answer::sse(wire.events())
                } else {
                    Answer::json(200, wire.answer())
                });
                let reply = stage.post(&format!("/{version}/models/{provider}/{model}:{action}"), gemini::request());
                let reply = reply.send().await.expect(200);
                assert_eq!(reply.text(), if stream { sse(wire.events()) } else { wire.answer() });
                let target = stage.upstream.requests().pop().unwrap().target;
                assert_eq!(target, format!("/{version}/{collection}/{sent}:{action}"), "{model}");
            }
        }
    }
}

/// B52: the encoded slash is one as well when the provider is named.
#[tokio::test]
async fn b52_the_whole_name_may_be_encoded() {
    let stage = Stage::new(Wire::Gemini).await;
    for name in [
        stage.model().replace('/', "%2F"),
        stage.model().replace('/', "%2f"),
        format!("models/{}", stage.model()),
        format!("models%2F{}%2Fvendor-model", stage.provider),
    ] {
        stage.upstream.answer(Answer::json(200, Wire::Gemini.answer()));
        stage.post(&format!("/v1beta/models/{name}:generateContent"), gemini::request()).send().await.expect(200);
        assert_eq!(stage.upstream.requests().pop().unwrap().target, "/v1beta/models/vendor-model:generateContent");
    }
}

/// B52: nothing in a model's name changes the path that the vendor sees.
#[tokio::test]
async fn b52_a_model_name_cannot_leave_its_place() {
    let stage = Stage::new(Wire::Gemini).await;
    for (model, sent) in [
        ("..%2F..%2Fadmin", "..%2F..%2Fadmin"),
        ("a%3Fkey%3Db", "a%3Fkey%3Db"),
        ("a%23b", "a%23b"),
        ("a%0D%0Ax", "a%0D%0Ax"),
        ("a%5Cb", "a%5Cb"),
        ("a:deleteModel%3F", "a%3AdeleteModel%3F"),
    ] {
        stage.upstream.answer(Answer::json(200, Wire::Gemini.answer()));
        let target = format!("/v1beta/models/{}%2F{model}:generateContent", stage.provider);
        stage.post(&target, gemini::request()).send().await.expect(200);
        let recorded = stage.upstream.requests().pop().unwrap();
        assert_eq!(recorded.target, format!("/v1beta/models/{sent}:generateContent"), "{model}");
    }
    // A name that is nothing but dots would be one even when it is encoded; it must not become a path of its own.
    for dots in ["%2E", "%2E%2E", ".."] {
        let target = format!("/v1beta/models/{}%2F{dots}:generateContent", stage.provider);
        stage.upstream.always(Answer::json(200, Wire::Gemini.answer()));
        let reply = stage.post(&target, gemini::request()).send().await;
        assert!([200, 400, 404].contains(&reply.status), "{}", reply.text());
    }
}

/// B52: a route may have such a name too, and it is one name in every spelling.
#[tokio::test]
async fn b52_a_route_is_found_in_every_spelling_of_its_name() {
    let stage = Stage::new(Wire::Gemini).await;
    let route = format!("team/llama:{}", unique());
    let members = [json!({"provider": stage.provider, "model": "tuned"})];
    stage.host.import(&json!({"routes": [{"name": route, "members": members}]})).await;
    for name in [route.clone(), route.replace('/', "%2F"), route.replace(':', "%3A"), route.replace('e', "%65")] {
        stage.upstream.answer(Answer::json(200, Wire::Gemini.answer()));
        stage.post(&format!("/v1beta/models/{name}:generateContent"), gemini::request()).send().await.expect(200);
    }
    let twice = route.replace('/', "%252F");
    let reply = stage.post(&format!("/v1beta/models/{twice}:generateContent"), gemini::request()).send().await;
    check::error(&reply, Wire::Gemini, 404, "model_not_found");
}

#[tokio::test]
async fn an_action_that_does_not_exist_is_told() {
    let stage = Stage::new(Wire::Gemini).await;
    let model = stage.model();
    for action in ["predict", "generatecontent", "GenerateContent", "", "generateContent%20", "generateContent/"] {
        let reply = stage.post(&format!("/v1beta/models/{model}:{action}"), gemini::request()).send().await;
        check::error(&reply, Wire::Gemini, 400, "invalid_request");
    }
    for path in ["/v1beta/models/gemini-3-flash", "/v1/models/a/b", "/v1beta/models/%FF:generateContent"] {
        check::error(&stage.post(path, gemini::request()).send().await, Wire::Gemini, 400, "invalid_request");
    }
    let nameless = stage.post("/v1beta/models/:generateContent", gemini::request()).send().await;
    check::error(&nameless, Wire::Gemini, 400, "invalid_request");
    assert!(stage.upstream.requests().is_empty());
}

#[tokio::test]
async fn the_query_goes_on() {
    let stage = Stage::new(Wire::Gemini).await;
    let path = format!("/v1beta/models/{}:streamGenerateContent", stage.model());
    for query in ["?alt=sse", "?alt=sse&$prettyPrint=false", "?$alt=json%3Benum-encoding%3Dint&alt=sse"] {
        stage.upstream.answer(Answer::sse(Wire::Gemini.events()));
        stage.post(&format!("{path}{query}"), gemini::request()).send().await.expect(200);
        let target = stage.upstream.requests().pop().unwrap().target;
        assert_eq!(target, format!("/v1beta/models/vendor-model:streamGenerateContent{query}"));
    }
}
