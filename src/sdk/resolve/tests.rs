//! Tables over a small configuration: which rule, who is left, in which order.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use crate::engine::health::Rest;
use crate::engine::snapshot::{Credentials, Provider, Routing};
use crate::store::credential::CredentialRow;
use crate::store::provider::ProviderRow;
use crate::store::revision::Revisions;
use crate::store::route::{MemberRow, RouteRow};
use crate::store::settings::Settings;

const NOW: Timestamp = Timestamp(1_000_000);

/// Standings by the name of a provider or the id of a credential; whoever is not there is ready.
#[derive(Default)]
struct Fake(HashMap<&'static str, Standing>);

impl Fake {
    fn with(mut self, name: &'static str, standing: fn(Rest) -> Standing, seconds: i64) -> Self {
        let rest = Rest { until: Some(Timestamp(NOW.0 + 1000 * seconds)), cause: "test".into() };
        self.0.insert(name, standing(rest));
        self
    }

    fn get(&self, name: &str) -> Standing {
        self.0.get(name).cloned().unwrap_or(Standing::Ready)
    }
}

impl Standings for Fake {
    fn of_provider(&self, provider: &Provider, _model: &str, _now: Timestamp) -> Standing {
        self.get(&provider.name)
    }

    fn of_credential(&self, credential: &Credential, _model: &str, _now: Timestamp) -> Standing {
        self.get(&credential.id)
    }
}

/// A provider: its name, its channel and its options. Each has the credentials `{name}-1` and `{name}-2`.
fn provider(name: &str, channel: &str, options: Value) -> ProviderRow {
    ProviderRow {
        id: format!("id-{name}").into(),
        name: name.into(),
        channel: channel.into(),
        base_url: None,
        enabled: true,
        options: serde_json::from_value(options).unwrap(),
        created_at: Timestamp(0),
    }
}

/// A route: its name, its options, and provider, model, tier and weight of each member.
type RouteOf<'a> = (&'a str, Value, &'a [(&'a str, &'a str, u32, u32)]);

fn snapshot(providers: Vec<ProviderRow>, routes: &[RouteOf<'_>]) -> Snapshot {
    let credentials = providers.iter().filter(|row| *row.channel != *"echo").flat_map(|row| {
        (1..=2).map(|number| CredentialRow {
            id: format!("{}-{number}", row.name).into(),
            provider_id: row.id.clone(),
            name: format!("{}-{number}", row.name).into(),
            secret: "".into(),
            secret_digest: "".into(),
            enabled: true,
            weight: 100,
            policy: serde_json::from_value(json!({"max_concurrency": null})).unwrap(),
            version: 0,
        })
    });
    let credentials = Credentials::assemble(credentials.collect(), vec![], None);
    let mut members = Vec::new();
    let route_rows = routes.iter().map(|(name, options, list)| {
        for (number, (provider, model, tier, weight)) in list.iter().enumerate() {
            let terminal = model.starts_with("terminal");
            members.push(MemberRow {
                id: format!("{name}-{number}").into(),
                route_id: (*name).into(),
                provider_id: format!("id-{provider}").into(),
                model: (*model).into(),
                tier: *tier,
                weight: *weight,
                enabled: true,
                policy: serde_json::from_value(json!({"terminal": terminal})).unwrap(),
            });
        }
        RouteRow {
            id: (*name).into(),
            name: (*name).into(),
            enabled: true,
            options: serde_json::from_value(options.clone()).unwrap(),
            created_at: Timestamp(0),
        }
    });
    let route_rows = route_rows.collect();
    Snapshot {
        revisions: Revisions::default(),
        settings: Settings::default(),
        routing: Rc::new(Routing::assemble(providers, vec![], route_rows, members, vec![], None)),
        credentials: Rc::new(credentials),
    }
}

struct Ask<'a> {
    model: &'a str,
    namespace: Option<&'a str>,
    reach: Reach,
    owner: Option<Owner>,
    fake: Fake,
    session: u64,
}

fn ask(model: &str) -> Ask<'_> {
    Ask { model, namespace: None, reach: Reach::default(), owner: None, fake: Fake::default(), session: 1 }
}

impl Ask<'_> {
    fn of<T>(&self, then: impl FnOnce(&Question<'_>) -> T) -> T {
        then(&Question {
            model: self.model,
            namespace: self.namespace,
            reach: &self.reach,
            owner: self.owner.as_ref(),
            session: &|| Some(self.session),
            health: &self.fake,
            now: NOW,
            is_rehearsal: false,
        })
    }

    fn plan(&self, snapshot: &Snapshot) -> Result<Plan, ResolveError> {
        self.of(|question| snapshot.resolve(question))
    }

    /// The rule, and provider and model of each target.
    fn outcome(&self, snapshot: &Snapshot) -> Result<String, ResolveError> {
        let rule = self.of(|question| snapshot.weigh(question, question.session).map(|found| found.rule.name()))?;
        let plan = self.plan(snapshot)?;
        let targets: Vec<_> = plan.targets.iter().map(|t| format!("{}:{}", t.provider.name, t.model)).collect();
        Ok(format!("{rule} {}", targets.join(" ")))
    }

    fn providers(&self, snapshot: &Snapshot) -> Vec<String> {
        self.plan(snapshot).unwrap().targets.iter().map(|target| target.provider.name.to_string()).collect()
    }

    fn credentials(&self, snapshot: &Snapshot) -> Vec<String> {
        let plan = self.plan(snapshot).unwrap();
        plan.targets[0].credentials.iter().map(|credential| credential.id.to_string()).collect()
    }
}

fn house() -> Snapshot {
    let map = json!({"policy": {"model_map": {"rules": [{"pattern": "big*", "target": "mapped"}], "default": "own"}}});
    snapshot(
        vec![
            provider("acme", "openai", json!({})),
            provider("openai", "claude", map),
            provider("third", "gemini", json!({})),
        ],
        &[
            ("fast", json!({"max_attempts": 7}), &[("acme", "m1", 0, 1), ("openai", "", 1, 1)]),
            ("openai/gpt", json!({}), &[("acme", "gpt", 0, 1)]),
            ("by-prefix", json!({"match": {"model_prefix": "claude-"}}), &[("third", "", 0, 1)]),
            ("by-name", json!({"match": {"namespace": "team", "order": 1}}), &[("acme", "", 0, 1)]),
            ("by-both", json!({"match": {"namespace": "team", "model_prefix": "o"}}), &[("third", "", 0, 1)]),
            ("unserved", json!({}), &[]),
        ],
    )
}

/// S-163 to S-171, S-628 to S-632.
#[test]
fn the_first_rule_that_fits_is_taken() {
    let house = house();
    for (namespace, model, expected) in [
        (None, "", "any_provider openai:own"),
        (None, "fast", "route acme:m1 openai:own"),
        (None, "openai/gpt", "route acme:gpt"),
        (None, "openai/gpt-5", "provider_prefix openai:own"),
        (None, "openai/big-one", "provider_prefix openai:mapped"),
        (None, "acme/a/b", "provider_prefix acme:a/b"),
        (None, "claude-9", "route_match third:claude-9"),
        (Some("team"), "fast", "route acme:m1 openai:own"),
        (Some("team"), "big", "route_match acme:big"),
        (Some("team"), "other", "route_match third:other"),
        (Some("third"), "claude-9", "route_match third:claude-9"),
        (Some("third"), "x/y", "namespace third:x/y"),
        (Some("acme"), "claude-9", "namespace acme:claude-9"),
        (Some("openai"), "big", "namespace openai:mapped"),
        (Some("openai"), "", "namespace openai:own"),
    ] {
        let outcome = Ask { namespace, ..ask(model) }.outcome(&house);
        assert_eq!(outcome.as_deref(), Ok(expected), "{namespace:?} {model:?}");
    }
}

#[test]
fn what_nobody_serves_is_told() {
    let house = house();
    let unknown = |name: &str| ResolveError::UnknownModel(name.to_owned());
    for model in ["nothing", "Fast", "claude/x", "/x", "acme/", "nobody/x"] {
        assert_eq!(ask(model).outcome(&house), Err(unknown(model)));
    }
    let namespace = Ask { namespace: Some("nobody"), ..ask("m") }.outcome(&house);
    assert_eq!(namespace, Err(ResolveError::UnknownNamespace("nobody".to_owned())));
    assert!(matches!(ask("unserved").outcome(&house), Err(ResolveError::NoTarget { retry_after: None, .. })));
    let nobody_has_a_default = snapshot(vec![provider("acme", "openai", json!({}))], &[]);
    assert_eq!(ask("").outcome(&nobody_has_a_default), Err(ResolveError::NoModel));
}

#[test]
fn the_budget_is_the_routes_or_the_instances() {
    let house = house();
    let budget = |model| ask(model).plan(&house).unwrap().max_attempts;
    let instance = house.max_attempts();
    assert_eq!([budget("fast"), budget("openai/gpt"), budget("acme/m"), budget("")], [7, instance, instance, instance]);
}

/// S-172 to S-176.
#[test]
fn candidates_are_narrowed() {
    let house = house();
    let set = |ids: &[&str]| Some(ids.iter().map(|id| Arc::from(*id)).collect::<HashSet<Arc<str>>>());
    for (reach, expected) in [
        (Reach { channel: Some("claude".into()), ..Reach::default() }, Ok("route openai:own")),
        (Reach { channel: Some("gemini".into()), ..Reach::default() }, Err(())),
        (Reach { providers: set(&["id-openai"]), ..Reach::default() }, Ok("route openai:own")),
        (Reach { providers: set(&[]), ..Reach::default() }, Err(())),
        (Reach { credentials: set(&["acme-2"]), ..Reach::default() }, Ok("route acme:m1")),
        (Reach { credentials: set(&[]), ..Reach::default() }, Err(())),
    ] {
        let outcome = Ask { reach: reach.clone(), ..ask("fast") }.outcome(&house);
        match expected {
            Ok(expected) => assert_eq!(outcome.as_deref(), Ok(expected), "{reach:?}"),
            Err(()) => assert!(matches!(outcome, Err(ResolveError::NoTarget { .. })), "{reach:?}"),
        }
    }
    let only = Ask { reach: Reach { credentials: set(&["acme-2"]), ..Reach::default() }, ..ask("fast") };
    assert_eq!(only.credentials(&house), ["acme-2"]);
    // Whoever may only spend certain credentials may not go where none is needed.
    let keyless = snapshot(vec![provider("free", "echo", json!({}))], &[]);
    assert!(ask("free/m").plan(&keyless).is_ok());
    let reach = Reach { credentials: set(&["x"]), ..Reach::default() };
    assert!(Ask { reach, ..ask("free/m") }.plan(&keyless).is_err());
}

fn chain(breaker_refuses: bool) -> Snapshot {
    let options = json!({"policy": {"breaker": {"refuse": breaker_refuses}}});
    let names = ["a", "b", "c", "d"];
    snapshot(
        names.iter().map(|name| provider(name, "openai", options.clone())).collect(),
        &[
            ("tiers", json!({}), &[("a", "m", 0, 1), ("b", "m", 1, 1), ("c", "m", 2, 9), ("d", "m", 2, 1)]),
            ("ending", json!({}), &[("a", "m", 0, 1), ("b", "m", 1, 1), ("c", "terminal", 2, 1)]),
            ("equals", json!({}), &[("a", "m", 0, 5), ("b", "m", 0, 5), ("c", "m", 0, 5)]),
        ],
    )
}

/// S-177 to S-184: who is tried last, and who not at all.
#[test]
fn whoever_rests_is_tried_last_and_whoever_is_out_not_at_all() {
    use Standing::{Out, Probing, Resting};
    let chain = chain(false);
    let both =
        |fake: Fake, one, other, standing: fn(Rest) -> Standing| fake.with(one, standing, 60).with(other, standing, 30);
    let fake = Fake::default;
    for (model, fake, expected) in [
        ("tiers", fake(), vec!["a", "b", "c", "d"]),
        // One of two credentials rests: the other serves.
        ("tiers", fake().with("a-1", Resting, 60), vec!["a", "b", "c", "d"]),
        ("tiers", both(fake(), "a-1", "a-2", Resting), vec!["b", "c", "d", "a"]),
        ("tiers", fake().with("a-1", Resting, 60).with("a-2", Out, 60), vec!["b", "c", "d", "a"]),
        ("tiers", fake().with("a-1", Resting, 60).with("a-2", Probing, 0), vec!["a", "b", "c", "d"]),
        ("tiers", both(fake(), "a-1", "a-2", Out), vec!["b", "c", "d"]),
        // An open breaker, and a quota that is used up.
        ("tiers", fake().with("a", Resting, 60), vec!["b", "c", "d"]),
        ("tiers", fake().with("a", Out, 60), vec!["b", "c", "d"]),
        ("tiers", fake().with("a", Probing, 0), vec!["a", "b", "c", "d"]),
        (
            "tiers",
            ["a", "b", "c", "d"].into_iter().fold(fake(), |fake, name| fake.with(name, Resting, 60)),
            vec!["a", "b", "c", "d"],
        ),
        // Resting credentials are better than an open breaker.
        (
            "ending",
            both(fake().with("a", Resting, 60), "b-1", "b-2", Resting).with("c-1", Out, 9).with("c-2", Out, 9),
            vec!["b", "c"],
        ),
        ("ending", fake().with("c", Out, 60), vec!["a", "b", "c"]),
        // S-413: of whoever has the last word the credentials that are out are tried all the same.
        ("ending", both(fake(), "c-1", "c-2", Out), vec!["a", "b", "c"]),
        ("ending", both(both(both(fake(), "a-1", "a-2", Out), "b-1", "b-2", Out), "c-1", "c-2", Out), vec!["c"]),
        ("ending", fake().with("a", Resting, 60).with("b", Out, 60).with("c", Resting, 60), vec!["c"]),
    ] {
        let standings = format!("{:?}", fake.0);
        assert_eq!(Ask { fake, ..ask(model) }.providers(&chain), expected, "{model} {standings}");
    }
}

#[test]
fn with_nobody_left_the_error_says_until_when() {
    use Standing::{Out, Resting};
    let all = |standing: fn(Rest) -> Standing| {
        ["a", "b", "c"]
            .into_iter()
            .zip([60, 20, 40])
            .fold(Fake::default(), |fake, (name, s)| fake.with(name, standing, s))
    };
    for (refuses, fake) in [(false, all(Out)), (true, all(Resting))] {
        match (Ask { fake, ..ask("equals") }.plan(&chain(refuses)).err()) {
            Some(ResolveError::NoTarget { retry_after, .. }) => assert_eq!(retry_after, Some(20)),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(Ask { fake: all(Resting), ..ask("equals") }.providers(&chain(false)).len(), 3);
}

/// A later tier is never balanced with an earlier one, nor who rests with who does not.
#[test]
fn only_the_leading_run_is_balanced() {
    let chain = chain(false);
    let firsts: Vec<String> = (0..6).map(|_| ask("equals").providers(&chain)[0].clone()).collect();
    assert_eq!(firsts.iter().collect::<HashSet<_>>().len(), 3, "{firsts:?}");
    assert_eq!(firsts[..3], firsts[3..]);
    for _ in 0..10 {
        let fake = Fake::default().with("a-1", Standing::Resting, 9).with("a-2", Standing::Resting, 9);
        let order = Ask { fake, ..ask("equals") }.providers(&chain);
        assert_eq!(order[2], "a");
        assert_eq!(ask("tiers").providers(&chain), ["a", "b", "c", "d"]);
    }
}

#[test]
fn credentials_follow_the_strategy_of_their_provider() {
    let with = |strategy: &str| provider("p", "openai", json!({"policy": {"strategy": strategy}}));
    let firsts = |strategy: &str| -> Vec<String> {
        let snapshot = snapshot(vec![with(strategy)], &[]);
        (0..6).map(|session| Ask { session: session / 3, ..ask("p/m") }.credentials(&snapshot)[0].clone()).collect()
    };
    for strategy in ["weighted", "round_robin"] {
        assert_eq!(firsts(strategy), ["p-1", "p-2", "p-1", "p-2", "p-1", "p-2"], "{strategy}");
    }
    assert_eq!(firsts("priority"), ["p-1"; 6]);
    let sessions = firsts("session");
    assert!(sessions[..3].iter().all(|first| *first == sessions[0]) && sessions[3..].iter().all(|f| *f == sessions[3]));
    // When the one that a conversation is with rests, it goes elsewhere and comes back.
    let snapshot = snapshot(vec![with("session")], &[]);
    let anchor = ask("p/m").credentials(&snapshot)[0].clone();
    let anchor_id = if anchor == "p-1" { "p-1" } else { "p-2" };
    let fake = Fake::default().with(anchor_id, Standing::Resting, 5);
    assert_ne!(Ask { fake, ..ask("p/m") }.credentials(&snapshot)[0], anchor);
    assert_eq!(ask("p/m").credentials(&snapshot)[0], anchor);
}

/// Two providers that take turns must not always meet the same one of their credentials.
#[test]
fn turns_of_credentials_are_those_of_who_is_asked() {
    let snapshot = snapshot(
        vec![provider("a", "openai", json!({})), provider("b", "openai", json!({}))],
        &[("r", json!({}), &[("a", "m", 0, 1), ("b", "m", 0, 1)])],
    );
    let firsts: HashSet<String> = (0..4).map(|_| ask("r").credentials(&snapshot)[0].clone()).collect();
    assert_eq!(firsts.len(), 4);
}

#[test]
fn a_rehearsal_is_nobodys_turn() {
    let chain = chain(false);
    let plan = |is_rehearsal| {
        ask("equals").of(|question| {
            let question = Question { is_rehearsal, ..*question };
            let plan = chain.resolve(&question).unwrap();
            (plan.targets[0].provider.name.clone(), plan.targets[0].credentials[0].id.clone())
        })
    };
    let rehearsed = plan(true);
    assert_eq!(plan(true), rehearsed);
    assert_eq!(plan(false), rehearsed);
    assert_ne!(plan(false), rehearsed);
}

#[test]
fn those_who_rest_are_only_tried_where_nobody_else_can_be() {
    use Standing::{Out, Resting};
    let chain = chain(false);
    for (fake, expected) in [
        (Fake::default().with("a-1", Resting, 5), vec!["a-2"]),
        (Fake::default().with("a-1", Resting, 50).with("a-2", Resting, 5), vec!["a-2", "a-1"]),
        (Fake::default().with("a-1", Resting, 50).with("a-2", Out, 5), vec!["a-1"]),
    ] {
        assert_eq!(Ask { fake, ..ask("a/m") }.credentials(&chain), expected);
    }
    // Of whoever has the last word those that are out are as well, the soonest first and those that rest before them.
    let owner = || Some(Owner { provider_id: "id-c".into(), credential_id: None });
    for (fake, expected) in [
        (Fake::default().with("c-1", Out, 50).with("c-2", Out, 5), vec!["c-2", "c-1"]),
        (Fake::default().with("c-1", Out, 5).with("c-2", Resting, 50), vec!["c-2", "c-1"]),
        (Fake::default().with("c-1", Out, 5), vec!["c-2"]),
    ] {
        assert_eq!(Ask { fake, owner: owner(), ..ask("ending") }.credentials(&chain), expected);
    }
}

/// S-193: no silent restart elsewhere.
#[test]
fn a_conversation_stays_with_its_owner() {
    use Standing::{Out, Resting};
    let chain = chain(false);
    let owner = |provider: &str, credential: Option<&str>| {
        Some(Owner { provider_id: format!("id-{provider}").into(), credential_id: credential.map(Into::into) })
    };
    let with = |provider, credential, fake| Ask { owner: owner(provider, credential), fake, ..ask("tiers") };
    let kept = with("c", Some("c-2"), Fake::default());
    assert_eq!((kept.providers(&chain), kept.credentials(&chain)), (vec!["c".to_owned()], vec!["c-2".to_owned()]));
    assert_eq!(with("c", Some("c-2"), Fake::default().with("c-2", Resting, 9)).credentials(&chain), ["c-2"]);
    for (ask, retry_after) in [
        (with("c", Some("gone"), Fake::default()), None),
        (with("gone", Some("c-1"), Fake::default()), None),
        (with("c", Some("c-2"), Fake::default().with("c-2", Out, 9)), Some(9)),
        (with("c", Some("c-2"), Fake::default().with("c", Out, 7)), Some(7)),
    ] {
        assert_eq!(ask.plan(&chain).err(), Some(ResolveError::ContinuationUnavailable { retry_after }));
    }
}

/// A provider with a hundred accounts, named by their numbers.
fn hundred() -> Snapshot {
    let rows = (0..100).map(|number| CredentialRow {
        id: format!("{number}").into(),
        provider_id: "id-p".into(),
        name: format!("{number:03}").into(),
        secret: "".into(),
        secret_digest: "".into(),
        enabled: true,
        weight: 1,
        policy: Default::default(),
        version: 0,
    });
    let mut snapshot = snapshot(vec![provider("p", "openai", json!({}))], &[]);
    snapshot.credentials = Rc::new(Credentials::assemble(rows.collect(), vec![], None));
    snapshot
}

#[test]
fn no_more_credentials_are_chosen_than_there_are_attempts_and_some() {
    let snapshot = hundred();
    let wanted = snapshot.max_attempts() as usize + SPARE_CREDENTIALS;
    assert_eq!(ask("p/m").credentials(&snapshot).len(), wanted);
}

/// Those who do not rest are remembered for a moment, and nobody else is handed out for that.
#[test]
fn the_few_who_do_not_rest_are_remembered_for_a_moment() {
    let snapshot = hundred();
    let resting = |but: &[&str]| {
        let names = (0..100).map(|number| &*format!("{number}").leak()).filter(|name| !but.contains(name));
        names.fold(Fake::default(), |fake, name| fake.with(name, Standing::Resting, 60))
    };
    let chosen = |fake: Fake, model, millis: i64| {
        let asked = Ask { fake, ..ask(model) };
        let plan = asked.of(|question| snapshot.resolve(&Question { now: Timestamp(NOW.0 + millis), ..*question }));
        let mut ids: Vec<_> = plan.unwrap().targets[0].credentials.iter().map(|one| one.id.to_string()).collect();
        ids.sort();
        ids
    };
    assert_eq!(chosen(resting(&["3", "50", "7"]), "p/m", 0), ["3", "50", "7"]);
    // One more rests, which is known at once; one comes back, which is known for another model, and a moment later.
    assert_eq!(chosen(resting(&["3", "9"]), "p/m", 1), ["3"]);
    assert_eq!(chosen(resting(&["3", "9"]), "p/other", 1), ["3", "9"]);
    assert_eq!(chosen(resting(&["3", "9"]), "p/m", 500), ["3", "9"]);
    // When all of them rest, the others are looked at.
    assert_eq!(chosen(resting(&["8"]), "p/m", 501), ["8"]);
    assert!(chosen(resting(&[]), "p/m", 502).len() > 1);
}
