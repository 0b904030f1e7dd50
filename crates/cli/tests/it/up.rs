//! `turnbuckle up`: every server at one endpoint.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::Path,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
};

use serde_json::Value;

use crate::program::{BINARY, HttpDemo, Place, eventually, stderr, stdout};

/// All revisions.
const REVISIONS: [&str; 5] = [
    "2024-11-05",
    "2025-03-26",
    "2025-06-18",
    "2025-11-25",
    "2026-07-28",
];

/// A running gateway; dropping this ends it.
pub(crate) struct Gateway {
    child: Child,
    pub(crate) url: String,
    said: Arc<Mutex<String>>,
}

impl Gateway {
    pub(crate) fn start(place: &Place, words: &[&str]) -> Self {
        Self::start_with(place, words, |_| {})
    }

    pub(crate) fn start_with(place: &Place, words: &[&str], change: impl Fn(&mut Command)) -> Self {
        Self::start_at(
            place,
            &[&["--listen", "127.0.0.1:0"], words].concat(),
            change,
        )
    }

    /// The same, with an address among the arguments.
    pub(crate) fn start_at(place: &Place, words: &[&str], change: impl Fn(&mut Command)) -> Self {
        let mut command = place.command(BINARY);
        command.arg("up").args(words);
        change(&mut command);
        Self::spawn(command)
    }

    /// Starts a gateway with a command.
    pub(crate) fn spawn(mut command: Command) -> Self {
        let mut child = command
            .stderr(Stdio::piped())
            .spawn()
            .expect("the gateway starts");
        let said = Arc::new(Mutex::new(String::new()));
        let kept = said.clone();
        let lines = BufReader::new(child.stderr.take().expect("it is piped")).lines();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let mut said = kept.lock().expect("nothing panics");
                said.push_str(&line);
                said.push('\n');
            }
        });
        let url = eventually("the gateway says where it is", || {
            let said = said.lock().expect("nothing panics");
            let mut words = said.split_whitespace();
            let is_endpoint = |word: &&str| word.starts_with("http://") && word.ends_with("/mcp");
            words.find(is_endpoint).map(str::to_owned)
        });
        Self { child, url, said }
    }

    /// The id of its process.
    pub(crate) fn process_id(&self) -> u32 {
        self.child.id()
    }

    /// Waits for a line that contains all of these.
    pub(crate) fn hears(&self, parts: &[&str]) {
        eventually(&format!("a line with {parts:?}"), || {
            let said = self.said.lock().expect("nothing panics");
            let mut lines = said.lines();
            lines.find(|line| parts.iter().all(|part| line.contains(part)))?;
            Some(())
        });
    }

    /// The output so far.
    pub(crate) fn said(&self) -> String {
        self.said.lock().expect("nothing panics").clone()
    }

    /// The status and the body at a path beside the endpoint.
    pub(crate) fn get(&self, path: &str) -> (u16, String) {
        let host = self
            .url
            .trim_start_matches("http://")
            .trim_end_matches("/mcp");
        let mut stream = TcpStream::connect(host).expect("it listens");
        let head = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).expect("it is sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it is text");
        let status = answer[9..12].parse().expect("a status");
        let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        (status, body.to_owned())
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A server that writes its process id to a file when it starts.
pub(crate) fn noted(place: &Place, note: &str) -> String {
    let note = place.file(note);
    format!(r#"{{"command":"sh","args":["-c","echo $$ >> {note}; exec {BINARY} serve --stdio"]}}"#)
}

pub(crate) fn is_running(id: &str) -> bool {
    Path::new("/proc").join(id.trim()).exists()
}

#[test]
fn clients_of_every_revision_reach_servers_of_every_kind() {
    let (place, demo) = (Place::new(), HttpDemo::start());
    let program = format!(r#"{{"command":"{BINARY}","args":["serve","--stdio"]}}"#);
    place.write(
        "servers.json",
        &format!(
            r#"{{"mcpServers":{{"near":{program},"far":{{"url":"{}"}}}}}}"#,
            demo.url
        ),
    );
    for era in ["auto", "legacy", "modern"] {
        let gateway = Gateway::start(&place, &["servers.json", "--era", era]);
        gateway.hears(&["ready", "near"]);
        gateway.hears(&["ready", "far"]);
        for revision in REVISIONS {
            for server in ["near", "far"] {
                let tool = format!("{server}__echo");
                let output = place.run(&[
                    "call",
                    &gateway.url,
                    &tool,
                    "text=hello",
                    "--revision",
                    revision,
                ]);
                assert_eq!(
                    (stdout(&output).as_str(), output.status.code()),
                    ("hello\n", Some(0)),
                    "{era} {revision} {server}: {}",
                    stderr(&output)
                );
            }
        }
    }
}

#[test]
fn one_server_keeps_its_names_and_may_be_given_prefixes() {
    let (place, demo) = (Place::new(), HttpDemo::start());
    let gateway = Gateway::start(&place, &["--", BINARY, "serve", "--stdio"]);
    let output = place.run(&["call", &gateway.url, "echo", "text=hi"]);
    assert_eq!(stdout(&output), "hi\n", "{}", stderr(&output));
    let gateway = Gateway::start(&place, &[&demo.url]);
    let output = place.run(&["call", &gateway.url, "echo", "text=hi"]);
    assert_eq!(stdout(&output), "hi\n", "{}", stderr(&output));
    let gateway = Gateway::start(&place, &[&demo.url, "--names", "prefixed"]);
    gateway.hears(&["ready"]);
    let listed = stdout(&place.run(&["list", &gateway.url]));
    assert!(listed.contains("__echo"), "{listed}");
}

#[test]
fn without_any_server_the_demo_is_served() {
    let place = Place::new();
    let gateway = Gateway::start(&place, &[]);
    gateway.hears(&["ready", "demo"]);
    let output = place.run(&["call", &gateway.url, "echo", "text=hi"]);
    assert_eq!(stdout(&output), "hi\n", "{}", stderr(&output));
}

/// The bridge in both directions: a client over stdio to a server at a URL, and the reverse.
#[test]
fn stdio_is_a_bridge_to_a_url() {
    let (place, demo) = (Place::new(), HttpDemo::start());
    for revision in REVISIONS {
        let output = place.run(&[
            "call",
            "echo",
            "text=over",
            "--revision",
            revision,
            "--",
            BINARY,
            "up",
            "--stdio",
            &demo.url,
        ]);
        assert_eq!(stdout(&output), "over\n", "{revision}: {}", stderr(&output));
    }
}

/// A server's questions in the middle of a call reach a client of any revision, whatever revision the server
/// speaks.
#[test]
fn questions_cross_the_gateway() {
    let (place, demo) = (Place::new(), HttpDemo::start());
    for era in ["legacy", "modern"] {
        let gateway = Gateway::start(&place, &[&demo.url, "--era", era]);
        gateway.hears(&["ready"]);
        for revision in ["2025-06-18", "2025-11-25", "2026-07-28"] {
            let direct = place.run(&[
                "call",
                &demo.url,
                "greet",
                "--answer",
                "name=Ada",
                "--revision",
                revision,
            ]);
            let through = place.run(&[
                "call",
                &gateway.url,
                "greet",
                "--answer",
                "name=Ada",
                "--revision",
                revision,
            ]);
            assert_eq!(
                (stdout(&through), through.status.code()),
                (stdout(&direct), direct.status.code()),
                "{era} {revision}: {}",
                stderr(&through)
            );
            assert!(stdout(&through).contains("Ada"), "{}", stdout(&through));
        }
    }
}

#[test]
fn a_server_that_fails_or_hangs_keeps_no_other_from_answering() {
    let place = Place::new();
    let program = format!(r#"{{"command":"{BINARY}","args":["serve","--stdio"]}}"#);
    place.write(
        "servers.json",
        &format!(
            r#"{{"mcpServers":{{"good":{program},"dead":{{"command":"/no/such/program"}},"mute":{{"command":"sleep","args":["600"]}}}}}}"#
        ),
    );
    let gateway = Gateway::start(&place, &["servers.json"]);
    gateway.hears(&["ready", "good"]);
    gateway.hears(&["failed", "dead", "/no/such/program"]);
    let output = place.run(&["call", &gateway.url, "good__echo", "text=hi"]);
    assert_eq!(stdout(&output), "hi\n", "{}", stderr(&output));
    let (status, body) = gateway.get("/readyz");
    let body: Value = serde_json::from_str(&body).expect("JSON");
    assert_eq!(status, 503, "{body}");
    assert_eq!(body["servers"]["good"]["state"], "ready");
    assert!(body["servers"]["dead"]["reason"].is_string(), "{body}");
    assert_eq!(body["servers"]["mute"]["state"], "starting");
    assert_eq!(gateway.get("/healthz").0, 200);
    let (status, metrics) = gateway.get("/metrics");
    assert_eq!(status, 200);
    for line in [
        r#"turnbuckle_gateway_server_up{server="good"} 1"#,
        r#"turnbuckle_gateway_server_up{server="dead"} 0"#,
        r#"turnbuckle_gateway_requests_total{method="tools/call",outcome="ok"} 1"#,
    ] {
        assert!(metrics.contains(line), "{line} in {metrics}");
    }
}

#[test]
fn a_changed_file_is_taken_over_and_other_servers_keep_running() {
    let place = Place::new();
    let config = |more: &str| {
        let kept = noted(&place, "kept");
        place.write(
            "servers.json",
            &format!(r#"{{"mcpServers":{{"kept":{kept}{more}}}}}"#),
        );
    };
    config("");
    let gateway = Gateway::start(&place, &["servers.json", "--names", "prefixed"]);
    gateway.hears(&["ready", "kept"]);
    config(&format!(r#","new":{}"#, noted(&place, "new")));
    gateway.hears(&["reloaded", "1 added, 0 changed, 0 removed"]);
    gateway.hears(&["ready", "new"]);
    let output = place.run(&["call", &gateway.url, "new__echo", "text=hi"]);
    assert_eq!(stdout(&output), "hi\n", "{}", stderr(&output));
    // A config file that cannot be parsed changes nothing.
    place.write("servers.json", "{ \"mcpServers\": ");
    gateway.hears(&["the servers are unchanged"]);
    let output = place.run(&["call", &gateway.url, "new__echo", "text=still"]);
    assert_eq!(stdout(&output), "still\n", "{}", stderr(&output));
    config("");
    gateway.hears(&["reloaded", "0 added, 0 changed, 1 removed"]);
    assert!(!is_running(&place.read("new")));
    // It was started only once.
    assert_eq!(place.read("kept").lines().count(), 1);
    assert!(is_running(&place.read("kept")));
}

#[test]
fn no_server_outlives_the_gateway_however_it_ends() {
    for signal in ["-TERM", "-INT", "-KILL"] {
        let place = Place::new();
        let kept = noted(&place, "kept");
        place.write(
            "servers.json",
            &format!(r#"{{"mcpServers":{{"kept":{kept}}}}}"#),
        );
        let mut gateway = Gateway::start(&place, &["servers.json"]);
        gateway.hears(&["ready", "kept"]);
        let id = place.read("kept");
        assert!(is_running(&id));
        let sent = Command::new("kill")
            .args([signal, &gateway.child.id().to_string()])
            .status();
        assert!(sent.expect("kill runs").success());
        let ended = gateway.child.wait().expect("it ends");
        assert_eq!(ended.success(), signal != "-KILL", "{signal}");
        eventually("its server has ended", || (!is_running(&id)).then_some(()));
    }
}

#[test]
fn callers_are_known_by_keys_and_have_what_the_policy_allows() {
    let place = Place::new();
    place.write(
        "turnbuckle.toml",
        &format!(
            r#"
            [gateway]
            access-log = "access.log"

            [[gateway.keys]]
            name = "ada"
            env = "ADA_KEY"

            [[gateway.keys]]
            name = "guest-1"
            env = "GUEST_KEY"

            [[gateway.policy]]
            callers = ["guest-*"]
            deny = ["add"]

            [servers.demo]
            command = "{BINARY}"
            args = ["serve", "--stdio"]
            "#
        ),
    );
    let (ada, guest) = ("ada-has-a-long-key", "guest-has-another-key");
    let gateway = Gateway::start_with(&place, &["turnbuckle.toml"], |command| {
        command.env("ADA_KEY", ada).env("GUEST_KEY", guest);
    });
    gateway.hears(&["ready", "demo"]);
    let output = place.run(&["call", &gateway.url, "add", "a=1", "b=2"]);
    assert_eq!(output.status.code(), Some(5), "{}", stderr(&output));
    let run = |words: &[&str], key: &str| {
        let header = format!("Authorization: Bearer {key}");
        place.run(&[words, &["--header", &header]].concat())
    };
    let output = run(&["call", &gateway.url, "add", "a=1", "b=2"], ada);
    assert!(output.status.success(), "{}", stderr(&output));
    let listed = run(&["list", &gateway.url, "--json"], guest);
    assert!(stdout(&listed).contains(r#""echo""#), "{}", stderr(&listed));
    assert!(
        !stdout(&listed).contains(r#""name":"add""#),
        "{}",
        stdout(&listed)
    );
    let params = r#"{"name":"add","arguments":{"a":1,"b":2}}"#;
    let output = run(&["call", &gateway.url, "add", "a=1", "b=2"], guest);
    assert!(!output.status.success(), "{params}");
    let log = eventually("the calls are written down", || {
        let log = place.read("access.log");
        log.contains(r#""caller":"ada""#).then_some(log)
    });
    let lines: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let call = lines.iter().find(|line| line["method"] == "tools/call");
    let call = call.expect("a call was made");
    assert_eq!(call["caller"], "ada");
    assert_eq!(call["name"], "add");
    assert_eq!(call["outcome"], "ok");
    assert!(!log.contains("long-key"), "{log}");
}
