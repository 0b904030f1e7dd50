//! Checks the author's input on the command line before the server is started.

use std::collections::HashMap;

use http::Uri;
use turnbuckle_command_line::failure::{Failed, Outcome};

/// Checks the name of the author, which the bundle format requires.
///
/// # Errors
/// If it is empty.
pub(super) fn check_author(name: &str) -> Outcome {
    if name.trim().is_empty() {
        return Err(Failed::usage("the author is empty").hint("write a name: --author \"Ada\""));
    }
    Ok(())
}

/// Checks the URL of a web page.
///
/// # Errors
/// If it is not a URL with `http` or `https`.
pub(super) fn check_page(url: &str) -> Outcome {
    match scheme(url) {
        Some(scheme) if scheme == "https" || scheme == "http" => Ok(()),
        _ => Err(Failed::usage(format!("--homepage: `{url}` is not a URL"))
            .hint("write a whole URL, such as https://example.com/greeter")),
    }
}

/// Checks the URL of a bundle.
///
/// # Errors
/// If it is not a URL with `https`.
pub(super) fn check_download(url: &str) -> Outcome {
    match scheme(url) {
        Some(scheme) if scheme == "https" => Ok(()),
        _ => Err(
            Failed::usage(format!("--url: `{url}` is not a URL with https"))
                .hint("write the URL of the bundle, such as https://github.com/OWNER/REPO/releases/download/TAG/FILE.mcpb"),
        ),
    }
}

/// The scheme of an absolute URL that has a host.
fn scheme(url: &str) -> Option<String> {
    let url: Uri = url.parse().ok()?;
    url.host().filter(|host| !host.is_empty())?;
    Some(url.scheme_str()?.to_owned())
}

/// Checks the names of environment variables. Each becomes a setting of the bundle, whose name is in lower
/// case.
///
/// # Errors
/// If a name is not valid for a variable, or two names would become the same setting.
pub(super) fn check_variables(names: &[String]) -> Outcome {
    let mut settings = HashMap::new();
    for name in names {
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let is_name =
            name.chars().all(is_allowed) && name.starts_with(|c: char| !c.is_ascii_digit());
        if !is_name || name.is_empty() {
            return Err(Failed::usage(format!(
                "`{name}` is not the name of an environment variable"
            )));
        }
        if let Some(other) = settings.insert(name.to_lowercase(), name) {
            let problem = if other == name {
                format!("--user-env {name} is given twice")
            } else {
                format!("--user-env {other} and {name} differ only in case")
            };
            return Err(Failed::usage(problem).hint("give each variable once"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_whole() {
        for url in ["https://example.com", "http://example.com/a?b#c"] {
            assert!(check_page(url).is_ok(), "{url}");
        }
        for url in [
            "",
            "notaurl",
            "example.com/x",
            "/x",
            "ftp://x/y",
            "https://a b",
        ] {
            assert!(check_page(url).is_err(), "{url}");
        }
        assert!(check_download("https://example.com/x.mcpb").is_ok());
        for url in ["notaurl", "http://example.com/x.mcpb", "https://"] {
            assert!(check_download(url).is_err(), "{url}");
        }
    }

    #[test]
    fn two_variables_are_two_settings() {
        let check = |names: &[&str]| {
            let names: Vec<_> = names.iter().map(|it| (*it).to_owned()).collect();
            check_variables(&names)
        };
        assert!(check(&["A", "B_2", "_c"]).is_ok());
        for names in [&["A", "a"][..], &["A", "A"], &["A=B"], &["2A"], &[""]] {
            assert!(check(names).is_err(), "{names:?}");
        }
    }
}
