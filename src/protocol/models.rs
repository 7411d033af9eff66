//! The models that a client may call, before a dialect gives them its shape.

/// A model as clients name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelEntry {
    /// The name to put into `model`.
    pub id: String,
    /// When it was made available here, in seconds since the epoch.
    pub created: i64,
    /// The provider, or the gateway for a route.
    pub owner: String,
}

/// A page of a list that is sorted by id.
#[derive(Debug, PartialEq, Eq)]
pub struct Page<'a> {
    /// The models of this page.
    pub models: &'a [ModelEntry],
    /// Whether there are more in the direction of paging.
    pub has_more: bool,
}

impl<'a> Page<'a> {
    /// At most `limit` models that follow the id `after`.
    pub fn after(models: &'a [ModelEntry], after: Option<&str>, limit: usize) -> Self {
        let start = after.map_or(0, |after| models.partition_point(|model| model.id.as_str() <= after));
        let rest = models.get(start..).unwrap_or_default();
        Self { models: rest.get(..limit).unwrap_or(rest), has_more: rest.len() > limit }
    }

    /// The last `limit` models that precede the id `before`.
    pub fn before(models: &'a [ModelEntry], before: &str, limit: usize) -> Self {
        let end = models.partition_point(|model| model.id.as_str() < before);
        let start = end.saturating_sub(limit);
        Self { models: models.get(start..end).unwrap_or_default(), has_more: start > 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn models(ids: &str) -> Vec<ModelEntry> {
        let entry = |id: char| ModelEntry { id: id.to_string(), created: 0, owner: String::new() };
        ids.chars().map(entry).collect()
    }

    #[test]
    fn pages_in_both_directions() {
        let all = models("abcde");
        let ids =
            |page: Page<'_>| (page.models.iter().map(|model| model.id.as_str()).collect::<String>(), page.has_more);
        assert_eq!(ids(Page::after(&all, None, 2)), ("ab".into(), true));
        assert_eq!(ids(Page::after(&all, Some("b"), 3)), ("cde".into(), false));
        assert_eq!(ids(Page::after(&all, Some("z"), 3)), ("".into(), false));
        assert_eq!(ids(Page::before(&all, "d", 2)), ("bc".into(), true));
        assert_eq!(ids(Page::before(&all, "b", 2)), ("a".into(), false));
    }
}
