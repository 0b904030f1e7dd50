//! The work of clients over Streamable HTTP, one thing after another, until the run is over.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::{
    event::REPLICAS,
    exchange::{Ended, Plan},
    guest::{Guest, deadline},
    history::Trouble,
    http_sse,
    listening::{Heard, Listening},
    random::Random,
    tally::{Fault, Kind},
};

/// How long a client is idle between two things, in milliseconds.
const IDLE_MS: (u64, u64) = (200, 3_800);

/// Clients start one after another, within this many milliseconds.
const BEGIN_WITHIN_MS: u64 = 5_000;

/// How long a late replica may serve a session after its end: one that was stopped learns of it
/// when it continues.
const END_KNOWN_WITHIN: Duration = Duration::from_secs(20);

/// How often a task is polled.
const POLL: Duration = Duration::from_millis(250);

/// How long a task may take: its work, and twice ten seconds until another replica continues it.
const TASK_WITHIN: Duration = Duration::from_mins(1);

/// How long a task is kept, in milliseconds.
const TASK_TTL: u64 = 300_000;

/// Works until the run is over.
pub(super) async fn work(guest: Arc<Guest>, mut random: Random) {
    sleep(Duration::from_millis(random.between(0, BEGIN_WITHIN_MS))).await;
    if guest.place == 0 {
        return http_sse::work(guest, random).await;
    }
    let heard = Heard::new();
    if !guest.is_modern() && guest.open().await.is_none() {
        return;
    }
    let mut listening = Listening::start(&guest, &heard);
    while !guest.is_over() {
        pause(&mut random).await;
        match random.between(0, 99) {
            0..40 => guest.done(Kind::Call, guest.order().await),
            40..55 => guest.done(Kind::Ask, guest.ask().await),
            55..65 => guest.cancel().await,
            65..75 => guest.resume(&mut random).await,
            75..88 => {
                heard
                    .update(&guest, async || {
                        guest
                            .insist(Kind::Update, async || {
                                guest.call_plainly(Kind::Update, "touch").await
                            })
                            .await
                    })
                    .await;
            }
            88..98 => guest.task(&mut random).await,
            _ if guest.is_modern() => {}
            _ => {
                drop(listening);
                heard.close();
                guest.end().await;
                if guest.open().await.is_none() {
                    return;
                }
                listening = Listening::start(&guest, &heard);
            }
        }
    }
    drop(listening);
}

pub(super) async fn pause(random: &mut Random) {
    sleep(Duration::from_millis(random.between(IDLE_MS.0, IDLE_MS.1))).await;
}

impl Guest {
    pub(super) fn done(&self, kind: Kind, done: Option<()>) {
        if done.is_some() {
            self.run.tally.done(kind, self.place);
        }
    }

    pub(super) async fn order(&self) -> Option<()> {
        self.insist(Kind::Call, async || {
            self.call_plainly(Kind::Call, "order").await
        })
        .await
    }

    /// Opens a session, and subscribes in it.
    pub(super) async fn open(&self) -> Option<()> {
        let opened = self.insist(Kind::Open, async || {
            self.set_session(None);
            let message = self.initialize();
            let deadline = deadline();
            let arrival = self.post(&message, deadline).await?;
            let session = arrival.header("mcp-session-id").map(str::to_owned);
            let body = arrival.rest(deadline).await?;
            let session = session.ok_or_else(|| Trouble::Odd(format!("no session: {body}")))?;
            self.set_session(Some(session));
            let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
            let taken = self.post(&ready, deadline).await?;
            if taken.status != 202 {
                return Err(Trouble::Odd(format!("status {}", taken.status)));
            }
            let params = json!({ "uri": self.uri() });
            let subscribe = self.request(self.number(), "resources/subscribe", params);
            let subscribed = self.exchange(Kind::Open, &subscribe, Plan::Wait).await?;
            subscribed.result().map(drop)
        });
        let opened = opened.await;
        self.done(Kind::Open, opened);
        opened
    }

    pub(super) fn initialize(&self) -> Value {
        let params = json!({
            "protocolVersion": self.revision(),
            "capabilities": { "elicitation": {}, "sampling": {} },
            "clientInfo": { "name": self.name, "version": "1" },
        });
        self.request(self.number(), "initialize", params)
    }

    /// Ends the session, and checks that it cannot be used.
    pub(super) async fn end(&self) {
        let began = Instant::now();
        let ended = self.insist(Kind::End, async || {
            match self.send("DELETE", &[], "", deadline()).await?.status {
                // An earlier attempt may have ended it.
                200 | 202 | 204 | 404 => Ok(()),
                status => Err(Trouble::Odd(format!("status {status} for DELETE"))),
            }
        });
        if ended.await.is_none() {
            return;
        }
        match self.call_plainly(Kind::End, "order").await {
            Err(Trouble::NoSession) => self.run.tally.done(Kind::End, self.place),
            Ok(()) => {
                self.note(Kind::End, &Trouble::NotEnded, began);
                self.end_is_known().await;
            }
            Err(trouble) => self.note(Kind::End, &trouble, began),
        }
    }

    /// Waits until no replica serves the ended session.
    async fn end_is_known(&self) {
        let deadline = Instant::now() + END_KNOWN_WITHIN;
        let mut refused = 0;
        while refused < REPLICAS {
            match self.call_plainly(Kind::End, "order").await {
                Err(Trouble::NoSession) => refused += 1,
                _ if Instant::now() > deadline => {
                    let problem =
                        format!("a session was served {END_KNOWN_WITHIN:?} after its end");
                    return self.fault(Fault::Lost, &problem);
                }
                _ => {
                    refused = 0;
                    sleep(POLL).await;
                }
            }
        }
    }

    /// Makes a call that asks, and answers through any replica.
    pub(super) async fn ask(&self) -> Option<()> {
        // 2025-03-26 has no elicitation.
        let tool = if self.place == 1 { "sample" } else { "ask" };
        self.insist(Kind::Ask, async || {
            let number = self.number();
            let message = self.call(tool, number);
            let mut result = self
                .exchange(Kind::Ask, &message, Plan::Wait)
                .await?
                .result()?;
            if self.is_modern() {
                result = self.second_round(message, &result).await?;
            }
            self.hold(
                &result,
                &format!("{}: {}", self.said(tool, number), self.name),
            );
            Ok(())
        })
        .await
    }

    /// Sends the answers to the questions of a call, which any replica may continue.
    async fn second_round(&self, mut message: Value, first: &Value) -> Result<Value, Trouble> {
        if first["resultType"] != "input_required" {
            return Err(Trouble::Odd(format!("it did not ask: {first}")));
        }
        message["id"] = self.number().into();
        message["params"]["inputResponses"] = self.answers(&first["inputRequests"])?;
        message["params"]["requestState"] = first["requestState"].clone();
        let ended = self.exchange(Kind::Ask, &message, Plan::Wait).await?;
        ended.result()
    }

    /// Answers to questions by their keys.
    fn answers(&self, questions: &Value) -> Result<Value, Trouble> {
        let question = &questions["word"];
        let method = question["method"].as_str().unwrap_or_default();
        let answer = self.answer_to(method, &question["params"]);
        let answer = answer.ok_or_else(|| Trouble::Odd(format!("questions: {questions}")))?;
        Ok(json!({ "word": answer }))
    }

    /// Makes a call and cancels it through any replica.
    pub(super) async fn cancel(&self) {
        let done = self.insist(Kind::Cancel, async || {
            let message = self.call("endless", self.number());
            match self.exchange(Kind::Cancel, &message, Plan::Cancel).await? {
                Ended::Cancelled => Ok(()),
                // The error says that the replica is gone; a result is already recorded.
                answered @ Ended::Answer(_) => answered.result().map(drop),
            }
        });
        self.done(Kind::Cancel, done.await);
    }

    /// Makes a call whose stream is closed and resumed at any replica: each step arrives once, and one answer.
    pub(super) async fn resume(&self, random: &mut Random) {
        let plan = if self.is_modern() {
            // Streams of 2026-07-28 cannot be resumed.
            Plan::Wait
        } else {
            Plan::HangUp(random.between(1, 15))
        };
        let done = self.insist(Kind::Resume, async || {
            let number = self.number();
            let message = self.call("steps", number);
            let ended = self.exchange(Kind::Resume, &message, plan).await?;
            self.hold(&ended.result()?, &self.said("steps", number));
            Ok(())
        });
        let done = done.await;
        let kind = if self.is_modern() {
            Kind::Call
        } else {
            Kind::Resume
        };
        self.done(kind, done);
    }

    /// Runs a task, if the revision has tasks.
    pub(super) async fn task(&self, random: &mut Random) {
        if self.place < 3 {
            return self.done(Kind::Call, self.order().await);
        }
        let tool = match random.between(0, 2) {
            0 => "job",
            1 => "booking",
            _ => "chore",
        };
        let done = self.insist(Kind::Task, async || {
            let number = self.number();
            let mut message = self.call(tool, number);
            if !self.is_modern() {
                message["params"]["task"] = json!({ "ttl": TASK_TTL });
            }
            let created = self
                .exchange(Kind::Task, &message, Plan::Wait)
                .await?
                .result()?;
            let task = if self.is_modern() {
                &created
            } else {
                &created["task"]
            };
            let Some(id) = task["taskId"].as_str() else {
                return Err(Trouble::Odd(format!("no task: {created}")));
            };
            let result = self.follow_task(tool, id).await?;
            let mut expected = self.said(tool, number);
            if tool == "booking" {
                expected = format!("{expected}: {}", self.name);
            }
            self.hold(&result, &expected);
            Ok(())
        });
        self.done(Kind::Task, done.await);
    }

    /// The result of a task, which is polled through any replica.
    async fn follow_task(&self, tool: &str, id: &str) -> Result<Value, Trouble> {
        let first = Instant::now();
        while first.elapsed() < TASK_WITHIN {
            let began = Instant::now();
            let state = self.about_task("tasks/get", json!({ "taskId": id })).await;
            let result = match state {
                Ok(state) => match state["status"].as_str() {
                    Some("working") => Ok(None),
                    Some("input_required" | "completed") if !self.is_modern() => {
                        let asked = self.about_task("tasks/result", json!({ "taskId": id }));
                        asked.await.map(Some)
                    }
                    Some("completed") => Ok(Some(state["result"].clone())),
                    Some("input_required") => self.answer_task(id, &state).await.map(|()| None),
                    Some("failed") if tool == "chore" => {
                        return Err(Trouble::Failed(state.to_string()));
                    }
                    Some("failed") => return Err(Trouble::NotTakenOver(state.to_string())),
                    _ => return Err(Trouble::Odd(state.to_string())),
                },
                Err(trouble) => Err(trouble),
            };
            match result {
                Ok(Some(result)) => return Ok(result),
                Ok(None) => {}
                // Invalid params: the task does not exist.
                Err(Trouble::Error(error)) if error.contains("-32602") => {
                    return Err(Trouble::Forgotten(error));
                }
                Err(Trouble::Hung) => return Err(Trouble::Hung),
                Err(trouble) => self.note(Kind::Task, &trouble, began),
            }
            sleep(POLL).await;
        }
        let problem = format!("task {id} of `{tool}` did not end within {TASK_WITHIN:?}");
        self.fault(Fault::Hung, &problem);
        Err(Trouble::Hung)
    }

    async fn about_task(&self, method: &str, params: Value) -> Result<Value, Trouble> {
        let message = self.request(self.number(), method, params);
        let ended = self.exchange(Kind::Task, &message, Plan::Wait).await?;
        ended.result()
    }

    /// Answers a task's questions.
    async fn answer_task(&self, id: &str, state: &Value) -> Result<(), Trouble> {
        let answers = self.answers(&state["inputRequests"])?;
        let params = json!({ "taskId": id, "inputResponses": answers });
        self.about_task("tasks/update", params).await.map(drop)
    }
}
