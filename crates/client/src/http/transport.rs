//! The shared state of the requests of a connection over HTTP.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU16, Ordering},
};

use bytes::Bytes;
use tokio::{sync::mpsc, time::Instant};
use turnbuckle_base::lock::{Mutex, RwLock};
use turnbuckle_protocol::{Id, envelope::Message};
use turnbuckle_transport::http::client::{Address, Agent, Events, HttpError, Reply};

use super::{
    Fault,
    extension_names::ExtensionNames,
    head,
    position::jitter,
    reachability::{AttemptNumber, Reachability},
    refusal::HttpRefusal,
    session::{Session, Sessions},
};
use crate::{ends::Ends, pending::PendingRequests, tap::Direction, tool::ListedTools};

/// How often the same is sent again because the server asks to come back later.
pub(crate) const MAX_RETRIES: u32 = 3;

/// A connection over HTTP, as its calls and its tasks see it.
pub(crate) struct Http {
    pub(crate) agent: Agent,
    pub(crate) address: Address,
    /// The longest message taken, in bytes.
    pub(crate) limit: usize,
    pub(crate) ends: Arc<Ends>,
    pub(crate) pending: Arc<PendingRequests>,
    pub(crate) sessions: Sessions,
    /// The facts about tools that are needed to send their calls.
    pub(crate) tools: Arc<ListedTools>,
    /// The params that name the subject of extension methods.
    pub(crate) names: ExtensionNames,
    /// Streams that have said what they were for. They are read to their end, so that their
    /// connection can be used again.
    pub(super) leftovers: mpsc::Sender<Events>,
    /// Where messages go, if the server has named another place for them (HTTP+SSE).
    post_to: RwLock<Option<Address>>,
    /// The status of the last answer to a request. Only the search for a server looks at it, while
    /// nothing else is asked.
    last_status: AtomicU16,
    /// Whether the server did not answer the last time it was tried.
    reachability: Reachability,
    /// Whether the stream of the session is open.
    has_session_stream: AtomicBool,
    /// Takes what the server says. It holds the connection, which holds this, until it is closed.
    receiver: Mutex<Option<Box<dyn ReceiveFrom>>>,
}

/// Takes what a server says, and on the stream of which request it did.
pub(crate) trait ReceiveFrom: Send {
    /// Takes a message. `call` is the request whose own stream it came on.
    fn receive_from(&mut self, message: &[u8], call: Option<&Id>);

    /// Takes a message that was parsed already, with its text.
    fn receive_parsed(&mut self, parsed: Message<'_>, message: &[u8], call: Option<&Id>);

    /// Until when nothing more should be read, because too much came that nothing waits for.
    fn take_wait(&mut self) -> Option<Instant>;

    /// Another session takes the place of the one in which the server has asked. Nothing that it asked
    /// there may be answered any more: the next server may use the same ids for other questions.
    fn session_replaced(&mut self);
}

impl Http {
    pub(crate) fn new(
        agent: Agent,
        address: Address,
        ends: Arc<Ends>,
        pending: Arc<PendingRequests>,
        leftovers: mpsc::Sender<Events>,
    ) -> Self {
        Self {
            agent,
            address,
            limit: ends.profile.settings.limits.max_message_bytes,
            ends,
            pending,
            sessions: Sessions::default(),
            tools: Arc::default(),
            names: ExtensionNames::default(),
            leftovers,
            post_to: RwLock::new(None),
            last_status: AtomicU16::new(0),
            reachability: Reachability::default(),
            has_session_stream: AtomicBool::new(false),
            receiver: Mutex::new(None),
        }
    }

    /// Brings what the server says to this receiver, from now on.
    pub(crate) fn attach(&self, receiver: impl ReceiveFrom + 'static) {
        *self.receiver.lock() = Some(Box::new(receiver));
    }

    /// The whole URL, which may have secrets in its query.
    pub(crate) fn url(&self) -> String {
        self.address.uri().to_string()
    }

    /// Lets go of the receiver.
    pub(crate) fn detach(&self) {
        let receiver = self.receiver.lock().take();
        // Its tasks end with it: not under the lock.
        drop(receiver);
    }

    /// Takes a message of the server that came on the stream of this request, or on none.
    pub(crate) fn receive(&self, message: &[u8], call: Option<&Id>) {
        if let Some(receiver) = &mut *self.receiver.lock() {
            receiver.receive_from(message, call);
        }
    }

    /// Takes a message, with its text, that came on the stream of this request.
    pub(super) fn receive_parsed(&self, parsed: Message<'_>, message: &[u8], call: &Id) {
        if let Some(receiver) = &mut *self.receiver.lock() {
            receiver.receive_parsed(parsed, message, Some(call));
        }
    }

    /// Waits until more may be read. A server that sends too much that nothing waits for has to wait.
    pub(crate) async fn room(&self) {
        let wait = self.receiver.lock().as_mut().and_then(|it| it.take_wait());
        if let Some(until) = wait {
            tokio::time::sleep_until(until).await;
        }
    }

    /// Gives up what the server asked in the session before.
    pub(crate) fn withdraw_questions(&self) {
        if let Some(receiver) = &mut *self.receiver.lock() {
            receiver.session_replaced();
        }
    }

    /// Where messages go.
    pub(super) fn post_to(&self) -> Address {
        let post_to = self.post_to.read();
        post_to.as_ref().unwrap_or(&self.address).clone()
    }

    /// Sends messages there from now on; answers come by the stream of events.
    pub(crate) fn answer_by_events(&self, post_to: Address) {
        *self.post_to.write() = Some(post_to);
    }

    /// Whether answers come by the stream of events (HTTP+SSE).
    pub(crate) fn uses_http_sse(&self) -> bool {
        self.post_to.read().is_some()
    }

    /// Notes whether the stream of the session is open.
    pub(crate) fn set_session_stream(&self, is_open: bool) {
        self.has_session_stream.store(is_open, Ordering::Relaxed);
    }

    /// Whether the stream of the session is open.
    pub(crate) fn has_session_stream(&self) -> bool {
        self.has_session_stream.load(Ordering::Relaxed)
    }

    /// The status of the last answer to a request; 0 before the first answer.
    pub(crate) fn last_status(&self) -> u16 {
        self.last_status.load(Ordering::Relaxed)
    }

    pub(super) fn note_status(&self, reply: &Reply) {
        self.last_status
            .store(reply.status().as_u16(), Ordering::Relaxed);
    }

    /// Begins to try whether the server can be reached.
    pub(crate) fn begin_attempt(&self) -> AttemptNumber {
        self.reachability.begin()
    }

    /// Records whether the server can be reached.
    pub(crate) fn note_reach(&self, attempt: AttemptNumber, tried: &Result<Reply, HttpError>) {
        match tried {
            Ok(_) => self.reachability.answered(attempt),
            Err(HttpError::Unreachable { .. }) => self.reachability.failed(),
            // It was there, and something else went wrong.
            Err(_) => {}
        }
    }

    /// Notes that the server does not answer.
    pub(crate) fn note_down(&self) {
        self.reachability.failed();
    }

    /// Whether the server did not answer the last time it was tried.
    pub(crate) fn is_down(&self) -> bool {
        self.reachability.is_down()
    }

    /// Says something that wants no answer, and waits until the server has it. Where the server asks
    /// to be left alone for a while, it is said again after that.
    pub(crate) async fn tell(&self, session: &Session, message: Bytes) -> Result<(), Fault> {
        let mut retries = 0;
        loop {
            let headers = head::of_session(&self.ends, session);
            self.ends.show(Direction::Out, &message);
            let attempt = self.begin_attempt();
            let to = self.post_to();
            let posted = Box::pin(self.agent.post(&to, headers, message.clone())).await;
            self.note_reach(attempt, &posted);
            let reply = posted?;
            if reply.status().is_success() {
                return Ok(());
            }
            let fault = HttpRefusal::read(reply, self.limit).await.into_fault();
            match fault.come_back_after() {
                Some(wait) if retries < MAX_RETRIES => {
                    retries += 1;
                    tokio::time::sleep(wait + jitter(wait / 4)).await;
                }
                _ => return Err(fault),
            }
        }
    }
}

impl std::fmt::Debug for Http {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Http")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}
