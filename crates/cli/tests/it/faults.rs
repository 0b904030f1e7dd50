//! Faults of processes: they are stopped, killed at any moment, or have few file descriptors or little
//! memory.

#![cfg(target_os = "linux")]

use std::{
    io::Write as _,
    net::TcpStream,
    process::{Child, Stdio},
    thread,
    time::{Duration, Instant, SystemTime},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::{
    program::{BINARY, HttpDemo, Place, eventually, stderr, stdout},
    up::{Gateway, noted},
};

/// How much memory a gateway may take while it gets large requests whose answers are not read: as much as a server.
const CEILING: u64 = 256 * 1024 * 1024;

/// The longest time before a process is killed, for machines that are so busy that a call takes longer.
const LONGEST_MOMENT: Duration = Duration::from_secs(5);

/// How often a process is killed. A server that fails once more is not restarted for a minute.
const KILLS: usize = 4;

/// Two servers. The first writes its process id to the file `first` when it starts.
fn two_servers(place: &Place) {
    let first = noted(place, "first");
    let second = format!(r#"{{"command":"{BINARY}","args":["serve","--stdio"]}}"#);
    place.write(
        "servers.json",
        &format!(r#"{{"mcpServers":{{"first":{first},"second":{second}}}}}"#),
    );
}

fn started(place: &Place) -> Gateway {
    two_servers(place);
    let gateway = Gateway::start(place, &["servers.json"]);
    gateway.hears(&["ready", "first"]);
    gateway.hears(&["ready", "second"]);
    gateway
}

/// The newest process of the first server.
fn last_process(place: &Place) -> u32 {
    let all = place.read("first");
    let last = all.lines().last().expect("it was started");
    last.parse().expect("the id of a process")
}

/// Random moments from a seed. `FAULTS_SEED` repeats a run with its seed.
struct Moments {
    state: u64,
    longest: Duration,
}

impl Moments {
    /// Moments before, during and shortly after a call that takes this long.
    fn of_a_call(call: Duration) -> Self {
        let chosen = std::env::var("FAULTS_SEED").ok();
        let seed = chosen
            .and_then(|seed| seed.parse().ok())
            .unwrap_or_else(|| {
                let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
                now.map_or(1, |now| u64::from(now.subsec_nanos()))
            });
        let longest = call.mul_f64(1.25).min(LONGEST_MOMENT);
        println!("FAULTS_SEED={seed}, moments up to {longest:?}");
        Self {
            state: seed,
            longest,
        }
    }

    /// Measures a call, and returns moments for it.
    fn of(call: impl FnOnce()) -> Self {
        let start = Instant::now();
        call();
        Self::of_a_call(start.elapsed())
    }

    /// Waits until the next moment.
    fn wait(&mut self) {
        // SplitMix64.
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut random = self.state;
        random = (random ^ (random >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        random = (random ^ (random >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        random ^= random >> 31;
        let parts = u32::try_from(random % 1000).expect("it is small");
        let moment = self.longest * parts / 1000;
        println!("the moment is {moment:?} after the start");
        thread::sleep(moment);
    }
}

fn send(signal: Signal, process: u32) {
    let process = i32::try_from(process).ok().and_then(Pid::from_raw);
    let process = process.expect("the id of a process");
    kill_process(process, signal).expect("it is a process of this user");
}

#[track_caller]
fn echoes(place: &Place, gateway: &Gateway, tool: &str) {
    let output = place.run(&["call", &gateway.url, tool, "text=hi"]);
    assert_eq!(stdout(&output), "hi\n", "{}", stderr(&output));
}

#[test]
fn a_stopped_server_holds_up_no_other_and_goes_on_later() {
    let place = Place::new();
    let gateway = started(&place);
    let process = last_process(&place);
    send(Signal::STOP, process);
    echoes(&place, &gateway, "second__echo");
    let words = ["call", &gateway.url, "first__echo", "text=hi"];
    let output = place.run(&[&words[..], &["--timeout", "2"]].concat());
    let said = stderr(&output);
    assert!(!output.status.success(), "{}", stdout(&output));
    assert!(said.contains("did not finish within"), "{said}");
    echoes(&place, &gateway, "second__echo");
    send(Signal::CONT, process);
    let continued = Instant::now();
    echoes(&place, &gateway, "first__echo");
    println!(
        "a stopped server answered {:?} after it went on",
        continued.elapsed()
    );
    assert_eq!(last_process(&place), process, "it was not started again");
}

#[test]
fn a_stopped_server_at_a_url_costs_its_callers_a_clear_error() {
    let (place, demo) = (Place::new(), HttpDemo::start());
    let gateway = Gateway::start(&place, &[&demo.url]);
    gateway.hears(&["ready"]);
    for url in [&demo.url, &gateway.url] {
        send(Signal::STOP, demo.process_id());
        let output = place.run(&["call", url, "echo", "text=hi", "--timeout", "2"]);
        let said = stderr(&output);
        assert!(!output.status.success(), "{}", stdout(&output));
        assert!(said.contains("did not finish within"), "{said}");
        send(Signal::CONT, demo.process_id());
        let output = place.run(&["call", url, "echo", "text=hi"]);
        assert_eq!(stdout(&output), "hi\n", "{}", stderr(&output));
    }
}

#[test]
fn a_server_that_is_killed_at_any_moment_costs_one_call_at_most() {
    let place = Place::new();
    let gateway = started(&place);
    let mut longest = Duration::ZERO;
    let mut moments = Moments::of(|| echoes(&place, &gateway, "first__echo"));
    for _ in 0..KILLS {
        let process = last_process(&place);
        let mut command = place.command(BINARY);
        let calling = command
            .args(["call", &gateway.url, "first__echo", "text=hi"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        // Before, during or after the call: every moment is allowed.
        moments.wait();
        send(Signal::KILL, process);
        let killed = Instant::now();
        let output = calling.wait_with_output().expect("it ends");
        if output.status.success() {
            assert_eq!(stdout(&output), "hi\n");
        } else {
            let said = stderr(&output);
            assert!(said.contains("error:") && said.contains("first"), "{said}");
        }
        eventually("it is started again", || {
            (last_process(&place) != process).then_some(())
        });
        // Only the call that was in flight may be lost.
        let output = place.run(&["call", &gateway.url, "first__echo", "text=hi"]);
        assert_eq!(stdout(&output), "hi\n", "{}", stderr(&output));
        longest = longest.max(killed.elapsed());
        echoes(&place, &gateway, "second__echo");
    }
    println!("a server that was killed answered again after {longest:?} at most");
}

#[test]
fn a_gateway_that_is_killed_at_any_moment_leaves_a_clear_error_and_no_process() {
    let place = Place::new();
    let (mut moments, mut longest) = (None, Duration::ZERO);
    for _ in 0..KILLS {
        let gateway = started(&place);
        let server = last_process(&place);
        let moments =
            moments.get_or_insert_with(|| Moments::of(|| echoes(&place, &gateway, "first__echo")));
        let mut command = place.command(BINARY);
        let calling = command
            .args(["call", &gateway.url, "first__echo", "text=hi"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        moments.wait();
        send(Signal::KILL, gateway.process_id());
        let killed = Instant::now();
        let output = calling.wait_with_output().expect("it ends");
        if output.status.success() {
            assert_eq!(stdout(&output), "hi\n");
        } else {
            let said = stderr(&output);
            assert!(said.contains("error:"), "{said}");
        }
        eventually("its server ends", || has_ended(server).then_some(()));
        longest = longest.max(killed.elapsed());
    }
    println!("the server of a gateway that was killed ended after {longest:?} at most");
}

fn has_ended(process: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat"));
    // A process that has ended but was not reaped counts as ended.
    stat.map_or(true, |stat| stat.contains(") Z "))
}

#[test]
fn a_server_at_a_url_that_is_killed_at_any_moment_is_a_clear_error() {
    let place = Place::new();
    let mut demo = HttpDemo::start();
    let mut longest = Duration::ZERO;
    let mut moments = Moments::of(|| {
        let output = start_call(&place, &[&demo.url]).wait_with_output();
        assert!(output.expect("it ends").status.success());
    });
    for _ in 0..KILLS {
        let calling = start_call(&place, &[&demo.url]);
        moments.wait();
        send(Signal::KILL, demo.process_id());
        let killed = Instant::now();
        let output = calling.wait_with_output().expect("it ends");
        if output.status.success() {
            assert_eq!(stdout(&output), "hi\n");
        } else {
            let said = stderr(&output);
            assert!(said.contains("error:") && said.contains("hint:"), "{said}");
        }
        demo = demo.start_again();
        let output = place.run(&["call", &demo.url, "echo", "text=hi"]);
        assert_eq!(stdout(&output), "hi\n", "{}", stderr(&output));
        longest = longest.max(killed.elapsed());
    }
    println!(
        "a server at a URL that was killed and started again answered after {longest:?} at most"
    );
}

/// Starts a call of `echo` at this server.
fn start_call(place: &Place, server: &[&str]) -> Child {
    let mut command = place.command(BINARY);
    command.args(["call", "--timeout", "20"]).args(server);
    command.args(["echo", "text=hi"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the binary runs")
}

#[test]
fn a_command_that_is_killed_at_any_moment_leaves_no_server() {
    let place = Place::new();
    let config = noted(&place, "first");
    place.write(
        "servers.json",
        &format!(r#"{{"mcpServers":{{"first":{config}}}}}"#),
    );
    place.write("first", "");
    let mut longest = Duration::ZERO;
    let mut moments = Moments::of(|| {
        let output = start_call(&place, &["first", "--config", "servers.json"]).wait_with_output();
        assert!(output.expect("it ends").status.success());
    });
    for _ in 0..KILLS {
        let begun = place.read("first").lines().count();
        let mut calling = start_call(&place, &["first", "--config", "servers.json"]);
        eventually("its server starts", || {
            (place.read("first").lines().count() > begun).then_some(())
        });
        moments.wait();
        calling.kill().expect("it is a child of this process");
        let killed = Instant::now();
        calling.wait().expect("it ends");
        let server = last_process(&place);
        eventually("its server ends", || has_ended(server).then_some(()));
        longest = longest.max(killed.elapsed());
    }
    println!("the server of a command that was killed ended after {longest:?} at most");
}

#[test]
fn a_command_with_few_descriptors_works_or_says_what_it_lacks() {
    let (place, demo) = (Place::new(), HttpDemo::start());
    let (mut failed, mut worked) = (0, 0);
    for count in 4..=24 {
        let mut command = place.command("sh");
        let limit = format!(r#"ulimit -n {count} && exec "$0" "$@""#);
        command.args(["-c", &limit, BINARY, "call", &demo.url]);
        command.args(["echo", "text=hi", "--timeout", "20"]);
        let output = command.output().expect("the shell runs");
        let said = stderr(&output);
        if output.status.success() {
            assert_eq!(stdout(&output), "hi\n", "{count}: {said}");
            worked += 1;
        } else {
            let is_clear = said.contains("error:") && said.contains("Too many open files");
            assert!(is_clear && !said.contains("panicked"), "{count}: {said}");
            failed += 1;
        }
    }
    assert!(failed > 0 && worked > 0, "{failed} failed, {worked} worked");
}

/// Opens connections and sends this text on each, without reading from them.
fn connections(gateway: &Gateway, count: usize, start: &[u8]) -> Vec<TcpStream> {
    let host = gateway.url.trim_start_matches("http://");
    let host = host.trim_end_matches("/mcp");
    let one = |_| {
        let mut stream = TcpStream::connect(host).expect("the system takes it");
        stream.write_all(start).expect("it is taken");
        stream
    };
    (0..count).map(one).collect()
}

#[test]
fn a_gateway_without_descriptors_serves_again_when_it_has_some() {
    let place = Place::new();
    two_servers(&place);
    let mut command = place.command("sh");
    command.args(["-c", r#"ulimit -n 48 && exec "$0" "$@""#, BINARY, "up"]);
    command.args(["--listen", "127.0.0.1:0", "servers.json"]);
    let gateway = Gateway::spawn(command);
    gateway.hears(&["ready", "first"]);
    gateway.hears(&["ready", "second"]);
    let held = connections(&gateway, 60, b"GET /healthz HTTP/1.1\r\n");
    gateway.hears(&["cannot take connections", "Too many open files"]);
    drop(held);
    let freed = Instant::now();
    echoes(&place, &gateway, "first__echo");
    println!(
        "a gateway answered {:?} after it had descriptors again",
        freed.elapsed()
    );
}

#[test]
fn a_gateway_of_little_memory_serves_beside_large_calls_that_are_not_read() {
    let place = Place::new();
    let gateway = Gateway::start(&place, &["--", BINARY, "serve", "--stdio"]);
    gateway.hears(&["ready"]);
    let text = "x".repeat(3_000_000);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "_meta": meta, "name": "echo", "arguments": { "text": text } });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let body = body.to_string();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\n\
         mcp-method: tools/call\r\nmcp-name: echo\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let request = [head.as_bytes(), body.as_bytes()].concat();
    // 192 MB of requests, and as much of answers.
    let held: Vec<Vec<TcpStream>> = thread::scope(|scope| {
        let sending: Vec<_> = (0..64)
            .map(|_| scope.spawn(|| connections(&gateway, 1, &request)))
            .collect();
        let sent = sending
            .into_iter()
            .map(|one| one.join().expect("it is sent"));
        sent.collect()
    });
    for _ in 0..5 {
        echoes(&place, &gateway, "echo");
    }
    let status = std::fs::read_to_string(format!("/proc/{}/status", gateway.process_id()));
    let status = status.expect("it runs");
    let peak = status.lines().find_map(|line| {
        let size = line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?;
        size.parse::<u64>().ok()
    });
    let peak = peak.expect("the kernel says it") * 1024;
    assert!(peak < CEILING, "{} MB", peak / 1024 / 1024);
    drop(held);
    let freed = Instant::now();
    echoes(&place, &gateway, "echo");
    println!(
        "a gateway answered {:?} after large calls had gone",
        freed.elapsed()
    );
}
