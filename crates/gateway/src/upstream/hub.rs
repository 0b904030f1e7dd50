//! The calls in flight on one connection, and the assignment of questions to them (G6).
//!
//! Over Streamable HTTP the stream of a question identifies its call. On a pipe nothing does. There
//! calls of tools that ask run one after the other, and so do the first calls of unknown tools. A
//! question that may belong to several calls is held until only one of them is left.

use std::{
    collections::HashMap,
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use serde_json::value::RawValue;
use tokio::{
    sync::Semaphore,
    task::AbortHandle,
    time::{self, Instant},
};
use turnbuckle_base::lock::Mutex;
use turnbuckle_client::{RelayAsk, RelaySink};
use turnbuckle_host::ServerId;
use turnbuckle_protocol::{ErrorObject, Id, envelope::Raw};

use super::{
    LaneNews, OnNews, OpenCall, Turn,
    call_asks::CallAsks,
    held::{Assignment, HELD_FOR, LaneCalls, Open},
    known_tools::{AskingHabit, KnownTools},
    lane_news::Collected,
};
use crate::translate::{Question, refusal};

/// How long the first call of an unknown tool waits for other calls that may ask. A tool that asks
/// does so soon; a call that runs for longer does not delay others.
pub(super) const UNKNOWN_WITHIN: Duration = Duration::from_secs(2);

/// How often a held question is checked. Later questions may change how long it is held.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

/// The error for the server if its question may belong to several calls.
const UNCLEAR: &str = "several calls run in this process, and the question does not say which of them it belongs to; \
    call the tool again: from now on, calls that ask run one after the other";

/// The role of a connection among the sessions with a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LaneRole {
    /// The session in which the lists are read. The supervisor is notified of its changes.
    Main,
    /// A session for calls of all callers.
    Calls,
    /// A session for calls of one caller. Other callers are not notified of its resources.
    Caller,
}

/// The data of a call that is about to begin.
pub(crate) struct NewCall<'a> {
    pub(crate) caller: Option<&'a str>,
    /// The name of the tool or prompt, under which its behaviour is remembered.
    pub(crate) subject: String,
    /// Whether its client can answer any question.
    pub(crate) can_be_asked: bool,
}

/// The calls in flight on one connection.
pub(crate) struct LaneHub {
    myself: Weak<Self>,
    /// Whether questions arrive without identifying their call.
    is_pipe: AtomicBool,
    role: LaneRole,
    news: Arc<Collected>,
    known: Arc<KnownTools>,
    next: AtomicU64,
    calls: Mutex<LaneCalls>,
    turns: Arc<Semaphore>,
    /// Questions that are being answered by a client, so that they can be withdrawn.
    answering: Mutex<HashMap<Id, AbortHandle>>,
}

impl LaneHub {
    /// Makes the hub of the supervisor's session.
    pub(crate) fn main(is_pipe: bool, server: ServerId, on_news: OnNews) -> Arc<Self> {
        let news = Collected::new(server, on_news);
        Self::new(is_pipe, LaneRole::Main, news, Arc::default())
    }

    /// Makes the hub of another session with the same server.
    pub(crate) fn beside(main: &Self, is_pipe: bool, role: LaneRole) -> Arc<Self> {
        Self::new(
            is_pipe,
            role,
            Arc::clone(&main.news),
            Arc::clone(&main.known),
        )
    }

    fn new(
        is_pipe: bool,
        role: LaneRole,
        news: Arc<Collected>,
        known: Arc<KnownTools>,
    ) -> Arc<Self> {
        Arc::new_cyclic(|myself| Self {
            myself: Weak::clone(myself),
            is_pipe: AtomicBool::new(is_pipe),
            role,
            news,
            known,
            next: AtomicU64::new(1),
            calls: Mutex::default(),
            turns: Arc::new(Semaphore::new(1)),
            answering: Mutex::default(),
        })
    }

    /// Sets that questions arrive without identifying their call.
    pub(crate) fn set_pipe(&self) {
        self.is_pipe.store(true, Ordering::Relaxed);
    }

    fn is_pipe(&self) -> bool {
        self.is_pipe.load(Ordering::Relaxed)
    }

    /// Registers a call that may be asked, when it is its turn.
    ///
    /// # Errors
    /// A text for the client if another call keeps its turn for too long.
    pub(crate) async fn enter(self: &Arc<Self>, call: NewCall<'_>) -> Result<OpenCall, String> {
        let is_pipe = self.is_pipe();
        let turn = Arc::new(Turn::new(is_pipe.then(|| Arc::clone(&self.turns))));
        let habit = if is_pipe {
            self.take_turn(&turn, &call).await?
        } else {
            AskingHabit::Quiet
        };
        match habit {
            AskingHabit::Unknown => self.release_after(UNKNOWN_WITHIN, &turn, &call.subject),
            // After that time, questions of other calls are not assigned to this one.
            AskingHabit::Suspected => self.release_after(HELD_FOR, &turn, &call.subject),
            _ => {}
        }
        let asks = Arc::<CallAsks>::default();
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let subject: Arc<str> = call.subject.into();
        self.calls.lock().enter(Open {
            number,
            caller: call.caller.map(str::to_owned),
            subject: Arc::clone(&subject),
            asks: Arc::clone(&asks),
            turn: Arc::clone(&turn),
            began: Instant::now(),
        });
        Ok(OpenCall {
            hub: Arc::clone(self),
            number,
            subject,
            asks,
            turn,
            is_new: habit == AskingHabit::Unknown,
            is_answered: false,
        })
    }

    /// Waits for the turn of a call, if its tool asks or is unknown. Returns what is known about the tool.
    async fn take_turn(&self, turn: &Arc<Turn>, call: &NewCall<'_>) -> Result<AskingHabit, String> {
        let waits_at_once = |habit: AskingHabit| {
            habit.takes_turns() || (habit == AskingHabit::Unknown && call.can_be_asked)
        };
        let habit = self.known.habit(&call.subject);
        if !waits_at_once(habit) {
            return Ok(habit);
        }
        let unknown_until = Instant::now() + UNKNOWN_WITHIN;
        let mut taking = std::pin::pin!(self.take_settled(turn));
        loop {
            let mut learned = std::pin::pin!(self.known.learned.notified());
            learned.as_mut().enable();
            let habit = self.known.habit(&call.subject);
            if !waits_at_once(habit) {
                return Ok(habit);
            }
            tokio::select! {
                // Fixed order, so that a simulation can replay every step.
                biased;
                taken = &mut taking => {
                    taken?;
                    let habit = self.known.habit(&call.subject);
                    if habit == AskingHabit::AsksSeveral {
                        turn.keep();
                    }
                    return Ok(habit);
                }
                () = learned => {}
                () = time::sleep_until(unknown_until), if habit == AskingHabit::Unknown => {
                    return Ok(habit);
                }
            }
        }
    }

    /// Releases the turn after this time if the tool has not asked by then. Such a call may run
    /// forever, and must not delay calls of tools that ask.
    fn release_after(&self, after: Duration, turn: &Arc<Turn>, subject: &str) {
        let (known, weak) = (Arc::clone(&self.known), Arc::downgrade(turn));
        let subject = subject.to_owned();
        // The task ends with the call.
        let release = tokio::spawn(async move {
            time::sleep(after).await;
            if let Some(turn) = weak.upgrade()
                && !known.habit(&subject).asks()
            {
                turn.release();
            }
        });
        turn.set_release(release.abort_handle());
    }

    /// Takes a turn once the server has noticed that earlier calls were given up.
    async fn take_settled(&self, turn: &Turn) -> Result<(), String> {
        turn.take().await?;
        let settles_at = self.calls.lock().settles_at(&self.known);
        if let Some(at) = settles_at {
            time::sleep_until(at).await;
        }
        Ok(())
    }

    pub(super) fn leave(&self, number: u64, is_answered: bool) {
        let settled = self.calls.lock().leave(number, is_answered, &self.known);
        for settled in settled {
            Self::pass(settled);
        }
    }

    /// Records that a call was answered without a question.
    pub(super) fn was_quiet(&self, subject: &str) {
        self.known.answered(subject);
    }

    /// Whether no call of another caller is, or was until a moment ago, in flight here, so that a
    /// question can only belong to this caller.
    pub(crate) fn is_alone(&self, caller: Option<&str>) -> bool {
        self.calls.lock().is_alone(caller)
    }

    /// Registers the task that answers a question, so that the question can be withdrawn.
    pub(crate) fn answering(&self, id: Id, task: AbortHandle) {
        let mut answering = self.answering.lock();
        answering.retain(|_, task| !task.is_finished());
        answering.insert(id, task);
    }

    /// Passes a question to its call, immediately or when only one call is left that may have asked it.
    pub(super) fn route(&self, ask: Box<RelayAsk>) {
        let came = self.calls.lock().came(ask, &self.known);
        match came {
            Ok(settled) => Self::pass(settled),
            Err(held) => {
                let hub = Weak::clone(&self.myself);
                // The task ends when the question is no longer held, after half a minute at most.
                tokio::spawn(async move {
                    while let Some(at) = looks_again_at(&hub, held) {
                        time::sleep_until(at.min(Instant::now() + LOOK_AGAIN)).await;
                    }
                });
            }
        }
    }

    fn pass(settled: Assignment) {
        match settled {
            Assignment::Of(call, ask) => {
                if let Err(ask) = call.add(ask) {
                    Self::refuse(*ask);
                }
            }
            Assignment::Unclear(ask) => {
                tracing::debug!(
                    method = ask.method(),
                    "refused a question that may belong to several calls"
                );
                ask.refuse(&ErrorObject::internal(UNCLEAR));
            }
            Assignment::OfNone(ask) => Self::refuse(*ask),
        }
    }

    /// Refuses a question that no client can be asked.
    fn refuse(ask: RelayAsk) {
        let question = Question::new(ask.method(), ask.params().map(Raw::from));
        tracing::debug!(
            method = question.method,
            "refused a question that belongs to no call"
        );
        ask.refuse(&refusal(&question));
    }
}

/// When a held question is checked again; `None` if it is no longer held. If its time is over, it
/// is refused.
fn looks_again_at(hub: &Weak<LaneHub>, held: u64) -> Option<Instant> {
    let hub = hub.upgrade()?;
    let mut calls = hub.calls.lock();
    calls.forget_withdrawn();
    let at = calls.looks_again_at(held)?;
    if at > Instant::now() {
        return Some(at);
    }
    let settled = calls.give_up_held(held, &hub.known);
    drop(calls);
    if let Some(settled) = settled {
        LaneHub::pass(settled);
    }
    None
}

impl RelaySink for LaneHub {
    fn ask(&self, ask: RelayAsk) {
        // A task's question is asked only where its result is being waited for.
        if self.is_pipe() && ask.related_task().is_none() {
            self.route(Box::new(ask));
        } else {
            Self::refuse(ask);
        }
    }

    fn notification(&self, method: &str, params: Option<&RawValue>) {
        let Some(news) = LaneNews::read(method, params) else {
            return;
        };
        let is_told = match (&news, self.role) {
            (LaneNews::Visited(_), _) => true,
            (LaneNews::Updated { .. }, role) => role != LaneRole::Caller,
            // The supervisor is notified of changed lists in its own session, and reads them first.
            (_, role) => role != LaneRole::Main,
        };
        if is_told {
            self.news.add(news);
        }
    }

    fn withdrawn(&self, id: &Id) {
        if let Some(task) = self.answering.lock().remove(id) {
            task.abort();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(subject: &str) -> NewCall<'_> {
        NewCall {
            caller: Some("ada"),
            subject: subject.to_owned(),
            can_be_asked: true,
        }
    }

    /// How long a call of `asks` waits while a call of `other` runs without asking.
    async fn waits_beside(learn: impl Fn(&KnownTools)) -> Result<Duration, String> {
        let hub = LaneHub::main(true, ServerId::new("s"), Arc::new(|_, _| ()));
        hub.known.asked("asks");
        learn(&hub.known);
        let _goes_on = hub.enter(call("other")).await?;
        let began = Instant::now();
        hub.enter(call("asks")).await?;
        Ok(began.elapsed())
    }

    #[tokio::test(start_paused = true)]
    async fn a_tool_that_was_not_seen_to_ask_does_not_hold_up_others_for_ever() {
        let quiet = waits_beside(|known| known.answered("other")).await;
        assert_eq!(quiet, Ok(Duration::ZERO));
        let about = |waited: Result<Duration, String>| waited.expect("its turn").as_secs();
        assert_eq!(about(waits_beside(|_| ()).await), UNKNOWN_WITHIN.as_secs());
        let suspected = waits_beside(|known| known.suspect("other")).await;
        assert_eq!(about(suspected), HELD_FOR.as_secs());
        let asks = waits_beside(|known| known.asked("other")).await;
        assert!(asks.is_err(), "it is told before its client gives up");
    }
}
