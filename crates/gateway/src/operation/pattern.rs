//! Patterns for names, with `*` for any text.

use super::EntryKind;

/// A pattern for names of one kind: `git__*`, `prompt:review`, `resource:file:///home/*`. A pattern
/// without a kind is for tools. `*` matches any text.
///
/// If another word is before the first `:`, it may be a misspelt kind, or part of a tool's name.
/// The pattern then allows only the tool with this name, and restricts entries of every kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    kind: EntryKind,
    glob: String,
    /// The text after an unknown kind.
    misread: Option<String>,
}

impl EntryKind {
    /// Reads the word for a kind: `tool`, `prompt` or `resource`. Returns `None` for other words.
    ///
    /// ```
    /// use turnbuckle_gateway::operation::EntryKind;
    ///
    /// assert_eq!(EntryKind::parse("prompt"), Some(EntryKind::Prompt));
    /// assert_eq!(EntryKind::parse("prompts"), None);
    /// ```
    pub fn parse(word: &str) -> Option<Self> {
        let kinds = [Self::Tool, Self::Prompt, Self::Resource];
        kinds.into_iter().find(|kind| kind.as_str() == word)
    }
}

impl Pattern {
    pub(super) fn new(text: &str) -> Self {
        let named = text.split_once(':');
        let named = named.map(|(word, rest)| (EntryKind::parse(word), rest));
        let (kind, glob, misread) = match named {
            Some((Some(kind), rest)) => (kind, rest, None),
            Some((None, rest)) => (EntryKind::Tool, text, Some(rest.to_owned())),
            None => (EntryKind::Tool, text, None),
        };
        Self {
            kind,
            glob: glob.to_owned(),
            misread,
        }
    }

    /// The text of the pattern, without its kind.
    pub(super) fn glob(&self) -> &str {
        &self.glob
    }

    /// Whether the pattern may be for entries of this kind.
    pub(super) fn concerns(&self, kind: EntryKind) -> bool {
        self.kind == kind || self.misread.is_some()
    }

    /// Whether a name of this kind matches.
    pub(super) fn fits(&self, kind: EntryKind, name: &str) -> bool {
        self.kind == kind && matches(&self.glob, name)
    }

    /// Whether a name of this kind matches, whatever an unknown kind means.
    pub(super) fn may_fit(&self, kind: EntryKind, name: &str) -> bool {
        let misread = self.misread.as_ref();
        self.fits(kind, name) || misread.is_some_and(|glob| matches(glob, name))
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

    /// Otherwise a misspelt kind would make a rule that denies nothing.
    #[test]
    fn a_pattern_of_an_unknown_kind_allows_little_and_restricts_every_kind() {
        for (text, name) in [
            ("resources:file:///etc/*", "file:///etc/passwd"),
            ("Prompt:review", "review"),
            ("tols:secret*", "secret_delete"),
        ] {
            let pattern = Pattern::new(text);
            for kind in [EntryKind::Tool, EntryKind::Prompt, EntryKind::Resource] {
                assert!(pattern.concerns(kind), "{text}");
                assert!(pattern.may_fit(kind, name), "{text}");
                assert!(!pattern.fits(kind, name), "{text}");
                assert!(!pattern.may_fit(kind, "other"), "{text}");
            }
        }
        let named = Pattern::new("tool:a:b");
        assert!(named.fits(EntryKind::Tool, "a:b"));
        assert!(!named.concerns(EntryKind::Prompt) && !named.may_fit(EntryKind::Tool, "b"));
        assert!(Pattern::new("a:b").fits(EntryKind::Tool, "a:b"));
    }
}
