//! URIs for display and logs: without passwords, queries and fragments.

/// Returns a URI without its user, query and fragment, any of which may contain a secret. Text that
/// is not a URI is returned unchanged up to the first `?` or `#`.
pub(crate) fn without_secrets(uri: &str) -> String {
    let place = uri.split(['?', '#']).next().unwrap_or(uri);
    let Some((scheme, rest)) = place.split_once("://") else {
        return place.to_owned();
    };
    // Some programs treat a backslash as a slash.
    let end = rest.find(['/', '\\']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let host = authority.rsplit('@').next().unwrap_or(authority);
    format!("{scheme}://{host}{path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_secret_of_a_uri_is_left() {
        for (uri, shown) in [
            ("https://h/a?key=1#2", "https://h/a"),
            ("res://u:PASSWORD@h/a", "res://h/a"),
            ("res://u:PASS@WORD@h:1/a@b", "res://h:1/a@b"),
            ("res://u:PASSWORD@h", "res://h"),
            ("file:///home/a@b", "file:///home/a@b"),
            ("urn:x:y", "urn:x:y"),
            ("mailto:a@b", "mailto:a@b"),
            ("git_log", "git_log"),
        ] {
            assert_eq!(without_secrets(uri), shown);
        }
    }
}
