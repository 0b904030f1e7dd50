//! Shows questions on the page, and passes on the answers.

use std::sync::Arc;

use serde_json::json;
use tokio::sync::oneshot;

use super::{
    ask::{Answered, Ask, MAX_ASKS, OpenAsk, Reply},
    clock,
    exchange::Status,
    inspector::Inspector,
};

/// Withdraws the question when its answer is no longer awaited.
struct Withdraw {
    inspector: Arc<Inspector>,
    id: String,
}

impl Drop for Withdraw {
    fn drop(&mut self) {
        self.inspector.forget_ask(&self.id);
    }
}

impl Inspector {
    /// Shows the question on the page at once. The future waits for the answer; dropping it withdraws the
    /// question.
    pub(super) fn ask(self: &Arc<Self>, ask: Ask) -> impl Future<Output = Reply> + Send + use<> {
        let (tell, told) = oneshot::channel();
        let open = self.open_ask(ask, tell).map(|id| Withdraw {
            inspector: self.clone(),
            id,
        });
        async move {
            let Some(_withdraw) = open else {
                return Reply::Error(format!("more than {MAX_ASKS} questions are open"));
            };
            told.await.unwrap_or(Reply::Cancel)
        }
    }

    /// The exchange that a question in a session belongs to, if only one is running.
    pub(super) fn only_running(&self, server: &str) -> Option<u64> {
        let state = self.lock();
        let mut running = state
            .exchanges
            .iter()
            .filter(|exchange| exchange.server == server && !exchange.is_over());
        let only = running.next()?;
        running.next().is_none().then_some(only.n)
    }

    /// Shows a question on the page; `None` if too many are open.
    fn open_ask(&self, mut ask: Ask, tell: oneshot::Sender<Reply>) -> Option<String> {
        let mut state = self.lock();
        if state.asks.len() >= MAX_ASKS {
            return None;
        }
        state.ask_count += 1;
        ask.id = format!("a{}", state.ask_count);
        let id = ask.id.clone();
        let shown = ask.clone();
        state.asks.insert(
            id.clone(),
            OpenAsk {
                ask,
                since: clock::now(),
                tell,
            },
        );
        drop(state);
        self.events.publish("ask", &shown);
        if let Some(n) = shown.exchange {
            self.change(n, |exchange| {
                exchange.status = Status::Asked;
                exchange.asks.push(shown);
            });
        }
        Some(id)
    }

    /// The open question with this id.
    pub(super) fn asked(&self, id: &str) -> Option<Ask> {
        self.lock().asks.get(id).map(|open| open.ask.clone())
    }

    /// Passes on an answer. Returns `false` if the question is no longer open.
    pub(super) fn answer_ask(&self, id: &str, reply: Reply) -> bool {
        let open = self.lock().asks.remove(id);
        let Some(OpenAsk { ask, since, tell }) = open else {
            return false;
        };
        if let Some(n) = ask.exchange {
            let answered = Answered::new(ask.clone(), since, &reply);
            self.change(n, |exchange| exchange.answers.push(answered));
        }
        // Removed before the reply is sent: the receiver may end the exchange at once, which would then end
        // with an open question.
        self.ask_is_gone(&ask);
        tell.send(reply).is_ok()
    }

    /// Cancels the questions of an exchange that was cancelled.
    pub(super) fn withdraw_asks(&self, n: u64) {
        let state = self.lock();
        let of_it = state
            .asks
            .values()
            .filter(|open| open.ask.exchange == Some(n));
        let ids: Vec<String> = of_it.map(|open| open.ask.id.clone()).collect();
        drop(state);
        for id in ids {
            self.answer_ask(&id, Reply::Cancel);
        }
    }

    /// Removes a question that was withdrawn, unless it was answered already.
    fn forget_ask(&self, id: &str) {
        let open = self.lock().asks.remove(id);
        if let Some(open) = open {
            self.ask_is_gone(&open.ask);
        }
    }

    fn ask_is_gone(&self, ask: &Ask) {
        self.events.publish("ask-gone", &json!({ "id": ask.id }));
        if let Some(n) = ask.exchange {
            self.change(n, |exchange| {
                exchange.asks.retain(|other| other.id != ask.id);
                if exchange.asks.is_empty() {
                    exchange.status = Status::Running;
                }
            });
        }
    }
}
