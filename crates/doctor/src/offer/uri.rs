//! URIs of resources, and templates of them.

use serde_json::Value;
use turnbuckle::protocol::method::ListKind;

use super::place;
use crate::{finding::Finding, report::Report, table::lists};

pub(super) fn look(report: &Report, kind: ListKind, entries: &[Value]) {
    for (index, entry) in entries.iter().enumerate() {
        let said = match kind {
            ListKind::Resources => entry["uri"].as_str().and_then(fault),
            ListKind::Templates => entry["uriTemplate"].as_str().and_then(template_fault),
            _ => return,
        };
        if let Some(said) = said {
            let finding = Finding::of(&lists::URI, said);
            report.add(finding.at(place(kind, entry, index)));
        }
    }
}

/// The problem with a URI, if there is one.
fn fault(uri: &str) -> Option<&'static str> {
    let Some((scheme, rest)) = uri.split_once(':') else {
        return Some("a URI has no scheme");
    };
    let mut letters = scheme.chars();
    let is_scheme = letters
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic())
        && letters.all(|letter| letter.is_ascii_alphanumeric() || "+-.".contains(letter));
    if !is_scheme {
        return Some("the text before the colon of a URI is not a scheme");
    }
    let is_bare = |letter: char| letter.is_whitespace() || "<>\"\\^`{}|".contains(letter);
    rest.contains(is_bare)
        .then_some("a URI has characters that have to be percent-encoded")
}

/// The problem with a template, if there is one.
fn template_fault(template: &str) -> Option<&'static str> {
    let mut is_open = false;
    for letter in template.chars() {
        match (letter, is_open) {
            ('{', false) => is_open = true,
            ('}', true) => is_open = false,
            ('{', true) | ('}', false) => return Some("the braces of a template do not match"),
            _ => {}
        }
    }
    if is_open {
        return Some("the braces of a template do not match");
    }
    // Variables may contain any character of a URI.
    let plain = template.replace(['{', '}'], "");
    (!plain.contains(':') && !template.starts_with('{')).then_some("a template has no scheme")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_and_templates() {
        for right in ["file:///a/b.txt", "notes://x?y=1", "urn:isbn:1", "a+b:c"] {
            assert_eq!(fault(right), None, "{right}");
        }
        for wrong in ["notes", "/a/b", "file:///a b", "1a:x", ":x"] {
            assert!(fault(wrong).is_some(), "{wrong}");
        }
        for right in ["file:///{+path}", "x://{a}/{b}{?c,d}", "{+whole}"] {
            assert_eq!(template_fault(right), None, "{right}");
        }
        for wrong in ["x://{a", "x://a}", "x://{{a}}", "notes/{id}"] {
            assert!(template_fault(wrong).is_some(), "{wrong}");
        }
    }
}
