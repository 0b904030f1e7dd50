//! Each format, and each name under which hosts keep servers.

use std::path::Path;

use turnbuckle_host::config::{ConfigError, File};

use crate::{Given, command, entries, given, remote};

fn names(file: &str, text: &str) -> Vec<String> {
    entries(file, text)
        .into_iter()
        .map(|entry| entry.name)
        .collect()
}

#[test]
fn every_section_name_is_known() {
    for section in [
        "mcpServers",
        "servers",
        "mcp_servers",
        "mcp",
        "context_servers",
    ] {
        let text = format!(r#"{{"theme": "dark", "{section}": {{"a": {{"command": "x"}}}}}}"#);
        assert_eq!(names("x.json", &text), ["a"], "{section}");
    }
    let nested = r#"{"mcp": {"inputs": [], "servers": {"a": {"command": "x"}}}}"#;
    assert_eq!(names("settings.json", nested), ["a"]);
}

#[test]
fn comments_and_trailing_commas_are_no_mistakes() {
    let text =
        "\u{feff}{ // mine\n \"mcpServers\": { /* all */ \"a\": {\"command\": \"x\",}, },\n}";
    assert_eq!(names("mcp.json", text), ["a"]);
}

#[test]
fn toml_and_yaml_are_read() {
    let toml = "[mcp_servers.git]\ncommand = \"uvx\"\nargs = [\"mcp-server-git\"]\n";
    let git = &entries("config.toml", toml)[0];
    assert_eq!(
        git.launch(&given()).unwrap(),
        command(&["uvx", "mcp-server-git"])
    );
    let yaml = "mcpServers:\n  - name: git\n    command: uvx\n    args: [mcp-server-git]\n";
    let git = &entries("config.yaml", yaml)[0];
    assert_eq!(git.name, "git");
    assert_eq!(
        git.launch(&given()).unwrap(),
        command(&["uvx", "mcp-server-git"])
    );
}

#[test]
fn a_malformed_file_is_named_with_the_place() {
    let error = File::parse(Path::new("mcp.json"), "{\"mcpServers\": {\n  \"a\": }").unwrap_err();
    let said = error.to_string();
    assert!(said.starts_with("`mcp.json` is not valid JSON: "), "{said}");
    assert!(said.contains("line 2"), "{said}");
    for (file, text) in [("x.toml", "a = "), ("x.yaml", "a: [")] {
        let error = File::parse(Path::new(file), text).unwrap_err();
        assert!(matches!(error, ConfigError::Malformed { .. }), "{error}");
    }
}

#[test]
fn a_malformed_file_is_described_without_its_text() {
    for (file, text) in [
        ("x.toml", "[servers.a]\nheaders = { Key = \"sk-secret\""),
        (
            "x.yaml",
            "mcpServers:\n  a:\n    env: { K: \"sk-secret\"\n  b: [",
        ),
        ("x.json", "{\"mcpServers\": {\n\"a\": \"sk-secret\" \"b\""),
    ] {
        let error = File::parse(Path::new(file), text).unwrap_err();
        let said = error.to_string();
        assert!(
            said.contains("line ") && !said.contains("sk-secret"),
            "{said}"
        );
    }
}

#[test]
fn a_file_of_something_else_is_not_taken_for_one_without_servers() {
    let other = File::parse(Path::new("package.json"), r#"{"name": "x"}"#);
    assert!(matches!(other, Err(ConfigError::NoServers { .. })));
    assert!(entries("mcp.json", "").is_empty());
    assert!(entries("mcp.json", "{}").is_empty());
}

#[test]
fn a_bad_entry_leaves_the_others_alone() {
    let text =
        r#"{"mcpServers": {"bad": 5, "worse": {}, "good": {"url": "https://example.com/mcp"}}}"#;
    let entries = entries("mcp.json", text);
    let said: Vec<_> = entries
        .iter()
        .map(|entry| {
            entry
                .launch(&Given::default())
                .map_err(|error| error.to_string())
        })
        .collect();
    assert_eq!(
        said,
        [
            Err("it is not an object of settings".to_owned()),
            Err("it has neither a `command` nor a `url`".to_owned()),
            Ok(remote(
                "https://example.com/mcp",
                turnbuckle_host::config::Wire::Any
            )),
        ]
    );
}

#[test]
fn unknown_settings_are_kept() {
    let text = r#"{"mcpServers": {"a": {"command": "x", "autoApprove": ["read"], "timeout": 5}}}"#;
    let settings = &entries("mcp.json", text)[0].settings;
    assert_eq!(settings["autoApprove"][0], "read");
    assert_eq!(settings["timeout"], 5);
}

#[test]
fn switched_off_is_switched_off_by_either_word() {
    for (settings, is_enabled) in [
        ("{}", true),
        (r#"{"disabled": false}"#, true),
        (r#"{"enabled": true}"#, true),
        (r#"{"disabled": true}"#, false),
        (r#"{"enabled": false}"#, false),
    ] {
        let text = format!(r#"{{"mcpServers": {{"a": {settings}}}}}"#);
        assert_eq!(
            entries("mcp.json", &text)[0].is_enabled,
            is_enabled,
            "{settings}"
        );
    }
}
