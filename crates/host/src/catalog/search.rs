//! Finds resources by the text that a user types.

use std::{cmp::Ordering, sync::Arc};

use turnbuckle_protocol::Resource;

use super::{CatalogResource, HostCatalog};

/// How well a resource matches the query, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    /// The name or the title equals the query.
    Name,
    /// The name or the title begins with the query.
    Start,
    /// The name, the title or the URI contains the query.
    Inside,
    /// The description contains the query.
    Description,
}

impl HostCatalog {
    /// The resources whose name, title, URI or description contains every word of the query, best
    /// matches first: by the field that contains the words, then by priority, then by name. An
    /// empty query finds all resources.
    pub fn search_resources(&self, query: &str) -> Vec<Arc<CatalogResource>> {
        let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
        let mut found: Vec<(Fit, &Arc<CatalogResource>)> = self
            .resources()
            .iter()
            .filter_map(|entry| Some((fit(entry.resource(), &words)?, entry)))
            .collect();
        found.sort_by(|(fit, one), (other_fit, other)| {
            let by_priority = other
                .priority()
                .partial_cmp(&one.priority())
                .unwrap_or(Ordering::Equal);
            fit.cmp(other_fit)
                .then(by_priority)
                .then_with(|| one.resource().name.cmp(&other.resource().name))
        });
        found.into_iter().map(|(_, entry)| entry.clone()).collect()
    }
}

/// How well the least matching word matches; `None` if one of the words does not match.
fn fit(resource: &Resource, words: &[String]) -> Option<Fit> {
    let lower = |text: Option<&str>| text.unwrap_or_default().to_lowercase();
    let name = resource.name.to_lowercase();
    let title = lower(resource.title.as_deref());
    let uri = resource.uri.to_lowercase();
    let description = lower(resource.description.as_deref());
    let one = |word: &String| {
        let names = [&name, &title];
        if names.contains(&word) {
            Some(Fit::Name)
        } else if names.iter().any(|name| name.starts_with(word)) {
            Some(Fit::Start)
        } else if names.iter().any(|name| name.contains(word)) || uri.contains(word) {
            Some(Fit::Inside)
        } else if description.contains(word) {
            Some(Fit::Description)
        } else {
            None
        }
    };
    words
        .iter()
        .map(one)
        .try_fold(Fit::Name, |worst, fit| fit.map(|fit| worst.max(fit)))
}
