//! How providers and credentials are doing, and taking them for well again.

use serde::{Deserialize, Serialize};

use crate::app::error::AppError;
use crate::app::{Gateway, rfc3339};
use crate::engine::health::Standing;
use crate::engine::health::report::{BreakerReport, CredentialReport, ProviderReport, QuotaReport, RestReport};
use crate::engine::snapshot::Snapshot;
use crate::platform::Scope;
use crate::platform::clock::Timestamp;
use crate::sdk::HealthReset;
use crate::store::options::Unit;

/// What `GET /admin/api/health` tells.
#[derive(Debug, Serialize)]
pub struct HealthView {
    /// Every provider in use, by name.
    pub providers: Vec<ProviderHealth>,
}

/// How a provider is doing.
#[derive(Debug, Serialize)]
pub struct ProviderHealth {
    /// Its name.
    pub name: String,
    /// The breakers of which anything is known.
    pub breakers: Vec<BreakerHealth>,
    /// Its quotas.
    pub quotas: Vec<QuotaHealth>,
    /// Its credentials.
    pub credentials: Vec<CredentialHealth>,
}

/// How the breaker of a provider's model stands.
#[derive(Debug, Serialize)]
pub struct BreakerHealth {
    /// The model as the provider names it.
    pub model: String,
    /// `closed`, `open` or `half_open`.
    pub state: &'static str,
    /// Failures in a row.
    pub failure_count: i64,
    /// Successes in a row since it is half-open.
    pub success_count: i64,
    /// For how long it opens.
    pub current_recovery_seconds: i64,
    /// When it last failed.
    pub last_failure_time: String,
    /// Until when it is, or was, open.
    pub until: Option<String>,
    /// The last failure.
    pub cause: String,
}

/// How a quota stands.
#[derive(Debug, Serialize)]
pub struct QuotaHealth {
    /// `within_quota` or `quota_exceeded`.
    pub state: &'static str,
    /// What is counted.
    pub unit: Unit,
    /// The window.
    pub window_hours: f64,
    /// What was spent in the window: tokens, or calls where those are counted.
    pub window_usage_tokens: i64,
    /// How much there is.
    pub budget_tokens: u64,
    /// How much of it was spent.
    pub usage_percent: f64,
    /// At which share it is used up.
    pub threshold_percent: f64,
    /// Until when it is left alone.
    pub until: Option<String>,
    /// Why it is used up.
    pub cause: Option<String>,
}

/// How a credential is doing.
#[derive(Debug, Serialize)]
pub struct CredentialHealth {
    /// Its name.
    pub name: String,
    /// The worst of what is known of it.
    #[serde(flatten)]
    pub standing: StandingHealth,
    /// Until when by the vendor's own word, however far that is taken.
    pub hint: Option<String>,
    /// Everything that keeps it from being used.
    pub rests: Vec<RestHealth>,
    /// Its quotas.
    pub quotas: Vec<QuotaHealth>,
}

/// Whether something may be used.
#[derive(Debug, Serialize)]
pub struct StandingHealth {
    /// `ready`, `resting`, `probing` or `out`.
    pub state: &'static str,
    /// Until when; nothing for until somebody does something about it.
    pub until: Option<String>,
    /// Why.
    pub cause: Option<String>,
}

/// Something that keeps a credential from being used.
#[derive(Debug, Serialize)]
pub struct RestHealth {
    /// `dead`, `refused`, `used_up` or `limited`.
    pub kind: &'static str,
    /// The model, where it is about one.
    pub model: Option<String>,
    /// How it stands.
    #[serde(flatten)]
    pub standing: StandingHealth,
    /// Until when by the vendor's own word.
    pub hint: Option<String>,
    /// The upstream's status.
    pub status: u16,
    /// When it began.
    pub since: String,
}

/// How everything is doing that this isolate knows of, which is what any isolate has written before.
pub fn health_get(gateway: &Gateway, scope: &Scope, snapshot: &Snapshot) -> HealthView {
    let reports = gateway.handle.health().report(snapshot, scope.clock.now());
    HealthView { providers: reports.into_iter().map(provider).collect() }
}

fn provider(report: ProviderReport) -> ProviderHealth {
    ProviderHealth {
        name: report.name.to_string(),
        breakers: report.breakers.into_iter().map(breaker).collect(),
        quotas: report.quotas.into_iter().map(quota).collect(),
        credentials: report.credentials.into_iter().map(credential).collect(),
    }
}

fn breaker(report: BreakerReport) -> BreakerHealth {
    BreakerHealth {
        model: report.model.to_string(),
        state: report.state,
        failure_count: report.failure_count,
        success_count: report.success_count,
        current_recovery_seconds: report.current_recovery_seconds,
        last_failure_time: rfc3339(report.last_failure_time),
        until: report.until.map(rfc3339),
        cause: report.cause.to_string(),
    }
}

fn quota(report: QuotaReport) -> QuotaHealth {
    QuotaHealth {
        state: report.state,
        unit: report.unit,
        window_hours: report.window_hours,
        window_usage_tokens: report.spent,
        budget_tokens: report.budget,
        usage_percent: report.usage_percent,
        threshold_percent: report.threshold_percent,
        until: report.until.map(rfc3339),
        cause: report.cause.map(|cause| cause.to_string()),
    }
}

fn credential(report: CredentialReport) -> CredentialHealth {
    let hint = report.rests.iter().filter_map(|rest| rest.hint).max();
    CredentialHealth {
        name: report.name.to_string(),
        standing: standing(&report.standing),
        hint: hint.map(rfc3339),
        rests: report.rests.into_iter().map(rest).collect(),
        quotas: report.quotas.into_iter().map(quota).collect(),
    }
}

fn rest(report: RestReport) -> RestHealth {
    RestHealth {
        kind: report.kind,
        model: report.model.map(|model| model.to_string()),
        standing: standing(&report.standing),
        hint: report.hint.map(rfc3339),
        status: report.status,
        since: rfc3339(report.since),
    }
}

fn standing(standing: &Standing) -> StandingHealth {
    let rest = standing.rest();
    let until: Option<Timestamp> = rest.and_then(|rest| rest.until);
    StandingHealth { state: standing.name(), until: until.map(rfc3339), cause: rest.map(|rest| rest.cause.to_string()) }
}

/// What is to be taken for well again; everything where nothing is named.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ResetRequest {
    /// These providers.
    providers: Option<Vec<String>>,
    /// Another name for `providers`.
    vendors: Option<Vec<String>>,
    /// This provider.
    provider: Option<String>,
    /// The credential of this name.
    credential: Option<String>,
    /// Whether what was spent of the quotas is forgotten too.
    quotas: bool,
}

impl ResetRequest {
    /// Reads a body, which may be empty.
    pub fn read(body: &[u8]) -> Result<Self, AppError> {
        let invalid = |why: String| {
            AppError::Invalid(format!(
                "expected an object such as {{\"providers\": [\"name\"]}} or {{\"provider\": \"name\", \"credential\": \"name\", \
                 \"quotas\": true}}, each member optional: {why}"
            ))
        };
        match body.trim_ascii_start().first() {
            None => Ok(Self::default()),
            Some(b'{') => serde_json::from_slice(body).map_err(|error| invalid(error.to_string())),
            Some(_) => Err(invalid("this is no object".to_owned())),
        }
    }
}

/// What a reset tells.
#[derive(Debug, Serialize)]
pub struct ResetReport {
    /// Always `ok`.
    pub status: &'static str,
}

/// Ends rests, closes breakers and takes quotas for not used up, in all isolates by their next tick.
pub async fn health_reset(gateway: &Gateway, scope: &Scope, request: ResetRequest) -> Result<ResetReport, AppError> {
    let ResetRequest { providers, vendors, provider, credential, quotas } = request;
    let named = providers.is_some() || vendors.is_some() || provider.is_some();
    let names = || [providers, vendors, provider.map(|name| vec![name])].into_iter().flatten().flatten().collect();
    let reset = HealthReset { providers: named.then(names), credential, quotas };
    gateway.handle.reset_health(scope, &reset).await?;
    Ok(ResetReport { status: "ok" })
}
