//! Removes entries from lists that the caller may not use.

use std::sync::Arc;

use turnbuckle_protocol::{
    envelope::{self, Edit, Raw},
    method::ListKind,
};
use turnbuckle_server::Caller;

use super::{
    EntryKind, Policy,
    policy::Verdict,
    subject::{Directory, Moment, Subject},
};

/// Takes what a caller may not use out of a list. `None` if everything stays, or it is no list.
pub(super) fn filtered(
    policy: &Policy,
    caller: &Caller,
    directory: Option<&Arc<dyn Directory>>,
    method: &str,
    result: &[u8],
) -> Option<Vec<u8>> {
    let list = ListKind::of(method)?;
    let (member, key) = (list.member(), list.key());
    let kind = match list {
        ListKind::Tools => EntryKind::Tool,
        ListKind::Prompts => EntryKind::Prompt,
        _ => EntryKind::Resource,
    };
    let value: &serde_json::value::RawValue = serde_json::from_slice(result).ok()?;
    let result = Raw::from(value);
    let entries = result.member(member)?.elements();
    let kept: Vec<&str> = entries
        .iter()
        .filter(|entry| {
            let name = entry.member(key).and_then(envelope::text_of);
            name.is_none_or(|name| {
                let subject = Subject::entry(caller, kind, &name, directory);
                !matches!(policy.judge(&subject, Moment::List), Verdict::Deny(_))
            })
        })
        .map(|entry| entry.get())
        .collect();
    if kept.len() == entries.len() {
        return None;
    }
    let list = format!("[{}]", kept.join(","));
    let edited = Edit::new(result).set(&[member], list).finish().ok()?;
    Some(edited.raw().get().as_bytes().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::PolicyRule;

    #[test]
    fn entries_that_stay_are_not_touched() {
        let policy = Policy::new().rule(PolicyRule::for_all().deny(["b"]));
        let list =
            br#"{ "tools":[ {"name":"a","x":1.0}, {"name":"b"},{"name":"c"} ],"nextCursor":"n" }"#;
        let kept = filtered(&policy, &Caller::local(), None, "tools/list", list).expect("one goes");
        assert_eq!(
            String::from_utf8(kept).expect("UTF-8"),
            r#"{ "tools":[{"name":"a","x":1.0},{"name":"c"}],"nextCursor":"n" }"#
        );
        assert_eq!(
            filtered(
                &policy,
                &Caller::local(),
                None,
                "tools/list",
                br#"{"tools":[]}"#
            ),
            None
        );
        assert_eq!(
            filtered(&policy, &Caller::local(), None, "tools/call", list),
            None
        );
    }
}
