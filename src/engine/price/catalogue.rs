//! The vendors' models: their limits and list prices, with where and when each was seen.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use super::glob::Glob;
use super::schedule::Schedule;
use crate::store::options;

/// A model, or several that have all in common but the name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Who makes it.
    pub vendor: Box<str>,
    /// Its names, and patterns of names.
    pub models: Vec<Box<str>>,
    /// The most tokens of a prompt and its answer together.
    pub context_window: Option<u64>,
    /// The most tokens of an answer.
    pub max_output: Option<u64>,
    /// What may be in a prompt: `text`, `image`, `audio`, `video`, `pdf`.
    pub input: Vec<Box<str>>,
    /// What an answer can be: `text`, `audio`, `embedding`.
    pub output: Vec<Box<str>>,
    /// The list prices.
    pub schedule: Schedule,
    /// The page that says so.
    pub source: Box<str>,
    /// The list that the figures were read from, where it was not the page itself.
    pub via: Option<Box<str>>,
    /// The day on which they were read.
    pub date: Box<str>,
    /// What else one has to know.
    pub note: Option<Box<str>>,
}

/// An entry as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    vendor: Box<str>,
    models: Vec<Box<str>>,
    #[serde(default)]
    context_window: Option<u64>,
    #[serde(default)]
    max_output: Option<u64>,
    input: Vec<Box<str>>,
    output: Vec<Box<str>>,
    rates: options::Rates,
    #[serde(default)]
    volume: Vec<options::Tier>,
    #[serde(default)]
    long_context: Vec<options::Tier>,
    #[serde(default)]
    service_tiers: BTreeMap<String, options::ServiceTier>,
    source: Box<str>,
    #[serde(default)]
    via: Option<Box<str>>,
    date: Box<str>,
    #[serde(default)]
    note: Option<Box<str>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    models: Vec<Written>,
}

/// A catalogue that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogueError(Box<str>);

impl std::fmt::Display for CatalogueError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "the catalogue of models cannot be read: {}", self.0)
    }
}

impl std::error::Error for CatalogueError {}

/// The vendors' models by their names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Catalogue {
    entries: Vec<Entry>,
    /// Names without stars, in small letters, with the places of their entries.
    names: BTreeMap<Box<str>, usize>,
    /// The other names, those that say most first.
    patterns: Vec<(Glob, usize)>,
}

/// How a name was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameForm {
    /// As it is.
    Whole,
    /// Without what stands before a slash, as in `anthropic/claude-opus-5-5`.
    WithoutPrefix,
    /// Without the date at its end.
    WithoutDate,
    /// Without both.
    Bare,
}

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found<'a> {
    /// The model.
    pub entry: &'a Entry,
    /// Its name, or the pattern, as the catalogue has it.
    pub name: &'a str,
    /// How the name that was looked for led there.
    pub form: NameForm,
}

static EMBEDDED: LazyLock<Catalogue> = LazyLock::new(|| {
    Catalogue::parse(include_str!("catalogue.json")).unwrap_or_else(|error| {
        tracing::error!(%error, "models without a price rule will be unpriced");
        Catalogue::default()
    })
});

impl Catalogue {
    /// The catalogue that this version came with, read when it is first asked for.
    pub fn embedded() -> &'static Self {
        &EMBEDDED
    }

    /// Reads one as text. Of two entries with the same name the later holds.
    pub fn parse(json: &str) -> Result<Self, CatalogueError> {
        let file: File = serde_json::from_str(json).map_err(|error| CatalogueError(error.to_string().into()))?;
        Ok(Self::new(file.models.into_iter().map(Entry::from).collect()))
    }

    /// A catalogue of these entries. Of two with the same name the later holds, so newer ones go to the end.
    pub fn new(entries: Vec<Entry>) -> Self {
        let mut names = BTreeMap::new();
        let mut patterns = Vec::new();
        for (place, entry) in entries.iter().enumerate() {
            for model in &entry.models {
                if model.contains('*') {
                    patterns.push((Glob::new(model), place));
                } else {
                    names.insert(model.to_ascii_lowercase().into_boxed_str(), place);
                }
            }
        }
        patterns.sort_by(|(one, one_place), (other, other_place)| {
            other.specificity().cmp(&one.specificity()).then(other_place.cmp(one_place))
        });
        Self { entries, names, patterns }
    }

    /// All entries.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The model of a name. A name that the catalogue has as it is goes before one that it has without the prefix or the date; of
    /// patterns the one holds that says most.
    pub fn find(&self, model: &str) -> Option<Found<'_>> {
        let lower = model.to_ascii_lowercase();
        let mut name = lower.as_str();
        let mut is_prefixed = false;
        loop {
            let form = if is_prefixed { NameForm::WithoutPrefix } else { NameForm::Whole };
            let bare = if is_prefixed { NameForm::Bare } else { NameForm::WithoutDate };
            let found = self
                .named(name, form)
                .or_else(|| self.named(without_date(name).filter(|name| !name.is_empty())?, bare));
            if found.is_some() {
                return found;
            }
            (_, name) = name.split_once('/')?;
            is_prefixed = true;
        }
    }

    fn named(&self, name: &str, form: NameForm) -> Option<Found<'_>> {
        let exact = self.names.get_key_value(name).map(|(name, place)| (&**name, *place));
        let (name, place) = exact.or_else(|| {
            let (pattern, place) = self.patterns.iter().find(|(pattern, _)| pattern.matches(name))?;
            Some((pattern.as_str(), *place))
        })?;
        Some(Found { entry: self.entries.get(place)?, name, form })
    }
}

/// A name without the day at its end, in the forms that vendors write it: `-2025-04-14`, `-20250929`, `@20250929`.
fn without_date(name: &str) -> Option<&str> {
    let ends_in = |shape: &str| {
        let (rest, end) = name.split_at_checked(name.len().checked_sub(shape.len())?)?;
        let fits = end.bytes().zip(shape.bytes()).all(|(byte, shape)| match shape {
            b'0' => byte.is_ascii_digit(),
            shape => byte == shape,
        });
        fits.then_some(rest)
    };
    // A zero is any digit, all else is itself.
    ["-2000-00-00", "-20000000", "@20000000"].into_iter().find_map(ends_in)
}

impl From<Written> for Entry {
    fn from(written: Written) -> Self {
        Self {
            schedule: Schedule::new(&written.rates, &written.volume, &written.long_context, &written.service_tiers),
            vendor: written.vendor,
            models: written.models,
            context_window: written.context_window,
            max_output: written.max_output,
            input: written.input,
            output: written.output,
            source: written.source,
            via: written.via,
            date: written.date,
            note: written.note,
        }
    }
}

#[cfg(test)]
mod tests;
