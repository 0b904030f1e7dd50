//! Patterns for names, with `*` for any text.

use super::EntryKind;

/// A pattern for names of one kind: `git__*`, `prompt:review`, `resource:file:///home/*`. A pattern
/// without a kind is for tools. `*` matches any text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    pub(super) kind: EntryKind,
    glob: String,
}

impl Pattern {
    pub(super) fn new(text: &str) -> Self {
        let (kind, glob) = [
            ("tool:", EntryKind::Tool),
            ("prompt:", EntryKind::Prompt),
            ("resource:", EntryKind::Resource),
        ]
        .into_iter()
        .find_map(|(prefix, kind)| Some((kind, text.strip_prefix(prefix)?)))
        .unwrap_or((EntryKind::Tool, text));
        Self {
            kind,
            glob: glob.to_owned(),
        }
    }

    /// The text of the pattern, without its kind.
    pub(super) fn glob(&self) -> &str {
        &self.glob
    }

    /// Whether a name of this kind matches.
    pub(super) fn fits(&self, kind: EntryKind, name: &str) -> bool {
        self.kind == kind && matches(&self.glob, name)
    }
}

/// Whether a text matches a glob. The time is at most proportional to the product of their lengths.
pub(super) fn matches(glob: &str, text: &str) -> bool {
    let mut parts = glob.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let Some(last) = parts.next_back() else {
        // The glob has no `*`.
        return rest.is_empty();
    };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_match_any_text() {
        for (glob, text, fits) in [
            ("git__*", "git__push", true),
            ("git__*", "git_push", false),
            ("*", "", true),
            ("*delete*", "files__delete_all", true),
            ("a*b*a", "aba", true),
            ("a*b*a", "ab", false),
            ("a*a", "a", false),
            ("exact", "exact", true),
            ("exact", "exactly", false),
        ] {
            assert_eq!(matches(glob, text), fits, "{glob} {text}");
        }
    }

    #[test]
    fn a_pattern_is_for_one_kind() {
        assert!(Pattern::new("x").fits(EntryKind::Tool, "x"));
        assert!(!Pattern::new("x").fits(EntryKind::Prompt, "x"));
        assert!(Pattern::new("resource:file:///a/*").fits(EntryKind::Resource, "file:///a/b"));
    }
}
