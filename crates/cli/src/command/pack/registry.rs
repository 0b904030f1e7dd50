//! The `server.json` of a server: its entry for the registry of MCP servers.

use serde_json::{Value, json};
use turnbuckle_command_line::failure::{Failed, Outcome};

use super::manifest::About;

/// The schema that the entry follows.
const SCHEMA: &str = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";

/// How long the registry lets a description be.
const MAX_DESCRIPTION: usize = 100;

/// Checks a name of the registry, such as `io.github.ada/greeter`.
///
/// # Errors
/// If the registry would refuse it.
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

/// The entry of a server whose bundle has this digest and can be had at this URL.
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
    let description: String = about.description.chars().take(MAX_DESCRIPTION).collect();
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
        "description": description,
        "version": about.version,
        "packages": [package],
    });
    if let Some(title) = &about.title {
        entry["title"] = title.as_str().into();
    }
    if let Some(homepage) = &about.homepage {
        entry["websiteUrl"] = homepage.as_str().into();
    }
    entry
}

#[cfg(test)]
mod tests {
    use super::check_name;

    #[test]
    fn names_have_an_owner_and_a_server() {
        assert!(check_name("io.github.ada/greeter").is_ok());
        for name in ["greeter", "/greeter", "io.github.ada/", "io ada/x", "a/b/c"] {
            assert!(check_name(name).is_err(), "{name}");
        }
    }
}
