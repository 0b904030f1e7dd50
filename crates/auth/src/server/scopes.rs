//! The scopes of a token: those that were granted, and those that they imply.

/// Which scopes are implied by others.
#[derive(Clone, Debug, Default)]
pub(super) struct Hierarchy(Vec<(String, Vec<String>)>);

impl Hierarchy {
    pub(super) fn add(&mut self, scope: String, implied: Vec<String>) {
        self.0.push((scope, implied));
    }

    /// authorization: servers MUST account for a broader scope that implies narrower ones.
    pub(super) fn expand(&self, granted: &[String]) -> Vec<String> {
        let mut all = granted.to_vec();
        let mut next = 0;
        // Follow the implied scopes too. No scope is added twice, so the loop ends.
        while let Some(scope) = all.get(next).cloned() {
            let rules = self.0.iter().filter(|(broader, _)| *broader == scope);
            for implied in rules.flat_map(|(_, implied)| implied) {
                if !all.contains(implied) {
                    all.push(implied.clone());
                }
            }
            next += 1;
        }
        all
    }
}

/// Merges two lists, with each scope once.
pub(super) fn union(first: &[String], second: &[String]) -> Vec<String> {
    let mut all = first.to_vec();
    for scope in second {
        if !all.contains(scope) {
            all.push(scope.clone());
        }
    }
    all
}

/// Whether this is a valid scope token (RFC 6749, 3.3).
pub(super) fn is_token(scope: &str) -> bool {
    let is_allowed = |byte: u8| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e);
    !scope.is_empty() && scope.bytes().all(is_allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn a_broader_scope_brings_the_narrower_ones_however_far() {
        let mut hierarchy = Hierarchy::default();
        hierarchy.add("admin".into(), list("write audit"));
        hierarchy.add("write".into(), list("read"));
        // A cycle does not cause an endless loop.
        hierarchy.add("read".into(), list("write"));
        assert_eq!(
            hierarchy.expand(&list("admin")),
            list("admin write audit read")
        );
        assert_eq!(hierarchy.expand(&list("other")), list("other"));
        assert_eq!(hierarchy.expand(&[]), Vec::<String>::new());
    }

    #[test]
    fn scopes_are_words_without_quotes() {
        assert!(is_token("files:read") && is_token("https://graph.example/Mail.Read"));
        for bad in ["", "a b", "a\"b", "a\\b", "ä"] {
            assert!(!is_token(bad), "{bad}");
        }
    }
}
