//! Three processes with a real Redis cluster and with real sentinels, before, while and after a master is
//! killed.

use std::{process::Command, time::Instant};

use serde_json::{Value, json};
use turnbuckle_test_replicas::{Cluster, Sentinels};

use super::{Answer, Replica, call};
use crate::program::{BINARY, Place, TIMEOUT, eventually};

/// How many milliseconds a task takes: longer than it takes to notice that a master is gone, and shorter
/// than it takes to replace it on a slow machine.
const LONG: u64 = 2500;

/// The replicas, and a session that all of them serve.
pub(super) struct Site {
    replicas: Vec<Replica>,
    session: String,
    _place: Place,
}

impl Site {
    fn start(redis: &str) -> Self {
        Self::start_with(redis, &["serve", "--no-page"])
    }

    /// Starts three processes with these arguments.
    pub(super) fn start_with(redis: &str, words: &[&str]) -> Self {
        Self::start_by(redis, words, |_| ())
    }

    /// The same, with commands that `prepare` changes.
    pub(super) fn start_by(redis: &str, words: &[&str], prepare: impl Fn(&mut Command)) -> Self {
        let place = Place::new();
        place.write("secret", "0123456789abcdef0123456789abcdef");
        let replicas: Vec<_> = (0..3)
            .map(|_| {
                let mut command = place.command(BINARY);
                prepare(&mut command);
                Replica::spawn(command, redis, words)
            })
            .collect();
        let session = replicas[0].open_session_with(&json!({ "elicitation": { "form": {} } }));
        let site = Self {
            replicas,
            session,
            _place: place,
        };
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let taken = site.post(1, &ready).whole();
        assert!(taken.starts_with("HTTP/1.1 202"), "{taken}");
        site
    }

    pub(super) fn replicas(&self) -> &[Replica] {
        &self.replicas
    }

    /// The output of the replicas since they began to listen.
    pub(super) fn said(&self) -> String {
        self.replicas.iter().map(Replica::said).collect()
    }

    fn post(&self, replica: usize, message: &Value) -> Answer {
        self.replicas[replica].post(Some(&self.session), message)
    }

    /// The result of a request, or its error.
    fn result(&self, replica: usize, method: &str, params: &Value) -> Result<Value, String> {
        let message = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
        let text = self.post(replica, &message).whole();
        let answer = json_with(&text, "\"id\":7").ok_or_else(|| text.clone())?;
        answer.get("result").cloned().ok_or(text)
    }

    /// Makes a plain call, which does not depend on Redis.
    pub(super) fn echo(&self) {
        for replica in 0..3 {
            let echo = call(5, "echo", &json!({ "text": "hello there" }));
            let echoed = self.post(replica, &echo).whole();
            assert!(echoed.contains("hello there"), "{echoed}");
        }
    }

    /// Calls a tool that asks; returns its stream and the id of the question.
    pub(super) fn ask(&self, replica: usize) -> (Answer, Value) {
        let mut asked = self.post(replica, &call(6, "greet", &json!({})));
        asked.until("elicitation/create");
        asked.until("\n\n");
        let question = json_with(&asked.text, "elicitation/create").expect("a question");
        (asked, question["id"].clone())
    }

    /// Answers a question at another replica, and reads the result of the call. As long as the answer cannot
    /// be passed on, the client is told to try again.
    pub(super) fn answer(&self, replica: usize, asked: Answer, id: &Value, name: &str) {
        let content = json!({ "name": name, "tone": "plain" });
        let result = json!({ "action": "accept", "content": content });
        let answer = json!({ "jsonrpc": "2.0", "id": id, "result": result });
        eventually("the answer is taken", || {
            let taken = self.post(replica, &answer).whole();
            let is_away = taken.starts_with("HTTP/1.1 503");
            assert!(is_away || taken.starts_with("HTTP/1.1 202"), "{taken}");
            (!is_away).then_some(())
        });
        let text = asked.whole();
        assert!(text.contains(&format!("Hello, {name}!")), "{text}");
    }

    /// Starts a task, and returns its id.
    pub(super) fn bake(&self, replica: usize, time: u64) -> Result<String, String> {
        let arguments = json!({ "what": "cake", "time": time });
        let params = json!({ "name": "bake", "arguments": arguments, "task": { "ttl": 600_000 } });
        let begun = self.result(replica, "tools/call", &params)?;
        let id = begun["task"]["taskId"].as_str();
        Ok(id.ok_or_else(|| begun.to_string())?.to_owned())
    }

    /// The state of a task, or the error.
    pub(super) fn task(&self, replica: usize, id: &str) -> Result<Value, String> {
        self.result(replica, "tasks/get", &json!({ "taskId": id }))
    }

    /// Waits at another replica for the end of a task.
    pub(super) fn baked(&self, replica: usize, id: &str) {
        let status = eventually("the task ends", || {
            let task = self.task(replica, id).ok()?;
            let status = task["status"].as_str()?.to_owned();
            (status != "working").then_some(status)
        });
        assert_eq!(status, "completed");
        let result = self.result(replica, "tasks/result", &json!({ "taskId": id }));
        let result = result.expect("it has a result");
        assert_eq!(result["content"][0]["text"], "one cake, still warm");
    }

    /// Checks everything, each step at another replica than the one before it.
    pub(super) fn works(&self) {
        self.echo();
        let (asked, id) = self.ask(0);
        self.answer(1, asked, &id, "Ada");
        let task = eventually("a task begins", || self.bake(1, 300).ok());
        self.baked(2, &task);
    }

    /// Checks everything, with a master killed in the middle.
    fn works_while(&self, kill: impl FnOnce()) {
        self.works();
        let (asked, id) = self.ask(2);
        let task = self.bake(0, LONG).expect("a task begins");
        let killed = Instant::now();
        kill();
        self.echo();
        self.answer(0, asked, &id, "Eve");
        println!("answered {:?} after the kill", killed.elapsed());
        self.baked(1, &task);
        println!("the task was over {:?} after the kill", killed.elapsed());
        self.works();
        println!("everything worked {:?} after the kill", killed.elapsed());
        assert!(killed.elapsed() < TIMEOUT);
    }
}

/// The message that contains `part`, in an event stream or a body.
fn json_with(text: &str, part: &str) -> Option<Value> {
    let mut lines = text.lines().filter(|line| line.contains(part));
    lines.find_map(|line| serde_json::from_str(&line[line.find('{')?..]).ok())
}

#[test]
fn replicas_outlive_a_master_of_a_cluster() {
    let mut cluster = Cluster::start();
    let site = Site::start(&cluster.url());
    site.works_while(|| {
        // Data that only the master has is lost with it.
        cluster.replicate();
        // The master that stores which replicas there are.
        let place = cluster.place_of("turnbuckle:nodes:{all}");
        cluster.nodes[place].kill();
    });
    for master in cluster.masters() {
        for key in master.says(&["--scan"]).lines() {
            let left: i64 = master.says(&["TTL", key]).parse().expect("a number");
            assert_ne!(left, -1, "{key} is kept for ever");
        }
    }
}

#[test]
fn replicas_outlive_a_master_of_sentinels() {
    let mut sentinels = Sentinels::start();
    let site = Site::start(&sentinels.url());
    site.works_while(|| {
        // Data that only the master has is lost with it.
        sentinels.replicate();
        sentinels.master().kill();
    });
    for key in sentinels.master().says(&["--scan"]).lines() {
        let left: i64 = sentinels.master().says(&["TTL", key]).parse().unwrap();
        assert_ne!(left, -1, "{key} is kept for ever");
    }
}
