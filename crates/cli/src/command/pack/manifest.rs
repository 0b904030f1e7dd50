//! The `manifest.json` of a bundle.

use serde_json::{Map, Value, json};

use crate::offer::Offer;

/// The version of the format.
const FORMAT: &str = "0.3";

/// The description of a bundle's server.
pub(super) struct About {
    pub(super) name: String,
    pub(super) title: Option<String>,
    pub(super) version: String,
    pub(super) description: String,
    pub(super) author: String,
    pub(super) homepage: Option<String>,
}

/// How the server of a bundle is started.
pub(super) struct Start<'a> {
    /// The name of the program in the bundle.
    pub(super) program: &'a str,
    pub(super) arguments: &'a [String],
    /// Environment variables whose values the user enters when the bundle is installed.
    pub(super) variables: &'a [String],
    /// The platform that the program runs on, by its name in the format.
    pub(super) platform: &'a str,
}

/// The path of a program in a bundle.
pub(super) fn path_of(program: &str) -> String {
    format!("server/{program}")
}

/// The manifest.
pub(super) fn write(about: &About, start: &Start<'_>, offer: &Offer) -> Value {
    let entry = path_of(start.program);
    let mut environment = Map::new();
    let mut settings = Map::new();
    for variable in start.variables {
        let key = variable.to_lowercase();
        environment.insert(variable.clone(), format!("${{user_config.{key}}}").into());
        // Values from the environment are usually keys or passwords.
        let setting = json!({
            "type": "string",
            "title": variable,
            "description": format!("The value of {variable} for the server"),
            "required": true,
            "sensitive": true,
        });
        settings.insert(key, setting);
    }
    let mut manifest = json!({
        "manifest_version": FORMAT,
        "name": about.name,
        "version": about.version,
        "description": about.description,
        "author": { "name": about.author },
        "server": {
            "type": "binary",
            "entry_point": entry,
            "mcp_config": {
                "command": format!("${{__dirname}}/{entry}"),
                "args": start.arguments,
                "env": environment,
            },
        },
        "tools": offer.tools.iter().map(|tool| {
            match &tool.description {
                Some(description) => json!({ "name": tool.name, "description": description }),
                None => json!({ "name": tool.name }),
            }
        }).collect::<Vec<_>>(),
        // Prompts in a manifest need their full text, which the server only generates on request.
        "prompts_generated": !offer.prompts.is_empty(),
        "compatibility": { "platforms": [start.platform] },
    });
    if let Some(title) = &about.title {
        manifest["display_name"] = title.as_str().into();
    }
    if let Some(homepage) = &about.homepage {
        manifest["homepage"] = homepage.as_str().into();
    }
    if !settings.is_empty() {
        manifest["user_config"] = settings.into();
    }
    manifest
}

/// The platform for programs of this operating system, by its name in the format; `None` for systems that the format
/// does not have.
pub(super) fn platform(system: &str) -> Option<&'static str> {
    match system {
        "linux" => Some("linux"),
        "macos" => Some("darwin"),
        "windows" => Some("win32"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::platform;

    #[test]
    fn systems_that_the_format_does_not_name_have_no_platform() {
        assert_eq!(platform("macos"), Some("darwin"));
        assert_eq!(platform("freebsd"), None);
    }
}
