//! A modern client in front of a legacy server: a call in whose middle the server asks is parked until
//! the client comes back with answers. It is never run twice (G4, G5, G7).
//!
//! The call belongs to the gateway from the first question on. A task holds it, collects what the server
//! asks, and gives it up when the client does not come back in time. Requests of the client only wait for it.

use std::{
    collections::HashMap,
    fmt::Write,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use indexmap::IndexMap;
use serde_json::json;
use tokio::{
    sync::{Notify, OwnedSemaphorePermit, watch},
    time::{self, Instant},
};
use turnbuckle_base::lock::Mutex;
use turnbuckle_client::{RelayAsk, RelayCall, RelayEvent};
use turnbuckle_protocol::{Revision, envelope::Raw};
use turnbuckle_server::{Reject, RelayReply};

use super::{
    call::{Context, Exchange},
    ear, visit,
};
use crate::{
    seal::{Ticket, random},
    translate::{Answer, FrontRequest, Question, Round, answer, expired, refusal, unavailable},
    upstream::{LaneHub, OpenCall},
};

/// How long further questions are waited for, so that they are asked together.
const DEBOUNCE: Duration = Duration::from_millis(20);

/// How many calls are parked in one process.
const MAX_PARKED: usize = 1_024;

/// How many of them belong to one caller.
const MAX_PER_CALLER: usize = 16;

/// How many of them belong to one server.
const MAX_PER_SERVER: usize = 32;

/// How many outcomes are kept for clients that lost the answer.
const MAX_KEPT: usize = 1_024;

/// How many questions of one call may be open.
const MAX_QUESTIONS: usize = 32;

/// How long a client that does not read keeps a message waiting.
const TELL_WITHIN: Duration = Duration::from_secs(5);

/// The calls that wait for answers, and the outcomes of those that are over.
pub(crate) struct ParkTable {
    node: u64,
    next: AtomicU64,
    calls: Mutex<HashMap<u64, Arc<ParkedCall>>>,
}

impl Default for ParkTable {
    fn default() -> Self {
        Self {
            node: u64::from_le_bytes(random()),
            next: AtomicU64::new(1),
            calls: Mutex::default(),
        }
    }
}

/// A call that waits for answers.
struct ParkedCall {
    number: u64,
    caller: Option<String>,
    server: String,
    state: Mutex<ParkState>,
    /// Counts what happened.
    changed: watch::Sender<u64>,
    /// The client has given it up.
    abandoned: Notify,
    /// What the server speaks.
    revision: Revision,
    /// How it is known among the calls of its process.
    place: OnceLock<Place>,
    /// Held from the answers of the client to the next question or the end: until then no other call
    /// of the process that asks goes on.
    turn: Mutex<Option<OwnedSemaphorePermit>>,
}

/// How a parked call is known among the calls of its process.
struct Place {
    hub: Arc<LaneHub>,
    subject: String,
    /// Set while the server waits for answers.
    waits: Arc<AtomicBool>,
}

struct ParkState {
    round: u32,
    asked: usize,
    open: IndexMap<String, (Question, RelayAsk)>,
    /// Whether the client may be told of the open questions.
    is_published: bool,
    outcome: Option<RelayReply>,
    /// The request that is told of progress.
    request: Option<Arc<FrontRequest>>,
    waiters: usize,
}

impl ParkTable {
    /// How many calls are parked.
    pub(crate) fn count(&self) -> usize {
        let calls = self.calls.lock();
        calls.values().filter(|call| call.is_open()).count()
    }

    fn enter(
        &self,
        caller: Option<&str>,
        server: &str,
        revision: Revision,
    ) -> Result<Arc<ParkedCall>, Reject> {
        let mut calls = self.calls.lock();
        let open = || calls.values().filter(|call| call.is_open());
        let of_caller = open()
            .filter(|call| call.caller.as_deref() == caller)
            .count();
        let of_server = open().filter(|call| call.server == server).count();
        if open().count() >= MAX_PARKED || of_server >= MAX_PER_SERVER {
            return Err(Reject::internal(
                "too many calls wait for answers of their users; try again later",
            ));
        }
        if of_caller >= MAX_PER_CALLER {
            return Err(Reject::internal(format!(
                "{MAX_PER_CALLER} of your calls wait for answers; answer them first"
            )));
        }
        if calls.len() >= MAX_PARKED + MAX_KEPT
            && let Some(oldest) = calls
                .values()
                .filter(|call| !call.is_open())
                .map(|call| call.number)
                .min()
        {
            calls.remove(&oldest);
        }
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let call = Arc::new(ParkedCall {
            number,
            caller: caller.map(str::to_owned),
            server: server.to_owned(),
            state: Mutex::new(ParkState {
                round: 0,
                asked: 0,
                open: IndexMap::new(),
                is_published: false,
                outcome: None,
                request: None,
                waiters: 0,
            }),
            changed: watch::Sender::new(0),
            abandoned: Notify::new(),
            revision,
            place: OnceLock::new(),
            turn: Mutex::default(),
        });
        calls.insert(number, Arc::clone(&call));
        Ok(call)
    }

    fn find(&self, number: u64) -> Option<Arc<ParkedCall>> {
        self.calls.lock().get(&number).cloned()
    }

    fn remove(&self, number: u64) {
        self.calls.lock().remove(&number);
    }
}

/// Runs a call of a modern client on a legacy server, until it is done or something is asked.
pub(super) async fn run(exchange: Exchange) -> RelayReply {
    let mut open = exchange.enter();
    let mut call = match exchange.start(&Round::None) {
        Ok(call) => call,
        Err(reply) => return reply,
    };
    loop {
        let event = Exchange::next(&mut call, &mut open).await;
        match exchange.hear(event).await {
            Some(RelayEvent::Ask(ask)) => {
                if let Some(asked) = admitted(&exchange, ask) {
                    return park(exchange, call, open, asked).await;
                }
            }
            Some(RelayEvent::Result(raw)) => return exchange.finish(&Answer::Result(raw)),
            Some(RelayEvent::Error(raw)) => return failed(&exchange, raw),
            Some(RelayEvent::Lost(error)) => return exchange.finish(&Answer::Lost(error)),
            None | Some(_) => {}
        }
    }
}

fn failed(exchange: &Exchange, raw: Box<serde_json::value::RawValue>) -> RelayReply {
    visit::reply(exchange, &raw).unwrap_or_else(|| exchange.finish(&Answer::Error(raw)))
}

/// A question that the client can be asked. Others are refused (G8).
fn admitted(exchange: &Exchange, ask: RelayAsk) -> Option<(Question, RelayAsk)> {
    let question = Question::new(ask.method(), ask.params().map(Raw::from));
    let request = &exchange.request;
    if exchange.may_be_asked() && question.is_declared(&request.capabilities, request.revision) {
        return Some((question, ask));
    }
    ask.refuse(&refusal(&question));
    None
}

/// Parks a call, and waits for the first thing to tell the client.
async fn park(
    exchange: Exchange,
    call: RelayCall,
    open: Option<OpenCall>,
    first: (Question, RelayAsk),
) -> RelayReply {
    let context = Arc::clone(&exchange.context);
    let request = Arc::clone(&exchange.request);
    let parked = context
        .parked
        .enter(request.caller(), exchange.server(), exchange.to());
    let parked = match parked {
        Ok(parked) => parked,
        Err(reject) => {
            first.1.refuse(&refusal(&first.0));
            call.cancel("the gateway cannot keep more calls waiting");
            return reject.into();
        }
    };
    if let Some(open) = &open {
        let _ = parked.place.set(Place {
            hub: Arc::clone(&exchange.lane.hub),
            subject: exchange.subject(),
            waits: open.waits_for_answers(),
        });
    }
    {
        let mut state = parked.state.lock();
        state.request = Some(Arc::clone(&request));
        state.add(first);
    }
    let waiting = Waiting::new(&parked);
    let keeper = Keeper {
        parked: Arc::clone(&parked),
        exchange,
        open,
    };
    // It ends with the call, or when its time is up.
    tokio::spawn(keeper.keep(call));
    waiting.wait(&context, &request).await
}

/// Takes the answers of a client that comes back, and waits for what comes of them.
pub(super) async fn resume(
    context: &Arc<Context>,
    request: &Arc<FrontRequest>,
    server: &str,
    node: u64,
    number: u64,
    round: u32,
) -> RelayReply {
    if node != context.parked.node {
        return unavailable(
            server,
            "the call was kept by another process, which is gone",
        );
    }
    let Some(parked) = context.parked.find(number) else {
        return unavailable(server, "the call is over");
    };
    let waiting = Waiting::new(&parked);
    if parked.awaits(round) {
        let turn = match parked.place.get() {
            Some(place) => place.hub.turn(&place.subject).await,
            None => Ok(None),
        };
        match turn {
            Ok(turn) => parked.take_answers(request, round, turn),
            Err(reason) => return unavailable(server, &reason),
        }
    }
    waiting.wait(context, request).await
}

impl ParkState {
    fn add(&mut self, (question, ask): (Question, RelayAsk)) {
        if self.open.len() >= MAX_QUESTIONS {
            return ask.refuse(&refusal(&question));
        }
        self.asked += 1;
        self.open
            .insert(format!("ask-{}", self.asked), (question, ask));
    }

    /// Whether answers of this round are wanted.
    fn awaits(&self, round: u32) -> bool {
        self.outcome.is_none() && self.is_published && self.round == round
    }

    /// Forgets what the server has taken back.
    fn drop_withdrawn(&mut self) {
        self.open.retain(|_, (_, ask)| !ask.is_withdrawn());
    }
}

impl ParkedCall {
    fn awaits(&self, round: u32) -> bool {
        self.state.lock().awaits(round)
    }

    fn is_open(&self) -> bool {
        self.state.lock().outcome.is_none()
    }

    fn set_waits(&self, waits: bool) {
        if let Some(place) = self.place.get() {
            place.waits.store(waits, Ordering::Release);
        }
    }

    fn changed(&self) {
        self.changed.send_modify(|count| *count += 1);
    }

    /// Hands answers to the server. A retry of an earlier round changes nothing (G5); where some are
    /// missing, they are asked for again (G7).
    fn take_answers(
        &self,
        request: &Arc<FrontRequest>,
        round: u32,
        turn: Option<OwnedSemaphorePermit>,
    ) {
        let mut state = self.state.lock();
        if !state.awaits(round) {
            return;
        }
        state.request = Some(Arc::clone(request));
        // What it asks next is asked because of these answers.
        self.set_waits(false);
        let responses = request.responses.as_ref().map(|raw| raw.raw().members());
        for (key, response) in responses.unwrap_or_default() {
            if !response.is_object() {
                continue;
            }
            if let Some((_, ask)) = state.open.shift_remove(&*key) {
                ask.answer(&answer(response.value(), self.revision));
            }
        }
        state.drop_withdrawn();
        state.is_published = !state.open.is_empty();
        if !state.is_published {
            *self.turn.lock() = turn;
        }
        state.round += 1;
        drop(state);
        self.changed();
    }

    /// What the client is told of the open questions.
    fn input_required(
        &self,
        context: &Context,
        request: &FrontRequest,
        state: &ParkState,
    ) -> RelayReply {
        let mut entries = String::new();
        for (index, (key, (question, _))) in state.open.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            let _ = write!(entries, "{comma}{}:{}", json!(key), question.to_entry());
        }
        let ticket = Ticket::Parked {
            node: context.parked.node,
            number: self.number,
            round: state.round,
            server: self.server.clone(),
        };
        let lasts = context.park_for;
        let sealed = context
            .sealer
            .seal(&ticket, request.caller(), request.digest, lasts);
        match sealed {
            Ok(sealed) => RelayReply::Result(
                format!(
                    r#"{{"resultType":"input_required","inputRequests":{{{entries}}},"requestState":{}}}"#,
                    json!(sealed)
                )
                .into_bytes(),
            ),
            Err(reject) => reject.into(),
        }
    }
}

/// A request that waits for what comes of a parked call. If the last one goes away without an answer,
/// the call is given up (G15).
struct Waiting {
    parked: Arc<ParkedCall>,
    is_answered: bool,
}

impl Waiting {
    fn new(parked: &Arc<ParkedCall>) -> Self {
        parked.state.lock().waiters += 1;
        Self {
            parked: Arc::clone(parked),
            is_answered: false,
        }
    }

    async fn wait(mut self, context: &Context, request: &FrontRequest) -> RelayReply {
        let mut changed = self.parked.changed.subscribe();
        loop {
            changed.mark_unchanged();
            {
                let state = self.parked.state.lock();
                if let Some(outcome) = &state.outcome {
                    let outcome = outcome.clone();
                    drop(state);
                    self.is_answered = true;
                    return outcome;
                }
                if state.is_published {
                    let reply = self.parked.input_required(context, request, &state);
                    drop(state);
                    self.is_answered = true;
                    return reply;
                }
            }
            if changed.changed().await.is_err() {
                return unavailable(&self.parked.server, "the call is over");
            }
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let mut state = self.parked.state.lock();
        state.waiters -= 1;
        if !self.is_answered && state.waiters == 0 && state.outcome.is_none() {
            drop(state);
            self.parked.abandoned.notify_one();
        }
    }
}

/// The task that holds a parked call.
struct Keeper {
    parked: Arc<ParkedCall>,
    exchange: Exchange,
    open: Option<OpenCall>,
}

impl Keeper {
    async fn keep(mut self, mut call: RelayCall) {
        let park_for = self.exchange.context.park_for;
        let mut publish_at = Some(Instant::now() + DEBOUNCE);
        let mut expires = Instant::now() + park_for;
        let mut changed = self.parked.changed.subscribe();
        let outcome = loop {
            tokio::select! {
                event = Exchange::next(&mut call, &mut self.open) => match self.take(event).await {
                    Taken::Asked => publish_at = Some(Instant::now() + DEBOUNCE),
                    Taken::Told => {}
                    Taken::Ended(outcome) => break outcome,
                },
                () = time::sleep_until(publish_at.unwrap_or(expires)), if publish_at.is_some() => {
                    publish_at = None;
                    self.publish();
                }
                () = time::sleep_until(expires) => {
                    self.expire();
                    call.cancel("the client did not answer in time");
                    break unavailable(&self.parked.server, "the client did not answer in time");
                }
                () = self.parked.abandoned.notified() => {
                    call.cancel("the client gave the call up");
                    self.exchange.context.parked.remove(self.parked.number);
                    return;
                }
                _ = changed.changed() => expires = Instant::now() + park_for,
            }
        };
        self.end(outcome, park_for).await;
    }

    /// Keeps the outcome for a client that lost the answer and comes back for it.
    async fn end(self, outcome: RelayReply, keep_for: Duration) {
        {
            let mut state = self.parked.state.lock();
            state.outcome = Some(outcome);
            state.is_published = false;
            // What is still open is never answered, because the call is over.
            state.open.clear();
            state.request = None;
        }
        self.parked.changed();
        let (parked, context) = (self.parked, Arc::clone(&self.exchange.context));
        // The session of the server is free for others, and nothing is asked any more.
        drop(self.open);
        drop(self.exchange);
        *parked.turn.lock() = None;
        time::sleep(keep_for).await;
        context.parked.remove(parked.number);
    }

    async fn take(&self, event: RelayEvent) -> Taken {
        let request = self.parked.state.lock().request.clone();
        let event = match request {
            Some(request) => {
                let told = ear::hear(&request, event);
                match time::timeout(TELL_WITHIN, told).await {
                    Ok(Some(event)) => event,
                    Ok(None) | Err(_) => return Taken::Told,
                }
            }
            None => event,
        };
        match event {
            RelayEvent::Ask(ask) => match admitted(&self.exchange, ask) {
                Some(asked) => {
                    self.parked.state.lock().add(asked);
                    Taken::Asked
                }
                None => Taken::Told,
            },
            RelayEvent::Result(raw) => Taken::Ended(self.exchange.finish(&Answer::Result(raw))),
            RelayEvent::Error(raw) => Taken::Ended(failed(&self.exchange, raw)),
            RelayEvent::Lost(error) => Taken::Ended(self.exchange.finish(&Answer::Lost(error))),
            _ => Taken::Told,
        }
    }

    /// Lets the client be told of the open questions.
    fn publish(&mut self) {
        let mut state = self.parked.state.lock();
        state.drop_withdrawn();
        if state.open.is_empty() {
            return;
        }
        // Until it is answered the server asks nothing more in this call: others have their turn.
        self.parked.set_waits(true);
        self.exchange.turn = None;
        *self.parked.turn.lock() = None;
        // What comes late is asked for in the next round: the client has the questions of this one.
        if !state.is_published {
            state.is_published = true;
            state.round += 1;
        }
        drop(state);
        self.parked.changed();
    }

    /// Answers what the client did not answer in time.
    fn expire(&self) {
        let open: Vec<_> = self.parked.state.lock().open.drain(..).collect();
        for (_, (question, ask)) in open {
            match expired(&question) {
                Ok(result) => ask.answer(&answer(&result, self.exchange.to())),
                Err(error) => ask.refuse(&error),
            }
        }
    }
}

/// What became of an event.
enum Taken {
    Asked,
    Told,
    Ended(RelayReply),
}
