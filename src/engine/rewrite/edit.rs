//! Edits by path. A path that leads nowhere, or to another type than it expects, changes nothing.

use std::borrow::Cow;

use super::path::{Path, Step, place};
use super::tree::{Budget, Members, Node, TooMuch};

/// What is done at the end of a path. Values are JSON.
pub(super) enum Edit {
    /// Puts a value there.
    Set(Box<str>),
    /// Puts a value there if there is none, or `null`.
    Default(Box<str>),
    /// Puts a value at the end of the list there.
    Append(Box<str>),
    /// Takes it out.
    Remove,
}

impl Edit {
    /// Whether objects that are missing on the way are made.
    fn makes_parents(&self) -> bool {
        matches!(self, Self::Set(_) | Self::Default(_))
    }
}

/// Carries `edit` out at `path`; tells whether anything has changed.
pub(super) fn apply<'a>(
    edit: &'a Edit,
    path: &'a Path,
    root: &mut Node<'a>,
    budget: &mut Budget,
) -> Result<bool, TooMuch> {
    walk(edit, &path.parents, &path.last, root, budget)
}

fn walk<'a>(
    edit: &'a Edit,
    parents: &'a [Step],
    last: &'a Step,
    node: &mut Node<'a>,
    budget: &mut Budget,
) -> Result<bool, TooMuch> {
    let Some((step, rest)) = parents.split_first() else { return finish(edit, last, node, budget) };
    let mut has_changed = false;
    match step {
        Step::Name(name) => {
            // Lists are never made, so nothing is made on the way into one.
            let is_made = rest.iter().chain([last]).all(|step| matches!(step, Step::Name(_)));
            if edit.makes_parents() && is_made {
                has_changed |= make_object(node, name, budget)?;
            }
            if let Some(members) = node.members(budget)? {
                for (_, child) in members.iter_mut().filter(|(key, _)| **key == **name) {
                    has_changed |= walk(edit, rest, last, child, budget)?;
                }
            }
        }
        Step::Index(index) => {
            if let Some(elements) = node.elements(budget)?
                && let Some(child) = place(*index, elements.len()).and_then(|place| elements.get_mut(place))
            {
                has_changed = walk(edit, rest, last, child, budget)?;
            }
        }
        Step::Each => {
            for child in node.elements(budget)?.into_iter().flatten() {
                has_changed |= walk(edit, rest, last, child, budget)?;
            }
        }
    }
    Ok(has_changed)
}

/// Makes `name` an object where it is missing or `null`.
fn make_object<'a>(node: &mut Node<'a>, name: &'a str, budget: &mut Budget) -> Result<bool, TooMuch> {
    let Some(members) = node.members(budget)? else { return Ok(false) };
    let mut has_changed = false;
    let mut is_there = false;
    for (_, value) in members.iter_mut().filter(|(key, _)| key == name) {
        is_there = true;
        if value.is_null() {
            *value = Node::Object(vec![]);
            has_changed = true;
        }
    }
    if !is_there {
        budget.grow(name.len() + 8)?;
        members.push((Cow::Borrowed(name), Node::Object(vec![])));
        has_changed = true;
    }
    Ok(has_changed)
}

fn finish<'a>(edit: &'a Edit, last: &'a Step, node: &mut Node<'a>, budget: &mut Budget) -> Result<bool, TooMuch> {
    match last {
        Step::Name(name) => {
            let Some(members) = node.members(budget)? else { return Ok(false) };
            at_member(edit, name, members, budget)
        }
        Step::Index(index) => {
            let Some(elements) = node.elements(budget)? else { return Ok(false) };
            let Some(place) = place(*index, elements.len()) else { return Ok(false) };
            if matches!(edit, Edit::Remove) {
                elements.remove(place);
                return Ok(true);
            }
            elements.get_mut(place).map_or(Ok(false), |element| at_value(edit, element, budget))
        }
        Step::Each => {
            let Some(elements) = node.elements(budget)? else { return Ok(false) };
            if matches!(edit, Edit::Remove) {
                let has_any = !elements.is_empty();
                elements.clear();
                return Ok(has_any);
            }
            let mut has_changed = false;
            for element in elements {
                has_changed |= at_value(edit, element, budget)?;
            }
            Ok(has_changed)
        }
    }
}

fn at_member<'a>(
    edit: &'a Edit,
    name: &'a str,
    members: &mut Members<'a>,
    budget: &mut Budget,
) -> Result<bool, TooMuch> {
    match edit {
        Edit::Remove => {
            let before = members.len();
            members.retain(|(key, _)| key != name);
            Ok(members.len() != before)
        }
        Edit::Append(_) => {
            let mut has_changed = false;
            for (_, value) in members.iter_mut().filter(|(key, _)| key == name) {
                has_changed |= at_value(edit, value, budget)?;
            }
            Ok(has_changed)
        }
        Edit::Set(value) | Edit::Default(value) => {
            let there = members.iter().position(|(key, _)| key == name);
            let Some(first) = there else {
                budget.grow(name.len() + value.len() + 4)?;
                members.push((Cow::Borrowed(name), Node::Json(Cow::Borrowed(value))));
                return Ok(true);
            };
            let is_kept = |value: &Node<'_>| matches!(edit, Edit::Default(_)) && !value.is_null();
            if members.iter().any(|(key, value)| key == name && is_kept(value)) {
                return Ok(false);
            }
            // One that is there twice would leave open which the upstream reads.
            let mut index = 0;
            members.retain(|(key, _)| {
                index += 1;
                index - 1 == first || key != name
            });
            members.get_mut(first).map_or(Ok(false), |(_, member)| at_value(edit, member, budget))
        }
    }
}

fn at_value<'a>(edit: &'a Edit, node: &mut Node<'a>, budget: &mut Budget) -> Result<bool, TooMuch> {
    match edit {
        Edit::Default(_) if !node.is_null() => Ok(false),
        Edit::Set(value) | Edit::Default(value) => {
            budget.grow(value.len())?;
            *node = Node::Json(Cow::Borrowed(value));
            Ok(true)
        }
        Edit::Append(value) => {
            let Some(elements) = node.elements(budget)? else { return Ok(false) };
            budget.grow(value.len() + 1)?;
            elements.push(Node::Json(Cow::Borrowed(value)));
            Ok(true)
        }
        // What is removed is removed from what it is in.
        Edit::Remove => Ok(false),
    }
}
