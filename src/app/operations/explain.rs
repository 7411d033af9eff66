//! What would become of a request: who would be tried, in which order and why, and what it would lose on the way.
//!
//! Nobody is asked, no turn is over, and nothing is learnt.

use std::sync::Arc;

use serde::Serialize;

use crate::app::error::AppError;
use crate::app::rfc3339;
use crate::engine::attempt::ClientCall;
use crate::engine::explain::{Prospect, prospect};
use crate::engine::health::{Health, Rest, Standing};
use crate::engine::select::{Plan, Target};
use crate::engine::snapshot::{Credential, Provider, Snapshot};
use crate::platform::Scope;
use crate::platform::clock::Timestamp;
use crate::platform::database::Intent;
use crate::sdk::{Candidate, Continued, Handle, Question, Resolution, SkipReason, Skipped, judge};
use crate::store::api_key;
use crate::store::options::{Quota, Retry, Strategy, Timeouts, Trigger};

/// What `POST /admin/api/explain` tells.
#[derive(Debug, Serialize)]
pub struct Explanation {
    /// The client's dialect.
    pub dialect: &'static str,
    /// What is asked for.
    pub operation: &'static str,
    /// The model as the client names it.
    pub model: String,
    /// The name in the base URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The rule that the request falls under.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<&'static str>,
    /// The route, where it is one's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub route: Option<Arc<str>>,
    /// Who of the leading candidates goes first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strategy: Option<Strategy>,
    /// Most upstream calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_attempts: Option<u32>,
    /// The conversation that it continues, where a vendor keeps it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub continuation: Option<Continuation>,
    /// Who is tried, in this order.
    pub candidates: Vec<ExplainedCandidate>,
    /// Who is not, and why.
    pub skipped: Vec<ExplainedSkip>,
    /// Why nobody is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The conversation that a request continues.
#[derive(Debug, Serialize)]
pub struct Continuation {
    /// Whether it is known who keeps it. Otherwise the request goes to anybody.
    pub known: bool,
    /// The provider, if it is still there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<Arc<str>>,
}

/// Somebody who would be tried.
#[derive(Debug, Serialize)]
pub struct ExplainedCandidate {
    /// The provider.
    pub provider: Arc<str>,
    /// Its channel.
    pub channel: &'static str,
    /// The model as it names it.
    pub model: Arc<str>,
    /// Why it has this place.
    pub reason: String,
    /// Its tier.
    pub tier: u32,
    /// Its weight.
    pub weight: u32,
    /// How it stands with the provider: `ready`, `resting`, `probing` or `out`.
    #[serde(flatten)]
    pub standing: ExplainedStanding,
    /// Calls under way from this isolate.
    pub under_way: u32,
    /// The dialect that it is asked in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialect: Option<&'static str>,
    /// What the conversion loses.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub losses: String,
    /// Why it would be passed over when its turn comes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passed_over: Option<String>,
    /// Whether its answer stands, whatever it is.
    pub terminal: bool,
    /// After which failures of those before it it is tried; empty for any that is tried elsewhere at all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub triggers: Vec<Trigger>,
    /// How often it is asked again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry: Option<Retry>,
    /// How long it is waited for.
    pub timeouts: Timeouts,
    /// How many of the upstream calls it is granted when its turn comes; 0 for one that is never reached.
    pub grant: u32,
    /// Its quotas.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub quotas: Vec<ExplainedQuota>,
    /// Who among its credentials goes first.
    pub strategy: Strategy,
    /// Its credentials: those that are tried first, in this order, then the others.
    pub credentials: Vec<ExplainedCredential>,
}

/// A credential.
#[derive(Debug, Serialize)]
pub struct ExplainedCredential {
    /// Its name.
    pub name: Arc<str>,
    /// Its place among those that are tried, from 1; `None` where it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<usize>,
    /// Its weight.
    pub weight: u32,
    /// How it stands with it.
    #[serde(flatten)]
    pub standing: ExplainedStanding,
    /// Calls under way from this isolate.
    pub under_way: u32,
    /// Its quotas.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub quotas: Vec<ExplainedQuota>,
}

/// A quota.
#[derive(Debug, Serialize)]
pub struct ExplainedQuota {
    /// What it holds.
    #[serde(flatten)]
    pub quota: Quota,
    /// What was spent in its window; `None` where it does not hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spent: Option<i64>,
}

/// How it stands with somebody.
#[derive(Debug, Serialize)]
pub struct ExplainedStanding {
    /// `ready`, `resting`, `probing` or `out`.
    pub standing: &'static str,
    /// Until when.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<Arc<str>>,
}

impl From<Standing> for ExplainedStanding {
    fn from(standing: Standing) -> Self {
        let rest = standing.rest();
        let until = rest.and_then(|rest| rest.until).map(rfc3339);
        Self { standing: standing.name(), until, cause: rest.map(|rest| rest.cause.clone()) }
    }
}

/// Somebody who would not be tried.
#[derive(Debug, Serialize)]
pub struct ExplainedSkip {
    /// The provider.
    pub provider: Arc<str>,
    /// Why.
    pub reason: String,
    /// Until when, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
}

/// The word for whoever calls with the key of this name; nobody where none is named.
pub async fn caller(scope: &Scope, key: Option<&str>) -> Result<Arc<str>, AppError> {
    let Some(name) = key else { return Ok("".into()) };
    let rows = scope.database.batch(Intent::Read, vec![api_key::by_name(name)]).await?;
    let found = rows.first().and_then(|rows| api_key::decode(rows).0.into_iter().next());
    found.map(|row| row.id).ok_or_else(|| AppError::Invalid(format!("`key`: there is no key {name:?}")))
}

/// Explains `call` of `caller`, to be answered under `snapshot`.
pub async fn request_explain(
    handle: &Handle,
    scope: &Scope,
    snapshot: &Snapshot,
    call: &ClientCall,
    namespace: Option<&str>,
    caller: &str,
) -> Result<Explanation, AppError> {
    let request = &call.request;
    let reach = crate::app::admission::reach(&call.headers)?;
    let continued = handle.continued(scope, caller, request).await;
    let session = || crate::protocol::session::identity(caller, &call.headers, request);
    let question = Question {
        model: &request.model,
        namespace,
        reach: &reach,
        owner: continued.owner.as_ref(),
        session: &session,
        health: &**handle.health(),
        now: scope.clock.now(),
        is_rehearsal: true,
    };
    let mut explanation = Explanation {
        dialect: request.dialect.name(),
        operation: request.operation.name(),
        model: request.model.clone(),
        namespace: namespace.map(str::to_owned),
        rule: None,
        route: None,
        strategy: None,
        max_attempts: None,
        continuation: continuation(snapshot, &continued),
        candidates: Vec::new(),
        skipped: Vec::new(),
        error: None,
    };
    match snapshot.weigh(&question, &session) {
        Ok(resolution) => {
            let plan = snapshot.plan(&question, &resolution, &session);
            explanation.rule = Some(resolution.rule.name());
            let route = resolution.rule.route();
            explanation.route = route.map(|route| route.name.clone());
            explanation.strategy = route.map(|route| route.strategy);
            explanation.max_attempts = Some(plan.max_attempts);
            explanation.candidates = candidates(handle.health(), &question, &resolution, &plan, call);
            explanation.skipped = resolution.skipped.into_iter().map(skip).collect();
        }
        Err(refusal) => {
            explanation.skipped = refusal.skipped.into_iter().map(skip).collect();
            explanation.error = Some(refusal.error.to_string());
        }
    }
    Ok(explanation)
}

fn continuation(snapshot: &Snapshot, continued: &Continued) -> Option<Continuation> {
    continued.key?;
    let is_owner =
        |provider: &&std::rc::Rc<Provider>| continued.owner.as_ref().is_some_and(|o| o.provider_id == provider.id);
    let provider = snapshot.routing.providers.values().find(is_owner).map(|provider| provider.name.clone());
    Some(Continuation { known: continued.owner.is_some(), provider })
}

fn candidates(
    health: &Health,
    question: &Question<'_>,
    resolution: &Resolution<'_>,
    plan: &Plan,
    call: &ClientCall,
) -> Vec<ExplainedCandidate> {
    let mut budget = Budget { left: plan.max_attempts, most: plan.max_attempts, ended_by: None };
    let prospects: Vec<_> =
        plan.targets.iter().map(|target| described(prospect(call, target, plan.conversion), call)).collect();
    let can_be_asked: Vec<bool> = prospects.iter().map(|(_, _, passed_over)| passed_over.is_none()).collect();
    let rows = resolution.candidates.iter().zip(&plan.targets).zip(prospects).enumerate();
    rows.map(|(place, ((candidate, target), (dialect, losses, passed_over)))| {
        let (member, provider) = (candidate.member, &target.provider);
        let (grant, passed_over) = budget.grant(target, others_after(plan, &can_be_asked, place), passed_over);
        ExplainedCandidate {
            provider: provider.name.clone(),
            channel: provider.channel.id(),
            model: target.model.clone(),
            reason: reason(place, candidate, resolution),
            tier: member.tier,
            weight: member.weight,
            standing: question.health.of_provider(provider, &target.model, question.now).into(),
            under_way: provider.load.under_way(),
            dialect,
            losses,
            passed_over,
            terminal: member.policy.terminal,
            triggers: member.policy.triggers.clone(),
            retry: target.retry().cloned(),
            timeouts: provider.policy.timeouts.clone(),
            grant,
            quotas: quotas(health, &provider.id, &provider.policy.quotas, question.now),
            strategy: provider.policy.strategy,
            credentials: credentials(health, question, candidate, target),
        }
    })
    .collect()
}

/// How many of those after a place may be asked too: up to the first that is terminal.
fn others_after(plan: &Plan, can_be_asked: &[bool], place: usize) -> usize {
    if plan.targets.get(place).is_none_or(|target| target.policy.terminal) {
        return 0;
    }
    let after = plan.targets.iter().zip(can_be_asked).skip(place + 1);
    let mut others = 0;
    for (target, can_be_asked) in after {
        others += usize::from(*can_be_asked);
        if target.policy.terminal {
            break;
        }
    }
    others
}

/// The upstream calls of a request, if all who are asked fail.
struct Budget {
    left: u32,
    most: u32,
    /// The terminal candidate after which nobody is asked.
    ended_by: Option<Arc<str>>,
}

impl Budget {
    /// How many calls are granted to the next, and why it is passed over.
    fn grant(&mut self, target: &Target, others: usize, passed_over: Option<String>) -> (u32, Option<String>) {
        let passed_over = passed_over.or_else(|| match &self.ended_by {
            Some(name) => Some(format!("{name}, which comes before it, is terminal")),
            None if self.left == 0 => {
                Some(format!("those before it are granted all {} calls of `max_attempts`", self.most))
            }
            None => None,
        });
        if passed_over.is_some() {
            return (0, passed_over);
        }
        let grant = target.grant(self.left, others);
        self.left -= grant;
        self.ended_by = target.policy.terminal.then(|| target.provider.name.clone());
        (grant, None)
    }
}

fn quotas(health: &Health, owner: &str, quotas: &[Quota], now: Timestamp) -> Vec<ExplainedQuota> {
    let explained = |quota: &Quota| ExplainedQuota { quota: quota.clone(), spent: health.spent(owner, quota, now) };
    quotas.iter().map(explained).collect()
}

/// Why somebody has its place.
fn reason(place: usize, candidate: &Candidate<'_>, resolution: &Resolution<'_>) -> String {
    let (tier, weight) = (candidate.member.tier, candidate.member.weight);
    if let Some(Rest { cause, .. }) = &candidate.rest {
        return format!("rests ({cause}), so it comes after all who do not; tier {tier}, weight {weight}");
    }
    let is_leading = resolution.candidates.first().is_some_and(|first| first.member.tier == tier);
    match resolution.rule.route() {
        Some(route) if is_leading && place > 0 => {
            format!("ready, of the leading tier {tier}; the strategy {} put others first", route.strategy)
        }
        Some(route) if is_leading => {
            format!("ready, of the leading tier {tier}; strategy {}", route.strategy)
        }
        Some(_) => format!("ready, of tier {tier}, which is tried after the tiers before it; weight {weight}"),
        None => "ready".to_owned(),
    }
}

/// The dialect, the losses, and why it would be passed over.
fn described(prospect: Prospect, call: &ClientCall) -> (Option<&'static str>, String, Option<String>) {
    let (own, none) = (call.request.dialect.name(), String::new());
    match prospect {
        Prospect::Own => (Some(own), none, None),
        Prospect::Converted { dialect, losses } => (Some(dialect.name()), losses, None),
        Prospect::NeedsFiles(dialect) => (
            Some(dialect.name()),
            "cannot be told: files that the request names would be fetched first".to_owned(),
            None,
        ),
        Prospect::TooLossy(dialect, losses) => {
            (Some(dialect.name()), losses, Some("strictness is asked for, and something would be lost".to_owned()))
        }
        Prospect::Impossible(dialect, why) => (Some(dialect.name()), none, Some(why)),
        Prospect::NoOperation => (None, none, Some(format!("it has nothing like {}", call.request.operation.name()))),
    }
}

fn credentials(
    health: &Health,
    question: &Question<'_>,
    candidate: &Candidate<'_>,
    target: &Target,
) -> Vec<ExplainedCredential> {
    let standing = |credential: &Credential| question.standing(credential, &target.model);
    let judge = judge(question, candidate.member, &target.model, &standing);
    let explained = |place: Option<usize>, credential: &Credential| ExplainedCredential {
        name: credential.name.clone(),
        place,
        weight: credential.weight,
        standing: judge.standing(credential).into(),
        under_way: credential.load.under_way(),
        quotas: quotas(health, &credential.id, &credential.policy.quotas, question.now),
    };
    let tried = target.credentials.iter().enumerate().map(|(place, credential)| explained(Some(place + 1), credential));
    let is_tried = |credential: &Credential| target.credentials.iter().any(|tried| tried.id == credential.id);
    let all = candidate.choice.iter().flat_map(|choice| choice.all());
    let others = all.filter(|credential| judge.allows(credential) && !is_tried(credential));
    tried.chain(others.map(|credential| explained(None, credential))).collect()
}

fn skip(skipped: Skipped) -> ExplainedSkip {
    let out = |words: &str, rest: Rest| (format!("{words}: {}", rest.cause), rest.until.map(rfc3339));
    let (reason, until) = match skipped.reason {
        SkipReason::OtherChannel => ("the client wants another channel".to_owned(), None),
        SkipReason::NotAllowed => ("the caller may not use it".to_owned(), None),
        SkipReason::NotTheOwner => ("another account keeps the conversation that is continued".to_owned(), None),
        SkipReason::NoModel => ("no model is named, and it has no default".to_owned(), None),
        SkipReason::NoCredential => ("it has no credential that the caller may use".to_owned(), None),
        SkipReason::Out(rest) => out("it must not be used", rest),
        SkipReason::CredentialsOut(rest) => out("none of its credentials must be used", rest),
        SkipReason::BreakerOpen(rest) => out("its breaker is open", rest),
    };
    ExplainedSkip { provider: skipped.provider, reason, until }
}
