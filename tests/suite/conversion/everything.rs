//! Every case of the corpora through the gateway: what reaches a vendor its validator accepts, and what comes back clients
//! understand.

use super::{call, minimal, pairs, stage};
use crate::support::client::End;
use crate::support::corpus::events;
use crate::support::script::Answer;
use crate::support::validate;
use crate::support::vendors::Wire;

#[tokio::test]
async fn each_request_is_accepted_by_each_vendor_or_refused_in_words() {
    for (client, vendor) in pairs() {
        let stage = stage(vendor).await;
        stage.upstream.always(Answer::json(200, vendor.case("response", "text")));
        let mut asked = 0;
        for (name, body) in client.cases("request") {
            let reply = call(&stage, client, &body, false).send().await;
            let requests = stage.upstream.requests();
            if reply.status == 200 {
                asked += 1;
                assert_eq!(requests.len(), asked, "{name}");
                let sent = requests.last().expect("a request").json();
                let faults = validate::request(vendor.dialect_of_core(), &sent);
                assert!(faults.is_empty(), "{client:?} to {vendor:?}, {name}: {faults:?} in {sent}");
                let answer = reply.json();
                let faults = validate::response(client.dialect_of_core(), &answer);
                assert!(faults.is_empty(), "{client:?} to {vendor:?}, {name}: {faults:?} in {answer}");
            } else {
                assert_eq!(
                    (reply.status, requests.len()),
                    (400, asked),
                    "{client:?} to {vendor:?}, {name}: {}",
                    reply.text()
                );
            }
        }
        assert!(asked >= 20, "{client:?} to {vendor:?}: only {asked} cases reach the vendor");
    }
}

#[tokio::test]
async fn each_answer_is_understood_by_each_client() {
    for (client, vendor) in pairs() {
        let stage = stage(vendor).await;
        for (name, body) in vendor.cases("response") {
            stage.upstream.answer(Answer::json(200, body));
            let reply = call(&stage, client, minimal(client), false).send().await;
            let what = format!("{vendor:?} for {client:?}, {name}: {}", reply.text());
            // Some tell of a failure, of the vendor's or of the request's.
            assert!([200, 400, 429, 500, 502].contains(&reply.status), "{what}");
            if reply.status == 200 {
                let faults = validate::response(client.dialect_of_core(), &reply.json());
                assert!(faults.is_empty(), "{what} {faults:?}");
            }
        }
    }
}

#[tokio::test]
async fn each_stream_is_understood_by_each_client() {
    for (client, vendor) in pairs() {
        let stage = stage(vendor).await;
        for (name, stream) in vendor.cases("stream") {
            let half = stream.floor_char_boundary(stream.len() / 2);
            let (head, tail) = stream.split_at(half);
            stage.upstream.answer(Answer::events().piece(head.to_owned()).piece(tail.to_owned()));
            let mut answer = call(&stage, client, minimal(client), true).open().await;
            let (body, end) = answer.rest().await;
            let what = format!("{vendor:?} for {client:?}, {name}: {}", String::from_utf8_lossy(&body));
            if answer.status >= 400 {
                // A stream that fails before its first content is an error like any other.
                let error: serde_json::Value = serde_json::from_slice(&body).expect("an error is JSON");
                assert!(error["error"].is_object(), "{what}");
                continue;
            }
            assert_eq!((answer.status, end), (200, End::Complete), "{what}");
            let faults = validate::stream(client.dialect_of_core(), &events(&body));
            assert!(faults.is_empty(), "{what} {faults:?}");
        }
    }
}

/// A client without a stream gets the same from a vendor that always streams.
#[tokio::test]
async fn each_stream_becomes_one_answer() {
    for client in Wire::ALL {
        for vendor in Wire::ALL {
            let members = serde_json::json!({"streaming": "always"});
            let stage = super::stage_on(crate::support::host::Host::shared(), vendor, members).await;
            for (name, stream) in vendor.cases("stream") {
                stage.upstream.answer(Answer::events().piece(stream));
                let reply = call(&stage, client, minimal(client), false).send().await;
                let what = format!("{vendor:?} for {client:?}, {name}: {} {}", reply.status, reply.text());
                if reply.status == 200 {
                    // What a vendor says in its own dialect its clients get as it is, peculiarities included.
                    let faults = validate::response(client.dialect_of_core(), &reply.json());
                    assert!(client == vendor || faults.is_empty(), "{what} {faults:?}");
                } else {
                    assert!(reply.status >= 400 && reply.header("content-type") == Some("application/json"), "{what}");
                }
            }
        }
    }
}
