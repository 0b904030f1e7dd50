//! The variables of the environment that the programs of servers inherit.

use std::{fs, process::Stdio};

use serde_json::json;

use crate::{
    program::{BINARY, Place, stderr},
    up::Gateway,
};

/// The entry of a program that writes its environment to `NAME.txt` and is the demo server.
fn dumping(name: &str, more: &str) -> String {
    let script = format!("env > {name}.txt; exec '{BINARY}' serve --stdio");
    format!("[servers.{name}]\ncommand = \"sh\"\nargs = [\"-c\", \"{script}\"]\n{more}\n")
}

/// The variables that the program of a server had when it started.
fn environment(place: &Place, name: &str) -> Vec<String> {
    let text = place.read(&format!("{name}.txt"));
    text.lines().map(str::to_owned).collect()
}

fn names(environment: &[String]) -> Vec<&str> {
    let names = environment.iter().filter_map(|line| line.split_once('='));
    names.map(|(name, _)| name).collect()
}

const KEYS: &str = "[[gateway.keys]]\nname = \"ada\"\nenv = \"ADA_KEY\"\n";

const REMOTE: &str = "[servers.crm]\nurl = \"http://127.0.0.1:9/mcp\"\n";

#[test]
fn servers_of_a_gateway_get_no_secrets_of_others() {
    let place = Place::new();
    let config = [
        KEYS,
        REMOTE,
        "credentials = { env = \"CRM_TOKEN\" }\n",
        "[servers.wiki]\nurl = \"http://127.0.0.1:9/mcp\"\nheaders = { X-Key = \"${WIKI_KEY}\" }\n",
        "[servers.off]\ncommand = \"off\"\nargs = [\"${OFF_KEY}\", \"${HOME}\"]\ndisabled = true\n",
        &dumping(
            "one",
            "env = { OWN = \"${OWN_KEY}\", OFF_KEY = \"${OFF_KEY}\" }",
        ),
        &dumping("other", ""),
    ];
    place.write("turnbuckle.toml", &config.concat());
    let gateway = Gateway::start_with(&place, &["turnbuckle.toml"], |command| {
        for name in [
            "CRM_TOKEN",
            "WIKI_KEY",
            "OFF_KEY",
            "OWN_KEY",
            "OPENAI_API_KEY",
        ] {
            command.env(name, format!("value-of-{name}"));
        }
        command.env("ADA_KEY", "ada-has-a-long-key");
        command.env("TURNBUCKLE_SECRET", "a-secret-of-thirty-two-characters");
        command.env("TURNBUCKLE_INPUT_TOKEN", "typed");
        command.env("VISIBLE", "yes");
    });
    gateway.hears(&["ready", "one"]);
    gateway.hears(&["ready", "other"]);
    let (one, other) = (environment(&place, "one"), environment(&place, "other"));
    for name in ["HOME", "PATH", "VISIBLE"] {
        assert!(names(&one).contains(&name), "{name} in {one:?}");
    }
    for name in [
        "ADA_KEY",
        "CRM_TOKEN",
        "WIKI_KEY",
        "OWN_KEY",
        "OPENAI_API_KEY",
        "TURNBUCKLE_SECRET",
        "TURNBUCKLE_INPUT_TOKEN",
    ] {
        assert!(!names(&one).contains(&name), "{name} in {one:?}");
        assert!(!names(&other).contains(&name), "{name} in {other:?}");
    }
    // What the entry of a server sets, it has.
    for line in ["OWN=value-of-OWN_KEY", "OFF_KEY=value-of-OFF_KEY"] {
        assert!(one.iter().any(|it| it == line), "{line} in {one:?}");
    }
    assert!(!names(&other).contains(&"OFF_KEY"), "{other:?}");
}

#[test]
fn a_reload_withholds_new_secrets_and_keeps_the_old_ones() {
    let place = Place::new();
    place.write("turnbuckle.toml", &format!("{KEYS}{}", dumping("one", "")));
    let gateway = Gateway::start_with(&place, &["turnbuckle.toml"], |command| {
        command.env("ADA_KEY", "ada-has-a-long-key");
        command.env("CRM_TOKEN", "value");
    });
    gateway.hears(&["ready", "one"]);
    assert!(names(&environment(&place, "one")).contains(&"CRM_TOKEN"));
    // The guard still has the key that the file no longer names.
    let crm = format!("{REMOTE}credentials = {{ env = \"CRM_TOKEN\" }}\n");
    let config = [&*dumping("one", ""), &crm, &dumping("two", "")].concat();
    place.write("turnbuckle.toml", &config);
    gateway.hears(&["ready", "two"]);
    let two = environment(&place, "two");
    for name in ["ADA_KEY", "CRM_TOKEN"] {
        assert!(!names(&two).contains(&name), "{name} in {two:?}");
    }
}

/// A client starts `record` in place of the command, and sets the variables that the server needs.
#[test]
fn a_recorded_command_has_the_whole_environment_and_an_entry_no_secrets_of_ours() {
    let place = Place::new();
    let script = |name: &str| format!("env > {name}.txt; exec '{BINARY}' serve --stdio");
    let entry = json!({ "command": "sh", "args": ["-c", script("entry")] });
    let config = json!({ "mcpServers": { "entry": entry } });
    place.write("servers.json", &config.to_string());
    let record = |words: &[&str]| {
        let mut command = place.command(BINARY);
        command.args(["record", "session.jsonl"]).args(words);
        command.env("OPENAI_API_KEY", "of-the-server");
        command.env("TURNBUCKLE_INPUT_TOKEN", "typed");
        let output = command.stdin(Stdio::null()).output().expect("it runs");
        assert!(output.status.success(), "{}", stderr(&output));
    };
    record(&["--", "sh", "-c", &script("command")]);
    record(&["entry", "--config", "servers.json"]);
    let (command, entry) = (environment(&place, "command"), environment(&place, "entry"));
    for (name, by_command, by_entry) in [
        ("PATH", true, true),
        ("OPENAI_API_KEY", true, true),
        ("TURNBUCKLE_INPUT_TOKEN", true, false),
    ] {
        assert_eq!(names(&command).contains(&name), by_command, "{command:?}");
        assert_eq!(names(&entry).contains(&name), by_entry, "{entry:?}");
    }
}

#[test]
fn no_command_passes_on_the_secret_of_replicas() {
    let place = Place::new();
    let script = format!("env > tool.txt; exec '{BINARY}' serve --stdio");
    let mut command = place.command(BINARY);
    command.args(["list", "--", "sh", "-c", &script]);
    command
        .env("TURNBUCKLE_SECRET", "a-secret")
        .env("VISIBLE", "yes");
    let output = command
        .env("TURNBUCKLE_REDIS", "redis://:password@host")
        .output()
        .expect("it runs");
    assert!(output.status.success(), "{}", stderr(&output));
    let tool = environment(&place, "tool");
    assert!(names(&tool).contains(&"VISIBLE"), "{tool:?}");
    for name in ["TURNBUCKLE_SECRET", "TURNBUCKLE_REDIS"] {
        assert!(!names(&tool).contains(&name), "{tool:?}");
    }
    fs::remove_file(place.path().join("tool.txt")).expect("it was there");
}
