//! Operating `turnbuckle up`: health and counters without the page, rules in CEL, and asking the user.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
};

use serde_json::Value;

use crate::{
    program::{BINARY, Place, eventually, stderr, stdout},
    up::Gateway,
};

fn demo() -> String {
    format!("[servers.demo]\ncommand = \"{BINARY}\"\nargs = [\"serve\", \"--stdio\"]\n")
}

fn get(host: &str, named: &str, path: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(host).expect("it listens");
    let head = format!("GET {path} HTTP/1.1\r\nhost: {named}\r\nconnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).expect("it is sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it is text");
    let status = answer[9..12].parse().expect("a status");
    let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    (status, body.to_owned())
}

#[test]
fn health_and_counters_are_there_without_the_page() {
    let place = Place::new();
    place.write("turnbuckle.toml", &demo());
    let gateway = Gateway::start(&place, &["turnbuckle.toml", "--no-page"]);
    gateway.hears(&["ready", "demo"]);
    assert_eq!(gateway.get("/healthz").0, 200);
    let (status, body) = gateway.get("/readyz");
    let body: Value = serde_json::from_str(&body).expect("JSON");
    assert_eq!(
        (status, &body["servers"]["demo"]["state"]),
        (200, &"ready".into())
    );
    let (status, metrics) = gateway.get("/metrics");
    assert_eq!(status, 200);
    assert!(
        metrics.contains(r#"turnbuckle_gateway_server_up{server="demo"} 1"#),
        "{metrics}"
    );
    let host = gateway
        .url
        .trim_start_matches("http://")
        .trim_end_matches("/mcp");
    assert_eq!(get(host, "evil.example", "/metrics").0, 403);
}

#[test]
fn a_gateway_behind_a_proxy_shows_no_counters_and_no_page() {
    let bad = "[servers.bad]\ncommand = \"/nonexistent/hidden\"\n";
    for setting in [
        "public-url = \"https://gw.example/mcp\"",
        "allow-hosts = [\"gw.example\"]",
    ] {
        let place = Place::new();
        let config = format!("[gateway]\n{setting}\n{}{bad}", demo());
        place.write("turnbuckle.toml", &config);
        let gateway = Gateway::start(&place, &["turnbuckle.toml"]);
        gateway.hears(&["ready", "demo"]);
        gateway.hears(&["failed", "bad"]);
        let host = gateway
            .url
            .trim_start_matches("http://")
            .trim_end_matches("/mcp");
        // Some proxies pass on the name that the client used, others that of the gateway.
        for named in ["gw.example", host] {
            assert_eq!(get(host, named, "/metrics").0, 404, "{setting} {named}");
            assert_eq!(get(host, named, "/").0, 404, "{setting} {named}");
            assert_eq!(get(host, named, "/healthz").0, 200, "{setting} {named}");
            assert_eq!(
                get(host, named, "/readyz"),
                (503, r#"{"ready":false}"#.to_owned()),
                "{setting} {named}"
            );
        }
        let said = gateway.said();
        assert!(said.contains("everyone who can reach"), "{said}");
    }
}

#[test]
fn operators_have_an_address_of_their_own() {
    let place = Place::new();
    place.write("turnbuckle.toml", &demo());
    // All addresses of the machine: everyone may learn whether it is ready, and nothing more.
    let words = [
        "turnbuckle.toml",
        "--listen",
        "0.0.0.0:0",
        "--admin",
        "127.0.0.1:0",
    ];
    let gateway = Gateway::start_at(&place, &words, |_| {});
    gateway.hears(&["ready", "demo"]);
    let admin = eventually("it says where operators look", || {
        let said = gateway.said();
        let line = said
            .lines()
            .find(|line| line.contains("/metrics"))?
            .to_owned();
        let url = line.split_whitespace().next()?;
        Some(
            url.trim_start_matches("http://")
                .trim_end_matches("/metrics")
                .to_owned(),
        )
    });
    assert!(
        get(&admin, &admin, "/metrics")
            .1
            .contains("turnbuckle_gateway_server_up")
    );
    assert_eq!(get(&admin, &admin, "/healthz").0, 200);
    assert!(get(&admin, &admin, "/readyz").1.contains("demo"));
    assert_eq!(get(&admin, &admin, "/mcp").0, 404);
    assert_eq!(get(&admin, "evil.example", "/metrics").0, 403);
    let front = gateway.url.replace("0.0.0.0", "127.0.0.1");
    let front = front.trim_start_matches("http://").trim_end_matches("/mcp");
    assert_ne!(get(front, "127.0.0.1", "/metrics").0, 200);
    assert_eq!(
        get(front, "127.0.0.1", "/readyz"),
        (200, r#"{"ready":true}"#.to_owned())
    );
}

#[test]
fn expressions_deny_and_ask() {
    let place = Place::new();
    let rules = r#"
        [[gateway.policy]]
        deny-if = 'tool == "add" && arguments.a > 100'
        ask-if = 'tool == "add" && arguments.a > 10'
        "#;
    place.write("turnbuckle.toml", &format!("{rules}\n{}", demo()));
    let gateway = Gateway::start(&place, &["turnbuckle.toml"]);
    gateway.hears(&["ready", "demo"]);
    for revision in ["2025-06-18", "2025-11-25", "2026-07-28"] {
        let add = |a: &str, more: &[&str]| {
            let a = format!("a={a}");
            let words = [
                "call",
                &gateway.url,
                "add",
                &a,
                "b=1",
                "--revision",
                revision,
            ];
            place.run(&[&words[..], more].concat())
        };
        let plain = add("1", &[]);
        assert!(plain.status.success(), "{revision}: {}", stderr(&plain));
        let denied = add("101", &["--answer", "allow=true"]);
        assert!(!denied.status.success(), "{revision}: {}", stdout(&denied));
        assert!(
            stderr(&denied).contains("unknown tool"),
            "{}",
            stderr(&denied)
        );
        let allowed = add("11", &["--answer", "allow=true"]);
        assert!(allowed.status.success(), "{revision}: {}", stderr(&allowed));
        let refused = add("11", &["--answer", "allow=false"]);
        assert!(
            !refused.status.success(),
            "{revision}: {}",
            stdout(&refused)
        );
        assert!(
            stderr(&refused).contains("did not allow"),
            "{}",
            stderr(&refused)
        );
    }
    for revision in ["2024-11-05", "2025-03-26"] {
        let words = [
            "call",
            &gateway.url,
            "add",
            "a=11",
            "b=1",
            "--revision",
            revision,
        ];
        let refused = place.run(&words);
        assert!(
            !refused.status.success(),
            "{revision}: {}",
            stdout(&refused)
        );
        assert!(stderr(&refused).contains("consent"), "{}", stderr(&refused));
    }
}

#[test]
fn a_mistake_in_an_expression_is_named_with_its_place() {
    let place = Place::new();
    for (rule, parts) in [
        ("deny-if = 'tool == '", ["deny-if", "policy 1", "line 1"]),
        ("ask-if = 'tol == \"add\"'", ["ask-if", "`tol`", "column 1"]),
    ] {
        place.write(
            "turnbuckle.toml",
            &format!("[[gateway.policy]]\n{rule}\n{}", demo()),
        );
        let output = place.run(&["up", "turnbuckle.toml", "--check"]);
        assert_eq!(output.status.code(), Some(2), "{rule}");
        let said = stderr(&output);
        assert!(
            parts.iter().all(|part| said.contains(part)),
            "{rule}: {said}"
        );
    }
}

/// A misspelt kind must not make a rule that denies nothing.
#[test]
fn a_pattern_of_an_unknown_kind_is_refused() {
    let place = Place::new();
    for (key, pattern) in [
        ("deny", "resources:file:///etc/*"),
        ("allow", "Prompt:review"),
        ("ask", "tols:secret*"),
    ] {
        let rule = format!("[[gateway.policy]]\n{key} = [\"{pattern}\"]\n{}", demo());
        place.write("turnbuckle.toml", &rule);
        let output = place.run(&["up", "turnbuckle.toml", "--check"]);
        assert_eq!(output.status.code(), Some(2), "{pattern}");
        let said = stderr(&output);
        let (word, _) = pattern.split_once(':').expect("a kind");
        for part in [pattern, key, "policy 1", &format!("unknown kind `{word}`")] {
            assert!(said.contains(part), "{pattern}: {said}");
        }
        assert!(said.contains("`tool`, `prompt` and `resource`"), "{said}");
    }
    let rule = "[[gateway.policy]]\ndeny = [\"tool:a:b\", \"resource:a:b\", \"prompt:c\", \"d\"]";
    place.write("turnbuckle.toml", &format!("{rule}\n{}", demo()));
    let output = place.run(&["up", "turnbuckle.toml", "--check"]);
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn a_rule_for_callers_that_are_not_identified_is_reported() {
    let place = Place::new();
    let rule = "[[gateway.policy]]\ncallers = [\"guest-*\"]\ndeny = [\"add\"]\n";
    place.write("turnbuckle.toml", &format!("{rule}{}", demo()));
    let output = place.run(&["up", "turnbuckle.toml", "--check"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let said = stderr(&output);
    assert!(
        said.contains("policy 1") && said.contains("nobody"),
        "{said}"
    );
    let keys = "[[gateway.keys]]\nname = \"guest-1\"\nenv = \"PATH\"\n";
    place.write("turnbuckle.toml", &format!("{rule}{keys}{}", demo()));
    let output = place.run(&["up", "turnbuckle.toml", "--check"]);
    assert!(!stderr(&output).contains("nobody"), "{}", stderr(&output));
}
