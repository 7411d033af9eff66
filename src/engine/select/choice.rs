//! Which credentials of a provider are tried.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

use super::lot::{Draw, Lot};
use crate::engine::health::{Rest, Standing};
use crate::engine::snapshot::Credential;
use crate::platform::clock::Timestamp;
use crate::protocol::hash::hash;
use crate::store::options::Strategy;

/// For how long one that has as many calls as it may is taken to be busy, in milliseconds.
const BUSY_MS: i64 = 1000;

/// Whom a request may be sent to. What is left out allows everybody; an empty set nobody.
#[derive(Debug, Clone, Default)]
pub struct Reach {
    /// The id of the channel that a provider has to have.
    pub channel: Option<Arc<str>>,
    /// The ids of the providers.
    pub providers: Option<HashSet<Arc<str>>>,
    /// The ids of the credentials.
    pub credentials: Option<HashSet<Arc<str>>>,
}

impl Reach {
    /// Whether this credential may be spent.
    pub fn allows(&self, credential: &Credential) -> bool {
        self.credentials.as_ref().is_none_or(|allowed| allowed.contains(&credential.id))
    }
}

/// The usable credentials of one provider, prepared for being chosen among.
#[derive(Default)]
pub struct Choice {
    credentials: Vec<Rc<Credential>>,
    lot: Lot,
    /// Where one was lately found that can be used: most likely it still can.
    usable: Cell<usize>,
    /// Who can be used, where those are few.
    few: RefCell<Few>,
}

/// Those who could be used a moment ago, so that the many who rest are not all asked for each request. Whether one still can is looked at
/// again; whoever comes back is found a moment later.
#[derive(Default)]
struct Few {
    places: Vec<usize>,
    /// The model, as a hash.
    model: u64,
    since: Timestamp,
}

impl Few {
    fn is_known(&self, judge: &Judge<'_>) -> bool {
        (0..KNOWN_MS).contains(&judge.now.millis_since(self.since)) && self.model == hash(0, judge.model.as_bytes())
    }
}

/// For how long they are known, in milliseconds.
const KNOWN_MS: i64 = 200;
/// From how many on who rest, and are met in one choice, it is worth knowing them.
const MANY: usize = 48;

/// How it stands with the credentials of a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outlook {
    /// One can be used.
    Ready,
    /// All that may be used rest; the first of them until then.
    Resting(Rest),
    /// None must be used; the first of them can be then.
    Out(Rest),
    /// There is none that may be spent.
    Nobody,
}

/// What decides about each credential.
pub struct Judge<'a> {
    /// Whose may be spent.
    pub reach: &'a Reach,
    /// The only one that may be, if it has to be a certain one.
    pub pinned: Option<&'a str>,
    /// How one stands.
    pub standing: &'a dyn Fn(&Credential) -> Standing,
    /// Whether those that are out are tried all the same where nobody else can be, as by a terminal member.
    pub tries_out: bool,
    /// The model as the provider names it.
    pub model: &'a str,
    /// The time.
    pub now: Timestamp,
}

impl Judge<'_> {
    /// Whether a request may spend it.
    pub fn allows(&self, credential: &Credential) -> bool {
        self.reach.allows(credential) && self.pinned.is_none_or(|pinned| *credential.id == *pinned)
    }

    /// How it stands with one that may be spent.
    pub fn standing(&self, credential: &Credential) -> Standing {
        if credential.is_full() {
            let until = Some(Timestamp(self.now.0.saturating_add(BUSY_MS)));
            return Standing::Out(Rest { until, cause: "as many calls are under way as it may have".into() });
        }
        (self.standing)(credential)
    }

    fn can_use(&self, credential: &Credential) -> bool {
        self.allows(credential) && self.is_usable(credential)
    }

    /// Whether it can be used by whoever may.
    fn is_usable(&self, credential: &Credential) -> bool {
        matches!(self.standing(credential), Standing::Ready | Standing::Probing(_))
    }
}

/// Whether one is only tried where nobody better is, and until when. More calls than it may have are never under way.
fn last_resort(judge: &Judge<'_>, credential: &Credential) -> Option<(bool, Timestamp)> {
    let end = |rest: Rest| rest.until.unwrap_or(Timestamp(i64::MAX));
    match judge.standing(credential) {
        Standing::Resting(rest) => Some((false, end(rest))),
        Standing::Out(rest) if judge.tries_out && !credential.is_full() => Some((true, end(rest))),
        _ => None,
    }
}

impl Choice {
    /// A choice among these, in the order of their names.
    pub fn new(credentials: Vec<Rc<Credential>>) -> Self {
        let lot = Lot::new(credentials.iter().map(|credential| (credential.weight, &credential.id, &credential.name)));
        Self { credentials, lot, usable: Cell::default(), few: RefCell::default() }
    }

    /// All of them.
    pub fn all(&self) -> &[Rc<Credential>] {
        &self.credentials
    }

    /// How it stands with them all.
    pub fn outlook(&self, judge: &Judge<'_>) -> Outlook {
        if self.credentials.get(self.usable.get()).is_some_and(|credential| judge.can_use(credential)) {
            return Outlook::Ready;
        }
        let mut outlook = Outlook::Nobody;
        let mut tries_out = false;
        for (place, credential) in
            self.credentials.iter().enumerate().filter(|(_, credential)| judge.allows(credential))
        {
            outlook = match (judge.standing(credential), outlook) {
                (Standing::Ready | Standing::Probing(_), _) => {
                    self.usable.set(place);
                    return Outlook::Ready;
                }
                (Standing::Resting(rest), Outlook::Resting(other)) => Outlook::Resting(sooner(rest, other)),
                (Standing::Resting(rest), _) => Outlook::Resting(rest),
                (Standing::Out(rest), others) => {
                    tries_out |= judge.tries_out && !credential.is_full();
                    match others {
                        Outlook::Out(other) => Outlook::Out(sooner(rest, other)),
                        Outlook::Nobody => Outlook::Out(rest),
                        resting => resting,
                    }
                }
            };
        }
        match outlook {
            Outlook::Out(rest) if tries_out => Outlook::Resting(rest),
            outlook => outlook,
        }
    }

    /// Those who can be used, if they are few and were lately found.
    fn few(&self, judge: &Judge<'_>) -> Vec<usize> {
        let few = self.few.borrow();
        let is_known = few.is_known(judge);
        let can_use = |place: &&usize| self.credentials.get(**place).is_some_and(|one| judge.can_use(one));
        if is_known { few.places.iter().filter(can_use).copied().collect() } else { Vec::new() }
    }

    fn know_few(&self, judge: &Judge<'_>) {
        let usable = self.credentials.iter().enumerate().filter(|(_, credential)| judge.is_usable(credential));
        let places: Vec<usize> = usable.map(|(place, _)| place).collect();
        // With more of them draws are quick, and a list would be long to go through.
        let places = if places.len() * 8 <= self.credentials.len() { places } else { Vec::new() };
        *self.few.borrow_mut() = Few { places, model: hash(0, judge.model.as_bytes()), since: judge.now };
    }

    /// At most `wanted` of those that can be used, in the order in which they are tried. Those that rest are only tried where nobody else
    /// can be; the one that is soonest ready then goes first. Those that are out come after them, if they are tried at all.
    pub fn choose(
        &self,
        strategy: Strategy,
        turn: u64,
        session: Option<u64>,
        wanted: usize,
        judge: &Judge<'_>,
    ) -> Vec<Rc<Credential>> {
        let mut chosen = Vec::with_capacity(wanted.min(self.credentials.len()));
        let get = |place: usize| self.credentials.get(place);
        let load = |place| get(place).map(|credential| credential.load.busy(judge.now)).unwrap_or_default();
        let draw = Draw { strategy, turn, session, load: &load };
        let mut take = |place| {
            chosen.extend(get(place).cloned());
            chosen.len() < wanted
        };
        let few = self.few(judge);
        if few.is_empty() {
            let mut resting = 0;
            let mut usable = |place| {
                let is_usable = get(place).is_some_and(|credential| judge.can_use(credential));
                resting += usize::from(!is_usable);
                is_usable
            };
            self.lot.visit(&draw, &mut usable, &mut take);
            if resting >= MANY && !self.few.borrow().is_known(judge) {
                self.know_few(judge);
            }
        } else {
            self.lot.visit_few(&draw, few, &mut take);
        }
        if chosen.is_empty() {
            let allowed = self.credentials.iter().filter(|credential| judge.allows(credential));
            let mut others: Vec<_> = allowed.filter_map(|c| Some((last_resort(judge, c)?, c))).collect();
            others.sort_by_key(|(rank, _)| *rank);
            chosen.extend(others.into_iter().take(wanted).map(|(_, credential)| credential.clone()));
        }
        chosen
    }
}

/// The one of two rests that is over sooner.
pub fn sooner(one: Rest, other: Rest) -> Rest {
    let end = |rest: &Rest| rest.until.map_or(i64::MAX, |until| until.0);
    if end(&one) <= end(&other) { one } else { other }
}
