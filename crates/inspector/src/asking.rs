//! Questions that are put to the page, and their answers.

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
    /// Asks on the page at once. The future waits until the answer comes; dropping it withdraws the
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

    /// The exchange that a question of a session belongs to, if that can be told.
    pub(super) fn only_running(&self, server: &str) -> Option<u64> {
        let state = self.lock();
        let mut running = state
            .exchanges
            .iter()
            .filter(|exchange| exchange.server == server && !exchange.is_over());
        let only = running.next()?;
        running.next().is_none().then_some(only.n)
    }

    /// Puts a question to the page; `None` if there are too many.
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

    /// The question of this id, as long as it is open.
    pub(super) fn asked(&self, id: &str) -> Option<Ask> {
        self.lock().asks.get(id).map(|open| open.ask.clone())
    }

    /// Passes an answer on. `false` if it is not awaited.
    pub(super) fn answer_ask(&self, id: &str, reply: Reply) -> bool {
        let open = self.lock().asks.remove(id);
        let Some(OpenAsk { ask, since, tell }) = open else {
            return false;
        };
        if let Some(n) = ask.exchange {
            let answered = Answered::new(ask.clone(), since, &reply);
            self.change(n, |exchange| exchange.answers.push(answered));
        }
        // First, because the receiver of the reply may end the exchange at once, and it would end
        // with the question open.
        self.ask_is_gone(&ask);
        tell.send(reply).is_ok()
    }

    /// Answers the questions of an exchange that was given up.
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

    /// A question was withdrawn, or answered already.
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
