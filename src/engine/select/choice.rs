//! Which credentials of a provider are tried.

use std::cell::Cell;
use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

use super::lot::{Draw, Lot};
use crate::engine::health::{Rest, Standing};
use crate::engine::snapshot::Credential;
use crate::platform::clock::Timestamp;
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
}

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
        self.allows(credential) && matches!(self.standing(credential), Standing::Ready | Standing::Probing(_))
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
        Self { credentials, lot, usable: Cell::default() }
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
        self.lot.visit(
            &Draw { strategy, turn, session, load: &load },
            &mut |place| get(place).is_some_and(|credential| judge.can_use(credential)),
            &mut |place| {
                chosen.extend(get(place).cloned());
                chosen.len() < wanted
            },
        );
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
