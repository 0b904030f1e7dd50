//! What the specification adds breaks nobody.

use super::source::types;

/// Types that stay as they are, whatever the specification adds.
const WHOLE: &[(&str, &str)] = &[
    ("BadTraceParent", "an error without parts"),
    ("Complete", "a wrapper of any result"),
    ("Cursor", "a text"),
    ("Meta", "an open map"),
    ("ProgressToken", "an id"),
    ("TraceContext", "its fields are private"),
    ("TraceParent", "its fields are private"),
];

/// The error of this crate that only this crate makes.
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
