//! A gateway whose config file changes, or that is restarted.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::PathBuf,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::{
    program::{BINARY, Place, eventually, stderr, stdout},
    up::{Gateway, is_running, noted},
};

const KEYS: &str = "[[gateway.keys]]\nname = \"ada\"\nenv = \"ADA_KEY\"\n";

/// A server that does not answer while a file `hold` exists, and whose tool has the name in the file `tool`.
const SERVER: &str = r#"
while [ -e hold ]; do sleep 0.05; done
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"small","version":"1"}}}' ;;
    *'"tools/list"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"tools":[{"name":"'"$(cat tool)"'","inputSchema":{"type":"object"}}]}}' ;;
    *'"tools/call"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"content":[{"type":"text","text":"done"}]}}' ;;
    *'"id"'*) echo '{"jsonrpc":"2.0","id":'$id',"error":{"code":-32601,"message":"unknown"}}' ;;
  esac
done
"#;

/// The entries of a JSON config as TOML.
fn servers(place: &Place) -> String {
    let entry: Value = serde_json::from_str(&noted(place, "started")).expect("JSON");
    format!(
        "[servers.kept]\ncommand = {}\nargs = {}\n",
        entry["command"], entry["args"]
    )
}

#[test]
fn keys_that_come_or_go_restart_nothing() {
    for is_guarded in [true, false] {
        let place = Place::new();
        let servers = servers(&place);
        let file = |keys: &str| format!("{keys}{servers}");
        let (before, after) = if is_guarded { (KEYS, "") } else { ("", KEYS) };
        place.write("turnbuckle.toml", &file(before));
        let gateway = Gateway::start_with(&place, &["turnbuckle.toml"], |command| {
            command.env("ADA_KEY", "ada-has-a-long-key");
        });
        gateway.hears(&["ready", "kept"]);
        place.write("turnbuckle.toml", &file(after));
        gateway.hears(&["changes of `keys` take effect after a restart"]);
        gateway.hears(&["reloaded", "0 added, 0 changed, 0 removed"]);
        assert_eq!(place.read("started").lines().count(), 1);
        // The guard has not changed.
        let output = place.run(&["call", &gateway.url, "echo", "text=hi"]);
        assert_eq!(output.status.success(), !is_guarded, "{}", stderr(&output));
    }
}

#[test]
fn a_server_whose_entry_has_a_mistake_stays_as_it_was() {
    let place = Place::new();
    let servers = servers(&place);
    place.write("turnbuckle.toml", &servers);
    let gateway = Gateway::start(&place, &["turnbuckle.toml"]);
    gateway.hears(&["ready", "kept"]);
    let mistake = format!("{servers}credentials = {{ env = \"TOKEN\" }}\n");
    place.write("turnbuckle.toml", &mistake);
    gateway.hears(&["warning: server `kept`"]);
    gateway.hears(&["reloaded", "0 added, 0 changed, 0 removed"]);
    let output = place.run(&["call", &gateway.url, "echo", "text=hi"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(place.read("started").lines().count(), 1);
}

#[test]
fn a_change_does_not_wait_for_the_end_of_a_program_that_is_removed() {
    let place = Place::new();
    place.write("tool", "send");
    // Before it is killed, it ends only if the other server has started.
    let ending = "while [ ! -e started ]; do sleep 0.1; done\ntouch overlapped\n";
    let stubborn = format!("trap '' TERM\n{SERVER}\n{ending}");
    place.write("server.sh", &stubborn);
    let file = "[servers.stubborn]\ncommand = \"sh\"\nargs = [\"server.sh\"]\nera = \"legacy\"\n";
    place.write("turnbuckle.toml", file);
    let gateway = Gateway::start(&place, &["turnbuckle.toml"]);
    gateway.hears(&["ready", "stubborn"]);
    place.write("turnbuckle.toml", &servers(&place));
    gateway.hears(&["removed stubborn"]);
    gateway.hears(&["reloaded", "1 added, 0 changed, 1 removed"]);
    assert_eq!(place.read("overlapped"), "", "{}", gateway.said());
}

#[test]
fn a_change_of_a_new_file_during_the_reload_that_adds_it_is_noticed() {
    let place = Place::new();
    place.write("tool", "send");
    // It ends when the new file has changed, or when it is killed.
    let ending = "while [ ! -e changed ]; do sleep 0.1; done\n";
    place.write("server.sh", &format!("trap '' TERM\n{SERVER}\n{ending}"));
    let file = "[servers.stubborn]\ncommand = \"sh\"\nargs = [\"server.sh\"]\nera = \"legacy\"\n";
    place.write("turnbuckle.toml", file);
    let gateway = Gateway::start(&place, &["turnbuckle.toml"]);
    gateway.hears(&["ready", "stubborn"]);
    let more = |second: &str| {
        let first = noted(&place, "started");
        format!(r#"{{"mcpServers":{{"first":{first}{second}}}}}"#)
    };
    place.write("more.json", &more(""));
    place.write("turnbuckle.toml", "import = [\"more.json\"]\n");
    // The program of the removed server still runs.
    gateway.hears(&["ready", "first"]);
    let second = format!(r#","second":{}"#, noted(&place, "second"));
    place.write("more.json", &more(&second));
    place.write("changed", "");
    gateway.hears(&["reloaded", "1 added, 0 changed, 1 removed"]);
    gateway.hears(&["reloaded", "1 added, 0 changed, 0 removed"]);
}

#[test]
fn a_change_does_not_wait_for_a_program_that_callers_reach_themselves_now() {
    let place = Place::new();
    place.write("tool", "send");
    // Before it is killed, it ends only if the other server has started.
    let ending = "while [ ! -e started ]; do sleep 0.1; done\ntouch overlapped\n";
    let stubborn = format!("trap '' TERM\n{SERVER}\n{ending}");
    place.write("server.sh", &stubborn);
    let program = "[servers.a]\ncommand = \"sh\"\nargs = [\"server.sh\"]\nera = \"legacy\"\n";
    place.write("turnbuckle.toml", &format!("{KEYS}{program}"));
    let gateway = Gateway::start_with(&place, &["turnbuckle.toml"], |command| {
        command.env("ADA_KEY", "ada-has-a-long-key");
    });
    gateway.hears(&["ready", "a"]);
    let personal =
        "[servers.a]\nurl = \"http://127.0.0.1:9/mcp\"\ncredentials = { sign-in = \"caller\" }\n";
    let file = format!("{KEYS}{personal}{}", servers(&place));
    place.write("turnbuckle.toml", &file);
    gateway.hears(&["reloaded", "1 added, 1 changed, 0 removed"]);
    assert_eq!(place.read("overlapped"), "", "{}", gateway.said());
}

#[test]
fn the_late_end_of_a_replaced_program_changes_nothing_of_the_new_server() {
    let place = Place::new();
    place.write("tool", "send");
    // It ends only when it is killed.
    let server =
        format!("echo $$ > $WHICH\ntrap '' TERM\n{SERVER}\nwhile true; do sleep 0.1; done\n");
    place.write("server.sh", &server);
    let file = |which: &str| {
        format!(
            "[servers.small]\ncommand = \"sh\"\nargs = [\"server.sh\"]\nera = \"legacy\"\n\
             env = {{ WHICH = \"{which}\" }}\n"
        )
    };
    place.write("turnbuckle.toml", &file("first"));
    let gateway = Gateway::start(&place, &["turnbuckle.toml"]);
    gateway.hears(&["ready", "small"]);
    place.write("turnbuckle.toml", &file("second"));
    eventually("the second program is reported as ready, too", || {
        (gateway.said().matches("ready   small").count() == 2).then_some(())
    });
    eventually("the first program has ended", || {
        (!is_running(place.read("first").trim())).then_some(())
    });
    // What must not happen would happen right after that.
    for _ in 0..10 {
        std::thread::sleep(Duration::from_millis(50));
        let metrics = gateway.get("/metrics").1;
        let up = r#"turnbuckle_gateway_server_up{server="small"} 1"#;
        assert!(metrics.contains(up), "{metrics}");
    }
}

#[test]
fn a_gateway_that_a_config_names_is_left_out() {
    let place = Place::new();
    let servers = servers(&place);
    place.write("turnbuckle.toml", &servers);
    let gateway = Gateway::start(&place, &["turnbuckle.toml", "--names", "prefixed"]);
    gateway.hears(&["ready", "kept"]);
    let local = gateway.url.replace("127.0.0.1", "localhost");
    for (number, url) in [
        local.clone(),
        format!("{}/", gateway.url),
        gateway.url.replace("/mcp", "/sse"),
    ]
    .iter()
    .enumerate()
    {
        let me = format!("me{number}");
        let file = format!("{servers}[servers.{me}]\nurl = \"{url}\"\n");
        place.write("turnbuckle.toml", &file);
        gateway.hears(&[&format!("`{me}` is this gateway itself")]);
    }
    eventually("the plan is carried out", || {
        let (status, body) = gateway.get("/readyz");
        let body: Value = serde_json::from_str(&body).expect("JSON");
        let count = body["servers"].as_object().map(serde_json::Map::len);
        (status == 200 && count == Some(1)).then_some(())
    });
}

#[test]
fn lists_of_the_last_run_are_there_before_their_server() {
    let place = Place::new();
    place.write("server.sh", SERVER);
    place.write("tool", "send");
    let config = |lock: &str| {
        format!(
            "[gateway]\nlock = \"{lock}\"\nnames = \"prefixed\"\n[servers.small]\ncommand = \"sh\"\nargs = [\"server.sh\"]\nera = \"legacy\"\n"
        )
    };
    place.write("turnbuckle.toml", &config("off"));
    let gateway = Gateway::start(&place, &["turnbuckle.toml"]);
    gateway.hears(&["ready", "small"]);
    let file = eventually("the lists are written", || {
        let found = place.run(&["list", &gateway.url, "--json"]);
        assert!(stdout(&found).contains("small__send"), "{}", stderr(&found));
        kept_lists(&place)
    });
    let about = fs::metadata(file).expect("it is there");
    assert_eq!(about.permissions().mode() & 0o777, 0o600);
    drop(gateway);
    place.write("hold", "");
    let gateway = Gateway::start(&place, &["turnbuckle.toml"]);
    let found = place.run(&["list", &gateway.url, "--json"]);
    assert!(stdout(&found).contains("small__send"), "{}", stderr(&found));
    let (_, body) = gateway.get("/readyz");
    let body: Value = serde_json::from_str(&body).expect("JSON");
    assert_eq!(body["servers"]["small"]["state"], "starting", "{body}");
    place.write("tool", "post");
    fs::remove_file(place.path().join("hold")).expect("it is there");
    gateway.hears(&["ready", "small"]);
    let found = stdout(&place.run(&["list", &gateway.url, "--json"]));
    assert!(
        found.contains("small__post") && !found.contains("small__send"),
        "{found}"
    );
    drop(gateway);
    // Approved tools are compared with the server's current ones, so nothing is offered before that.
    let lock = place.run(&["lock", "--config", "turnbuckle.toml"]);
    assert!(lock.status.success(), "{}", stderr(&lock));
    place.write("tool", "send");
    place.write("turnbuckle.toml", &config("off"));
    drop({
        let gateway = Gateway::start(&place, &["turnbuckle.toml"]);
        gateway.hears(&["ready", "small"]);
        eventually("the lists are written", || {
            let text = fs::read_to_string(kept_lists(&place)?).ok()?;
            text.contains(r#""send""#).then_some(())
        });
        gateway
    });
    place.write("hold", "");
    place.write("turnbuckle.toml", &config("enforce"));
    let gateway = Gateway::start(&place, &["turnbuckle.toml"]);
    let found = stdout(&place.run(&["list", &gateway.url, "--json"]));
    assert!(!found.contains("small__"), "{found}");
    fs::remove_file(place.path().join("hold")).expect("it is there");
    gateway.hears(&["changed small/send"]);
}

/// The file with the lists of a server, once it is complete. Until then it has another name.
fn kept_lists(place: &Place) -> Option<PathBuf> {
    let folder = place.path().join("home/.local/state/turnbuckle/lists");
    let files = fs::read_dir(folder).ok()?.flatten();
    let mut paths = files.map(|file| file.path());
    paths.find(|path| path.extension().is_some_and(|it| it == "json"))
}

#[test]
fn settings_for_a_tool_that_is_not_there_are_reported() {
    let place = Place::new();
    let settings =
        "[servers.kept.tools.ecko]\nhide = true\n[servers.kept.tools.add]\nhide = true\n";
    place.write("turnbuckle.toml", &format!("{}{settings}", servers(&place)));
    let gateway = Gateway::start(&place, &["turnbuckle.toml"]);
    gateway.hears(&["warning", "`kept` has no tool `ecko`"]);
    // The warning may come before the message that the server is ready.
    gateway.hears(&["ready  "]);
    assert!(
        !gateway.said().contains("no tool `add`"),
        "{}",
        gateway.said()
    );
    place.write("turnbuckle.toml", &servers(&place));
    gateway.hears(&["reloaded", "0 added, 1 changed, 0 removed"]);
    eventually("it is ready again", || {
        let said = gateway.said();
        (said.matches("ready  ").count() == 2).then_some(())
    });
    assert!(
        !gateway.said().contains("removed kept"),
        "{}",
        gateway.said()
    );
}

/// A call that does not end by itself.
const SLOW: &str = r#"
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"slow","version":"1"}}}' ;;
    *'"tools/list"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"tools":[{"name":"wait","inputSchema":{"type":"object"}}]}}' ;;
    *'"tools/call"'*) echo called >> called ;;
    *'"id"'*) echo '{"jsonrpc":"2.0","id":'$id',"error":{"code":-32601,"message":"unknown"}}' ;;
  esac
done
"#;

#[test]
fn a_second_signal_ends_calls_with_an_answer() {
    let place = Place::new();
    place.write("server.sh", SLOW);
    let gateway = Gateway::start(&place, &["--era", "legacy", "--", "sh", "server.sh"]);
    gateway.hears(&["ready"]);
    let call = place
        .command(BINARY)
        .args(["call", &gateway.url, "wait"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    eventually("the call has arrived", || {
        place.path().join("called").exists().then_some(())
    });
    let signal = || {
        let id = gateway.process_id().to_string();
        let sent = Command::new("kill").args(["-INT", &id]).status();
        assert!(sent.expect("kill runs").success());
    };
    signal();
    gateway.hears(&["stopping", "Ctrl-C again"]);
    let began = Instant::now();
    signal();
    let answered = call.wait_with_output().expect("it ends");
    assert!(!answered.status.success());
    let said = String::from_utf8_lossy(&answered.stderr).into_owned();
    assert!(
        said.contains("sh") && began.elapsed() < Duration::from_secs(7),
        "{said}"
    );
}

#[test]
fn a_gateway_that_starts_itself_ends() {
    let place = Place::new();
    let count = place.file("count");
    let line = format!("echo $$ >> {count}; exec {BINARY} up --stdio servers.json");
    place.write(
        "servers.json",
        &format!(
            r#"{{"mcpServers":{{"me":{{"command":"sh","args":["-c","{line}"]}},"demo":{{"command":"{BINARY}","args":["serve","--stdio"]}}}}}}"#
        ),
    );
    let gateway = Gateway::start(&place, &["servers.json"]);
    gateway.hears(&["ready", "demo"]);
    gateway.hears(&["failed  me"]);
    // Each of them was started by the first gateway, and started nothing.
    let listed = stdout(&place.run(&["list", &gateway.url, "--json"]));
    assert!(
        listed.contains("demo__echo") && !listed.contains("me__"),
        "{listed}"
    );
}
