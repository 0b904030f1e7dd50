//! Values that would lead a file server out of its folder.

use super::encode::Allow;

/// The values that a template accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Paths {
    /// Values that stay in the folder they are joined to.
    Contained,
    /// All values.
    Any,
}

/// Whether `value`, joined to a folder as a path, stays inside it, on Unix and on Windows.
///
/// A value that was matched without delimiters must be a single segment.
pub(super) fn is_contained(value: &str, allow: Allow) -> bool {
    match allow {
        Allow::Unreserved => !value.contains('/') && is_name(value),
        // Every segment is checked, so that it does not matter whether the path is joined whole or in pieces.
        Allow::Reserved => !value.starts_with('/') && value.split('/').all(is_name),
    }
}

/// Whether a segment names an entry of its folder, and not the folder itself, its parent, a drive or
/// another path.
fn is_name(segment: &str) -> bool {
    !matches!(segment, "." | "..") && !segment.contains(['\\', '\0']) && !has_drive(segment)
}

/// Whether a segment begins like `C:`, which leaves the folder on Windows.
fn has_drive(segment: &str) -> bool {
    matches!(segment.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::super::Template;
    use super::*;

    #[test]
    fn names_are_contained() {
        for value in [
            "a", "a.b", "...", "..a", "a..", ".git", "1:2", "ab:c", "", "%2e%2e", "~",
        ] {
            assert!(is_contained(value, Allow::Unreserved), "{value:?}");
            assert!(is_contained(value, Allow::Reserved), "{value:?}");
        }
    }

    #[test]
    fn only_a_reserved_value_has_segments() {
        for value in ["a/b", "a/b/", "a//b", "a/..b/c", "x:1/ab:2"] {
            assert!(!is_contained(value, Allow::Unreserved), "{value:?}");
        }
        for value in ["a/b", "a/b/", "a//b", "a/..b/c"] {
            assert!(is_contained(value, Allow::Reserved), "{value:?}");
        }
    }

    #[test]
    fn ways_out_are_not_contained() {
        let ways = [
            ".",
            "..",
            "/",
            "/etc/passwd",
            "//host/share",
            "../a",
            "a/..",
            "a/../b",
            "a/./b",
            "./a",
            "a/b/.",
            "..\\a",
            "a\\b",
            "\\\\host\\share",
            "C:",
            "c:/a",
            "C:a",
            "C:\\a",
            "a/C:/b",
            "a\0.png",
            "\0",
        ];
        for value in ways {
            assert!(!is_contained(value, Allow::Unreserved), "{value:?}");
            assert!(!is_contained(value, Allow::Reserved), "{value:?}");
        }
    }

    /// Values that made other servers read files that they should not.
    const ATTACKS: &[&str] = &[
        "..",
        ".",
        "%2e%2e",
        "%2E.",
        ".%2e",
        "..%2f..%2fetc%2fpasswd",
        "..%5c..%5cboot.ini",
        "%2e%2e%2f%2e%2e%2fetc",
        "%2fetc%2fpasswd",
        "%5c%5chost%5cshare",
        "C%3A%5CWindows",
        "c%3a",
        "a%00.png",
        "%00",
        "a%5cb",
        "a\\b",
        "..\\..\\a",
        "%c0%ae%c0%ae%c0%af",
        "%uff0e%uff0e",
        "..%c0%af",
        "%e0%80%ae",
    ];

    #[test]
    fn attacks_match_no_variable_of_any_kind() {
        let templates = [
            ("file:///{a}", "file:///"),
            ("file:///{+a}", "file:///"),
            ("file:///x{/a}", "file:///x/"),
            ("file:///x{/a*}", "file:///x/"),
            ("file:///{a*}", "file:///"),
            ("file:///x{#a}", "file:///x#"),
            ("file:///x{?a}", "file:///x?a="),
            ("file:///x{?a*}", "file:///x?a="),
            ("file:///x{?a*}", "file:///x?b="),
            ("file:///x{;a}", "file:///x;a="),
        ];
        for (template, start) in templates {
            let template = Template::parse(template).expect(template);
            for attack in ATTACKS {
                let uri = format!("{start}{attack}");
                assert_eq!(template.matches(&uri), None, "{template} {uri}");
            }
        }
    }

    #[test]
    fn attacks_with_slashes_match_no_path() {
        let template = Template::parse("file:///{+path}").expect("a template");
        let segments = Template::parse("file://{/path*}").expect("a template");
        for attack in [
            "../etc/passwd",
            "a/../../etc/passwd",
            "a/..",
            "./a",
            "a/./b",
            "/etc/passwd",
            "//host/share",
            "C:/Windows",
            "C:",
            "a/C:/b",
            "..//a",
            "%2e%2e/a",
            "a/%2e%2e/b",
            "a%2f..%2fb",
            "..\\a",
            "a/..%5cb",
            "a/b%00",
            "..%2fa",
        ] {
            let uri = format!("file:///{attack}");
            assert_eq!(template.matches(&uri), None, "{uri}");
            assert_eq!(segments.matches(&uri), None, "{uri}");
        }
    }

    #[test]
    fn encoding_twice_gives_an_odd_name_and_no_way_out() {
        let template = Template::parse("file:///{a}").expect("a template");
        let values = template
            .matches("file:///%252e%252e%252fetc")
            .expect("it is only a name");
        assert_eq!(values["a"], "%2e%2e%2fetc");
    }

    #[test]
    fn the_rules_can_be_switched_off() {
        let template = Template::parse("x:{a}{?b}")
            .expect("a template")
            .allow_any_path();
        let values = template
            .matches("x:..?b=https://a/%5C%00")
            .expect("any value is let in");
        assert_eq!(values["a"], "..");
        assert_eq!(values["b"], "https://a/\\\0");
    }
}
