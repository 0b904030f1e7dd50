//! Replicas with few file descriptors or little memory, and a Redis without memory or disk space.

use std::{
    io::Write as _,
    net::TcpStream,
    process::Command,
    thread,
    time::{Duration, Instant},
};

use serde_json::json;

use super::{Redis, Replica, call, failover::Site};
use crate::program::{BINARY, Place, eventually};

/// How much memory a replica may take while it gets large requests whose answers are not read.
const CEILING: u64 = 256 * 1024 * 1024;

const SERVE: [&str; 2] = ["serve", "--no-page"];

impl Redis {
    /// Sends it a command, and returns its output.
    fn says(&self, words: &[&str]) -> String {
        let socket = self.url.trim_start_matches("unix://");
        let output = Command::new("redis-cli")
            .args(["-s", socket])
            .args(words)
            .output();
        let output = output.expect("`redis-cli` comes with `redis-server`");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }
}

/// While Redis rejects writes, calls and existing tasks are served, and a new task is refused with
/// the reason. Afterwards everything works again without a restart.
fn refuses_writes_for_a_while(redis: &Redis, begin: impl FnOnce(), end: impl FnOnce(), says: &str) {
    let site = Site::start_with(&redis.url, &SERVE);
    site.works();
    let promised = site.bake(1, 100).expect("a task begins");
    site.baked(0, &promised);
    begin();
    site.echo();
    let refused = site.bake(0, 100).expect_err("a task cannot be kept");
    assert!(refused.contains("\"error\""), "{refused}");
    eventually(&format!("a replica says `{says}`"), || {
        site.said().contains(says).then_some(())
    });
    // Tasks that were accepted are still there.
    site.baked(2, &promised);
    end();
    let ended = Instant::now();
    site.works();
    println!(
        "everything worked {:?} after Redis took writes again",
        ended.elapsed()
    );
    site.baked(1, &promised);
}

#[test]
fn a_redis_without_memory_loses_nothing_that_was_promised() {
    let place = Place::new();
    let redis = Redis::start(&place);
    let limit = |limit| assert_eq!(redis.says(&["CONFIG", "SET", "maxmemory", limit]), "OK");
    refuses_writes_for_a_while(&redis, || limit("1"), || limit("0"), "OOM");
}

#[test]
fn a_redis_with_a_full_disk_loses_nothing_that_was_promised() {
    let place = Place::new();
    // It only saves on command.
    let redis = Redis::start_saving(&place, "3600 1000000");
    let process = redis.child.id().to_string();
    let largest_file = |bytes: &str| {
        let limited = Command::new("prlimit")
            .args(["--pid", &process, &format!("--fsize={bytes}:unlimited")])
            .status();
        assert!(limited.expect("`prlimit` is there").success());
        let saved = redis.says(&["BGSAVE"]);
        assert!(saved.contains("Background saving"), "{saved}");
        let wanted = if bytes == "0" { "err" } else { "ok" };
        eventually("Redis has tried to save", || {
            let info = redis.says(&["INFO", "persistence"]);
            let is_over = info.contains("rdb_bgsave_in_progress:0");
            let is_so = info.contains(&format!("rdb_last_bgsave_status:{wanted}"));
            (is_over && is_so).then_some(())
        });
    };
    refuses_writes_for_a_while(
        &redis,
        || largest_file("0"),
        || largest_file("unlimited"),
        "MISCONF",
    );
}

/// Opens connections and sends this text on each, without reading the answers.
fn connections(replica: &Replica, count: usize, start: &[u8]) -> Vec<TcpStream> {
    let one = |_| {
        let mut stream = TcpStream::connect(&replica.host).expect("the system takes it");
        stream.write_all(start).expect("it is taken");
        stream
    };
    (0..count).map(one).collect()
}

fn echoes(replica: &Replica, session: &str) {
    let echo = call(1, "echo", &json!({ "text": "hello there" }));
    let echoed = replica.post(Some(session), &echo).whole();
    assert!(echoed.contains("hello there"), "{echoed}");
}

#[test]
fn a_replica_without_descriptors_loses_no_session_and_goes_on_later() {
    let place = Place::new();
    place.write("secret", "0123456789abcdef0123456789abcdef");
    let redis = Redis::start(&place);
    let mut limited = place.command("sh");
    limited.args(["-c", r#"ulimit -n 40 && exec "$0" "$@""#, BINARY]);
    let one = Replica::spawn(limited, &redis.url, &SERVE);
    let other = Replica::start(&place, &redis.url, &SERVE);
    let session = one.open_session();
    echoes(&other, &session);
    let held = connections(&one, 60, b"GET /mcp HTTP/1.1\r\n");
    eventually("it has no descriptors left", || {
        one.said().contains("Too many open files").then_some(())
    });
    echoes(&other, &session);
    drop(held);
    let freed = Instant::now();
    echoes(&one, &session);
    println!(
        "a replica answered {:?} after it had descriptors again",
        freed.elapsed()
    );
    echoes(&other, &session);
}

#[test]
fn a_replica_of_little_memory_serves_beside_large_calls_that_are_not_read() {
    let place = Place::new();
    place.write("secret", "0123456789abcdef0123456789abcdef");
    let redis = Redis::start(&place);
    let one = Replica::start(&place, &redis.url, &SERVE);
    let other = Replica::start(&place, &redis.url, &SERVE);
    let session = other.open_session();
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let arguments = json!({ "text": "x".repeat(3_000_000) });
    let params = json!({ "_meta": meta, "name": "echo", "arguments": arguments });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let body = body.to_string();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\n\
         mcp-method: tools/call\r\nmcp-name: echo\r\ncontent-length: {}\r\n\r\n",
        one.host,
        body.len()
    );
    let request = [head.as_bytes(), body.as_bytes()].concat();
    // 192 MB of requests, and as much of answers. Requests for which there is no memory are refused; their
    // connections may be closed before they are sent completely.
    let held: Vec<Option<TcpStream>> = thread::scope(|scope| {
        let sending: Vec<_> = (0..64)
            .map(|_| {
                scope.spawn(|| {
                    let mut stream = TcpStream::connect(&one.host).expect("the system takes it");
                    let timeout = stream.set_write_timeout(Some(Duration::from_secs(30)));
                    timeout.expect("it is not zero");
                    stream.write_all(&request).is_ok().then_some(stream)
                })
            })
            .collect();
        let sent = sending.into_iter();
        sent.map(|one| one.join().expect("nothing panics"))
            .collect()
    });
    assert!(held.iter().flatten().count() > 0, "none was taken");
    echoes(&one, &session);
    echoes(&other, &session);
    let status = std::fs::read_to_string(format!("/proc/{}/status", one.child.id()));
    let status = status.expect("it runs");
    let peak = status.lines().find_map(|line| {
        let size = line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?;
        size.parse::<u64>().ok()
    });
    let peak = peak.expect("the kernel says it") * 1024;
    println!("the replica took {} MB", peak / 1024 / 1024);
    assert!(peak < CEILING, "{} MB", peak / 1024 / 1024);
    drop(held);
    let freed = Instant::now();
    echoes(&one, &session);
    println!(
        "a replica answered {:?} after large calls had gone",
        freed.elapsed()
    );
}
