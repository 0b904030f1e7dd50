//! The current definitions of a server, as far as the lock file has them.

use std::collections::BTreeMap;

use serde_json::Value;
use turnbuckle_host::shared::{List, Lists};

/// What a server offers now.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Offered {
    pub(super) instructions: Option<String>,
    pub(super) tools: BTreeMap<String, Value>,
    pub(super) prompts: BTreeMap<String, Value>,
    /// Whether everything could be read: what is missing is gone.
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

/// The entries as their server wrote them.
fn by_name<T>(list: &List<T>, name: impl Fn(&T) -> &String) -> BTreeMap<String, Value> {
    let read = |text: &str| serde_json::from_str(text).ok();
    list.entries
        .iter()
        .filter_map(|entry| Some((name(&entry.value).clone(), read(entry.text())?)))
        .collect()
}
