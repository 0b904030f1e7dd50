//! Filters the tools of a server by name.

/// Determines which tools of a server may be used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ToolFilter {
    included: Option<Vec<String>>,
    excluded: Vec<String>,
}

impl ToolFilter {
    pub(crate) fn include(&mut self, names: impl IntoIterator<Item = String>) {
        self.included.get_or_insert_default().extend(names);
    }

    pub(crate) fn exclude(&mut self, names: impl IntoIterator<Item = String>) {
        self.excluded.extend(names);
    }

    pub(crate) fn admits(&self, name: &str) -> bool {
        let is_included = self
            .included
            .as_ref()
            .is_none_or(|included| included.iter().any(|pattern| matches(pattern, name)));
        is_included && !self.excluded.iter().any(|pattern| matches(pattern, name))
    }
}

/// Whether a text matches a pattern in which `*` matches any text. In the worst case this takes
/// time proportional to the product of both lengths.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut at, mut in_pattern) = (0, 0);
    // The position of the last star in the pattern, and how much of the text it has matched.
    let mut star: Option<(usize, usize)> = None;
    while at < text.len() {
        match pattern.get(in_pattern) {
            Some(b'*') => {
                star = Some((in_pattern, at));
                in_pattern += 1;
            }
            Some(byte) if *byte == text[at] => {
                at += 1;
                in_pattern += 1;
            }
            _ => match star {
                Some((place, taken)) => {
                    star = Some((place, taken + 1));
                    at = taken + 1;
                    in_pattern = place + 1;
                }
                None => return false,
            },
        }
    }
    pattern[in_pattern..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_matches_any_text() {
        for (pattern, text, fits) in [
            ("*", "", true),
            ("*", "anything", true),
            ("git_*", "git_log", true),
            ("git_*", "hg_log", false),
            ("*_log", "git_log", true),
            ("g*t*g", "git_log", true),
            ("g*t*x", "git_log", false),
            ("git_log", "git_log", true),
            ("git_log", "git_logs", false),
            ("", "", true),
            ("", "a", false),
        ] {
            assert_eq!(matches(pattern, text), fits, "{pattern} {text}");
        }
    }

    #[test]
    fn excluding_is_stronger_than_including() {
        let mut filter = ToolFilter::default();
        assert!(filter.admits("a"));
        filter.include(["git_*".to_owned()]);
        filter.exclude(["git_push".to_owned()]);
        assert!(filter.admits("git_log"));
        assert!(!filter.admits("git_push"));
        assert!(!filter.admits("other"));
    }
}
