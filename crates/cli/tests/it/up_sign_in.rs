//! Callers of a gateway that sign in to a server themselves, against a real authorization server.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

use crate::{
    program::{Place, eventually, stderr, stdout},
    signing_in::Guarded,
    up::Gateway,
};

const ADA: &str = "ada-has-a-long-key";
const BOB: &str = "bob-has-another-key";

fn gateway(place: &Place, server: &Guarded) -> Gateway {
    gateway_with(place, server, ADA)
}

/// A gateway whose caller `ada` has this key.
fn gateway_with(place: &Place, server: &Guarded, key: &str) -> Gateway {
    let config = format!(
        r#"
        [[gateway.keys]]
        name = "ada"
        env = "ADA_KEY"

        [[gateway.keys]]
        name = "bob"
        env = "BOB_KEY"

        [servers.guarded]
        url = "{}"
        credentials = {{ sign-in = "caller", allow-private-networks = true }}
        "#,
        server.url
    );
    place.write("turnbuckle.toml", &config);
    Gateway::start_with(place, &["turnbuckle.toml"], |command| {
        command.env("ADA_KEY", key).env("BOB_KEY", BOB);
    })
}

/// Runs a command as a caller.
fn run(place: &Place, words: &[&str], key: &str, revision: &str) -> std::process::Output {
    let header = format!("Authorization: Bearer {key}");
    let more = ["--header", &header, "--revision", revision];
    place.run(&[words, &more].concat())
}

fn tools(place: &Place, gateway: &Gateway, key: &str) -> String {
    let listed = run(place, &["list", &gateway.url, "--json"], key, "2026-07-28");
    assert!(listed.status.success(), "{}", stderr(&listed));
    let listed: Value = serde_json::from_str(&stdout(&listed)).expect("JSON");
    listed["tools"].to_string()
}

/// Follows the link from the gateway as a browser does, and confirms this caller.
fn visit(place: &Place, caller: &str, said: &str) {
    let url = said
        .split_whitespace()
        .find(|word| word.starts_with("http://"));
    let url = url.unwrap_or_else(|| panic!("no link in {said}"));
    place.write("confirm.py", CONFIRMS);
    let mut command = place.command("python3");
    let tokens = place.file("tokens");
    command.args([&place.file("confirm.py"), url, caller, &tokens]);
    let output = command.output().expect("it runs");
    assert!(output.status.success(), "{}", stderr(&output));
}

/// A browser that gets the page, and is made to confirm it by another site before its user does.
const CONFIRMS: &str = r#"
import html, pathlib, re, sys, urllib.error, urllib.parse, urllib.request
url, caller, tokens = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
count = lambda: len(tokens.read_text().split()) if tokens.exists() else 0
before = count()
browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
answer = browser.open(url, timeout=20)
page = answer.read().decode()
assert f"<b>{caller}</b> will use your account at <b>guarded</b>" in page, page
assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
action = html.unescape(re.search('action="([^"]+)"', page)[1])
action = urllib.parse.urljoin(answer.url, action)
assert "code=" not in action
try:
    urllib.request.urlopen(action, data=b"", timeout=20)
    raise SystemExit("it was confirmed without the cookie")
except urllib.error.HTTPError as refused:
    assert refused.code == 400, refused
assert count() == before, "a code was redeemed before it was confirmed"
origin = "http://" + urllib.parse.urlsplit(action).netloc
request = urllib.request.Request(action, data=b"", headers={"Origin": origin})
assert browser.open(request, timeout=20).status == 200
"#;

#[test]
fn each_caller_signs_in_and_uses_its_own_tokens() {
    let place = Place::new();
    let server = Guarded::start(&place);
    let gateway = gateway(&place, &server);
    for key in [ADA, BOB] {
        let offered = tools(&place, &gateway, key);
        assert!(offered.contains("guarded__sign_in"), "{offered}");
        assert!(!offered.contains("guarded__echo"), "{offered}");
    }
    // A client of an old revision gets a link.
    let words = ["call", &gateway.url, "guarded__sign_in"];
    let sent = run(&place, &words, ADA, "2024-11-05");
    assert_eq!(sent.status.code(), Some(1), "{}", stderr(&sent));
    visit(
        &place,
        "ada",
        &format!("{} {}", stdout(&sent), stderr(&sent)),
    );
    has_echo(&place, &gateway, ADA);
    let of_ada = place.read("tokens");
    assert_eq!(of_ada.lines().count(), 1, "{of_ada}");
    let echo = ["call", &gateway.url, "guarded__echo", "text=hi"];
    for revision in ["2024-11-05", "2025-11-25", "2026-07-28"] {
        let called = run(&place, &echo, ADA, revision);
        assert!(called.status.success(), "{revision}: {}", stderr(&called));
    }
    // Operators see how many callers use the server, but not which.
    let ready = gateway.get("/readyz").1;
    let ready: Value = serde_json::from_str(&ready).expect("JSON");
    let counts = serde_json::json!({ "ready": 1, "starting": 0, "failed": 0 });
    assert_eq!(ready["callerServers"]["guarded"], counts, "{ready}");
    let metrics = gateway.get("/metrics").1;
    let counted = r#"caller_servers{server="guarded",state="ready"} 1"#;
    assert!(metrics.contains(counted), "{metrics}");
    // Other callers do not get ada's tools.
    let offered = tools(&place, &gateway, BOB);
    assert!(!offered.contains("guarded__echo"), "{offered}");
    for revision in ["2024-11-05", "2025-11-25", "2026-07-28"] {
        let called = run(&place, &echo, BOB, revision);
        assert!(!called.status.success(), "{revision}: {}", stdout(&called));
    }
    assert_eq!(place.read("tokens"), of_ada);
    let sent = run(
        &place,
        &["call", &gateway.url, "guarded__sign_in"],
        BOB,
        "2025-03-26",
    );
    visit(
        &place,
        "bob",
        &format!("{} {}", stdout(&sent), stderr(&sent)),
    );
    has_echo(&place, &gateway, BOB);
    assert_eq!(place.read("tokens").lines().count(), 2);
    assert!(run(&place, &echo, BOB, "2026-07-28").status.success());
    let uses: Vec<String> = place
        .read("tokens.used")
        .lines()
        .map(str::to_owned)
        .collect();
    let ada = of_ada.trim();
    let of_bob = uses.last().expect("a call was made");
    assert_ne!(of_bob, ada);
    // ada's calls came before those of bob, and each caller has its own token.
    let first_of_bob = uses
        .iter()
        .position(|it| it == of_bob)
        .expect("it is there");
    assert!(uses[..first_of_bob].iter().all(|it| it == ada), "{uses:?}");
    assert!(
        uses[first_of_bob..].iter().all(|it| it == of_bob),
        "{uses:?}"
    );
    // A sign-in lasts longer than the gateway runs.
    drop(gateway);
    let gateway = self::gateway(&place, &server);
    assert!(tools(&place, &gateway, ADA).contains("guarded__echo"));
}

/// Signs ada in, with this key.
fn sign_in(place: &Place, gateway: &Gateway, key: &str) {
    let words = ["call", &gateway.url, "guarded__sign_in"];
    let sent = run(place, &words, key, "2025-06-18");
    let said = format!("{} {}", stdout(&sent), stderr(&sent));
    visit(place, "ada", &said);
    has_echo(place, gateway, key);
}

/// Waits until a caller has the tool of the server. The code is redeemed after the page was shown.
fn has_echo(place: &Place, gateway: &Gateway, key: &str) {
    eventually("the tools of the server are offered", || {
        tools(place, gateway, key)
            .contains("guarded__echo")
            .then_some(())
    });
}

#[test]
fn a_new_caller_of_the_same_name_does_not_get_the_tokens_of_the_old_one() {
    const NEW: &str = "another-ada-has-this-key";
    let place = Place::new();
    let server = Guarded::start(&place);
    let first = gateway(&place, &server);
    sign_in(&place, &first, ADA);
    drop(first);
    let second = gateway_with(&place, &server, NEW);
    let offered = tools(&place, &second, NEW);
    assert!(!offered.contains("guarded__echo"), "{offered}");
    assert!(offered.contains("guarded__sign_in"), "{offered}");
    eventually("the tokens are given back", || {
        place.read("tokens").is_empty().then_some(())
    });
    drop(second);
    // The tokens are gone for the old caller, too.
    let third = gateway(&place, &server);
    assert!(!tools(&place, &third, ADA).contains("guarded__echo"));
}

#[test]
fn gateways_with_a_server_of_the_same_name_leave_the_tokens_of_each_other_alone() {
    const OTHER: &str = "ada-has-this-key-elsewhere";
    let place = Place::new();
    let server = Guarded::start(&place);
    let first = gateway(&place, &server);
    sign_in(&place, &first, ADA);
    drop(first);
    let other = Guarded::start_with(&place, "other-tokens");
    let second = gateway_with(&place, &other, OTHER);
    let offered = tools(&place, &second, OTHER);
    assert!(offered.contains("guarded__sign_in"), "{offered}");
    sign_in(&place, &second, OTHER);
    drop(second);
    let third = gateway(&place, &server);
    assert!(tools(&place, &third, ADA).contains("guarded__echo"));
    let listed = place.run(&["logout", "--callers", "--json"]);
    let listed: Value = serde_json::from_str(&stdout(&listed)).expect("JSON");
    let mut urls: Vec<_> = listed.as_array().expect("a list").iter().collect();
    urls.sort_by_key(|entry| entry["url"].to_string());
    let mut expected = [&server.url, &other.url];
    expected.sort();
    assert_eq!(urls.len(), 2, "{listed}");
    assert!(
        urls.iter()
            .zip(expected)
            .all(|(entry, url)| entry["url"] == **url),
        "{listed}"
    );
}

#[test]
fn operators_list_the_tokens_of_callers_and_give_them_back() {
    let place = Place::new();
    let server = Guarded::start(&place);
    let gateway = gateway(&place, &server);
    let none = place.run(&["logout", "--callers"]);
    assert!(
        none.status.success() && stdout(&none).is_empty(),
        "{none:?}"
    );
    sign_in(&place, &gateway, ADA);
    assert_eq!(place.read("tokens").lines().count(), 1);
    let listed = place.run(&["logout", "--callers", "--json"]);
    let listed: Value = serde_json::from_str(&stdout(&listed)).expect("JSON");
    let expected = serde_json::json!([
        { "caller": "ada", "server": "guarded", "url": server.url }
    ]);
    assert_eq!(listed, expected);
    for words in [["--caller", "bob", "guarded"], ["--caller", "ada", "other"]] {
        let refused = place.run(&[&["logout"], &words[..]].concat());
        assert!(!refused.status.success(), "{refused:?}");
    }
    assert_eq!(place.read("tokens").lines().count(), 1);
    assert!(tools(&place, &gateway, ADA).contains("guarded__echo"));
    let left = place.run(&["logout", "--caller", "ada"]);
    assert!(left.status.success(), "{left:?}");
    // The running gateway no longer uses them.
    let offered = tools(&place, &gateway, ADA);
    assert!(!offered.contains("guarded__echo"), "{offered}");
    assert!(offered.contains("guarded__sign_in"), "{offered}");
    assert_eq!(place.read("tokens"), "");
    let none = place.run(&["logout", "--callers"]);
    assert!(stdout(&none).is_empty(), "{none:?}");
}

#[test]
fn tokens_that_could_not_be_given_back_stay_unless_they_are_forced_away() {
    let place = Place::new();
    let server = Guarded::start(&place);
    let first = gateway(&place, &server);
    sign_in(&place, &first, ADA);
    drop(first);
    // The authorization server is gone.
    drop(server);
    let logout = ["logout", "--caller", "ada"];
    let failed = place.run(&logout);
    assert_eq!(failed.status.code(), Some(5), "{failed:?}");
    assert!(stderr(&failed).contains("`--force`"), "{failed:?}");
    let listed = place.run(&["logout", "--callers"]);
    assert!(stdout(&listed).contains("guarded"), "{listed:?}");
    let forced = place.run(&[&logout[..], &["--force"]].concat());
    assert!(forced.status.success(), "{forced:?}");
    let listed = place.run(&["logout", "--callers"]);
    assert!(stdout(&listed).is_empty(), "{listed:?}");
}

#[test]
fn a_tool_that_needs_more_scopes_signs_nobody_out() {
    let place = Place::new();
    let server = Guarded::start(&place);
    let first = gateway(&place, &server);
    sign_in(&place, &first, ADA);
    let offered = tools(&place, &first, ADA);
    assert!(!offered.contains("guarded__sign_in"), "{offered}");
    let secret = ["call", &first.url, "guarded__echo", "text=secret"];
    let refused = run(&place, &secret, ADA, "2025-06-18");
    assert!(!refused.status.success(), "{refused:?}");
    // The tokens can be used for everything else, and a sign-in for more scopes is offered beside the tools.
    let echo = ["call", &first.url, "guarded__echo", "text=hi"];
    let called = run(&place, &echo, ADA, "2025-06-18");
    assert!(called.status.success(), "{called:?}");
    let offered = tools(&place, &first, ADA);
    assert!(offered.contains("guarded__echo"), "{offered}");
    assert!(offered.contains("guarded__sign_in"), "{offered}");
    let words = ["call", &first.url, "guarded__sign_in"];
    let sent = run(&place, &words, ADA, "2025-06-18");
    let said = format!("{} {}", stdout(&sent), stderr(&sent));
    visit(&place, "ada", &said);
    // The code is redeemed after the page was shown.
    eventually("there are wider tokens", || {
        let called = run(&place, &secret, ADA, "2025-06-18");
        called.status.success().then_some(())
    });
    let offered = tools(&place, &first, ADA);
    assert!(!offered.contains("guarded__sign_in"), "{offered}");
}

/// The file that records the owner of a store.
fn owner_file(folder: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).find_map(|path| {
        if path.is_dir() {
            return owner_file(&path);
        }
        let text = fs::read_to_string(&path).ok()?;
        text.contains("gateway caller").then_some(path)
    })
}

#[test]
fn tokens_whose_owner_cannot_be_read_are_neither_used_nor_deleted() {
    let place = Place::new();
    let server = Guarded::start(&place);
    let first = gateway(&place, &server);
    sign_in(&place, &first, ADA);
    drop(first);
    let path = owner_file(Path::new(&place.file("."))).expect("it is kept");
    let kept = fs::read(&path).expect("it can be read");
    fs::write(&path, "sealed").expect("it is ours");
    let second = gateway(&place, &server);
    assert!(!tools(&place, &second, ADA).contains("guarded__echo"));
    // A sign-in that has only begun changes nothing.
    let words = ["call", &second.url, "guarded__sign_in"];
    let sent = run(&place, &words, ADA, "2025-06-18");
    assert!(stdout(&sent).contains("open this link"), "{sent:?}");
    drop(second);
    assert_eq!(place.read("tokens").lines().count(), 1);
    fs::write(&path, kept).expect("it is still there");
    let third = gateway(&place, &server);
    assert!(tools(&place, &third, ADA).contains("guarded__echo"));
}

#[test]
fn a_sign_in_replaces_tokens_whose_owner_cannot_be_read() {
    let place = Place::new();
    let server = Guarded::start(&place);
    let first = gateway(&place, &server);
    sign_in(&place, &first, ADA);
    drop(first);
    let path = owner_file(Path::new(&place.file("."))).expect("it is kept");
    fs::write(&path, "sealed").expect("it is ours");
    let second = gateway(&place, &server);
    sign_in(&place, &second, ADA);
    assert!(tools(&place, &second, ADA).contains("guarded__echo"));
    drop(second);
    let third = gateway(&place, &server);
    assert!(tools(&place, &third, ADA).contains("guarded__echo"));
}
