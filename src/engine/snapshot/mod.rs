//! The configuration as requests see it: immutable, and replaced as a whole.
//!
//! A request keeps the snapshot it began with. Assembly never fails because of one bad row: the row is left out, counted
//! and logged. Secrets stay sealed until they are first used, so assembly does not grow with their number.

mod credentials;

pub use credentials::{Credential, Credentials};

use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use super::load::Load;
use super::model_map::ModelMap;
use super::refresh::Login;
use super::rewrite::{Rewrite, RuleFault, RuleSets};
use super::select::{Choice, ConversionRules, Lot};
use crate::channel::endpoint::{DEFAULT_LIMITS, Endpoint, EndpointError, ExtraHeader, parse_base_url};
use crate::channel::{self, Channel};
use crate::platform::clock::Timestamp;
use crate::platform::fetch::{FetchLimits, Network};
use crate::store::BadRow;
use crate::store::options::{MemberPolicy, ProviderPolicy, Strategy, Timeouts};
use crate::store::provider::{ProviderRow, Streaming};
use crate::store::revision::Revisions;
use crate::store::route::{Matching, MemberRow, RouteRow};
use crate::store::rule_set::{self, RuleSetRow};
use crate::store::settings::{DEFAULT_HEARTBEAT_MS, DEFAULT_MAX_ATTEMPTS, Settings};

/// The whole configuration at one revision.
pub struct Snapshot {
    /// The revisions it was read at.
    pub revisions: Revisions,
    /// The instance's settings.
    pub settings: Settings,
    /// Providers and routes.
    pub routing: Rc<Routing>,
    /// The usable credentials of each provider, by the provider's id.
    pub credentials: Rc<Credentials>,
}

impl Snapshot {
    /// Most upstream calls for a request whose route has no figure of its own.
    pub fn max_attempts(&self) -> u32 {
        self.settings.max_attempts.unwrap_or(DEFAULT_MAX_ATTEMPTS).max(1)
    }

    /// How long a stream may be quiet before its client gets a sign of life; `None` when it never does.
    pub fn heartbeat(&self) -> Option<Duration> {
        let millis = self.settings.stream.heartbeat_ms.unwrap_or(DEFAULT_HEARTBEAT_MS);
        (millis > 0).then(|| Duration::from_millis(millis.into()))
    }

    /// The usable credentials of `provider`.
    pub fn credentials_of(&self, provider: &Provider) -> &[Rc<Credential>] {
        self.credentials.of(&provider.id).map(Choice::all).unwrap_or_default()
    }

    /// All rows that were left out.
    pub fn skipped(&self) -> impl Iterator<Item = &BadRow> {
        self.routing.skipped.iter().chain(&self.credentials.skipped)
    }
}

/// Providers and routes.
#[derive(Default)]
pub struct Routing {
    /// The enabled providers by name.
    pub providers: HashMap<Arc<str>, Rc<Provider>>,
    /// The enabled routes by public model name.
    pub routes: HashMap<Arc<str>, Rc<Route>>,
    /// The enabled routes that also take requests which do not name them, in the order in which they are asked.
    pub matching: Vec<Rc<Route>>,
    /// All enabled providers, for requests that name nobody.
    pub everybody: Members,
    /// Rows that were left out.
    pub skipped: Vec<BadRow>,
}

/// A provider that may be used.
pub struct Provider {
    /// Its id.
    pub id: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// Its kind.
    pub channel: &'static dyn Channel,
    /// Its address and manners.
    pub endpoint: Endpoint,
    /// Whether its answers can be streamed.
    pub streaming: Streaming,
    /// The models that are listed for it.
    pub models: Vec<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// How it is tried.
    pub policy: ProviderPolicy,
    /// How its tokens are made anew, where its credentials have some.
    pub login: Option<Rc<Login>>,
    /// What is changed in requests before they go there.
    pub rewrite: Rewrite,
    /// Which of its models stands for the name that a client gives.
    pub model_map: ModelMap,
    /// The calls that are under way to it.
    pub load: Rc<Load>,
    /// Whose turn it is among its credentials.
    pub turn: Turn,
}

/// The weight of a provider among all of them.
const DEFAULT_WEIGHT: u32 = 100;

/// Counts turns in a rotation. The count is this isolate's own and goes on in the snapshots that follow: if it began anew with each, whoever
/// is first would have more turns than its share.
#[derive(Debug, Clone, Default)]
pub struct Turn(Rc<Cell<u64>>);

impl Turn {
    /// The number of this turn, from 0.
    pub fn next(&self) -> u64 {
        self.0.replace(self.0.get().wrapping_add(1))
    }

    /// The number of the turn that comes, which stays.
    pub fn peek(&self) -> u64 {
        self.0.get()
    }
}

/// A public model name.
pub struct Route {
    /// The name.
    pub name: Arc<str>,
    /// Most upstream calls for one request, if not the instance's figure.
    pub max_attempts: Option<u32>,
    /// How requests are converted for upstreams of another dialect.
    pub conversion: ConversionRules,
    /// Who among the members of a tier goes first.
    pub strategy: Strategy,
    /// Which requests it also takes that do not name it.
    pub matching: Option<Matching>,
    /// The provider of its first member, usable or not: the namespace of a route that takes others' requests and names none.
    pub primary: Option<Arc<str>>,
    /// Who serves it.
    pub members: Members,
    /// When it was made.
    pub created_at: Timestamp,
}

/// Providers in the order of tiers, within a tier the heaviest first.
#[derive(Default)]
pub struct Members {
    list: Vec<Member>,
    /// Where each tier ends, how many are in it, and who of them goes first.
    tiers: Vec<(usize, usize, Lot)>,
    /// Whose turn it is.
    pub turn: Turn,
}

impl Members {
    /// Prepares a list that is in order. The turns of the `former` members go on.
    fn new(list: Vec<Member>, former: Option<&Self>) -> Self {
        let mut tiers = Vec::new();
        let mut end = 0;
        for run in list.chunk_by(|one, other| one.tier == other.tier) {
            end += run.len();
            let members = run.iter().map(|member| (member.weight, &member.id, &member.provider.name));
            tiers.push((end, run.len(), Lot::new(members)));
        }
        Self { list, tiers, turn: former.map(|former| former.turn.clone()).unwrap_or_default() }
    }

    /// The members.
    pub fn list(&self) -> &[Member] {
        &self.list
    }

    /// The tier of the member at this place: how many are in it, and who of them goes first.
    pub fn tier_of(&self, place: usize) -> Option<(usize, &Lot)> {
        let tier = self.tiers.partition_point(|(end, ..)| *end <= place);
        self.tiers.get(tier).map(|(_, size, lot)| (*size, lot))
    }
}

/// One provider behind a route.
pub struct Member {
    /// Its id.
    pub id: Arc<str>,
    /// The provider.
    pub provider: Rc<Provider>,
    /// The model as the provider names it; empty for the one that the client names.
    pub model: Arc<str>,
    /// A later tier is only tried when the earlier ones are used up.
    pub tier: u32,
    /// Its share within the tier.
    pub weight: u32,
    /// How it is tried.
    pub policy: Rc<MemberPolicy>,
}

impl Routing {
    /// Assembles what the rows say, the usable part of it. The calls that are under way and the turns are counted on from
    /// `former`.
    pub fn assemble(
        provider_rows: Vec<ProviderRow>,
        rule_set_rows: Vec<RuleSetRow>,
        route_rows: Vec<RouteRow>,
        member_rows: Vec<MemberRow>,
        mut skipped: Vec<BadRow>,
        former: Option<&Self>,
    ) -> Self {
        let mut rule_sets = RuleSets::default();
        for RuleSetRow { id, name, rules } in rule_set_rows {
            if let Err(faults) = rule_sets.insert(name.clone(), &rules) {
                let (id, row) = (Some(id), name.to_string());
                skipped.push(BadRow { table: rule_set::TABLE, row, id, reason: in_words(&faults) });
            }
        }
        let mut by_id = HashMap::with_capacity(provider_rows.len());
        let mut providers = HashMap::with_capacity(provider_rows.len());
        let provider_names: HashMap<Arc<str>, Arc<str>> =
            provider_rows.iter().map(|row| (row.id.clone(), row.name.clone())).collect();
        for row in provider_rows.into_iter().filter(|row| row.enabled) {
            match provider(&row, &rule_sets) {
                Ok(mut provider) => {
                    if let Some(known) = former.and_then(|former| former.providers.get(&row.name))
                        && known.id == row.id
                    {
                        provider.load = known.load.clone();
                        provider.turn = known.turn.clone();
                    }
                    let provider = Rc::new(provider);
                    by_id.insert(row.id, provider.clone());
                    providers.insert(row.name, provider);
                }
                Err(reason) => {
                    let (id, row) = (Some(row.id), row.name.to_string());
                    skipped.push(BadRow { table: "providers", row, id, reason });
                }
            }
        }
        let mut members: HashMap<Arc<str>, Vec<Member>> = HashMap::new();
        let mut primaries: HashMap<Arc<str>, Arc<str>> = HashMap::new();
        for row in member_rows {
            if let Some(name) = provider_names.get(&row.provider_id) {
                primaries.entry(row.route_id.clone()).or_insert_with(|| name.clone());
            }
            if !row.enabled {
                continue;
            }
            // A member whose provider is disabled or was left out is not served; the provider's row tells why.
            if let Some(provider) = by_id.get(&row.provider_id) {
                members.entry(row.route_id).or_default().push(Member {
                    id: row.id,
                    provider: provider.clone(),
                    model: row.model,
                    tier: row.tier,
                    weight: row.weight,
                    policy: Rc::new(row.policy),
                });
            }
        }
        let routes: HashMap<Arc<str>, Rc<Route>> = route_rows
            .into_iter()
            .filter(|row| row.enabled)
            .map(|row| {
                let former = former.and_then(|former| former.routes.get(&row.name)).map(|route| &route.members);
                let route = Route {
                    name: row.name.clone(),
                    max_attempts: row.options.max_attempts,
                    conversion: ConversionRules { strict: row.options.strict, server_tools: row.options.server_tools },
                    strategy: row.options.strategy,
                    matching: row.options.matching,
                    primary: primaries.remove(&row.id),
                    members: Members::new(members.remove(&row.id).unwrap_or_default(), former),
                    created_at: row.created_at,
                };
                (row.name, Rc::new(route))
            })
            .collect();
        let mut matching: Vec<Rc<Route>> = routes.values().filter(|route| route.matching.is_some()).cloned().collect();
        matching.sort_by(|one, other| one.order().cmp(&other.order()).then(one.name.cmp(&other.name)));
        let everybody = Members::new(everybody(&providers), former.map(|former| &former.everybody));
        Self { providers, routes, matching, everybody, skipped }
    }
}

impl Route {
    /// Its place among the routes that take requests which do not name them.
    fn order(&self) -> u32 {
        self.matching.as_ref().map_or(0, |matching| matching.order)
    }
}

fn everybody(providers: &HashMap<Arc<str>, Rc<Provider>>) -> Vec<Member> {
    let mut list: Vec<Member> = providers
        .values()
        .map(|provider| Member {
            id: provider.id.clone(),
            provider: provider.clone(),
            model: Arc::default(),
            tier: 0,
            weight: DEFAULT_WEIGHT,
            policy: Rc::default(),
        })
        .collect();
    list.sort_by(|one, other| one.id.cmp(&other.id));
    list
}

/// Checks a provider's row and makes it usable; the error is for the operator.
pub fn provider(row: &ProviderRow, rule_sets: &RuleSets) -> Result<Provider, String> {
    let channel = channel::by_id(&row.channel).ok_or_else(|| format!("there is no channel {:?}", row.channel))?;
    let options = &row.options;
    let network = if options.private_network { Network::Private } else { Network::Public };
    let base_url = row.base_url.as_deref().or(channel.default_base_url());
    let dialects = if options.dialects.is_empty() { channel.dialects().to_vec() } else { options.dialects.clone() };
    if dialects.is_empty() {
        return Err(format!("a provider of channel {:?} has to list its dialects", row.channel));
    }
    let address = match base_url {
        Some(url) => Some(parse_base_url(url, network).map_err(|error| error.to_string())?),
        None if channel.dialects().is_empty() => {
            return Err(format!("a provider of channel {:?} has to have a base URL", row.channel));
        }
        None => None,
    };
    let headers: Result<Vec<_>, EndpointError> =
        options.headers.iter().map(|(name, value)| ExtraHeader::parse(name, value)).collect();
    let (origin, base_path) = address.unzip();
    let login = options.oauth.as_ref().map(|oauth| Login::new(&row.id, oauth, network)).transpose();
    let login = login.map_err(|error| format!("oauth.token_url: {error}"))?;
    // Without its rules it might be sent what the operator wants nobody to see.
    let rewrite =
        Rewrite::compile(&options.rewrite, &options.rule_sets, rule_sets).map_err(|faults| in_words(&faults))?;
    Ok(Provider {
        id: row.id.clone(),
        name: row.name.clone(),
        channel,
        endpoint: Endpoint {
            origin: origin.map(Rc::new),
            base_path: base_path.unwrap_or_default(),
            dialects,
            headers: headers.map_err(|error| error.to_string())?,
            ask_for_usage: !options.refuses_stream_options,
            limits: limits(&options.policy.timeouts),
        },
        streaming: options.streaming,
        models: options.models.clone(),
        created_at: row.created_at,
        policy: options.policy.clone(),
        login: login.map(Rc::new),
        rewrite,
        model_map: ModelMap::compile(&options.policy.model_map).map_err(|bad| bad.to_string())?,
        load: Rc::default(),
        turn: Turn::default(),
    })
}

fn in_words(faults: &[RuleFault]) -> String {
    faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

fn limits(timeouts: &Timeouts) -> FetchLimits {
    let or = |wanted: Option<u32>, default| wanted.map_or(default, |millis| Duration::from_millis(millis.into()));
    FetchLimits {
        connect: or(timeouts.connect_ms, DEFAULT_LIMITS.connect),
        head: or(timeouts.first_byte_ms, DEFAULT_LIMITS.head),
        idle: or(timeouts.idle_ms, DEFAULT_LIMITS.idle),
        total: timeouts.total_ms.map(|millis| Duration::from_millis(millis.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::provider::ProviderOptions;
    use crate::store::route::RouteOptions;

    fn provider_row(name: &str, channel: &str, base_url: Option<&str>) -> ProviderRow {
        ProviderRow {
            id: format!("id-{name}").into(),
            name: name.into(),
            channel: channel.into(),
            base_url: base_url.map(Into::into),
            enabled: true,
            options: ProviderOptions::default(),
            created_at: Timestamp(0),
        }
    }

    fn with_rule_set(name: &str, set: &str) -> ProviderRow {
        let mut row = provider_row(name, "echo", None);
        row.options.rule_sets = vec![set.to_owned()];
        row
    }

    fn rule_set_row(name: &str, path: &str) -> RuleSetRow {
        let path = path.replace("{}", "a");
        let rule = serde_json::json!([{"remove": {"path": path}}]);
        RuleSetRow { id: name.into(), name: name.into(), rules: serde_json::from_value(rule).unwrap() }
    }

    fn member_row(route: &str, provider: &str) -> MemberRow {
        MemberRow {
            id: format!("{route}-{provider}").into(),
            route_id: route.into(),
            provider_id: format!("id-{provider}").into(),
            model: "m".into(),
            tier: 0,
            weight: 100,
            enabled: true,
            policy: Default::default(),
        }
    }

    #[test]
    fn turns_go_on_when_the_configuration_is_read_again() {
        let assemble = |former: Option<&Routing>| {
            let route = RouteRow {
                id: "r".into(),
                name: "route".into(),
                enabled: true,
                options: RouteOptions::default(),
                created_at: Timestamp(0),
            };
            let (providers, members) = (vec![provider_row("a", "openai", None)], vec![member_row("r", "a")]);
            Routing::assemble(providers, vec![], vec![route], members, vec![], former)
        };
        let turns = |routing: &Routing| {
            [&routing.providers["a"].turn, &routing.routes["route"].members.turn, &routing.everybody.turn]
                .map(Turn::next)
        };
        let first = assemble(None);
        assert_eq!(turns(&first), [0; 3]);
        let second = assemble(Some(&first));
        assert_eq!(turns(&second), [1; 3]);
        assert_eq!(turns(&assemble(None)), [0; 3]);
    }

    #[test]
    fn a_bad_row_is_left_out_and_told() {
        let routing = Routing::assemble(
            vec![
                provider_row("good", "openai", None),
                provider_row("no-such-channel", "nonsense", None),
                provider_row("bad-url", "openai", Some("https://10.0.0.1")),
                provider_row("no-url", "custom", None),
                provider_row("echo", "echo", None),
                with_rule_set("good-rules", "good"),
                with_rule_set("no-rules", "gone"),
                with_rule_set("bad-rules", "bad"),
            ],
            vec![rule_set_row("good", "{}"), rule_set_row("bad", "[]")],
            vec![RouteRow {
                id: "r".into(),
                name: "route".into(),
                enabled: true,
                options: RouteOptions::default(),
                created_at: Timestamp(0),
            }],
            vec![member_row("r", "good"), member_row("r", "bad-url"), member_row("gone", "good")],
            vec![],
            None,
        );
        let mut names: Vec<_> = routing.providers.keys().map(|name| name.to_string()).collect();
        names.sort();
        assert_eq!(names, ["echo", "good", "good-rules"]);
        let skipped: Vec<_> = routing.skipped.iter().map(|bad| bad.row.as_str()).collect();
        assert_eq!(skipped, ["bad", "no-such-channel", "bad-url", "no-url", "no-rules", "bad-rules"]);
        let reason = &routing.skipped[0].reason;
        assert!(reason.starts_with("[0].remove.path: "), "{reason}");
        assert_eq!(routing.routes["route"].members.list().len(), 1);
    }
}
