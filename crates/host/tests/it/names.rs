//! Finds servers by name.

use std::{fs, path::Path};

use tempfile::TempDir;
use turnbuckle_host::config::{ConfigFiles, LookupError, Places};

fn write(folder: &Path, file: &str, text: &str) {
    let path = folder.join(file);
    fs::create_dir_all(path.parent().expect("a file is in a folder")).unwrap();
    fs::write(path, text).unwrap();
}

/// Makes a home folder with a project in it.
fn home() -> (TempDir, Places) {
    let home = tempfile::tempdir().unwrap();
    let project = home.path().join("work/project");
    fs::create_dir_all(project.join("src")).unwrap();
    let places = Places {
        folder: project.join("src"),
        home: Some(home.path().to_owned()),
        settings: Some(home.path().join(".config")),
    };
    (home, places)
}

#[test]
fn the_usual_places_are_found_nearest_first() {
    let (home, places) = home();
    let server = |name: &str| format!(r#"{{"mcpServers": {{"{name}": {{"command": "x"}}}}}}"#);
    write(home.path(), "work/project/.mcp.json", &server("project"));
    write(home.path(), ".cursor/mcp.json", &server("cursor"));
    write(
        home.path(),
        ".codex/config.toml",
        "[mcp_servers.codex]\ncommand = \"x\"",
    );
    write(
        home.path(),
        ".config/Claude/claude_desktop_config.json",
        &server("desktop"),
    );
    write(
        home.path(),
        ".config/Code/User/settings.json",
        r#"{"editor.fontSize": 12}"#,
    );
    write(home.path(), ".gemini/settings.json", "{ broken");
    let config_files = ConfigFiles::load(&places);
    let found: Vec<_> = config_files
        .entries()
        .map(|(place, entry)| (place.host, entry.name.as_str()))
        .collect();
    assert_eq!(
        found,
        [
            ("Claude Code", "project"),
            ("Claude Desktop", "desktop"),
            ("Cursor", "cursor"),
            ("Codex", "codex"),
        ]
    );
    let broken: Vec<_> = config_files
        .files
        .iter()
        .filter(|(_, file)| file.is_err())
        .map(|(place, _)| place.host)
        .collect();
    assert_eq!(broken, ["Gemini CLI"]);
}

#[test]
fn the_nearer_of_two_is_taken_and_the_other_is_told_of() {
    let (home, places) = home();
    let server = |url: &str| format!(r#"{{"mcpServers": {{"git": {{"url": "{url}"}}}}}}"#);
    write(home.path(), ".cursor/mcp.json", &server("http://far/"));
    write(
        home.path(),
        "work/project/.mcp.json",
        &server("http://near/"),
    );
    let found = ConfigFiles::load(&places).find("git").unwrap();
    assert_eq!(found.entry.settings["url"], "http://near/");
    assert_eq!(found.shadowed.len(), 1);
    let shadowed = found.shadowed[0].1.address();
    assert!(shadowed.ends_with(".cursor/mcp.json:git"), "{shadowed}");
}

#[test]
fn servers_of_another_project_do_not_count() {
    let (home, places) = home();
    let here = home.path().join("work/project").display().to_string();
    let text = serde_json::json!({
        "mcpServers": {"git": {"url": "http://all/"}},
        "projects": {
            here: {"mcpServers": {"git": {"url": "http://here/"}}},
            "/elsewhere": {"mcpServers": {"other": {"url": "http://other/"}}}
        }
    });
    write(home.path(), ".claude.json", &text.to_string());
    let config_files = ConfigFiles::load(&places);
    assert_eq!(
        config_files.find("git").unwrap().entry.settings["url"],
        "http://here/"
    );
    assert!(matches!(
        config_files.find("other"),
        Err(LookupError::Unknown { .. })
    ));
}

#[test]
fn a_file_and_a_name_are_that_entry_and_no_other() {
    let (home, places) = home();
    write(
        home.path(),
        "else.json",
        r#"{"servers": {"git": {"url": "http://named/"}}}"#,
    );
    let address = format!("{}:git", home.path().join("else.json").display());
    let found = ConfigFiles::load(&places).find(&address).unwrap();
    assert_eq!(found.entry.settings["url"], "http://named/");
    assert_eq!(found.entry.address(), address);
}

#[test]
fn a_misspelt_name_is_told_the_right_one() {
    let (home, places) = home();
    write(
        home.path(),
        "work/project/mcp.json",
        r#"{"mcpServers": {"github": {"command": "x"}}}"#,
    );
    let error = ConfigFiles::load(&places).find("gihub").unwrap_err();
    assert_eq!(
        error.to_string(),
        "no config file has a server `gihub`; there is `github`"
    );
}
