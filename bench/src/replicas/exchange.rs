//! One request over Streamable HTTP, with everything that belongs to it: progress, questions, a broken stream that
//! is resumed, and one answer.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::{
    guest::{Guest, deadline},
    history::Trouble,
    tally::{Fault, Kind},
    wire::{Arrival, Sse},
};

/// How long a call may continue after it was cancelled.
const CANCELLED_WITHIN: Duration = Duration::from_secs(10);

/// How long a stream may stay open after its answer.
const ENDED_WITHIN: Duration = Duration::from_secs(5);

/// How long a client waits before it tries again to answer or to resume.
const PAUSE: Duration = Duration::from_millis(50);

/// The error code for an unknown task.
const INVALID_PARAMS: i64 = -32602;

/// The text of a tool's result if its question could not be answered because the replica ends.
const CALL_AGAIN: &str = "call again";

/// What the client does during the exchange.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Plan {
    Wait,
    /// Closes the connection after this many steps, and resumes the stream.
    HangUp(u64),
    /// Cancels after the first step.
    Cancel,
}

/// The end of an exchange.
#[derive(Debug)]
pub(super) enum Ended {
    Answer(Value),
    Cancelled,
}

impl Ended {
    /// The result; an error becomes trouble.
    pub(super) fn result(self) -> Result<Value, Trouble> {
        let Self::Answer(mut answer) = self else {
            return Err(Trouble::Odd("cancelled without a request".into()));
        };
        if let Some(error) = answer.get("error") {
            let text = error["message"].as_str().unwrap_or_default();
            return Err(if text.contains(CALL_AGAIN) {
                Trouble::Told
            } else if text.contains("try again") || error["code"] == INVALID_PARAMS {
                Trouble::Error(error.to_string())
            } else {
                Trouble::Odd(error.to_string())
            });
        }
        let result = answer["result"].take();
        if result["isError"] == true && text_of(&result).contains(CALL_AGAIN) {
            // A replica that ends no longer receives answers to questions on its HTTP+SSE streams.
            return Err(Trouble::Told);
        }
        Ok(result)
    }
}

/// The text of a tool's result.
pub(super) fn text_of(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_default()
}

/// A running exchange.
struct Exchange<'a> {
    guest: &'a Guest,
    kind: Kind,
    number: u64,
    plan: Plan,
    began: Instant,
    deadline: Instant,
    /// The id of the last event that has one.
    last: Option<String>,
    /// The last reported step.
    step: u64,
    is_asked: bool,
    is_cancelled: bool,
}

impl Guest {
    /// Sends a request and follows it to its end.
    pub(super) async fn exchange(
        &self,
        kind: Kind,
        message: &Value,
        plan: Plan,
    ) -> Result<Ended, Trouble> {
        let mut exchange = Exchange {
            guest: self,
            kind,
            number: message["id"].as_u64().unwrap_or_default(),
            plan,
            began: Instant::now(),
            deadline: deadline(),
            last: None,
            step: 0,
            is_asked: false,
            is_cancelled: false,
        };
        let arrival = self.post(message, exchange.deadline).await?;
        exchange.follow(arrival).await
    }

    /// Calls a tool, and checks that the answer has its number and its caller.
    pub(super) async fn call_plainly(&self, kind: Kind, tool: &str) -> Result<(), Trouble> {
        let number = self.number();
        let ended = self
            .exchange(kind, &self.call(tool, number), Plan::Wait)
            .await?;
        self.hold(&ended.result()?, &self.said(tool, number));
        Ok(())
    }

    /// Records a result that differs from the expected one.
    pub(super) fn hold(&self, result: &Value, expected: &str) {
        if text_of(result) != expected {
            let problem = format!("expected `{expected}`, got {result}");
            self.fault(Fault::WrongCaller, &problem);
        }
    }

    /// The answer to a question of the server, which must be one of this client's. `None` for
    /// questions that are not asked here.
    pub(super) fn answer_to(&self, method: &str, params: &Value) -> Option<Value> {
        let (question, answer) = match method {
            "elicitation/create" => (
                params["message"].as_str(),
                json!({ "action": "accept", "content": { "word": self.name } }),
            ),
            "sampling/createMessage" => (
                params["messages"][0]["content"]["text"].as_str(),
                json!({
                    "role": "assistant", "model": "none",
                    "content": { "type": "text", "text": self.name },
                }),
            ),
            "ping" => return Some(json!({})),
            _ => return None,
        };
        let question = question.unwrap_or_default();
        if !question.ends_with(&format!(" for {}", self.name)) {
            self.fault(Fault::WrongCaller, &format!("asked `{question}`"));
        }
        Some(answer)
    }
}

impl Exchange<'_> {
    async fn follow(&mut self, mut arrival: Arrival) -> Result<Ended, Trouble> {
        match arrival.status {
            200 => {}
            404 => return Err(Trouble::NoSession),
            status => {
                let body = arrival.rest(self.deadline).await.unwrap_or_default();
                return Err(Trouble::Odd(format!("status {status}: {body}")));
            }
        }
        if !arrival.is_stream() {
            let body = arrival.rest(self.deadline).await?;
            let odd = |error| Trouble::Odd(format!("{error}: {body}"));
            let answer = serde_json::from_str(&body).map_err(odd)?;
            self.check(&answer);
            return Ok(Ended::Answer(answer));
        }
        loop {
            let event = match arrival.event(self.deadline).await {
                Ok(Some(event)) => event,
                Ok(None) | Err(Trouble::Broken) if self.is_cancelled => {
                    return Ok(Ended::Cancelled);
                }
                Err(Trouble::Hung) if self.is_cancelled => return Err(Trouble::NotCancelled),
                Ok(None) | Err(Trouble::Broken) => {
                    self.guest.note(self.kind, &Trouble::Broken, self.began);
                    arrival = self.resume().await?;
                    continue;
                }
                Err(trouble) => return Err(trouble),
            };
            let step = self.step;
            if let Some(ended) = self.take(&event).await? {
                self.see_to_the_end(&mut arrival).await;
                return Ok(ended);
            }
            if step == self.step {
                continue;
            }
            match self.plan {
                Plan::HangUp(after) if self.step >= after => {
                    self.plan = Plan::Wait;
                    drop(arrival);
                    arrival = self.resume().await?;
                }
                Plan::Cancel if !self.is_cancelled => {
                    if self.guest.is_modern() {
                        // streamable-http: closing the stream of a request cancels it.
                        return Ok(Ended::Cancelled);
                    }
                    self.cancel().await?;
                }
                _ => {}
            }
        }
    }

    /// Handles an event; returns the end of the exchange if it is the answer.
    async fn take(&mut self, event: &Sse) -> Result<Option<Ended>, Trouble> {
        if let Some(id) = &event.id {
            self.last = Some(id.clone());
        }
        let Some(message) = event.message()? else {
            return Ok(None);
        };
        let Some(method) = message["method"].as_str() else {
            self.check(&message);
            if self.is_cancelled {
                let problem = format!("an answer after it was cancelled: {message}");
                self.guest.fault(Fault::Doubled, &problem);
            }
            return Ok(Some(Ended::Answer(message)));
        };
        if message.get("id").is_some() {
            if method != "ping" && std::mem::replace(&mut self.is_asked, true) {
                let problem = format!("asked twice: {message}");
                self.guest.fault(Fault::Doubled, &problem);
            }
            let answer = self.guest.answer_to(method, &message["params"]);
            let answer = answer.ok_or_else(|| Trouble::Odd(message.to_string()))?;
            self.reply(&message["id"], &answer).await?;
        } else if method == "notifications/progress" {
            self.progress(&message["params"]);
        }
        Ok(None)
    }

    fn check(&self, answer: &Value) {
        if answer["id"] != self.number {
            let problem = format!("an answer to {}: {answer}", self.number);
            self.guest.fault(Fault::WrongCaller, &problem);
        }
    }

    fn progress(&mut self, params: &Value) {
        let step = params["progress"].as_f64().unwrap_or_default();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "steps are counted from one, and are few"
        )]
        let step = step as u64;
        if params["progressToken"] != self.number {
            let problem = format!("progress of another call than {}: {params}", self.number);
            self.guest.fault(Fault::WrongCaller, &problem);
        } else if step <= self.step {
            let problem = format!("step {step} after {}", self.step);
            self.guest.fault(Fault::Doubled, &problem);
        } else if step > self.step + 1 {
            let problem = format!("step {step} after {}", self.step);
            self.guest.fault(Fault::Lost, &problem);
        }
        self.step = step;
    }

    /// Reads until the stream ends after the answer.
    async fn see_to_the_end(&self, arrival: &mut Arrival) {
        let deadline = Instant::now() + ENDED_WITHIN;
        while let Ok(Some(event)) = arrival.event(deadline).await {
            if let Ok(Some(message)) = event.message()
                && message.get("method").is_none()
            {
                let problem = format!("a second answer: {message}");
                self.guest.fault(Fault::Doubled, &problem);
            }
        }
    }

    /// Answers a question through any replica, until the answer is accepted.
    async fn reply(&self, question: &Value, answer: &Value) -> Result<(), Trouble> {
        let message = json!({ "jsonrpc": "2.0", "id": question, "result": answer });
        self.tell(&message).await
    }

    async fn cancel(&mut self) -> Result<(), Trouble> {
        let message = json!({
            "jsonrpc": "2.0", "method": "notifications/cancelled",
            "params": { "requestId": self.number, "reason": "enough" },
        });
        self.tell(&message).await?;
        self.is_cancelled = true;
        self.deadline = Instant::now() + CANCELLED_WITHIN;
        Ok(())
    }

    /// Sends a message that has no answer, until it is accepted.
    async fn tell(&self, message: &Value) -> Result<(), Trouble> {
        loop {
            let began = Instant::now();
            match self.guest.post(message, self.deadline).await {
                Ok(taken) if taken.status == 202 => return Ok(()),
                Ok(refused) => {
                    let status = refused.status;
                    let body = refused.rest(self.deadline).await.unwrap_or_default();
                    let problem = format!("status {status} for {message}: {body}");
                    return Err(Trouble::Odd(problem));
                }
                Err(Trouble::Hung) => return Err(Trouble::Hung),
                Err(trouble) => self.guest.note(self.kind, &trouble, began),
            }
            sleep(PAUSE).await;
        }
    }

    /// Resumes the stream at any replica.
    async fn resume(&self) -> Result<Arrival, Trouble> {
        let Some(last) = &self.last else {
            // No event had an id: the call cannot be resumed, and its client calls again.
            return Err(Trouble::Broken);
        };
        let headers = [("accept", "text/event-stream"), ("last-event-id", &**last)];
        loop {
            let began = Instant::now();
            match self.guest.send("GET", &headers, "", self.deadline).await {
                Ok(resumed) if resumed.status == 200 => return Ok(resumed),
                // No events are kept of a stream whose replica is gone.
                Ok(refused) if refused.status == 400 => return Err(Trouble::Told),
                Ok(refused) if refused.status == 404 => return Err(Trouble::NoSession),
                Ok(refused) => return Err(Trouble::Odd(format!("status {}", refused.status))),
                Err(Trouble::Hung) => return Err(Trouble::Hung),
                Err(trouble) => self.guest.note(self.kind, &trouble, began),
            }
            sleep(PAUSE).await;
        }
    }
}
