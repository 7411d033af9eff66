//! Routes and their members.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::{Action, Planner, differing};
use crate::app::document::RouteDocument;
use crate::store::id;
use crate::store::options::MemberPolicy;
use crate::store::route::{self, Matching, MemberRow, RESERVED_NAMESPACES, RouteOptions, RouteRow};

impl Planner<'_> {
    pub(super) fn routes(&mut self, wanted: Option<&[RouteDocument]>) {
        let Some(wanted) = wanted else { return };
        self.check_names("routes", wanted.iter().map(|route| route.name.as_str()));
        let stored = self.stored;
        if self.prune {
            let names: HashSet<&str> = wanted.iter().map(|route| route.name.as_str()).collect();
            let gone: Vec<_> = stored.routes.iter().filter(|row| !names.contains(&*row.name)).collect();
            for row in &gone {
                self.change(Action::Delete, "route", row.name.to_string(), vec![]);
            }
            let ids: Vec<_> = gone.iter().map(|row| row.id.clone()).collect();
            self.plan.statements.extend(route::delete(&ids));
        }
        let by_name: HashMap<&str, &RouteRow> = stored.routes.iter().map(|row| (&*row.name, row)).collect();
        let mut members_of: HashMap<&Arc<str>, Vec<&MemberRow>> = HashMap::new();
        for row in &stored.members {
            members_of.entry(&row.route_id).or_default().push(row);
        }
        let (mut rows, mut members, mut gone) = (Vec::new(), Vec::new(), Vec::new());
        for (index, route) in wanted.iter().enumerate() {
            if route.max_attempts == Some(0) {
                self.fault(format!("routes[{index}].max_attempts"), "must be at least 1");
            }
            if let Some(matching) = &route.matching {
                self.matching(index, matching);
            }
            let before = by_name.get(route.name.as_str()).copied();
            let row = RouteRow {
                id: self.id_for("routes", &route.name, before.map(|row| &row.id)),
                name: route.name.as_str().into(),
                enabled: route.enabled,
                options: RouteOptions {
                    max_attempts: route.max_attempts,
                    strict: route.strict,
                    server_tools: route.server_tools,
                    strategy: route.strategy,
                    matching: route.matching.clone(),
                },
                created_at: self.now,
            };
            let known = members_of.get(&row.id).map(Vec::as_slice).unwrap_or_default();
            let members_differ = self.members(index, route, &row, known, &mut members, &mut gone);
            let fields = match before {
                None => vec![],
                Some(before) => differing([
                    ("enabled", before.enabled != row.enabled),
                    ("max_attempts", before.options.max_attempts != row.options.max_attempts),
                    ("strict", before.options.strict != row.options.strict),
                    ("server_tools", before.options.server_tools != row.options.server_tools),
                    ("strategy", before.options.strategy != row.options.strategy),
                    ("match", before.options.matching != row.options.matching),
                    ("members", members_differ),
                ]),
            };
            match before {
                None => self.create("routes", "route", &route.name),
                Some(_) if fields.is_empty() => continue,
                Some(_) => self.change(Action::Update, "route", route.name.clone(), fields),
            }
            rows.push(row);
        }
        self.plan.statements.extend(route::upsert(&rows, self.now));
        self.plan.statements.extend(route::delete_members(&gone));
        self.plan.statements.extend(route::upsert_members(&members, self.now));
        self.plan.scopes.routing |= self.plan.changes.iter().any(|change| change.kind == "route");
    }

    fn matching(&mut self, index: usize, matching: &Matching) {
        let path = format!("routes[{index}].match");
        if let Some(namespace) = &matching.namespace {
            let message = if namespace.is_empty() || namespace.contains('/') || namespace.chars().any(char::is_control)
            {
                Some("must be one segment of a path: not empty, without a slash and control characters".to_owned())
            } else if RESERVED_NAMESPACES.contains(&namespace.as_str()) {
                Some(format!("must not be {namespace:?}, which the gateway's own paths begin with"))
            } else {
                None
            };
            if let Some(message) = message {
                self.fault(format!("{path}.namespace"), message);
            }
        }
        if matching.model_prefix.as_deref() == Some("") {
            self.fault(format!("{path}.model_prefix"), "must not be empty; leave it out for all models");
        }
    }

    /// Plans the members of one route; `true` when any differs.
    fn members(
        &mut self,
        index: usize,
        route: &RouteDocument,
        row: &RouteRow,
        known: &[&MemberRow],
        upserted: &mut Vec<MemberRow>,
        deleted: &mut Vec<Arc<str>>,
    ) -> bool {
        let mut seen: HashSet<(Arc<str>, Arc<str>)> = HashSet::new();
        let mut differ = false;
        for (place, member) in route.members.iter().enumerate() {
            let path = format!("routes[{index}].members[{place}]");
            let Some(provider_id) = self.provider_ids.get(&member.provider).cloned() else {
                self.fault(format!("{path}.provider"), format!("there is no provider {:?}", member.provider));
                continue;
            };
            self.retry(&format!("{path}.retry"), member.retry.as_ref());
            if member.model.as_deref() == Some("") {
                self.fault(format!("{path}.model"), "must not be empty");
            }
            let model: Arc<str> = member.model.as_deref().unwrap_or_default().into();
            if !seen.insert((provider_id.clone(), model.clone())) {
                self.fault(path, "the same provider and model are there twice");
                continue;
            }
            let before = known.iter().find(|known| known.provider_id == provider_id && known.model == model);
            let wanted = MemberRow {
                id: before.map_or_else(|| id::new(self.scope), |before| before.id.clone()),
                route_id: row.id.clone(),
                provider_id,
                model,
                tier: member.tier,
                weight: member.weight,
                enabled: member.enabled,
                policy: MemberPolicy {
                    triggers: member.triggers.clone(),
                    terminal: member.terminal,
                    retry: member.retry.clone(),
                },
            };
            if before.is_none_or(|before| **before != wanted) {
                upserted.push(wanted);
                differ = true;
            }
        }
        for known in known {
            if !seen.contains(&(known.provider_id.clone(), known.model.clone())) {
                deleted.push(known.id.clone());
                differ = true;
            }
        }
        differ
    }
}
