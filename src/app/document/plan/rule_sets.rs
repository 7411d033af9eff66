//! Rule sets.

use std::collections::{HashMap, HashSet};

use super::{Action, Planner, differing};
use crate::app::document::{Document, RuleSetDocument};
use crate::engine::rewrite::RuleSets;
use crate::store::rule_set::{self, RuleSetRow};

impl Planner<'_> {
    /// Plans the rule sets; returns those that will be there, for the providers that use them.
    pub(super) fn rule_sets(&mut self, wanted: Option<&[RuleSetDocument]>) -> RuleSets {
        let stored = self.stored;
        let names: HashSet<&str> = wanted.iter().copied().flatten().map(|set| set.name.as_str()).collect();
        let mut there = RuleSets::default();
        let mut gone = Vec::new();
        for row in stored.rule_sets.iter().filter(|row| !names.contains(&*row.name)) {
            if self.prune && wanted.is_some() {
                self.change(Action::Delete, "rule_set", row.name.to_string(), vec![]);
                gone.push(row.id.clone());
            } else {
                // What is stored was checked when it was written.
                let _ = there.insert(row.name.clone(), &row.rules);
            }
        }
        let Some(wanted) = wanted else { return there };
        self.check_names("rule_sets", wanted.iter().map(|set| set.name.as_str()));
        let by_name: HashMap<&str, &RuleSetRow> = stored.rule_sets.iter().map(|row| (&*row.name, row)).collect();
        let mut rows = Vec::new();
        for (index, set) in wanted.iter().enumerate() {
            if let Err(faults) = there.insert(set.name.as_str().into(), &set.rules) {
                for fault in faults {
                    self.fault(format!("rule_sets[{index}].rules{}", fault.path), fault.message);
                }
            }
            let before = by_name.get(set.name.as_str()).copied();
            match before {
                None => self.create(rule_set::TABLE, "rule_set", &set.name),
                Some(before) if before.rules == set.rules => continue,
                Some(_) => {
                    let fields = differing([("rules", true)]);
                    self.change(Action::Update, "rule_set", set.name.clone(), fields);
                }
            }
            let id = self.id_for(rule_set::TABLE, &set.name, before.map(|row| &row.id));
            rows.push(RuleSetRow { id, name: set.name.as_str().into(), rules: set.rules.clone() });
        }
        self.plan.scopes.routing |= !rows.is_empty() || !gone.is_empty();
        self.plan.statements.extend(rule_set::delete(&gone));
        self.plan.statements.extend(rule_set::upsert(&rows, self.now));
        there
    }

    /// A set that is in use cannot be deleted: providers that the document does not name would lose their rules.
    pub(super) fn check_use_of_rule_sets(&mut self, document: &Document, there: &RuleSets) {
        if !self.prune || document.rule_sets.is_none() {
            return;
        }
        let described: HashSet<&str> =
            document.providers.iter().flatten().map(|provider| provider.name.as_str()).collect();
        let stored = self.stored;
        let staying = stored.providers.iter().filter(|row| {
            // Those that are described are checked by themselves.
            self.provider_ids.contains_key(&*row.name) && !described.contains(&*row.name)
        });
        let mut faults = Vec::new();
        for row in staying {
            for set in row.options.rule_sets.iter().filter(|set| !there.has(set)) {
                faults.push(format!(
                    "the rule set {set:?} is used by the provider {:?} and cannot be left out",
                    row.name
                ));
            }
        }
        for fault in faults {
            self.fault("rule_sets", fault);
        }
    }
}
