//! Additions to the specification do not break existing code.

use super::source::{envelope_types, types};

/// Types that do not change, whatever the specification adds.
const WHOLE: &[(&str, &str)] = &[
    ("BadTraceParent", "an error without parts"),
    ("Complete", "a wrapper of any result"),
    ("Cursor", "a text"),
    ("Meta", "an open map"),
    ("OtherMembers", "its fields are private"),
    ("ProgressToken", "an id"),
    ("TraceContext", "its fields are private"),
    ("TraceParent", "its fields are private"),
];

/// The error of this crate that only this crate creates.
const MADE_HERE: &str = "BadExtensionId";

#[test]
fn every_wire_type_is_non_exhaustive() {
    let is_whole = |name: &str| WHOLE.iter().any(|(whole, _)| *whole == name);
    let closed: Vec<_> = types()
        .into_iter()
        .filter(|ours| ours.is_non_exhaustive == is_whole(&ours.name))
        .map(|ours| ours.name)
        .collect();
    assert!(
        closed.is_empty(),
        "a field or a word that the specification adds would break users of these types; mark \
         them `#[non_exhaustive]`, or say in `WHOLE` why not: {closed:?}"
    );
}

#[test]
fn every_non_exhaustive_type_can_be_made() {
    let unmade: Vec<_> = types()
        .into_iter()
        .filter(|ours| ours.is_non_exhaustive && !ours.can_be_made && ours.name != MADE_HERE)
        .map(|ours| ours.name)
        .collect();
    assert!(unmade.is_empty(), "no constructor: {unmade:?}");
}

/// Types of the envelope that are matched exhaustively: another variant would be another kind of
/// message.
const READ_WHOLE: &[&str] = &["Frame", "Message", "Held", "Id", "IdRef", "UnreadableId"];

/// Types of the envelope that only this crate creates, from messages.
const PARSED: &[&str] = &["Malformed", "Outline"];

#[test]
fn the_envelope_may_grow_too() {
    let all = envelope_types();
    for name in [
        "Request",
        "Notification",
        "Response",
        "RequestMeta",
        "Malformed",
    ] {
        let ours = all.iter().find(|ours| ours.name == name);
        let ours = ours.unwrap_or_else(|| panic!("there is no `{name}`"));
        assert!(
            ours.is_non_exhaustive,
            "`{name}` is not `#[non_exhaustive]`"
        );
        assert!(
            ours.can_be_made || PARSED.contains(&name),
            "no constructor: `{name}`"
        );
    }
    let has_public_fields = |ours: &&super::Ours| ours.has_public_parts;
    let closed: Vec<_> = all
        .iter()
        .filter(has_public_fields)
        .filter(|ours| !ours.is_non_exhaustive && !READ_WHOLE.contains(&&*ours.name))
        .map(|ours| ours.name.as_str())
        .collect();
    assert!(
        closed.is_empty(),
        "mark these `#[non_exhaustive]`: {closed:?}"
    );
}
