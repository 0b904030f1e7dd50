//! A gateway that serves the config files at the usual places, and the changes of these files.

use std::process::Command;

use crate::{
    program::{BINARY, LAB, Place, eventually, stderr, stdout},
    up::{Gateway, noted},
};

/// A rule that denies the tool `echo` of every server.
const RULE: &str = "[[gateway.policy]]\ndeny = [\"*echo\"]\n";

/// The table of a demo server.
fn server(name: &str) -> String {
    format!("[servers.{name}]\ncommand = \"{BINARY}\"\nargs = [\"serve\", \"--stdio\"]\n")
}

/// The servers that a gateway has, in the order of their names.
fn servers(gateway: &Gateway) -> Vec<String> {
    let (_, body) = gateway.get("/readyz");
    let body: serde_json::Value = serde_json::from_str(&body).expect("JSON");
    let servers = body["servers"].as_object().expect("servers");
    let mut names: Vec<_> = servers.keys().cloned().collect();
    names.sort();
    names
}

/// Checks that the rule still applies, and that this tool still answers.
#[track_caller]
fn is_as_before(place: &Place, gateway: &Gateway, add: &str) {
    let denied = place.run(&["call", &gateway.url, &add.replace("add", "echo"), "text=hi"]);
    assert!(!denied.status.success(), "{}", stdout(&denied));
    let output = place.run(&["call", &gateway.url, add, "a=1", "b=2"]);
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn a_gateway_does_not_start_without_its_broken_settings() {
    let place = Place::with_lab();
    place.write("turnbuckle.toml", &format!("{RULE}x = = broken\n"));
    // Without the settings, it would run until it is ended.
    let mut command = place.command("timeout");
    let output = command.args(["20", BINARY, "up", "--trust", "--listen", "127.0.0.1:0"]);
    let output = output.output().expect("`timeout` runs");
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    let said = stderr(&output);
    assert!(
        said.contains("turnbuckle.toml` is not valid TOML"),
        "{said}"
    );
}

#[test]
fn settings_alone_are_used_for_the_servers_of_other_files() {
    let place = Place::with_lab();
    place.write("turnbuckle.toml", RULE);
    let gateway = Gateway::start(&place, &["--trust"]);
    gateway.hears(&["ready", "lab"]);
    is_as_before(&place, &gateway, "add");
}

#[test]
fn a_file_in_use_that_breaks_changes_nothing() {
    let place = Place::with_lab();
    let settings = format!("{RULE}{}", server("kept"));
    place.write("turnbuckle.toml", &settings);
    let gateway = Gateway::start(&place, &["--trust"]);
    gateway.hears(&["ready", "kept"]);
    gateway.hears(&["ready", "lab"]);
    place.write("turnbuckle.toml", &format!("{settings}x = = broken\n"));
    // The error has several lines, because it shows the place.
    gateway.hears(&["turnbuckle.toml` is not valid TOML"]);
    gateway.hears(&["the servers are unchanged"]);
    is_as_before(&place, &gateway, "kept__add");
    std::fs::remove_file(place.path().join("turnbuckle.toml")).expect("it is there");
    gateway.hears(&["turnbuckle.toml` is missing", "unchanged"]);
    is_as_before(&place, &gateway, "kept__add");
    // The content that the user has agreed to.
    place.write("turnbuckle.toml", &settings);
    gateway.hears(&["reloaded", "0 added, 0 changed, 0 removed"]);
    place.write(LAB, "{\"mcpServers\": ");
    gateway.hears(&["servers.json` is not valid JSON", "unchanged"]);
    is_as_before(&place, &gateway, "lab__add");
    assert_eq!(servers(&gateway), ["kept", "lab"]);
}

#[test]
fn an_edited_file_of_a_project_is_used_once_the_user_agrees() {
    let place = Place::new();
    let settings = format!("{RULE}{}", server("kept"));
    place.write("turnbuckle.toml", &settings);
    let gateway = Gateway::start(&place, &["--trust"]);
    gateway.hears(&["ready", "kept"]);
    let edited = format!("{settings}{}", server("second"));
    place.write("turnbuckle.toml", &edited);
    gateway.hears(&["have not agreed", "up --check --trust", "unchanged"]);
    is_as_before(&place, &gateway, "add");
    assert_eq!(servers(&gateway), ["kept"]);
    let agreed = place.run(&["up", "--check", "--trust"]);
    assert!(agreed.status.success(), "{}", stderr(&agreed));
    gateway.hears(&["reloaded", "1 added, 0 changed, 0 removed"]);
    assert_eq!(servers(&gateway), ["kept", "second"]);
    is_as_before(&place, &gateway, "kept__add");
}

#[test]
fn files_that_a_project_imports_are_used_as_the_user_agreed_to_them() {
    let place = Place::with_lab();
    let tool = noted(&place, "started");
    let imported = format!(r#"{{"mcpServers":{{"tool":{tool}}}}}"#);
    place.write("turnbuckle.toml", "import = [\"more.json\"]\n");
    place.write("more.json", &imported);
    let gateway = Gateway::start(&place, &["--trust"]);
    gateway.hears(&["ready", "tool"]);
    let second = noted(&place, "second");
    let changed = format!(r#"{{"mcpServers":{{"tool":{tool},"second":{second}}}}}"#);
    place.write("more.json", &changed);
    gateway.hears(&["more.json` has changed", "have not agreed", "unchanged"]);
    assert_eq!(servers(&gateway), ["lab", "tool"]);
    assert!(!place.path().join("second").exists(), "{}", gateway.said());
    let agreed = place.run(&["up", "--check", "--trust"]);
    assert!(agreed.status.success(), "{}", stderr(&agreed));
    gateway.hears(&["reloaded", "1 added, 0 changed, 0 removed"]);
    assert_eq!(servers(&gateway), ["lab", "second", "tool"]);
    drop(gateway);
    place.write("more.json", &format!("{changed} "));
    let gateway = Gateway::start(&place, &[]);
    gateway.hears(&["more.json", "have not agreed"]);
    assert_eq!(servers(&gateway), ["lab"]);
}

#[test]
fn a_problem_of_a_file_that_is_also_imported_is_reported_once() {
    let place = Place::new();
    let own = "import = [\"./.mcp.json\"]\n[servers.b]\ncommand = \"x\"\n";
    place.write("turnbuckle.toml", own);
    let agreed = place.run(&["up", "--check", "--trust"]);
    assert!(!agreed.status.success(), "{}", stderr(&agreed));
    place.write(".mcp.json", r#"{"mcpServers":{"a":{"command":"x"}}}"#);
    let output = place.run(&["up", "--check"]);
    let said = stderr(&output);
    assert!(said.contains("1 problem in the config"), "{said}");
    assert_eq!(said.matches(".mcp.json` ").count(), 1, "{said}");
}

#[test]
fn files_of_the_user_that_a_project_imports_need_no_agreement() {
    let place = Place::new();
    let one = noted(&place, "one");
    let two = noted(&place, "two");
    place.write("turnbuckle.toml", "import = [\"~/.claude.json\"]\n");
    place.write(
        "home/.claude.json",
        &format!(r#"{{"mcpServers":{{"one":{one}}}}}"#),
    );
    let gateway = Gateway::start(&place, &["--trust"]);
    gateway.hears(&["ready", "one"]);
    place.write(
        "home/.claude.json",
        &format!(r#"{{"mcpServers":{{"one":{one},"two":{two}}}}}"#),
    );
    gateway.hears(&["reloaded", "1 added, 0 changed, 0 removed"]);
    assert_eq!(servers(&gateway), ["one", "two"]);
}

#[test]
fn the_demo_server_stays_until_there_is_another() {
    let place = Place::new();
    std::fs::create_dir_all(place.path().join("home/.config/turnbuckle")).expect("a folder");
    place.write(LAB, "{\"mcpServers\": {}}");
    let gateway = Gateway::start(&place, &[]);
    gateway.hears(&["ready", "demo"]);
    place.write(LAB, "{\"mcpServers\": {} }");
    gateway.hears(&["reloaded", "0 added, 0 changed, 0 removed"]);
    assert_eq!(servers(&gateway), ["demo"]);
    place.name_lab(&format!(
        r#"{{"command":"{BINARY}","args":["serve","--stdio"]}}"#
    ));
    gateway.hears(&["reloaded", "1 added, 0 changed, 1 removed"]);
    assert_eq!(servers(&gateway), ["lab"]);
    // Servers that are removed are not replaced by it.
    place.write(LAB, "{\"mcpServers\": {}}");
    gateway.hears(&["reloaded", "0 added, 0 changed, 1 removed"]);
    assert!(servers(&gateway).is_empty());
}

#[test]
fn a_file_that_appears_is_used() {
    let place = Place::with_lab();
    let gateway = Gateway::start(&place, &[]);
    gateway.hears(&["ready", "lab"]);
    let entry = noted(&place, "started");
    place.write(
        "home/.claude.json",
        &format!(r#"{{"mcpServers":{{"tool":{entry}}}}}"#),
    );
    gateway.hears(&["reloaded", "1 added, 0 changed, 0 removed"]);
    assert_eq!(servers(&gateway), ["lab", "tool"]);
}

#[test]
fn a_file_in_use_that_is_emptied_changes_nothing() {
    let place = Place::with_lab();
    let gateway = Gateway::start(&place, &[]);
    gateway.hears(&["ready", "lab"]);
    place.write(LAB, "");
    gateway.hears(&["servers.json` is empty", "unchanged"]);
    assert_eq!(servers(&gateway), ["lab"]);
    std::fs::remove_file(place.path().join(LAB)).expect("it is there");
    gateway.hears(&["reloaded", "0 added, 0 changed, 1 removed"]);
}

#[test]
fn a_file_that_was_broken_at_the_start_is_used_when_it_is_mended() {
    let place = Place::with_lab();
    place.write(".mcp.json", "{\"mcpServers\": ");
    let gateway = Gateway::start(&place, &["--trust"]);
    gateway.hears(&["ready", "lab"]);
    let entry = format!(r#"{{"command":"{BINARY}","args":["serve","--stdio"]}}"#);
    place.write(
        ".mcp.json",
        &format!(r#"{{"mcpServers":{{"tool":{entry}}}}}"#),
    );
    gateway.hears(&["have not agreed"]);
    let agreed = place.run(&["up", "--check", "--trust"]);
    assert!(agreed.status.success(), "{}", stderr(&agreed));
    gateway.hears(&["reloaded", "1 added, 0 changed, 0 removed"]);
    assert_eq!(servers(&gateway), ["lab", "tool"]);
}

#[test]
fn a_file_that_the_user_agrees_to_later_is_used() {
    let place = Place::with_lab();
    let entry = noted(&place, "started");
    place.write(
        ".mcp.json",
        &format!(r#"{{"mcpServers":{{"tool":{entry}}}}}"#),
    );
    let gateway = Gateway::start(&place, &[]);
    gateway.hears(&["have not agreed"]);
    gateway.hears(&["ready", "lab"]);
    // It is watched, but not used.
    place.write(
        ".mcp.json",
        &format!(r#"{{"mcpServers":{{"tool":{entry}}}}} "#),
    );
    gateway.hears(&["reloaded", "0 added, 0 changed, 0 removed"]);
    assert!(!place.path().join("started").exists());
    let agreed = place.run(&["up", "--check", "--trust"]);
    assert!(agreed.status.success(), "{}", stderr(&agreed));
    gateway.hears(&["reloaded", "1 added, 0 changed, 0 removed"]);
    eventually("the server starts", || {
        place.path().join("started").exists().then_some(())
    });
}

#[test]
fn a_server_that_is_named_has_the_settings_of_its_entry() {
    let place = Place::new();
    std::fs::create_dir_all(place.path().join("home/.config/turnbuckle")).expect("a folder");
    let disabled = server("lab") + "disabled_tools = [\"echo\"]\n";
    place.write("home/.config/turnbuckle/servers.toml", &disabled);
    let gateway = Gateway::start(&place, &["lab"]);
    gateway.hears(&["ready", "lab"]);
    is_as_before(&place, &gateway, "add");
    drop(gateway);
    let hidden = server("lab") + "[servers.lab.tools.echo]\nhide = true\n";
    place.write("turnbuckle.toml", &hidden);
    let gateway = Gateway::start(&place, &["lab", "--trust"]);
    gateway.hears(&["ready", "lab"]);
    is_as_before(&place, &gateway, "add");
}

#[test]
fn failures_have_no_values_of_variables() {
    let place = Place::new();
    place.write(
        "turnbuckle.toml",
        "[servers.far]\nurl = \"http://127.0.0.1:9/${SECRET_PATH}/mcp\"\n\
         [servers.near]\ncommand = \"/no/${SECRET_PATH}\"\n",
    );
    let gateway = Gateway::start_with(&place, &["turnbuckle.toml"], |command| {
        command.env("SECRET_PATH", "sk-secret");
    });
    gateway.hears(&["failed", "http://127.0.0.1:9/${SECRET_PATH}/mcp"]);
    gateway.hears(&["failed", "`/no/${SECRET_PATH}`"]);
    let told = gateway.said() + &gateway.get("/readyz").1;
    assert!(!told.contains("sk-secret"), "{told}");
}

#[test]
fn failures_name_a_whole_url_and_a_folder_as_they_are_written() {
    let place = Place::new();
    place.write(
        "turnbuckle.toml",
        "[servers.far]\nurl = \"${WHOLE}\"\n\
         [servers.base]\nurl = \"${BASE}/mcp\"\n\
         [servers.near]\ncommand = \"sh\"\ncwd = \"/no/${FOLDER}\"\n\
         [servers.bad]\nurl = \"${FOLDER}\"\n\
         [servers.quote]\ncommand = \"${QUOTE}\"\n",
    );
    let set = |command: &mut Command| {
        command
            .env("WHOLE", "http://127.0.0.1:9/sk-secret?x=sk-secret")
            .env("BASE", "http://127.0.0.1:9/sk-secret")
            .env("FOLDER", "sk-secret")
            .env("QUOTE", "x 'sk-secret");
    };
    let gateway = Gateway::start_with(&place, &["turnbuckle.toml"], set);
    gateway.hears(&["failed", "${WHOLE}"]);
    gateway.hears(&["failed", "${BASE}/mcp"]);
    gateway.hears(&["failed", "`/no/${FOLDER}`"]);
    gateway.hears(&["`${FOLDER}` is not an http or https URL"]);
    gateway.hears(&["a quote that is not closed: ${QUOTE}"]);
    let told = gateway.said() + &gateway.get("/readyz").1;
    assert!(!told.contains("sk-secret"), "{told}");
    drop(gateway);
    for words in [
        &["up", "turnbuckle.toml", "--check"][..],
        &["lock", "--check", "--config", "turnbuckle.toml"],
    ] {
        let mut command = place.command(BINARY);
        set(command.args(words));
        let output = command.output().expect("the binary runs");
        let told = stdout(&output) + &stderr(&output);
        assert!(
            told.contains("${FOLDER}") && !told.contains("sk-secret"),
            "{told}"
        );
    }
}

#[test]
fn settings_at_a_place_where_they_have_no_effect_are_reported() {
    let place = Place::new();
    std::fs::create_dir_all(place.path().join("home/.config/turnbuckle")).expect("a folder");
    let hidden = server("lab") + "[servers.lab.tools.echo]\nhide = true\n";
    place.write("home/.config/turnbuckle/servers.toml", &hidden);
    let checked = place.run(&["up", "--check"]);
    let said = stderr(&checked);
    assert!(
        said.contains("`tools` of server `lab`") && said.contains("`turnbuckle.toml`"),
        "{said}"
    );
}

#[test]
fn an_entry_with_a_mistake_is_not_replaced_by_a_farther_one() {
    let place = Place::new();
    std::fs::create_dir_all(place.path().join("home/.config/turnbuckle")).expect("a folder");
    let far = noted(&place, "far");
    place.write(
        "home/.claude.json",
        &format!(r#"{{"mcpServers":{{"lab":{far}}}}}"#),
    );
    place.name_lab(&noted(&place, "near"));
    let gateway = Gateway::start(&place, &[]);
    gateway.hears(&["ready", "lab"]);
    place.name_lab(r#"{"command":""}"#);
    gateway.hears(&["warning: server `lab`"]);
    gateway.hears(&["reloaded", "0 added, 0 changed, 0 removed"]);
    assert_eq!(place.read("near").lines().count(), 1);
    assert!(!place.path().join("far").exists(), "{}", gateway.said());
    drop(gateway);
    let checked = place.run(&["up", "--check"]);
    assert!(!stdout(&checked).contains("lab"), "{}", stdout(&checked));
}
