//! From a model name to a plan.

use std::fmt;
use std::rc::Rc;

use crate::engine::select::{ConversionRules, Plan, Target, rotate};
use crate::engine::snapshot::{Credential, Member, Provider, Snapshot};
use crate::store::options::MemberPolicy;

impl Snapshot {
    /// Finds who serves `name`. A public name, which must match exactly, goes before the prefix form
    /// `provider/model`, so an operator can publish the literal name `openai/gpt-5`. The prefix is a provider's name, never
    /// a channel's.
    pub fn resolve(&self, name: &str) -> Result<Plan, ResolveError> {
        if let Some(route) = self.routing.routes.get(name) {
            let mut members: Vec<&Member> = route.members.iter().collect();
            rotate(leading_tier(&mut members), |member| member.weight, route.turn.next());
            let targets: Vec<Target> = members
                .iter()
                .map(|member| {
                    let model = if member.model.is_empty() { name } else { &member.model };
                    target(self, &member.provider, model, &member.policy)
                })
                .collect();
            if targets.is_empty() {
                return Err(ResolveError::NoTarget(name.to_owned()));
            }
            return Ok(Plan {
                max_attempts: route.max_attempts.unwrap_or(self.max_attempts()).max(1),
                heartbeat: self.heartbeat(),
                conversion: route.conversion,
                media: self.settings.media.clone(),
                targets,
            });
        }
        let found = name.split_once('/').and_then(|(provider, model)| {
            let provider = self.routing.providers.get(provider)?;
            (!model.is_empty()).then(|| target(self, provider, model, &Rc::default()))
        });
        match found {
            Some(target) => Ok(Plan {
                max_attempts: self.max_attempts(),
                heartbeat: self.heartbeat(),
                conversion: ConversionRules::default(),
                media: self.settings.media.clone(),
                targets: vec![target],
            }),
            None => Err(ResolveError::UnknownModel(name.to_owned())),
        }
    }
}

/// The members that are tried first; only these are balanced, a later tier never is with an earlier one.
fn leading_tier<'a, 'b>(members: &'a mut [&'b Member]) -> &'a mut [&'b Member] {
    let tier = members.first().map(|member| member.tier);
    let end = members.iter().take_while(|member| Some(member.tier) == tier).count();
    members.get_mut(..end).unwrap_or_default()
}

fn target(snapshot: &Snapshot, provider: &Rc<Provider>, model: &str, policy: &Rc<MemberPolicy>) -> Target {
    let mut credentials: Vec<Rc<Credential>> = snapshot.credentials_of(provider).to_vec();
    rotate(&mut credentials, |credential| credential.weight, provider.turn.next());
    Target { provider: provider.clone(), model: model.into(), policy: policy.clone(), credentials }
}

/// Why a name has no plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResolveError {
    /// There is no such route and no such provider.
    UnknownModel(String),
    /// The route has no usable member.
    NoTarget(String),
}

impl fmt::Display for ResolveError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownModel(name) => write!(
                formatter,
                "there is no model {name:?} here: name a route, or a provider and its model as `provider/model`; \
                 GET /v1/models lists what there is"
            ),
            Self::NoTarget(name) => {
                write!(formatter, "the route {name:?} has no usable provider; the operator has to add or enable one")
            }
        }
    }
}

impl std::error::Error for ResolveError {}
