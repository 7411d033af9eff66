//! Where Claude's prompt cache may end (<https://platform.claude.com/docs/en/build-with-claude/prompt-caching>).

use std::borrow::Cow;

use super::path;
use super::tree::{Budget, Node, TooMuch};
use crate::store::options::{CacheBreakpoint, CachePlace, CacheTtl};

/// Most breakpoints of a request; one more and it is refused.
const MAX_BREAKPOINTS: usize = 4;

/// The order of the prompt: tools, system prompt, messages; what stands in the same place is counted from its beginning.
type Place = (u8, usize, usize);

const TOOLS: u8 = 0;
const SYSTEM: u8 = 1;
const MESSAGES: u8 = 2;
/// The members that the places are in.
const SECTIONS: [&str; 3] = ["tools", "system", "messages"];
/// A breakpoint that the vendor itself moves to the end.
const END: Place = (3, 0, 0);

/// Puts a breakpoint into Claude's request, unless one is there, there is nothing that could bear it, or there are four already; tells
/// whether it has.
pub(super) fn apply(rule: &CacheBreakpoint, root: &mut Node<'_>, budget: &mut Budget) -> Result<bool, TooMuch> {
    let Some(place) = wanted_place(rule.at, root, budget)? else { return Ok(false) };
    let there = breakpoints(root, budget)?;
    if there.len() >= MAX_BREAKPOINTS || there.iter().any(|(other, _)| *other == place) {
        return Ok(false);
    }
    // What is kept for longer has to come first.
    let ttl = match rule.ttl {
        CacheTtl::Hour if there.iter().any(|(other, ttl)| *other < place && *ttl == CacheTtl::Minutes5) => {
            CacheTtl::Minutes5
        }
        CacheTtl::Minutes5 if there.iter().any(|(other, ttl)| *other > place && *ttl == CacheTtl::Hour) => {
            CacheTtl::Hour
        }
        ttl => ttl,
    };
    let Some(target) = at(place, root, budget)? else { return Ok(false) };
    let Some(members) = target.members(budget)? else { return Ok(false) };
    let mark = match ttl {
        CacheTtl::Minutes5 => r#"{"type":"ephemeral"}"#,
        CacheTtl::Hour => r#"{"type":"ephemeral","ttl":"1h"}"#,
    };
    budget.grow(mark.len() + 20)?;
    members.retain(|(key, _)| key != "cache_control");
    members.push((Cow::Borrowed("cache_control"), Node::Json(Cow::Borrowed(mark))));
    Ok(true)
}

/// What bears the breakpoint. A text becomes a list of one part, which can.
fn wanted_place(wanted: CachePlace, root: &mut Node<'_>, budget: &mut Budget) -> Result<Option<Place>, TooMuch> {
    match wanted {
        CachePlace::Tools => {
            let Some(tools) = root.member("tools", budget)? else { return Ok(None) };
            let Some(tools) = tools.elements(budget)? else { return Ok(None) };
            for (index, tool) in tools.iter_mut().enumerate().rev() {
                // A tool that is only loaded when it is looked for is not part of the prompt.
                let is_deferred = tool.member("defer_loading", budget)?.is_some_and(|flag| flag.is_true());
                if !is_deferred && tool.members(budget)?.is_some() {
                    return Ok(Some((TOOLS, index, 0)));
                }
            }
            Ok(None)
        }
        CachePlace::System => {
            let Some(system) = root.member("system", budget)? else { return Ok(None) };
            Ok(last_part(system, budget)?.map(|part| (SYSTEM, 0, part)))
        }
        CachePlace::LastUser | CachePlace::Message(_) => {
            let Some(messages) = root.member("messages", budget)? else { return Ok(None) };
            let Some(messages) = messages.elements(budget)? else { return Ok(None) };
            let mut index = None;
            if let CachePlace::Message(number) = wanted {
                index = path::place(number.into(), messages.len());
            } else {
                for (place, message) in messages.iter_mut().enumerate().rev() {
                    if message.text_of("role", budget)?.as_deref() == Some("user") {
                        index = Some(place);
                        break;
                    }
                }
            }
            let Some((index, message)) = index.and_then(|index| Some((index, messages.get_mut(index)?))) else {
                return Ok(None);
            };
            let Some(content) = message.member("content", budget)? else { return Ok(None) };
            Ok(last_part(content, budget)?.map(|part| (MESSAGES, index, part)))
        }
    }
}

/// The last part that can bear a breakpoint: neither thinking nor an empty text.
fn last_part(content: &mut Node<'_>, budget: &mut Budget) -> Result<Option<usize>, TooMuch> {
    if let Some(text) = content.text() {
        if text.is_empty() {
            return Ok(None);
        }
        let text = Node::string(&text);
        budget.grow(64)?;
        *content = Node::Array(vec![Node::object([("type", Node::string("text")), ("text", text)])]);
        return Ok(Some(0));
    }
    let Some(parts) = content.elements(budget)? else { return Ok(None) };
    for (index, part) in parts.iter_mut().enumerate().rev() {
        let kind = part.text_of("type", budget)?;
        let is_able = match kind.as_deref() {
            Some("thinking" | "redacted_thinking") | None => false,
            Some("text") => part.text_of("text", budget)?.is_some_and(|text| !text.is_empty()),
            Some(_) => true,
        };
        if is_able {
            return Ok(Some(index));
        }
    }
    Ok(None)
}

/// What is at a place.
fn at<'a, 'b>(place: Place, root: &'b mut Node<'a>, budget: &mut Budget) -> Result<Option<&'b mut Node<'a>>, TooMuch> {
    let (section, index, part) = place;
    let Some(member) = SECTIONS.get(usize::from(section)) else { return Ok(None) };
    let Some(list) = root.member(member, budget)? else { return Ok(None) };
    if section == SYSTEM {
        return Ok(list.elements(budget)?.and_then(|parts| parts.get_mut(part)));
    }
    let Some(element) = list.elements(budget)?.and_then(|list| list.get_mut(index)) else { return Ok(None) };
    if section == TOOLS {
        return Ok(Some(element));
    }
    let Some(content) = element.member("content", budget)? else { return Ok(None) };
    Ok(content.elements(budget)?.and_then(|parts| parts.get_mut(part)))
}

/// All breakpoints that are there.
fn breakpoints(root: &mut Node<'_>, budget: &mut Budget) -> Result<Vec<(Place, CacheTtl)>, TooMuch> {
    let mut found = Vec::new();
    note(root, END, &mut found, budget)?;
    if let Some(tools) = root.member("tools", budget)? {
        for (index, tool) in tools.elements(budget)?.into_iter().flatten().enumerate() {
            note(tool, (TOOLS, index, 0), &mut found, budget)?;
        }
    }
    if let Some(system) = root.member("system", budget)? {
        for (part, block) in system.elements(budget)?.into_iter().flatten().enumerate() {
            note(block, (SYSTEM, 0, part), &mut found, budget)?;
        }
    }
    if let Some(messages) = root.member("messages", budget)? {
        for (index, message) in messages.elements(budget)?.into_iter().flatten().enumerate() {
            let Some(content) = message.member("content", budget)? else { continue };
            for (part, block) in content.elements(budget)?.into_iter().flatten().enumerate() {
                note(block, (MESSAGES, index, part), &mut found, budget)?;
                // Results of tools have parts of their own.
                if let Some(inner) = block.member("content", budget)? {
                    for block in inner.elements(budget)?.into_iter().flatten() {
                        note(block, (MESSAGES, index, part), &mut found, budget)?;
                    }
                }
            }
        }
    }
    Ok(found)
}

fn note(
    node: &mut Node<'_>,
    place: Place,
    found: &mut Vec<(Place, CacheTtl)>,
    budget: &mut Budget,
) -> Result<(), TooMuch> {
    if let Some(mark) = node.member("cache_control", budget)?
        && !mark.is_null()
    {
        let is_long = mark.text_of("ttl", budget)?.as_deref() == Some("1h");
        found.push((place, if is_long { CacheTtl::Hour } else { CacheTtl::Minutes5 }));
    }
    Ok(())
}
