use std::collections::BTreeSet;

use super::super::dimension::Dimension;
use super::*;

fn embedded() -> Catalogue {
    Catalogue::parse(include_str!("../catalogue.json")).unwrap()
}

#[test]
fn every_entry_is_whole() {
    let catalogue = embedded();
    assert!(catalogue.entries().len() > 100);
    assert_eq!(&catalogue, Catalogue::embedded());
    for entry in catalogue.entries() {
        let name = &entry.models[0];
        assert!(entry.source.starts_with("https://"), "{name} has no source");
        let date: Vec<usize> = entry.date.split('-').map(|part| part.parse().unwrap()).collect();
        assert!(matches!(date[..], [2025..=2100, 1..=12, 1..=31]), "{name}: {}", entry.date);
        assert!(!entry.vendor.is_empty() && entry.models.iter().all(|model| !model.is_empty()), "{name}");
        assert!(entry.max_output.is_none_or(|most| entry.context_window.is_some_and(|window| most < window)), "{name}");
        assert!(entry.input.iter().all(|kind| ["text", "image", "audio", "video", "pdf"].contains(&&**kind)), "{name}");
        assert!(entry.output.iter().all(|kind| ["text", "audio", "embedding"].contains(&&**kind)), "{name}");
        let rates = entry.schedule.rates();
        let own = |dimension| rates.own(dimension).is_some();
        let embeds = entry.output.iter().any(|kind| &**kind == "embedding");
        assert_eq!(own(Dimension::Embedding), embeds, "{name}");
        assert_eq!(own(Dimension::Input) && own(Dimension::Output), !embeds, "{name}");
    }
}

/// Reading from a cache is a discount everywhere, writing to one for longer never is.
#[test]
fn no_price_is_absurd() {
    for entry in embedded().entries() {
        let (rates, name) = (entry.schedule.rates(), &entry.models[0]);
        let rate = |dimension| rates.of(dimension);
        assert!(rate(Dimension::CacheRead) <= rate(Dimension::Input), "{name}");
        assert!(rate(Dimension::CacheWriteShort) <= rate(Dimension::CacheWriteLong), "{name}");
        assert!(rate(Dimension::Input) <= rate(Dimension::Output).max(rate(Dimension::Embedding)), "{name}");
        for dimension in Dimension::ALL {
            // Nothing that is listed costs more than 1000 dollars for a million.
            assert!(rate(dimension) <= 1_000_000_000_000, "{name}: {dimension:?}");
        }
    }
}

/// It is part of the Worker, which is weighed compressed.
#[test]
fn it_is_small() {
    use std::io::Write;

    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    packed.write_all(include_bytes!("../catalogue.json")).unwrap();
    let bytes = packed.finish().unwrap().len();
    assert!(bytes < 8 * 1024, "{bytes} bytes");
}

#[test]
fn no_name_is_there_twice() {
    let catalogue = embedded();
    let mut names = BTreeSet::new();
    for model in catalogue.entries().iter().flat_map(|entry| &entry.models) {
        assert!(names.insert(model.to_ascii_lowercase()), "{model} is there twice");
    }
}

#[test]
fn the_usual_names_are_found() {
    for (name, vendor, model, input, output) in [
        ("claude-opus-5-5", "anthropic", "claude-opus-5-5", "4", "20"),
        ("claude-opus-5.5", "anthropic", "claude-opus-5.5", "4", "20"),
        ("claude-sonnet-4-6", "anthropic", "claude-sonnet-4-6", "3", "15"),
        ("claude-opus-4-5-20251101", "anthropic", "claude-opus-4-5", "5", "25"),
        ("claude-opus-4-5@20251101", "anthropic", "claude-opus-4-5", "5", "25"),
        ("anthropic/claude-haiku-4-5-20251001", "anthropic", "claude-haiku-4-5", "1", "5"),
        ("openrouter/anthropic/claude-haiku-4.5", "anthropic", "claude-haiku-4.5", "1", "5"),
        ("gpt-6-sol", "openai", "gpt-6-sol", "2", "10"),
        ("gpt-6-luna", "openai", "gpt-6-luna", "0.1", "0.5"),
        ("gpt-6.1-sol", "openai", "gpt-6.1-sol", "2", "10"),
        ("openai/gpt-5-mini-2025-08-07", "openai", "gpt-5-mini", "0.25", "2"),
        ("gpt-5-2025-08-07", "openai", "gpt-5", "1.25", "10"),
        ("gpt-4o-mini-2024-07-18", "openai", "gpt-4o-mini", "0.15", "0.6"),
        ("models/gemini-3.8-flash", "google", "gemini-3.8-flash", "0.75", "3.75"),
        ("gemini-2.5-pro", "google", "gemini-2.5-pro", "1.25", "10"),
        ("deepseek-v4-pro", "deepseek", "deepseek-v4-pro", "1.32", "3.96"),
        ("grok-4.7", "xai", "grok-4.7", "2", "6"),
        ("mistral-medium-latest", "mistral", "mistral-medium-latest", "1.5", "7.5"),
        ("glm-4.7", "zhipu", "glm-4.7", "0.6", "2.2"),
        ("GLM-4.7", "zhipu", "glm-4.7", "0.6", "2.2"),
        ("kimi-k3", "moonshot", "kimi-k3", "3", "15"),
        ("minimax/MiniMax-M3", "minimax", "minimax-m3", "0.3", "1.2"),
        ("qwen3.8-max", "alibaba", "qwen3.8-max", "2", "6"),
    ] {
        let catalogue = embedded();
        let found = catalogue.find(name).unwrap_or_else(|| panic!("{name} is not found"));
        assert_eq!((&*found.entry.vendor, found.name), (vendor, model), "{name}");
        let price = |dimension| found.entry.schedule.rates().of(dimension);
        let nanos = |text: &str| text.parse::<options::Price>().unwrap().nanos();
        assert_eq!((price(Dimension::Input), price(Dimension::Output)), (nanos(input), nanos(output)), "{name}");
    }
}

#[test]
fn embeddings_are_found() {
    for (name, nanos) in [("text-embedding-3-small", 20_000_000), ("gemini-embedding-001", 150_000_000)] {
        let catalogue = embedded();
        assert_eq!(catalogue.find(name).unwrap().entry.schedule.rates().of(Dimension::Embedding), nanos, "{name}");
    }
}

/// What the vendors' pages say of a long prompt, of a way to be served, and of a cache.
#[test]
fn tiers_of_the_catalogue_are_applied() {
    use super::super::cost::{Extras, price};
    use crate::protocol::usage::Usage;

    let tokens = |input, cache_read, output| Usage { input, cache_read, output, ..Usage::default() };
    for (model, usage, service_tier, nanos) in [
        ("gpt-6-sol", tokens(272_000, 0, 1000), None, 272_000 * 2000 + 1000 * 10_000),
        ("gpt-6-sol", tokens(272_001, 0, 1000), None, 272_001 * 4000 + 1000 * 15_000),
        ("gpt-6-sol", tokens(272_001, 0, 1000), Some("flex"), 272_001 * 2000 + 1000 * 7500),
        ("gpt-6-sol", tokens(1000, 0, 1000), Some("priority"), 1000 * 4000 + 1000 * 20_000),
        ("gpt-6-sol", tokens(1000, 0, 1000), Some("fast"), 1000 * 4000 + 1000 * 20_000),
        ("gpt-6-sol", tokens(1000, 0, 1000), Some("default"), 1000 * 2000 + 1000 * 10_000),
        ("claude-opus-5-5", tokens(1000, 9000, 100), None, 1000 * 4000 + 9000 * 200 + 100 * 20_000),
        ("claude-opus-5-5", tokens(1000, 9000, 100), Some("fast"), 2 * (1000 * 4000 + 9000 * 200 + 100 * 20_000)),
        ("claude-haiku-5-5", tokens(100_000, 0, 100), Some("standard"), 100_000 * 100 + 100 * 500),
        ("claude-haiku-5-5", tokens(50_000, 50_001, 100), None, 50_000 * 500 + 50_001 * 50 + 100 * 2500),
        ("grok-4.7", tokens(199_999, 0, 0), None, 199_999 * 2000),
        ("grok-4.7", tokens(200_000, 0, 0), None, 200_000 * 4000),
        ("gemini-2.5-pro", tokens(200_000, 0, 0), Some("priority"), 200_000 * 2250),
        ("gemini-2.5-pro", tokens(0, 200_001, 10), Some("batch"), 200_001 * 250 + 10 * 7500),
    ] {
        let catalogue = embedded();
        let schedule = &catalogue.find(model).unwrap().entry.schedule;
        let extras = Extras { service_tier, ..Extras::default() };
        assert_eq!(price(&usage, &extras, schedule).total(), nanos, "{model} {usage:?} {service_tier:?}");
    }
}

#[test]
fn a_name_that_merely_begins_alike_is_not_taken_for_the_model() {
    let catalogue = embedded();
    for name in ["", "/", "gpt-5-turbo-x", "claude", "claude-opus-5-5-x", "gpt-4o-mini-2024", "-2024-07-18", "echo"] {
        assert_eq!(catalogue.find(name), None, "{name}");
    }
}

fn entry(models: &[&str], note: &str) -> Entry {
    Entry {
        vendor: "x".into(),
        models: models.iter().map(|model| (*model).into()).collect(),
        context_window: None,
        max_output: None,
        input: Vec::new(),
        output: Vec::new(),
        schedule: Schedule::default(),
        source: "".into(),
        via: None,
        date: "".into(),
        note: Some(note.into()),
    }
}

#[test]
fn the_name_that_says_most_holds_and_of_equals_the_later() {
    let catalogue = Catalogue::new(vec![
        entry(&["m-*"], "any"),
        entry(&["m-large-*"], "large"),
        entry(&["m-large-1", "both"], "exact"),
        entry(&["m-small-*", "both"], "old"),
        entry(&["m-small-*"], "new"),
    ]);
    for (name, note) in [
        ("m-1", "any"),
        ("m-large-2", "large"),
        ("m-large-1", "exact"),
        ("m-large-1-2025-01-01", "large"),
        ("host/m-large-1", "exact"),
        ("m-small-1", "new"),
        ("both", "old"),
        ("both-20250101", "old"),
        ("a/b/both", "old"),
    ] {
        assert_eq!(catalogue.find(name).unwrap().entry.note.as_deref(), Some(note), "{name}");
    }
}

#[test]
fn it_is_told_how_a_name_was_found() {
    let catalogue = Catalogue::new(vec![entry(&["m"], "")]);
    for (name, form) in [
        ("m", NameForm::Whole),
        ("h/m", NameForm::WithoutPrefix),
        ("m-20250101", NameForm::WithoutDate),
        ("m@20250101", NameForm::WithoutDate),
        ("m-2025-01-01", NameForm::WithoutDate),
        ("h/m-2025-01-01", NameForm::Bare),
    ] {
        assert_eq!(catalogue.find(name).unwrap().form, form, "{name}");
    }
    for name in ["m-1999-01-01", "m-2025-1-1", "m-2025010", "m/h", "ém-20250101é", "é20250101"] {
        assert_eq!(catalogue.find(name), None, "{name}");
    }
}

#[test]
fn a_catalogue_that_is_wrong_is_refused_with_the_reason() {
    for (json, part) in [
        ("", "cannot be read"),
        (r#"{"models":[{"vendor":"x"}]}"#, "missing field"),
        (
            r#"{"models":[{"vendor":"x","models":["m"],"input":[],"output":[],"rates":{"input":"1.0000000001"},
               "source":"s","date":"d"}]}"#,
            "more than 9 digits",
        ),
        (r#"{"models":[],"more":1}"#, "unknown field"),
    ] {
        let message = Catalogue::parse(json).unwrap_err().to_string();
        assert!(message.contains(part), "{json}: {message}");
    }
}
