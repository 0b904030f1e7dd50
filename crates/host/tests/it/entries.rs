//! How entries of config files are read.

use std::path::PathBuf;

use turnbuckle_host::config::{EntryError, Launch, Remote, Wire};

use crate::{command, entries, given, launch, remote};

#[test]
fn commands_are_programs_lines_lists_and_objects() {
    for settings in [
        r#"{"command": "npx", "args": ["-y", "my server"]}"#,
        r#"{"command": "npx -y 'my server'"}"#,
        r#"{"type": "local", "command": ["npx", "-y", "my server"]}"#,
        r#"{"command": {"path": "npx", "args": ["-y", "my server"]}}"#,
        r#"{"type": "stdio", "command": "npx", "args": ["-y"], "x": 1, "args": ["-y", "my server"]}"#,
        r#"{"cmd": "npx", "args": ["-y", "my server"]}"#,
    ] {
        assert_eq!(
            launch(settings).unwrap(),
            command(&["npx", "-y", "my server"]),
            "{settings}"
        );
    }
    // If the entry has arguments, its path may contain blanks.
    let settings = r#"{"command": "/opt/My Tools/run", "args": []}"#;
    assert_eq!(launch(settings).unwrap(), command(&["/opt/My Tools/run"]));
}

// rule: A25
#[test]
fn environment_and_folder_have_their_aliases() {
    for settings in [
        r#"{"command": "x", "env": {"PORT": 80, "ON": true}, "cwd": "/srv"}"#,
        r#"{"command": "x", "environment": {"PORT": "80", "ON": "true"}, "workingDirectory": "/srv"}"#,
    ] {
        let wanted = Launch::Command {
            program: "x".into(),
            arguments: Vec::new(),
            environment: vec![("PORT".into(), "80".into()), ("ON".into(), "true".into())],
            folder: Some(PathBuf::from("/srv")),
        };
        assert_eq!(launch(settings).unwrap(), wanted, "{settings}");
    }
}

#[test]
fn addresses_have_their_aliases() {
    let url = "https://example.com/mcp";
    for (settings, wire) in [
        (r#"{"url": "https://example.com/mcp"}"#, Wire::Any),
        (r#"{"serverUrl": "https://example.com/mcp"}"#, Wire::Any),
        (
            r#"{"type": "remote", "url": "https://example.com/mcp"}"#,
            Wire::Any,
        ),
        (
            r#"{"httpUrl": "https://example.com/mcp"}"#,
            Wire::StreamableHttp,
        ),
        (
            r#"{"type": "http", "url": "https://example.com/mcp"}"#,
            Wire::StreamableHttp,
        ),
        (
            r#"{"type": "streamable-http", "url": "https://example.com/mcp"}"#,
            Wire::StreamableHttp,
        ),
        (
            r#"{"type": "streamableHttp", "url": "https://example.com/mcp"}"#,
            Wire::StreamableHttp,
        ),
        (
            r#"{"type": "sse", "url": "https://example.com/mcp"}"#,
            Wire::HttpSse,
        ),
    ] {
        assert_eq!(launch(settings).unwrap(), remote(url, wire), "{settings}");
    }
}

#[test]
fn variables_are_filled_in() {
    for (text, value) in [
        ("${TOKEN}", "s3cret"),
        ("${env:TOKEN}", "s3cret"),
        ("Bearer ${TOKEN}!", "Bearer s3cret!"),
        ("${MISSING:-fallback}", "fallback"),
        ("${EMPTY:-fallback}", "fallback"),
        ("${EMPTY}", ""),
        ("${MISSING:-}", ""),
        ("${input:key}", "k-1"),
        // Variables that are not expanded.
        ("${workspaceFolder}/${a.b}", "${workspaceFolder}/${a.b}"),
        ("$TOKEN", "$TOKEN"),
    ] {
        let document = format!(
            r#"{{"inputs": [{{"id": "key", "type": "promptString"}}],
                 "servers": {{"a": {{"url": "http://x/", "headers": {{"H": "{text}"}}}}}}}}"#
        );
        let variables = crate::Given {
            environment: [
                ("TOKEN", "s3cret"),
                ("EMPTY", ""),
                ("workspaceFolder", "${workspaceFolder}"),
            ]
            .into(),
            ..given()
        };
        let wanted = Launch::Remote(Remote {
            url: "http://x/".into(),
            headers: vec![("H".into(), value.into())],
            wire: Wire::Any,
        });
        let entry = &entries("mcp.json", &document)[0];
        assert_eq!(entry.launch(&variables), Ok(wanted), "{text}");
    }
}

#[test]
fn a_value_with_blanks_is_one_argument_of_a_command_line() {
    let settings = r#"{"command": "db --dsn ${VALUE} '--at=${VALUE}' ${NONE:-two words}"}"#;
    let wanted = ["db", "--dsn", "va lue", "--at=va lue", "two words"];
    let with = |settings: &str, value: &'static str| {
        let document = format!(r#"{{"mcpServers": {{"it": {settings}}}}}"#);
        let variables = crate::Given {
            environment: [("VALUE", value)].into(),
            ..given()
        };
        entries("mcp.json", &document)[0].launch(&variables)
    };
    assert_eq!(with(settings, "va lue"), Ok(command(&wanted)));
    // The value of a variable may be a whole command line.
    let whole = with(r#"{"command": "${VALUE}"}"#, "db --verbose");
    assert_eq!(whole, Ok(command(&["db", "--verbose"])));
    let default = with(r#"{"command": "${NONE:-db --verbose}"}"#, "");
    assert_eq!(default, Ok(command(&["db", "--verbose"])));
    // A path in quotes is one word.
    let quoted = with(r#"{"command": "'/opt/my db/db'"}"#, "");
    assert_eq!(quoted, Ok(command(&["/opt/my db/db"])));
}

#[test]
fn a_secret_that_is_not_set_is_named() {
    let error = launch(r#"{"command": "x", "env": {"KEY": "${MISSING}"}}"#).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the environment variable `MISSING` is not set (`env.KEY` needs it)"
    );
    let document = r#"{"inputs": [{"id": "token", "description": "API token", "password": true}],
                       "servers": {"a": {"url": "http://x/", "headers": {"H": "${input:token}"}}}}"#;
    let error = entries("mcp.json", document)[0]
        .launch(&given())
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the input `token` (API token) was not given (`headers.H` needs it)"
    );
}

/// Files with `mcpServers` cannot declare inputs.
#[test]
fn an_input_that_the_file_does_not_declare_is_given_too() {
    let key = launch(r#"{"command": "${input:key}"}"#);
    assert_eq!(key.unwrap(), command(&["k-1"]));
    let error = launch(r#"{"command": "${input:other}"}"#).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the input `other` (the file does not declare it) was not given (`command` needs it)"
    );
}

#[test]
fn codex_names_the_variables_that_hold_its_secrets() {
    let toml = "[mcp_servers.a]\nurl = \"https://x/\"\nbearer_token_env_var = \"TOKEN\"\n";
    let launch = entries("config.toml", toml)[0].launch(&given());
    let Ok(Launch::Remote(remote)) = launch else {
        panic!("{launch:?}")
    };
    assert_eq!(
        remote.headers,
        [("Authorization".to_owned(), "Bearer s3cret".to_owned())]
    );
}

#[test]
fn what_is_wrong_is_said() {
    for (settings, problem) in [
        (r#"{"command": "x", "url": "http://x/"}"#, EntryError::Both),
        (
            r#"{"type": "carrier-pigeon", "url": "http://x/"}"#,
            EntryError::UnknownType {
                found: "carrier-pigeon".into(),
            },
        ),
        (
            r#"{"type": "http", "command": "x"}"#,
            EntryError::NoCommandOrUrl,
        ),
        (
            r#"{"url": "ftp://x/"}"#,
            EntryError::NotAUrl {
                url: "ftp://x/".into(),
            },
        ),
        (
            r#"{"command": "x 'y"}"#,
            EntryError::OpenQuote {
                line: "x 'y".into(),
            },
        ),
        (
            r#"{"command": "x", "args": "y"}"#,
            EntryError::WrongKind {
                key: "args".into(),
                expected: "a list of strings",
            },
        ),
        (
            r#"{"command": "x", "args": ["${A"]}"#,
            EntryError::Unclosed { key: "args".into() },
        ),
        (
            r#"{"command": []}"#,
            EntryError::WrongKind {
                key: "command".into(),
                expected: "a list with a program",
            },
        ),
        (
            r#"{"cmd": ""}"#,
            EntryError::WrongKind {
                key: "cmd".into(),
                expected: "the name of a program",
            },
        ),
        (
            r#"{"command": " ", "args": ["x"]}"#,
            EntryError::WrongKind {
                key: "command".into(),
                expected: "the name of a program",
            },
        ),
        (
            r#"{"command": [""]}"#,
            EntryError::WrongKind {
                key: "command".into(),
                expected: "the name of a program",
            },
        ),
    ] {
        assert_eq!(launch(settings), Err(problem), "{settings}");
    }
}

#[test]
fn a_server_needs_a_name() {
    let document = r#"{"mcpServers": {"": {"command": "x"}, "a": {"command": "x"}}}"#;
    let launches = entries("mcp.json", document).into_iter();
    let launches: Vec<_> = launches.map(|entry| entry.launch(&given())).collect();
    assert_eq!(launches, [Err(EntryError::Unnamed), Ok(command(&["x"]))]);
}
