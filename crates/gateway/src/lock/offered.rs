//! The current definitions of a server, in the form that the lock file stores.

use std::collections::BTreeMap;

use serde_json::Value;
use turnbuckle_host::shared::{List, Lists};

/// The definitions that a server currently offers.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Offered {
    pub(super) instructions: Option<String>,
    pub(super) tools: BTreeMap<String, Value>,
    pub(super) prompts: BTreeMap<String, Value>,
    /// Whether all lists could be read. Only then does a missing entry mean that it was removed.
    pub(super) is_whole: bool,
}

impl Offered {
    pub(crate) fn new(lists: &Lists, instructions: Option<&str>) -> Self {
        Self {
            instructions: instructions.map(str::to_owned),
            tools: by_name(&lists.tools, |tool| &tool.name),
            prompts: by_name(&lists.prompts, |prompt| &prompt.name),
            is_whole: lists.failures.is_empty(),
        }
    }
}

/// The entries as their server wrote them, by name.
fn by_name<T>(list: &List<T>, name: impl Fn(&T) -> &String) -> BTreeMap<String, Value> {
    let read = |text: &str| serde_json::from_str(text).ok();
    list.entries
        .iter()
        .filter_map(|entry| Some((name(&entry.value).clone(), read(entry.text())?)))
        .collect()
}
