//! URI references as `$id` and `$ref` use them: splitting them, resolving them against a base, and reading JSON
//! pointers from them. This is only text processing: this crate never fetches anything.

/// The five parts of a URI reference (RFC 3986, section 3), borrowed from its text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Parts<'a> {
    scheme: Option<&'a str>,
    authority: Option<&'a str>,
    path: &'a str,
    query: Option<&'a str>,
    fragment: Option<&'a str>,
}

/// Splits a reference into the URI of the document and the fragment after `#`.
pub(crate) fn split_fragment(reference: &str) -> (&str, &str) {
    reference.split_once('#').unwrap_or((reference, ""))
}

/// Resolves a reference, without its fragment, against `base` (RFC 3986, section 5.2).
pub(crate) fn resolve(base: &str, reference: &str) -> String {
    let (base, target) = (parts(base), parts(reference));
    if target.scheme.is_some() {
        return Parts {
            fragment: None,
            ..target
        }
        .join(&without_dots(target.path));
    }
    if target.authority.is_some() {
        let joined = Parts {
            scheme: base.scheme,
            fragment: None,
            ..target
        };
        return joined.join(&without_dots(target.path));
    }
    let inherited = Parts {
        scheme: base.scheme,
        authority: base.authority,
        ..Parts::default()
    };
    if target.path.is_empty() {
        let query = target.query.or(base.query);
        return Parts { query, ..inherited }.join(base.path);
    }
    let path = if target.path.starts_with('/') {
        without_dots(target.path)
    } else {
        without_dots(&merged(base, target.path))
    };
    Parts {
        query: target.query,
        ..inherited
    }
    .join(&path)
}

/// The tokens of a JSON pointer in a fragment, percent-decoded and unescaped; `None` if the fragment is not a
/// JSON pointer.
pub(crate) fn pointer_tokens(fragment: &str) -> Option<Vec<String>> {
    let decoded = percent_decoded(fragment)?;
    let tokens = decoded.strip_prefix('/')?;
    Some(
        tokens
            .split('/')
            .map(|token| token.replace("~1", "/").replace("~0", "~"))
            .collect(),
    )
}

/// Text with its `%xx` decoded; `None` if the result is not UTF-8.
pub(crate) fn percent_decoded(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let hex = text.get(at + 1..at + 3).filter(|_| byte == b'%');
        if let Some(value) = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            decoded.push(value);
            at += 3;
        } else {
            decoded.push(byte);
            at += 1;
        }
    }
    String::from_utf8(decoded).ok()
}

impl Parts<'_> {
    fn join(&self, path: &str) -> String {
        let mut text = String::new();
        if let Some(scheme) = self.scheme {
            text.push_str(scheme);
            text.push(':');
        }
        if let Some(authority) = self.authority {
            text.push_str("//");
            text.push_str(authority);
        }
        text.push_str(path);
        if let Some(query) = self.query {
            text.push('?');
            text.push_str(query);
        }
        text
    }
}

fn parts(reference: &str) -> Parts<'_> {
    let (rest, fragment) = match reference.split_once('#') {
        Some((rest, fragment)) => (rest, Some(fragment)),
        None => (reference, None),
    };
    let (rest, query) = match rest.split_once('?') {
        Some((rest, query)) => (rest, Some(query)),
        None => (rest, None),
    };
    let (scheme, rest) = match rest.split_once(':') {
        Some((scheme, rest)) if is_scheme(scheme) => (Some(scheme), rest),
        _ => (None, rest),
    };
    let (authority, path) = match rest.strip_prefix("//") {
        Some(rest) => {
            let end = rest.find('/').unwrap_or(rest.len());
            (Some(&rest[..end]), &rest[end..])
        }
        None => (None, rest),
    };
    Parts {
        scheme,
        authority,
        path,
        query,
        fragment,
    }
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

fn merged(base: Parts<'_>, path: &str) -> String {
    if base.authority.is_some() && base.path.is_empty() {
        return format!("/{path}");
    }
    let directory = base
        .path
        .rfind('/')
        .map_or("", |slash| &base.path[..=slash]);
    format!("{directory}{path}")
}

fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let is_rooted = path.starts_with('/');
    let segments = path.strip_prefix('/').unwrap_or(path);
    let mut ends_open = false;
    for segment in segments.split('/') {
        ends_open = matches!(segment, "." | "..");
        match segment {
            "." => {}
            ".." => {
                kept.pop();
            }
            _ => kept.push(segment),
        }
    }
    let mut text = String::from(if is_rooted { "/" } else { "" });
    text.push_str(&kept.join("/"));
    if ends_open && !text.is_empty() && !text.ends_with('/') {
        text.push('/');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_resolve_as_the_rfc_lists_them() {
        let base = "http://a/b/c/d;p?q";
        for (reference, expected) in [
            ("g:h", "g:h"),
            ("g", "http://a/b/c/g"),
            ("./g", "http://a/b/c/g"),
            ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//g", "http://g"),
            ("?y", "http://a/b/c/d;p?y"),
            ("g?y", "http://a/b/c/g?y"),
            ("#s", "http://a/b/c/d;p?q"),
            ("", "http://a/b/c/d;p?q"),
            (".", "http://a/b/c/"),
            ("..", "http://a/b/"),
            ("../g", "http://a/b/g"),
            ("../../../g", "http://a/g"),
        ] {
            assert_eq!(resolve(base, reference), expected, "{reference}");
        }
    }

    #[test]
    fn a_document_without_a_base_still_has_relative_names() {
        assert_eq!(resolve("", "item.json"), "item.json");
        assert_eq!(resolve("urn:uuid:1234", "#/$defs/a"), "urn:uuid:1234");
        assert_eq!(
            resolve("http://localhost:1234", "foo"),
            "http://localhost:1234/foo"
        );
    }

    #[test]
    fn pointers_are_decoded_before_they_are_unescaped() {
        assert_eq!(
            pointer_tokens("/a~1b/%25/c~0d"),
            Some(vec!["a/b".into(), "%".into(), "c~d".into()])
        );
        assert_eq!(pointer_tokens("anchor"), None);
        assert_eq!(pointer_tokens("/"), Some(vec![String::new()]));
        assert_eq!(percent_decoded("%ff"), None);
        assert_eq!(percent_decoded("100%"), Some("100%".into()));
    }
}
