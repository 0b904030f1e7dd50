//! Config files of projects, which may come from anyone.

use crate::program::{BINARY, Place, stderr, stdout};

/// A project whose config file has the server `tool`, which creates a file when it is started.
fn with_project() -> Place {
    let place = Place::with_lab();
    let script = format!("touch started; exec {BINARY} serve --stdio");
    let entry = format!(r#"{{"command":"sh","args":["-c","{script}"]}}"#);
    place.write(
        ".mcp.json",
        &format!(r#"{{"mcpServers":{{"tool":{entry}}}}}"#),
    );
    place
}

fn has_started(place: &Place) -> bool {
    place.path().join("started").exists()
}

#[test]
fn a_projects_file_is_used_once_the_user_has_agreed() {
    let place = with_project();
    let output = place.run(&["list", "tool"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    let said = stderr(&output);
    assert!(said.contains("you have not agreed to use it"), "{said}");
    assert!(said.contains("--trust"), "{said}");
    assert!(!has_started(&place));
    let known = stdout(&place.run(&["servers", "--json"]));
    assert!(known.contains(r#""trusted":false"#), "{known}");
    // Trusted, and remembered.
    for words in [&["list", "tool", "--trust"][..], &["list", "tool"]] {
        let output = place.run(words);
        assert!(output.status.success(), "{}", stderr(&output));
    }
    assert!(has_started(&place));
    // A file with the same name but other content is not trusted.
    place.write(
        ".mcp.json",
        &place.read(".mcp.json").replace("touch", "true; touch"),
    );
    let output = place.run(&["list", "tool"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    // A file that the user names is trusted.
    let output = place.run(&["list", "--config", ".mcp.json", "tool"]);
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn completion_starts_nothing_that_is_not_trusted() {
    let place = with_project();
    let output = place.run(&["__complete", "--", "call", "tool", ""]);
    assert!(output.status.success() && output.stderr.is_empty());
    assert!(!has_started(&place));
    assert!(place.run(&["list", "tool", "--trust"]).status.success());
    let tools = stdout(&place.run(&["__complete", "--", "call", "tool", ""]));
    assert!(tools.contains("echo"), "{tools}");
}

/// A secret of the environment is not sent to a URL that a project chooses.
#[test]
fn a_projects_url_gets_no_secret() {
    let place = Place::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("there is a port");
    let url = format!(
        "http://{}/?key=${{SECRET}}",
        listener.local_addr().expect("it has one")
    );
    place.write(
        ".mcp.json",
        &format!(r#"{{"mcpServers":{{"web":{{"url":"{url}"}}}}}}"#),
    );
    let mut command = place.command(BINARY);
    let output = command
        .args(["list", "web"])
        .env("SECRET", "sesame")
        .output();
    let output = output.expect("the binary runs");
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    listener.set_nonblocking(true).expect("it can be looked at");
    assert!(listener.accept().is_err(), "a client connected");
}

#[cfg(unix)]
#[test]
fn a_file_of_another_user_does_not_hide_the_users_own() {
    let place = Place::with_lab();
    let entry = r#"{"mcpServers":{"lab":{"command":"touch","args":["started"]}}}"#;
    place.write("strange", entry);
    let file = place.path().join("strange");
    let link = place.path().join(".mcp.json");
    if std::os::unix::fs::chown(&file, Some(12_345), None).is_ok() {
        std::fs::rename(&file, &link).expect("it can be renamed");
    } else {
        // Only root can change the owner of a file, so other users test with a link to a file of root's.
        std::os::unix::fs::symlink("/etc/passwd", &link).expect("a link can be made");
    }
    let output = place.run(&["list", "lab"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let said = stderr(&output);
    assert!(said.contains("belongs to another user"), "{said}");
    assert!(!has_started(&place));
    let said = stderr(&place.run(&["servers"]));
    assert!(said.contains("belongs to another user"), "{said}");
}

#[test]
fn a_server_that_hides_another_is_named_and_a_broken_one_hides_none() {
    let place = Place::with_lab();
    std::fs::create_dir_all(place.path().join("home/.cursor")).expect("a folder can be made");
    let healthy = format!(r#"{{"command":"{BINARY}","args":["serve","--stdio"]}}"#);
    let other = format!(r#"{{"mcpServers":{{"lab":{healthy}}}}}"#);
    place.write("home/.cursor/mcp.json", &other);
    let said = stderr(&place.run(&["list", "lab"]));
    assert!(said.contains("hides the one of"), "{said}");
    assert!(said.contains(".cursor/mcp.json"), "{said}");
    for broken in [
        r#"{"command":"${NO_SUCH_VARIABLE_IS_SET}"}"#,
        r#"{"command":"no-such-program-anywhere"}"#,
    ] {
        place.name_lab(broken);
        let output = place.run(&["list", "lab"]);
        let said = stderr(&output);
        assert!(output.status.success(), "{said}");
        assert!(said.contains("cannot be used"), "{said}");
    }
}

#[test]
fn a_program_that_is_not_there_is_marked() {
    let place = Place::new();
    place.name_lab(r#"{"command":"no-such-program-anywhere"}"#);
    let said = stdout(&place.run(&["servers"]));
    assert!(
        said.contains("there is no program `no-such-program-anywhere`"),
        "{said}"
    );
}
