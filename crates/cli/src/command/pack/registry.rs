//! The `server.json` of a server: its entry in the registry of MCP servers.

use serde_json::{Value, json};
use turnbuckle_command_line::failure::{Failed, Outcome};

use super::manifest::About;

/// The schema that the entry follows.
const SCHEMA: &str = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";

/// How many characters the registry allows for a description and for a title.
const MAX_TEXT: usize = 100;

/// How many characters the registry allows for a version.
const MAX_VERSION: usize = 255;

/// Checks a name for the registry, such as `io.github.ada/greeter`.
///
/// # Errors
/// If the registry would reject it.
pub(super) fn check_name(name: &str) -> Outcome {
    let is_word = |part: &str, also: &str| {
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || also.contains(c);
        !part.is_empty() && part.chars().all(is_allowed)
    };
    let is_good = (3..=200).contains(&name.len())
        && name
            .split_once('/')
            .is_some_and(|(owner, server)| is_word(owner, ".-") && is_word(server, "._-"));
    if is_good {
        return Ok(());
    }
    Err(
        Failed::usage(format!("`{name}` is not a name of the registry"))
            .hint("write the owner's domain backwards, and the server: io.github.ada/greeter"),
    )
}

/// Checks a server's description.
///
/// # Errors
/// If the registry would reject it.
pub(super) fn check(about: &About) -> Outcome {
    let length = about.description.chars().count();
    if length > MAX_TEXT {
        return Err(Failed::usage(format!(
            "the description has {length} characters; the registry allows {MAX_TEXT}"
        ))
        .hint("pass a shorter --description"));
    }
    let length = about.title.as_deref().unwrap_or_default().chars().count();
    if length > MAX_TEXT {
        return Err(Failed::usage(format!(
            "the server's title has {length} characters; the registry allows {MAX_TEXT}"
        )));
    }
    let version = &about.version;
    let is_range = version == "latest" || version.split('.').any(|it| matches!(it, "x" | "X"));
    if is_range || version.chars().count() > MAX_VERSION {
        return Err(Failed::usage(format!(
            "the registry does not accept the version `{version}`"
        ))
        .hint("a version is one release, such as 1.0.2"));
    }
    Ok(())
}

/// Rules of the official registry that the URL of a bundle violates. Other registries may not have these rules.
pub(super) fn warnings(url: &str) -> Vec<&'static str> {
    let mut warnings = Vec::new();
    let is_release = (url.starts_with("https://github.com/")
        && url.contains("/releases/download/"))
        || (url.starts_with("https://gitlab.com/") && url.contains("/-/"));
    if !is_release {
        warnings.push("the official registry accepts only bundles in releases on GitHub or GitLab");
    }
    if !url.to_lowercase().contains("mcp") {
        warnings.push("the official registry accepts only URLs that contain `mcp`");
    }
    warnings
}

/// The entry of a server whose bundle has this digest and can be downloaded at this URL.
pub(super) fn write(
    name: &str,
    about: &About,
    url: &str,
    digest: &str,
    variables: &[String],
) -> Value {
    let variables: Vec<_> = variables
        .iter()
        .map(|variable| json!({ "name": variable, "isRequired": true, "isSecret": true }))
        .collect();
    let mut package = json!({
        "registryType": "mcpb",
        "identifier": url,
        "version": about.version,
        "fileSha256": digest,
        "transport": { "type": "stdio" },
    });
    if !variables.is_empty() {
        package["environmentVariables"] = variables.into();
    }
    let mut entry = json!({
        "$schema": SCHEMA,
        "name": name,
        "description": about.description,
        "version": about.version,
        "packages": [package],
    });
    if let Some(title) = about.title.as_ref().filter(|it| !it.is_empty()) {
        entry["title"] = title.as_str().into();
    }
    if let Some(homepage) = &about.homepage {
        entry["websiteUrl"] = homepage.as_str().into();
    }
    entry
}

#[cfg(test)]
mod tests {
    use super::*;

    fn about() -> About {
        About {
            name: "greeter".to_owned(),
            title: None,
            version: "1.0.0".to_owned(),
            description: "Greets people.".to_owned(),
            author: "Ada".to_owned(),
            homepage: None,
        }
    }

    #[test]
    fn texts_have_at_most_a_hundred_characters() {
        let long = |count: usize| "é".repeat(count);
        let described = |count| About {
            description: long(count),
            ..about()
        };
        let titled = |count| About {
            title: Some(long(count)),
            ..about()
        };
        assert!(check(&described(100)).is_ok() && check(&titled(100)).is_ok());
        assert!(check(&described(101)).is_err() && check(&titled(101)).is_err());
    }

    #[test]
    fn a_version_is_one_release() {
        let with = |version: &str| About {
            version: version.to_owned(),
            ..about()
        };
        assert!(check(&with("1.0.0-alpha+x1")).is_ok());
        for version in ["latest", "1.x", &"1".repeat(256)] {
            assert!(check(&with(version)).is_err(), "{version}");
        }
    }

    #[test]
    fn the_rules_of_the_official_registry_for_urls_are_told() {
        let github = "https://github.com/ada/greeter/releases/download/v1/greeter.mcpb";
        let gitlab = "https://gitlab.com/ada/greeter/-/releases/v1/downloads/greeter.mcpb";
        for url in [github, gitlab] {
            assert!(warnings(url).is_empty(), "{url}");
        }
        assert_eq!(warnings("https://example.com/greeter.mcpb").len(), 1);
        assert_eq!(warnings("https://example.com/greeter.zip").len(), 2);
    }

    #[test]
    fn names_have_an_owner_and_a_server() {
        assert!(check_name("io.github.ada/greeter").is_ok());
        for name in ["greeter", "/greeter", "io.github.ada/", "io ada/x", "a/b/c"] {
            assert!(check_name(name).is_err(), "{name}");
        }
    }
}
