//! URIs of skills and of their files.

/// The file that makes a directory a skill.
pub(crate) const SKILL_FILE: &str = "SKILL.md";

/// Agent Skills: a name has 1 to 64 lower-case letters, digits and hyphens, without a hyphen at either end or two
/// in a row.
pub(crate) fn is_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=64).contains(&name.len())
        && name.bytes().all(is_plain)
        && !name.starts_with('-')
        && !name.ends_with('-')
        && !name.contains("--")
}

/// The directory of a skill without a slash at its end, given the URI of its `SKILL.md`.
#[cfg(feature = "client")]
pub(crate) fn root_of(uri: &str) -> Option<&str> {
    uri.strip_suffix(SKILL_FILE)?.strip_suffix('/')
}

/// The last segment of a URI. For a skill's directory this is the name of the skill.
#[cfg(feature = "client")]
pub(crate) fn last_segment(uri: &str) -> &str {
    uri.rsplit('/').next().unwrap_or_default()
}

/// A path as it is written in a URI, with special characters percent-encoded in each segment.
pub(crate) fn encode(path: &str) -> String {
    use std::fmt::Write as _;

    let mut encoded = String::with_capacity(path.len());
    for byte in path.bytes() {
        let is_plain = byte.is_ascii_alphanumeric()
            || matches!(
                byte,
                b'/' | b'-' | b'.' | b'_' | b'~' | b'+' | b'@' | b',' | b'='
            );
        if is_plain {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

/// A path below a skill's directory, without `.` segments; `None` if it is empty or leads out of the directory.
pub(crate) fn within(path: &str) -> Option<String> {
    let mut segments = Vec::new();
    for segment in path.split('/') {
        match segment {
            "." => {}
            "" | ".." => return None,
            other if other.contains(['\\', '\0']) => return None,
            other => segments.push(other),
        }
    }
    (!segments.is_empty()).then(|| segments.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_rules() {
        for name in ["a", "pdf-processing", "x2", &"a".repeat(64)] {
            assert!(is_name(name), "{name}");
        }
        for name in [
            "",
            "-a",
            "a-",
            "a--b",
            "A",
            "a b",
            "ä",
            "a.b",
            &"a".repeat(65),
        ] {
            assert!(!is_name(name), "{name}");
        }
    }

    #[test]
    fn paths_stay_inside() {
        assert_eq!(
            within("references/FORMS.md").as_deref(),
            Some("references/FORMS.md")
        );
        assert_eq!(within("./a/./b").as_deref(), Some("a/b"));
        for out in [
            "../a",
            "a/../../b",
            "a/..",
            "/etc/passwd",
            "",
            ".",
            "a//b",
            "a\\b",
        ] {
            assert_eq!(within(out), None, "{out}");
        }
        assert_eq!(encode("a b/ü#?.md"), "a%20b/%C3%BC%23%3F.md");
    }
}
