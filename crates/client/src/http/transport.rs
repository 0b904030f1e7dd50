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
    TellError,
    extension_names::ExtensionNames,
    head,
    position::jitter,
    reachability::{AttemptNumber, Reachability},
    refusal::HttpRefusal,
    session::{Session, Sessions},
};
use crate::{ends::Ends, pending::PendingRequests, tap::Direction, tool::ListedTools};

/// How often the same message is sent again because the server asks to retry later.
pub(crate) const MAX_RETRIES: u32 = 3;

/// A connection over HTTP: the state that its calls and its tasks share.
pub(crate) struct Http {
    pub(crate) agent: Agent,
    pub(crate) address: Address,
    /// The limit on incoming messages, in bytes.
    pub(crate) limit: usize,
    pub(crate) ends: Arc<Ends>,
    pub(crate) pending: Arc<PendingRequests>,
    pub(crate) sessions: Sessions,
    /// The listed tools, with the facts that are needed to send their calls.
    pub(crate) tools: Arc<ListedTools>,
    /// The params that name the subject of extension methods.
    pub(crate) names: ExtensionNames,
    /// Streams whose answer has arrived. They are read to their end, so that their connection can be
    /// reused.
    pub(super) leftovers: mpsc::Sender<Events>,
    /// The URL for messages, if the server has named another one (HTTP+SSE).
    post_to: RwLock<Option<Address>>,
    /// The status of the last answer to a request. Only the search for the server's revision uses it,
    /// and it sends one request at a time.
    last_status: AtomicU16,
    /// Whether the server answered the last attempts.
    reachability: Reachability,
    /// Whether the session's event stream is open.
    has_session_stream: AtomicBool,
    /// The receiver of messages from the server. It holds the connection, which holds this, until it is
    /// closed.
    receiver: Mutex<Option<Box<dyn ReceiveFrom>>>,
}

/// Receives messages of a server, with the request on whose stream they came.
pub(crate) trait ReceiveFrom: Send {
    /// Receives a message. `call` is the request on whose own stream it came.
    fn receive_from(&mut self, message: &[u8], call: Option<&Id>);

    /// Receives a message that was already parsed, with its text.
    fn receive_parsed(&mut self, parsed: Message<'_>, message: &[u8], call: Option<&Id>);

    /// Returns until when reading must pause, because too many unneeded messages came.
    fn take_wait(&mut self) -> Option<Instant>;

    /// Called when another session replaces the one in which the server sent requests. These requests
    /// must not be answered any more: the next server may use the same ids for other requests.
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

    /// Passes the server's messages to this receiver from now on.
    pub(crate) fn attach(&self, receiver: impl ReceiveFrom + 'static) {
        *self.receiver.lock() = Some(Box::new(receiver));
    }

    /// The full URL. Its query may contain secrets.
    pub(crate) fn url(&self) -> String {
        self.address.uri().to_string()
    }

    /// Drops the receiver.
    pub(crate) fn detach(&self) {
        let receiver = self.receiver.lock().take();
        // Dropping it ends its tasks, which must not happen under the lock.
        drop(receiver);
    }

    /// Passes a message of the server to the receiver. `call` is the request on whose stream it came,
    /// if any.
    pub(crate) fn receive(&self, message: &[u8], call: Option<&Id>) {
        if let Some(receiver) = &mut *self.receiver.lock() {
            receiver.receive_from(message, call);
        }
    }

    /// Passes a parsed message, with its text, that came on the stream of this request.
    pub(super) fn receive_parsed(&self, parsed: Message<'_>, message: &[u8], call: &Id) {
        if let Some(receiver) = &mut *self.receiver.lock() {
            receiver.receive_parsed(parsed, message, Some(call));
        }
    }

    /// Waits until more may be read. A server that sends too many unneeded messages is read more
    /// slowly.
    pub(crate) async fn room(&self) {
        let wait = self.receiver.lock().as_mut().and_then(|it| it.take_wait());
        if let Some(until) = wait {
            tokio::time::sleep_until(until).await;
        }
    }

    /// Withdraws the requests that the server sent in the previous session.
    pub(crate) fn withdraw_questions(&self) {
        if let Some(receiver) = &mut *self.receiver.lock() {
            receiver.session_replaced();
        }
    }

    /// The URL for messages.
    pub(super) fn post_to(&self) -> Address {
        let post_to = self.post_to.read();
        post_to.as_ref().unwrap_or(&self.address).clone()
    }

    /// Sends messages to this URL from now on; answers come on the event stream.
    pub(crate) fn answer_by_events(&self, post_to: Address) {
        *self.post_to.write() = Some(post_to);
    }

    /// Whether the server uses HTTP+SSE, so that answers come on the event stream.
    pub(crate) fn uses_http_sse(&self) -> bool {
        self.post_to.read().is_some()
    }

    /// Records whether the session's event stream is open.
    pub(crate) fn set_session_stream(&self, is_open: bool) {
        self.has_session_stream.store(is_open, Ordering::Relaxed);
    }

    /// Whether the session's event stream is open.
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

    /// Begins an attempt to reach the server.
    pub(crate) fn begin_attempt(&self) -> AttemptNumber {
        self.reachability.begin()
    }

    /// Records whether the attempt reached the server.
    pub(crate) fn note_reach(&self, attempt: AttemptNumber, tried: &Result<Reply, HttpError>) {
        match tried {
            Ok(_) => self.reachability.answered(attempt),
            Err(HttpError::Unreachable { .. }) => self.reachability.failed(),
            // The server was reached, and something else failed.
            Err(_) => {}
        }
    }

    /// Records that the server does not answer.
    pub(crate) fn note_down(&self) {
        self.reachability.failed();
    }

    /// Whether the last attempt to reach the server failed.
    pub(crate) fn is_down(&self) -> bool {
        self.reachability.is_down()
    }

    /// Sends a message that has no response, and waits until the server has accepted it. If the server
    /// asks to retry later, the message is sent again then.
    pub(crate) async fn tell(&self, session: &Session, message: Bytes) -> Result<(), TellError> {
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
                _ => return Err(TellError::Refused(fault)),
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
