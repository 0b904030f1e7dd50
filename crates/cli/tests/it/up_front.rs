//! Fronts of a gateway that cannot be combined with servers that need callers' own credentials.

use crate::{
    program::{BINARY, Place, stderr},
    up::Gateway,
};

const SIGN_IN: &str =
    "[servers.crm]\nurl = \"http://127.0.0.1:9/mcp\"\ncredentials = { sign-in = \"caller\" }\n";
const EXCHANGE: &str = "[servers.crm]\nurl = \"http://127.0.0.1:9/mcp\"\ncredentials = { exchange = \
    \"https://a.example\", client-id = \"a\", client-secret-env = \"HOME\" }\n";
const KEYS: &str = "[[gateway.keys]]\nname = \"ada\"\nenv = \"ADA_KEY\"\n";
const OAUTH: &str = "[gateway.oauth]\nissuer = \"https://login.example\"\n";
const OTHER: &str = "[servers.other]\nurl = \"http://127.0.0.1:9/mcp\"\n";

/// The output of a gateway that refuses to start. If it starts, it is ended and the test fails.
fn refused(config: &str, words: &[&str]) -> String {
    let place = Place::new();
    place.write("turnbuckle.toml", config);
    let mut command = place.command("timeout");
    command.args(["20", BINARY, "up", "turnbuckle.toml"]);
    command.args(words).env("ADA_KEY", "ada-has-a-long-key");
    let output = command.output().expect("it runs");
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{words:?} {config} {said}");
    said
}

#[test]
fn callers_that_cannot_be_told_apart_share_no_tokens() {
    let proxied = format!("[gateway]\npublic-url = \"https://gw.example\"\n{SIGN_IN}");
    let named = format!("[gateway]\nallow-hosts = [\"gw.example\"]\n{SIGN_IN}");
    for (config, listen) in [
        (SIGN_IN, "0.0.0.0:0"),
        (&proxied, "127.0.0.1:0"),
        (&named, "127.0.0.1:0"),
    ] {
        let said = refused(config, &["--listen", listen]);
        assert!(said.contains("cannot tell callers apart"), "{said}");
        assert!(said.contains("[[gateway.keys]]"), "{said}");
    }
}

#[test]
fn an_address_that_no_browser_can_open_needs_a_public_url() {
    for config in [format!("{KEYS}{SIGN_IN}"), format!("{OAUTH}{OTHER}")] {
        for listen in ["0.0.0.0:0", "[::]:0"] {
            let said = refused(&config, &["--listen", listen]);
            assert!(said.contains("wildcard address"), "{said}");
            assert!(said.contains("hint: set `public-url`"), "{said}");
        }
    }
    let place = Place::new();
    let public = format!("[gateway]\npublic-url = \"https://gw.example\"\n{KEYS}{SIGN_IN}");
    place.write("turnbuckle.toml", &public);
    let words = ["--listen", "0.0.0.0:0", "turnbuckle.toml"];
    Gateway::start_at(&place, &words, |command| {
        command.env("ADA_KEY", "ada-has-a-long-key");
    });
}

#[test]
fn callers_do_not_sign_in_to_one_of_several_replicas() {
    let config = format!("{KEYS}{SIGN_IN}");
    let words = ["--listen", "127.0.0.1:0", "--redis", "redis://127.0.0.1:9"];
    let said = refused(&config, &words);
    assert!(said.contains("does not work with replicas"), "{said}");
}

#[test]
fn a_reload_is_checked_against_the_guard_that_runs() {
    let place = Place::new();
    place.write("turnbuckle.toml", OTHER);
    let words = ["--listen", "0.0.0.0:0", "turnbuckle.toml"];
    let gateway = Gateway::start_at(&place, &words, |command| {
        command.env("ADA_KEY", "ada-has-a-long-key");
    });
    // The keys only take effect after a restart, so they do not help now.
    place.write("turnbuckle.toml", &format!("{KEYS}{SIGN_IN}{OTHER}"));
    gateway.hears(&["after a restart"]);
    gateway.hears(&["cannot tell callers apart", "are unchanged"]);
    assert!(!gateway.said().contains("reloaded"), "{}", gateway.said());
}

#[test]
fn a_reload_adds_exchange_only_where_callers_have_tokens() {
    let place = Place::new();
    place.write("turnbuckle.toml", OTHER);
    let gateway = Gateway::start(&place, &["turnbuckle.toml"]);
    place.write("turnbuckle.toml", &format!("{OAUTH}{EXCHANGE}{OTHER}"));
    gateway.hears(&["needs callers with OAuth tokens", "are unchanged"]);
}
