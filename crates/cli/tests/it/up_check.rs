//! `turnbuckle up --check`, and files that the user has to agree to before they are served.

use crate::{
    program::{Place, stderr, stdout},
    up::{Gateway, noted},
};

#[test]
fn a_config_is_checked_without_starting_anything() {
    let place = Place::new();
    let entry = noted(&place, "started");
    place.write("good.json", &format!(r#"{{"mcpServers":{{"a":{entry}}}}}"#));
    let output = place.run(&["up", "good.json", "--check"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let shown = stdout(&output);
    assert!(
        shown.starts_with("a\tsh -c ") && !shown.contains("ServerSpec"),
        "{shown}"
    );
    assert!(!place.path().join("started").exists());
    let output = place.run(&["up", "--check", "--only", "b"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("no config file has a server"));
    let output = place.run(&["up", "good.json", "--check", "--only", "b"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("configured servers: a"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_chosen_server_whose_entry_is_wrong_is_not_unknown() {
    let place = Place::new();
    place.write(
        "a.toml",
        "[gateway]\nonly = [\"git\", \"crm\"]\n[servers.git]\ncommand = \"x\"\n\
         [servers.crm]\nurl = \"http://127.0.0.1:9/${NO_SUCH_TOKEN}\"\n",
    );
    let output = place.run(&["up", "a.toml", "--check"]);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("`NO_SUCH_TOKEN` is not set")
            && said.contains("the entry of server `crm` cannot be used")
            && !said.contains("unknown server"),
        "{said}"
    );
}

/// Checks each file, whose text has a mistake; the part of the error comes last.
fn are_refused(mistakes: &[(&str, &str, &str)]) {
    let place = Place::new();
    for (name, text, part) in mistakes {
        place.write(name, text);
        let output = place.run(&["up", name, "--check"]);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{name}: {said}");
        assert!(said.contains(part), "{name}: {said}");
    }
}

#[test]
fn mistakes_in_servers_and_rules_are_found() {
    are_refused(&[
        (
            "bad.toml",
            "[gateway]\nlistn = \"x\"\n[servers.a]\ncommand = \"x\"",
            "listn",
        ),
        (
            "rate.toml",
            "[[gateway.policy]]\nrate = \"often\"\n[servers.a]\ncommand = \"x\"",
            "often",
        ),
        (
            "concurrency.toml",
            "[[gateway.policy]]\nconcurrency = 0\n[servers.a]\ncommand = \"x\"",
            "use `deny`",
        ),
        (
            "command.toml",
            "[servers.a]\ncommand = \"\"",
            "the name of a program",
        ),
        (
            "name.toml",
            "[servers.\"\"]\ncommand = \"x\"",
            "its name is empty",
        ),
        (
            "only.toml",
            "[gateway]\nonly = [\"a\"]\n[servers.a]\nurl = \"http://127.0.0.1:9/mcp\"\n\
             credentials = { env = \"NO_SUCH_TOKEN\" }",
            "`NO_SUCH_TOKEN` is not set",
        ),
        // The next one has this as its lock file.
        ("bad.json", "{", "bad.json"),
        (
            "lock.toml",
            "[gateway]\nlock = \"enforce\"\nlock-file = \"bad.json\"\n[servers.a]\ncommand = \"x\"",
            "`bad.json` is not a lock file",
        ),
        ("empty.json", r#"{"mcpServers":{}}"#, "no servers"),
    ]);
}

#[test]
fn mistakes_in_how_the_gateway_is_reached_are_found() {
    are_refused(&[
        (
            "key.toml",
            "[[gateway.keys]]\nname = \"a\"\nenv = \"NO_SUCH_KEY\"\n[servers.a]\ncommand = \"x\"",
            "NO_SUCH_KEY",
        ),
        (
            "listen.toml",
            "[gateway]\nlisten = \"nonsense\"\n[servers.a]\ncommand = \"x\"",
            "nonsense",
        ),
        (
            "admin.toml",
            "[gateway]\nadmin = \"xx\"\n[servers.a]\ncommand = \"x\"",
            "`admin`",
        ),
        (
            "addresses.toml",
            "[gateway]\nadmin = \"127.0.0.1:7250\"\n[servers.a]\ncommand = \"x\"",
            "for operators",
        ),
        (
            "public.toml",
            "[gateway]\npublic-url = \"mcp.example\"\n[servers.a]\ncommand = \"x\"",
            "`mcp.example` in `public-url`",
        ),
        (
            "hosts.toml",
            "[gateway]\nallow-hosts = [\"http://x/\"]\n[servers.a]\ncommand = \"x\"",
            "`http://x/` in `allow-hosts`",
        ),
        (
            "sign-in.toml",
            "[gateway]\nlisten = \"0.0.0.0:0\"\n[servers.a]\nurl = \"http://127.0.0.1:9/mcp\"\n\
             credentials = { sign-in = \"caller\" }",
            "cannot tell callers apart",
        ),
        (
            "audience.toml",
            "[gateway]\nlisten = \"0.0.0.0:0\"\n[gateway.oauth]\nissuer = \"https://login.example\"\n\
             [servers.a]\ncommand = \"x\"",
            "needs an `audience`",
        ),
        (
            "issuer.toml",
            "[gateway.oauth]\nissuer = \"nonsense\"\n[servers.a]\ncommand = \"x\"",
            "the issuer `nonsense`",
        ),
        (
            "log.toml",
            "[gateway]\naccess-log = \"no/such/folder\"\n[servers.a]\ncommand = \"x\"",
            "cannot write `no/such/folder`",
        ),
    ]);
}

/// Some settings depend on the address, which is only known when the gateway listens.
#[test]
fn settings_are_checked_for_a_free_port_and_for_a_host_name() {
    let place = Place::new();
    let oauth = "[gateway.oauth]\nissuer = \"http://127.0.0.1:1\"\n[servers.a]\ncommand = \"x\"\n";
    place.write("oauth.toml", oauth);
    let sign_in = "[servers.a]\nurl = \"http://127.0.0.1:9/mcp\"\n\
                   credentials = { sign-in = \"caller\" }\n";
    place.write("sign-in.toml", sign_in);
    for (file, listen) in [
        ("oauth.toml", "127.0.0.1:0"),
        ("oauth.toml", "[::1]:0"),
        ("oauth.toml", "localhost:0"),
        ("sign-in.toml", "127.0.0.1:0"),
        ("sign-in.toml", "127.1:0"),
        ("sign-in.toml", "a-name-of-loopback:7250"),
    ] {
        let output = place.run(&["up", file, "--check", "--listen", listen]);
        assert!(output.status.success(), "{listen}: {}", stderr(&output));
    }
    place.write(
        "issuer.toml",
        &oauth.replace("http://127.0.0.1:1", "not a url"),
    );
    let output = place.run(&["up", "issuer.toml", "--check", "--listen", "127.0.0.1:0"]);
    let said = stderr(&output);
    assert!(said.contains("the issuer `not a url`"), "{said}");
}

/// The line with a mistake may have a key in it, and the message may be written to a log.
#[test]
fn a_mistake_is_reported_without_the_text_around_it() {
    let place = Place::new();
    for (name, text) in [
        ("a.toml", "[servers.a]\nheaders = { Key = \"sk-secret\""),
        (
            "b.toml",
            "[servers.a]\nurl = \"http://x/\"\ncredentials = { env = \"A\", token = \"sk-secret\" }",
        ),
        (
            "a.yaml",
            "mcpServers:\n  a:\n    env: { K: \"sk-secret\"\n  b: [",
        ),
        ("a.json", "{\"mcpServers\": {\n\"a\": \"sk-secret\" \"b\""),
    ] {
        place.write(name, text);
        let output = place.run(&["up", name, "--check"]);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{name}: {said}");
        assert!(
            said.contains("line ") && !said.contains("sk-secret"),
            "{name}: {said}"
        );
    }
}

#[test]
fn a_projects_file_is_served_once_the_user_has_agreed() {
    let place = Place::new();
    let entry = noted(&place, "started");
    place.write(
        ".mcp.json",
        &format!(r#"{{"mcpServers":{{"tool":{entry}}}}}"#),
    );
    // The demo server is not served instead.
    let output = place.run(&["up", "--listen", "127.0.0.1:0"]);
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(
        said.contains("you have not agreed to use it") && said.contains("--trust"),
        "{said}"
    );
    assert!(!place.path().join("started").exists());
    let gateway = Gateway::start(&place, &["--trust"]);
    gateway.hears(&["ready", "tool"]);
}
