//! Removes entries that the caller may not use from lists.

use std::sync::Arc;

use turnbuckle_protocol::{
    envelope::{self, Edit, Raw},
    method::ListKind,
};
use turnbuckle_server::Caller;

use super::{EntryKind, Policy, subject::Directory};

/// Removes the entries that a caller may not use from a list. Returns `None` if the text is not a list.
///
/// The list is written anew even if no entry is removed. Otherwise the whitespace that a server
/// writes between entries would reveal whether something was left out.
pub(super) fn filtered(
    policy: &Policy,
    caller: &Caller,
    directory: Option<&Arc<dyn Directory>>,
    list: ListKind,
    result: &[u8],
) -> Option<Vec<u8>> {
    let (member, key, kind) = (list.member(), list.key(), EntryKind::of(list));
    let value: &serde_json::value::RawValue = serde_json::from_slice(result).ok()?;
    let result = Raw::from(value);
    let entries = result.member(member)?.elements();
    let kept: Vec<&str> = entries
        .iter()
        .filter(|entry| {
            let name = entry.member(key).and_then(envelope::text_of);
            name.is_none_or(|name| policy.shows(caller, directory, kind, &name))
        })
        .map(|entry| entry.get())
        .collect();
    let list = format!("[{}]", kept.join(","));
    let mut edit = Edit::new(result).set(&[member], list);
    if result.member("cacheScope").is_some() {
        // Other callers may see other entries, so the list must not be shared.
        edit = edit.set(&["cacheScope"], r#""private""#);
    }
    Some(edit.finish().ok()?.raw().get().as_bytes().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::PolicyRule;

    fn kept(method: &str, list: &str) -> Option<String> {
        let policy = Policy::new().rule(PolicyRule::for_all().deny(["b"]));
        let kind = ListKind::of(method)?;
        let kept = filtered(&policy, &Caller::local(), None, kind, list.as_bytes())?;
        Some(String::from_utf8(kept).expect("UTF-8"))
    }

    #[test]
    fn entries_that_stay_are_not_touched() {
        let list =
            r#"{ "tools":[ {"name":"a","x":1.0}, {"name":"b"},{"name":"c"} ],"nextCursor":"n" }"#;
        assert_eq!(
            kept("tools/list", list).as_deref(),
            Some(r#"{ "tools":[{"name":"a","x":1.0},{"name":"c"}],"nextCursor":"n" }"#)
        );
        assert_eq!(kept("tools/call", list), None);
    }

    #[test]
    fn a_list_does_not_tell_whether_something_was_left_out() {
        let with =
            r#"{"tools": [{"name":"a"}, {"name":"b"}, {"name":"c"}], "cacheScope": "public"}"#;
        let without = r#"{"tools": [{"name":"a"}, {"name":"c"}], "cacheScope": "public"}"#;
        assert_eq!(kept("tools/list", with), kept("tools/list", without));
        let text = kept("tools/list", with).expect("a list");
        assert!(text.ends_with(r#""cacheScope": "private"}"#), "{text}");
    }
}
