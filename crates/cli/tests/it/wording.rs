//! Mistakes on a command line: the message names the problem, and the command in the hint can be run.

use crate::program::{BINARY, Place, stderr, stdout};

#[test]
fn a_wrong_address_is_named_before_anything_is_connected_to() {
    let place = Place::new();
    for (address, wanted) in [
        ("http://", "error: `http://` is not a server URL\n"),
        ("http://[::1", "error: `http://[::1` is not a server URL\n"),
        ("ftp://x/y", "error: `ftp://x/y` is not a server URL\n"),
        (
            "http://ada:sesame@127.0.0.1:1/mcp",
            "error: the URL of the server contains credentials\n",
        ),
        (
            "gopher://x/y?key=sesame",
            "error: `gopher://x/y` is not a server URL\n",
        ),
    ] {
        let output = place.run(&["list", address]);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.starts_with(wanted), "{said}");
        assert!(!said.contains("sesame"), "{said}");
        assert_eq!(said.matches("hint:").count(), 1, "{said}");
    }
}

#[test]
fn a_hint_with_a_command_can_be_run_unchanged() {
    let place = Place::new();
    for (words, what, rest) in [
        (&["call"][..], "list", ""),
        (&["call", "zzzzzzzz"], "list", ""),
        (&["get"], "list", " prompts"),
        (&["read"], "list", " resources"),
        (&["tasks", "dance"], "tasks", " list"),
    ] {
        let output = place.run(&[words, &["--", BINARY, "serve", "--stdio"]].concat());
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        let hint = format!("hint: `turnbuckle {what}{rest} -- {BINARY} serve --stdio` ");
        let said = stderr(&output);
        assert!(said.contains(&hint), "{said}");
    }
}

#[test]
fn an_unknown_option_is_not_sent_behind_the_dashes_of_a_command() {
    let place = Place::new();
    let output = place.run(&["list", "lab", "--zzzz"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let said = stderr(&output);
    assert!(said.contains("unexpected argument '--zzzz'"), "{said}");
    assert!(!said.contains("-- --zzzz"), "{said}");
    // A similar option is still suggested.
    let said = stderr(&place.run(&["list", "lab", "--rot"]));
    assert!(
        said.contains("a similar argument exists: '--root'"),
        "{said}"
    );
    assert!(!said.contains("-- --rot"), "{said}");
}

#[test]
fn of_several_servers_with_one_name_the_list_says_which_is_used() {
    let place = Place::new();
    place.write(
        ".mcp.json",
        r#"{"mcpServers": {"lab": {"command": "no-such-program-xyz"}, "alone": {"command": "sh"}}}"#,
    );
    std::fs::create_dir(place.path().join(".vscode")).expect("a folder");
    place.write(
        ".vscode/mcp.json",
        r#"{"servers": {"lab": {"command": "sh"}}}"#,
    );
    let said = stdout(&place.run(&["servers"]));
    let lines = said.lines().filter(|line| line.contains("lab"));
    let (hidden, used): (Vec<_>, Vec<_>) = lines.partition(|line| line.contains("not used: `"));
    assert_eq!((hidden.len(), used.len()), (1, 1), "{said}");
    assert!(hidden[0].contains("no-such-program-xyz"), "{said}");
    assert!(
        hidden[0].contains(".vscode/mcp.json` has a server of the same name"),
        "{said}"
    );
    let all: serde_json::Value =
        serde_json::from_str(&stdout(&place.run(&["servers", "--json"]))).expect("it is JSON");
    let servers = all["files"].as_array().expect("files").iter();
    let servers: Vec<_> = servers
        .flat_map(|file| file["servers"].as_array().expect("servers"))
        .collect();
    let hidden = servers
        .iter()
        .filter(|server| server.get("hiddenBy").is_some());
    assert_eq!(hidden.count(), 1, "{all}");
}

/// Such an argument would overflow the stack.
#[test]
fn an_argument_that_is_nested_too_deep_is_refused() {
    let place = Place::with_lab();
    let levels = 100_000;
    let json = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    std::fs::write(place.path().join("deep.json"), json).expect("it can be written");
    let file = format!("text:=@{}", place.path().join("deep.json").display());
    let output = place.run(&["call", "lab", "echo", &file]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let said = stderr(&output);
    assert!(said.contains("nested deeper than 128 levels"), "{said}");
}

/// An input that an editor would ask for comes from the environment.
#[test]
fn an_input_of_a_config_file_can_be_given() {
    let place = Place::new();
    let config = format!(
        r#"{{"inputs":[{{"id":"api-key","type":"promptString","description":"Key","password":true}}],
            "servers":{{"lab":{{"type":"stdio","command":"{BINARY}","args":["serve","--stdio"],"env":{{"KEY":"${{input:api-key}}"}}}}}}}}"#
    );
    std::fs::create_dir_all(place.path().join("home/.config/Code/User")).expect("there is room");
    place.write("home/.config/Code/User/mcp.json", &config);
    let output = place.run(&["call", "lab", "echo", "text=hi"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let said = stderr(&output);
    assert!(
        said.ends_with("hint: set TURNBUCKLE_INPUT_API_KEY\n"),
        "{said}"
    );
    let line = "TURNBUCKLE_INPUT_API_KEY=x turnbuckle call lab echo text=hi";
    assert_eq!(stdout(&place.shell(line)), "hi\n");
}

/// The value of an input, or of a variable whose name marks it as a secret, is only sent to the server.
#[test]
fn what_is_filled_in_is_not_shown() {
    let place = Place::new();
    let config = format!(
        r#"{{"inputs":[{{"id":"api-key","type":"promptString","description":"Key","password":true}}],
            "servers":{{"lab":{{"type":"stdio","command":"sh","args":["-c","exec {BINARY} serve --stdio","${{input:api-key}}","${{GITHUB_TOKEN}}"]}}}}}}"#
    );
    std::fs::create_dir_all(place.path().join("home/.config/Code/User")).expect("there is room");
    place.write("home/.config/Code/User/mcp.json", &config);
    for words in ["servers", "servers --json", "list lab"] {
        let given = "TURNBUCKLE_INPUT_API_KEY=sesame-1 GITHUB_TOKEN=sesame-2";
        let output = place.shell(&format!("{given} turnbuckle {words}"));
        let said = stdout(&output);
        assert!(
            said.contains("serve --stdio *** ***"),
            "{words}: {output:?}"
        );
        assert!(!said.contains("sesame"), "{words}: {said}");
    }
}

#[test]
fn what_is_like_something_that_there_is_is_suggested() {
    let place = Place::with_lab();
    for (words, code, wanted) in [
        (
            &["list", "lab", "tols"][..],
            2,
            "hint: did you mean `tools`?\n",
        ),
        (
            &["list", "lab", "wether"],
            2,
            "hint: did you mean `weather`?\n",
        ),
        (
            &["list", "lab", "zzzzzz"],
            2,
            "hint: `turnbuckle list lab` lists all of them\n",
        ),
        (
            &["list", "lab", "tools", "echo", "more"],
            2,
            "the start of a name\n",
        ),
        (
            &["read", "lab", "demo://tick"],
            4,
            "hint: did you mean `demo://ticks`?\n",
        ),
    ] {
        let output = place.run(words);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{words:?}: {said}");
        assert!(said.ends_with(wanted), "{words:?}: {said}");
        assert_eq!(stdout(&output), "", "{words:?}");
    }
}

/// If a server cannot be reached, the next step is doctor, and the libraries in between print nothing.
#[test]
fn a_failed_connection_hints_at_the_doctor() {
    let place = Place::new();
    let output = place.run(&["list", "http://127.0.0.1:1/mcp?key=sesame"]);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let wanted = "error: server `http://127.0.0.1:1/mcp` could not be reached
  because: cannot connect to http://127.0.0.1:1/mcp
  because: Connection refused (os error 111)
hint: run `turnbuckle doctor 'http://127.0.0.1:1/mcp?…'` to find the cause
";
    assert_eq!(stderr(&output), wanted);
}

/// A name has no meaning without the file that it is looked up in.
#[test]
fn a_hint_about_a_name_says_in_which_file_it_is() {
    let place = Place::new();
    let entry = r#"{"mcpServers":{"lab":{"url":"http://127.0.0.1:1/mcp"}}}"#;
    place.write("my servers.json", entry);
    let output = place.run(&["list", "--config", "my servers.json", "lab"]);
    let said = stderr(&output);
    let line = "turnbuckle doctor --config 'my servers.json' lab";
    let hint = format!("hint: run `{line}` to find the cause\n");
    assert!(said.ends_with(&hint), "{said}");
    assert!(stdout(&place.shell(line)).contains("lab"));
}

/// A response that is not from an MCP server is explained once.
#[test]
fn a_response_that_is_not_from_a_server_is_explained() {
    let place = Place::new();
    for (fault, wanted) in [
        (
            "breaks",
            "because: the server refused `initialize` with HTTP status 502 upstream connect error (tried: `server/discover` at 2026-07-28: HTTP status 502; ",
        ),
        ("pages", "is this the URL of an MCP server?"),
    ] {
        let site = crate::doctor::Site::broken(fault, &[]);
        let url = format!("http://127.0.0.1:{}/mcp", site.port);
        let output = place.run(&["list", &url]);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(4), "{said}");
        assert!(said.contains(wanted), "{said}");
        assert!(!said.contains("error 0"), "{said}");
        let hint = format!("hint: run `turnbuckle doctor {url}` to find the cause\n");
        assert!(said.ends_with(&hint), "{said}");
    }
}
