//! The rule that a request falls under.

use std::rc::Rc;
use std::slice;

use super::ResolveError;
use crate::engine::snapshot::{Member, Members, Route, Routing};

/// The rule that a request falls under; the first that fits is taken.
pub enum Rule<'a> {
    /// It names no model: every provider is asked for its own default.
    Anybody(&'a Members),
    /// It names a route.
    Named(&'a Route),
    /// It meets the conditions of a route.
    Matched(&'a Route),
    /// Its base URL names a provider; the name is the client's own for the model.
    Namespace(&'a Member),
    /// It names a provider and the model there.
    Provider(&'a Member),
}

impl<'a> Rule<'a> {
    /// The route, if it is one's.
    pub fn route(&self) -> Option<&'a Route> {
        match self {
            Self::Named(route) | Self::Matched(route) => Some(route),
            _ => None,
        }
    }

    /// Who serves it, in the order of tiers.
    pub(super) fn members(&self) -> &'a [Member] {
        match self {
            Self::Anybody(members) => members.list(),
            Self::Named(route) | Self::Matched(route) => route.members.list(),
            Self::Namespace(member) | Self::Provider(member) => slice::from_ref(member),
        }
    }

    /// The same, where there are several to be chosen among.
    pub(super) fn group(&self) -> Option<&'a Members> {
        match self {
            Self::Anybody(members) => Some(members),
            Self::Named(route) | Self::Matched(route) => Some(&route.members),
            Self::Namespace(_) | Self::Provider(_) => None,
        }
    }

    /// In a word.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Anybody(_) => "any_provider",
            Self::Named(_) => "route",
            Self::Matched(_) => "route_match",
            Self::Namespace(_) => "namespace",
            Self::Provider(_) => "provider_prefix",
        }
    }
}

impl Route {
    /// Whether it takes requests with this namespace, or those with none.
    fn takes_namespace(&self, namespace: Option<&str>) -> bool {
        let Some(matching) = &self.matching else { return false };
        let own = matching.namespace.as_deref();
        match namespace {
            Some(namespace) => own.or(self.primary.as_deref()) == Some(namespace),
            None => own.is_none(),
        }
    }
}

impl Routing {
    /// Finds the rule. A public name, which must match exactly, goes before the prefix form `provider/model`, so an operator can
    /// publish the literal name `openai/gpt-5`. The prefix is a provider's name, never a channel's.
    pub(super) fn rule_for<'a>(&'a self, model: &str, namespace: Option<&str>) -> Result<Rule<'a>, ResolveError> {
        if let (true, None) = (model.is_empty(), namespace) {
            return Ok(Rule::Anybody(&self.everybody));
        }
        if let Some(route) = self.routes.get(model) {
            return Ok(Rule::Named(route));
        }
        if let Some(route) = self.matching(model, namespace) {
            return Ok(Rule::Matched(route));
        }
        if let Some(namespace) = namespace {
            let member = self.alone(namespace);
            return member.map(Rule::Namespace).ok_or_else(|| ResolveError::UnknownNamespace(namespace.to_owned()));
        }
        let prefixed = model.split_once('/').filter(|(_, model)| !model.is_empty());
        let member = prefixed.and_then(|(provider, _)| self.alone(provider));
        member.map(Rule::Provider).ok_or_else(|| ResolveError::UnknownModel(model.to_owned()))
    }

    /// Who serves requests to base URLs with this namespace, whatever model they name.
    pub fn serving(&self, namespace: &str) -> impl Iterator<Item = &Member> {
        let routes = || self.matching.iter().filter(|route| route.takes_namespace(Some(namespace)));
        let alone = if routes().next().is_none() { self.alone(namespace) } else { None };
        routes().flat_map(|route| route.members.list()).chain(alone)
    }

    /// The first route whose conditions the request meets. With a namespace in the base URL, a route that names none stands for the one
    /// of its first member's provider; without, only routes that name none do.
    fn matching(&self, model: &str, namespace: Option<&str>) -> Option<&Route> {
        let fits = |route: &&Rc<Route>| {
            let prefix = route.matching.as_ref().and_then(|matching| matching.model_prefix.as_deref());
            route.takes_namespace(namespace) && prefix.is_none_or(|prefix| model.starts_with(prefix))
        };
        self.matching.iter().find(fits).map(|route| &**route)
    }

    /// A provider by itself.
    fn alone(&self, name: &str) -> Option<&Member> {
        let provider = self.providers.get(name)?;
        let list = self.everybody.list();
        list.binary_search_by(|member| member.id.cmp(&provider.id)).ok().and_then(|place| list.get(place))
    }
}
