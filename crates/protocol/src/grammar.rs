//! Texts with a grammar: keys of `_meta`, URIs, media types, base64.
//!
//! Servers and clients check the values of their authors with these functions. Each is a single pass
//! over the text.

/// Returns whether a text is a valid key of `_meta`: an optional prefix of labels that are separated by
/// dots, which ends with `/`, and a name.
///
/// basic, `_meta`: labels MUST start with a letter and end with a letter or a digit, with only letters,
/// digits and hyphens in between. A name MUST begin and end with a letter or a digit, with only
/// letters, digits, `-`, `_` and `.` in between.
///
/// ```
/// use turnbuckle_protocol::grammar::is_meta_key;
///
/// assert!(is_meta_key("com.example/origin"));
/// assert!(!is_meta_key("com.example/my origin"));
/// ```
pub fn is_meta_key(key: &str) -> bool {
    let (prefix, name) = match key.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, key),
    };
    let has_prefix = prefix.is_some();
    prefix.is_none_or(|prefix| prefix.split('.').all(is_label))
        && (is_name(name) || (name.is_empty() && has_prefix))
}

pub(crate) fn is_label(label: &str) -> bool {
    label.starts_with(|first: char| first.is_ascii_alphabetic())
        && label.ends_with(|last: char| last.is_ascii_alphanumeric())
        && label
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

pub(crate) fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphanumeric())
        && name.ends_with(|last: char| last.is_ascii_alphanumeric())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
}

/// Returns why a text is not a URI; `None` if it is one (RFC 3986).
///
/// ```
/// use turnbuckle_protocol::grammar::uri_problem;
///
/// assert_eq!(uri_problem("file:///a%20b"), None);
/// assert!(uri_problem("file:///a b").is_some());
/// ```
pub fn uri_problem(uri: &str) -> Option<String> {
    let Some((scheme, rest)) = uri.split_once(':') else {
        return Some("it has no scheme, such as `file:` or `app:`".to_owned());
    };
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'));
    if !is_scheme {
        return Some(format!("`{scheme}` is not a scheme"));
    }
    let authority = rest.strip_prefix("//").map_or(0, |rest| {
        rest.find(['/', '?', '#']).unwrap_or(rest.len()) + 2
    });
    let bytes = rest.as_bytes();
    let mut has_fragment = false;
    for (index, byte) in rest.bytes().enumerate() {
        let is_allowed = match byte {
            b'%' => {
                let digits = bytes.get(index + 1..index + 3);
                digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
            }
            b'#' => !std::mem::replace(&mut has_fragment, true),
            b'[' | b']' => index < authority,
            byte => byte.is_ascii_alphanumeric() || b"-._~:/?@!$&'()*+,;=".contains(&byte),
        };
        if !is_allowed {
            let character = rest[index..].chars().next().unwrap_or_default();
            let hint = match character {
                '%' => "`%` must be followed by two hexadecimal digits".to_owned(),
                other => format!("`{other}` must be percent-encoded"),
            };
            return Some(hint);
        }
    }
    None
}

/// Returns whether a text is base64 with padding, in the alphabet of the JSON Schema format `byte`.
pub fn is_base64(text: &str) -> bool {
    let digits = text.trim_end_matches('=');
    text.len().is_multiple_of(4)
        && text.len() - digits.len() <= 2
        && digits
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
}

/// Returns whether a text is a media type, such as `image/png` or `text/html;profile=mcp-app` (RFC
/// 9110).
pub fn is_media_type(text: &str) -> bool {
    let Some((kind, rest)) = text.split_once('/') else {
        return false;
    };
    let (subtype, mut rest) = token_of(rest);
    if !is_token(kind) || subtype.is_empty() {
        return false;
    }
    // parameters = *( OWS ";" OWS [ parameter ] )
    loop {
        rest = trim_blanks(rest);
        if rest.is_empty() {
            return true;
        }
        let Some(after) = rest.strip_prefix(';') else {
            return false;
        };
        let (name, after) = token_of(trim_blanks(after));
        if name.is_empty() {
            rest = after;
            continue;
        }
        let value = after.strip_prefix('=').and_then(after_value);
        match value {
            Some(after) => rest = after,
            None => return false,
        }
    }
}

fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(is_token_byte)
}

/// Returns the token at the start of a text, which may be empty, and the rest.
fn token_of(text: &str) -> (&str, &str) {
    let end = text.bytes().position(|byte| !is_token_byte(byte));
    text.split_at(end.unwrap_or(text.len()))
}

fn trim_blanks(text: &str) -> &str {
    text.trim_start_matches([' ', '\t'])
}

/// Skips the value of a parameter, which is a token or a quoted string, and returns the rest. Returns
/// `None` if there is no valid value.
fn after_value(text: &str) -> Option<&str> {
    let Some(quoted) = text.strip_prefix('"') else {
        let (token, rest) = token_of(text);
        return (!token.is_empty()).then_some(rest);
    };
    let mut characters = quoted.char_indices();
    while let Some((index, character)) = characters.next() {
        match character {
            '"' => return Some(&quoted[index + 1..]),
            '\\' => drop(characters.next()?),
            _ if character.is_control() && character != '\t' => return None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    // rule: J10
    #[test]
    fn a_key_of_meta_has_labels_and_a_name() {
        for key in [
            "a",
            "progressToken",
            "com.example/x",
            "a-b.c/d_e.f",
            "io.x/",
            "a1/2",
        ] {
            assert!(is_meta_key(key), "{key}");
        }
        for key in [
            "", "a b", "/x", "1a/x", "a./x", "a-/x", "a/-x", "a/x-", "a/b/c", "a/ü", "-a",
        ] {
            assert!(!is_meta_key(key), "{key}");
        }
    }

    // rule: RS1
    #[test]
    fn a_uri_is_that_of_rfc_3986() {
        for uri in [
            "file:///a",
            "app://x/y?z=1#f",
            "urn:isbn:0451450523",
            "a:",
            "http://[::1]:80/a",
            "mailto:a@b.c",
            "x-y+z.1:a%20b",
        ] {
            assert_eq!(uri_problem(uri), None, "{uri}");
        }
        for uri in [
            "", "a", "/a/b", "1a:b", ":b", "a:b c", "a:%", "a:%2", "a:%zz", "a:#b#c", "a:[b]",
            "a:ü", "a:<b>", "a:b\\c", "a b:c",
        ] {
            assert!(uri_problem(uri).is_some(), "{uri}");
        }
    }

    // rule: RS1, RS4
    #[test]
    fn base64_and_media_types_are_told_from_other_texts() {
        for text in ["", "AA==", "AAA=", "AAAA", "+/+/"] {
            assert!(is_base64(text), "{text}");
        }
        for text in [
            "A", "AA", "AA=", "A===", "-_-_", "AA==AAAA", "AAA ", "hello!",
        ] {
            assert!(!is_base64(text), "{text}");
        }
        for text in [
            "image/png",
            "text/html;profile=mcp-app",
            "a/b; c=\"d e\"; f=g",
            "x/vnd.a+json",
            "text/plain; a=\"x;y\"",
            "text/plain; a=\"x\\\"y\"; b=c",
            "text/html;",
            "text/html ; ; charset=utf-8 ;",
        ] {
            assert!(is_media_type(text), "{text}");
        }
        for text in [
            "",
            "image",
            "image/",
            "/png",
            "image/p ng",
            "a/b;c",
            "a/b;c=",
            "a/b;=d",
            "a/b;c=\"d",
            "a/b;c=\"d\\\"",
            "a/b;c=\"d\"e",
            "a/b;c=\"d\ne\"",
            "a/b/c",
        ] {
            assert!(!is_media_type(text), "{text}");
        }
    }
}
