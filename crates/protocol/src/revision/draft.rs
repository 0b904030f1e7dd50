//! A revision that does not exist, for tests. It differs from 2026-07-28 in a rule and in a field, as a
//! real one would.
//!
//! Tests run with it (feature `draft-revision`) to check that a new revision takes one file and one
//! row, and that no code confuses "modern" with "the newest". Its headers need not repeat the body, so
//! code that asks the newest revision for this rule no longer checks the headers of 2026-07-28. It also
//! has one more key in `_meta`, which must not be sent to older peers.

use super::Revision;
#[cfg(feature = "draft-revision")]
use super::{rules::Rules, v2026_07_28};
use crate::{ContentBlock, Meta, Tool};

#[cfg(feature = "draft-revision")]
pub(super) const RULES: Rules = Rules {
    mirrored_headers: false,
    ..v2026_07_28::RULES
};

/// The key that the draft adds to `_meta` of results, content and tools.
pub(super) const ADDED: &str = "io.modelcontextprotocol/draft";

/// Whether the draft exists and is newer than this revision.
#[inline]
pub(super) fn applies(to: Revision) -> bool {
    cfg!(feature = "draft-revision") && to < Revision::LATEST
}

pub(super) fn meta(meta: &mut Meta) {
    meta.remove(&[ADDED]);
}

pub(super) fn tool(tool: &mut Tool) {
    member(&mut tool.meta);
}

pub(super) fn content(block: &mut ContentBlock) {
    match block {
        ContentBlock::Text(content) => member(&mut content.meta),
        ContentBlock::Image(content) => member(&mut content.meta),
        ContentBlock::Audio(content) => member(&mut content.meta),
        ContentBlock::ResourceLink(link) => member(&mut link.resource.meta),
        ContentBlock::Resource(content) => member(&mut content.meta),
        ContentBlock::Other(_) => {}
    }
}

/// Removes the key from a `_meta`, and removes the `_meta` if it is then empty.
fn member(own: &mut Option<Meta>) {
    if let Some(map) = own
        && map.0.contains_key(ADDED)
    {
        meta(map);
        if map.is_empty() {
            *own = None;
        }
    }
}

#[cfg(all(test, feature = "draft-revision"))]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{CallToolResult, GetPromptResult, revision::Lower};

    /// Returns the form of a value in a revision.
    fn seen<T: Lower + serde::de::DeserializeOwned + serde::Serialize>(
        value: &Value,
        to: Revision,
    ) -> Value {
        let mut value: T = serde_json::from_value(value.clone()).expect("a value");
        value.lower(to);
        serde_json::to_value(value).expect("plain JSON")
    }

    #[test]
    fn additions_of_the_draft_are_not_sent_to_older_peers() {
        let own = json!({ ADDED: 1 });
        let block = json!({ "type": "text", "text": "", "_meta": own });
        let result = json!({ "content": [block], "_meta": own });
        let message = json!({ "role": "user", "content": block });
        let prompt = json!({ "messages": [message], "_meta": own });
        let tool = json!({ "name": "t", "inputSchema": { "type": "object" }, "_meta": own });
        for &to in Revision::ALL {
            let all = [
                seen::<CallToolResult>(&result, to),
                seen::<GetPromptResult>(&prompt, to),
                seen::<Tool>(&tool, to),
            ];
            for json in all {
                let is_there = json.to_string().contains(ADDED);
                assert_eq!(is_there, to == Revision::Draft, "{to}: {json}");
            }
        }
    }
}
