//! Performs the actions of the [`Probe`], and reports their results to it.

use std::{
    future::poll_fn,
    pin::pin,
    sync::Arc,
    task::{Context, Poll},
    time::Instant,
};

use turnbuckle_protocol::Revision;
use turnbuckle_session::{
    DetectedRevision,
    probe::{self, Action, Asked, Event, Probe, ProbeFailure, Reason},
};

use super::{
    handshake::{self, PendingAnswer, ServerAnswers},
    route::Route,
    target::DialError,
};
use crate::{connection::Connection, error::ConnectError, link::Opened, profile::Profile};

/// The input of a probe.
pub(super) struct Search {
    pub(super) name: Option<Arc<str>>,
    pub(super) profile: Arc<Profile>,
}

/// A running search. Dropping it ends the server's process.
struct RunningSearch<'a> {
    route: &'a mut Route,
    server: Arc<str>,
    naming: Naming,
    profile: Arc<Profile>,
    probe: Probe,
    opened: Opened,
    /// A second connection to the server, while both are probed.
    second: Option<Opened>,
    /// When `initialize` was sent, or when the server was started for it.
    initialize_since: Instant,
    heard: ServerAnswers,
    /// Answers that may still come. A late answer to `server/discover` is still useful.
    discover: Option<PendingAnswer>,
    initialize: Option<PendingAnswer>,
}

/// Which name of a server is used once the server is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Naming {
    /// The name that the application set.
    Ours,
    /// The name that the server reports.
    Its,
}

impl Search {
    /// Opens a connection to the server and runs the search to its end.
    pub(super) async fn run(
        &self,
        route: &mut Route,
        remembered: Option<DetectedRevision>,
    ) -> Result<Connection, ConnectError> {
        let naming = match &self.name {
            Some(_) => Naming::Ours,
            None => Naming::Its,
        };
        let server = self.name.clone().unwrap_or_else(|| route.label().into());
        let opened = route
            .open(&server, &self.profile)
            .await
            .map_err(|error| unreachable_server(&server, error))?;
        let mut settings = self.profile.settings.probe(remembered);
        if route.is_http() {
            settings = settings.with_second_way();
        }
        if route.can_open_second() {
            settings = settings.with_second_connection();
        }
        let running = RunningSearch {
            route,
            server,
            naming,
            profile: self.profile.clone(),
            probe: Probe::new(settings),
            initialize_since: opened.link.pending.now(),
            opened,
            second: None,
            heard: ServerAnswers::default(),
            discover: None,
            initialize: None,
        };
        // Boxed, because the future is large: it holds several copies of the server's answers.
        Box::pin(running.finish()).await
    }
}

impl RunningSearch<'_> {
    /// Runs the search to its end.
    async fn finish(mut self) -> Result<Connection, ConnectError> {
        let mut event = Event::Started;
        // Only renewed with each question: unrelated messages must not prolong the search.
        let mut until = self.opened.link.pending.now();
        loop {
            match self.probe.on(event) {
                None => {}
                Some(Action::SendDiscover { version, within }) => {
                    self.end_second();
                    self.heard.asked_at(version);
                    self.discover = Some(handshake::discover(&self.opened.link, version));
                    until = self.opened.link.pending.now() + within;
                }
                Some(Action::SendInitialize { version, within }) => {
                    self.end_second();
                    self.initialize_since = self.opened.link.pending.now();
                    self.initialize = Some(handshake::initialize(&self.opened.link, version));
                    until = self.opened.link.pending.now() + within;
                }
                Some(Action::OpenSecond { version, within }) => {
                    until = self.opened.link.pending.now() + within;
                    if !self.open_second(version).await {
                        event = Event::SecondClosed;
                        continue;
                    }
                }
                Some(Action::KeepSecond { within }) => {
                    self.discover = None;
                    self.keep_second();
                    until = self.opened.link.pending.now() + within;
                }
                Some(Action::AwaitDiscover { within }) => {
                    self.end_second();
                    until = self.opened.link.pending.now() + within;
                }
                Some(Action::Confirm { within }) => {
                    until = self.opened.link.pending.now() + within;
                }
                Some(Action::Reopen) => {
                    event = self.reopen().await;
                    continue;
                }
                Some(Action::Ready(detected)) => return Ok(self.settle(detected).await),
                Some(Action::Fail(failure)) => return Err(self.fail(failure).await),
            }
            event = self.next_event(until).await?;
        }
    }

    /// Waits for the next event.
    async fn next_event(&mut self, until: Instant) -> Result<Event, ConnectError> {
        let Self {
            opened,
            second,
            initialize_since,
            heard,
            discover,
            initialize,
            ..
        } = self;
        let link = opened.link.clone();
        let has_second = second.is_some();
        let http = link.wire.http();
        let reads_strays = http.is_none_or(|http| http.uses_http_sse());
        let mut stray = pin!(link.pending.stray());
        let mut timeout = pin!(link.pending.sleep_until(until));
        poll_fn(|context| {
            // In the order of the requests: if both have been answered, the first answer may decide
            // what the second one means.
            for (asked, answer) in [
                (Asked::Discover, &mut *discover),
                (Asked::Initialize, &mut *initialize),
            ] {
                if let Poll::Ready(answer) = poll_answer(answer, context) {
                    let took = link.pending.now().duration_since(*initialize_since);
                    let event = heard.event(&link, asked, answer, took);
                    return Poll::Ready(event.map(|event| match event {
                        Event::Closed if has_second && asked == Asked::Initialize => {
                            Event::SecondClosed
                        }
                        event => event,
                    }));
                }
            }
            // In the body of a POST, such an answer ends or repeats the request of the POST.
            if reads_strays && stray.as_mut().poll(context).is_ready() {
                return Poll::Ready(Ok(Event::Garbage));
            }
            timeout.as_mut().poll(context).map(|()| Ok(Event::Timeout))
        })
        .await
    }

    /// Opens a second connection and sends `initialize` there. Returns false if that is impossible.
    async fn open_second(&mut self, version: Revision) -> bool {
        self.initialize_since = self.opened.link.pending.now();
        match self.route.open(&self.server, &self.profile).await {
            Ok(second) => {
                self.initialize = Some(handshake::initialize(&second.link, version));
                self.second = Some(second);
                true
            }
            Err(error) => {
                let server = &*self.server;
                tracing::debug!(server, %error, "could not start the server a second time");
                false
            }
        }
    }

    /// Ends the second connection, if there is one.
    fn end_second(&mut self) {
        if self.second.take().is_some() {
            self.initialize = None;
        }
    }

    /// Continues with the second connection, and ends the first.
    fn keep_second(&mut self) {
        if let Some(second) = self.second.take() {
            self.opened = second;
        }
    }

    async fn reopen(&mut self) -> Event {
        (self.discover, self.initialize, self.second) = (None, None, None);
        self.heard = ServerAnswers::default();
        let Self {
            route,
            opened,
            server,
            profile,
            ..
        } = self;
        match route.reopen(opened, server, profile).await {
            Ok(()) => Event::Started,
            // The server could be started the first time, so the result of that attempt is more
            // informative.
            Err(error) => {
                tracing::debug!(server = &**server, %error, "could not start the server again");
                Event::Closed
            }
        }
    }

    #[cfg_attr(
        not(feature = "http"),
        expect(
            clippy::unused_async,
            reason = "over HTTP there is something to wait for"
        )
    )]
    async fn settle(mut self, detected: DetectedRevision) -> Connection {
        if !detected.revision.is_modern() {
            self.keep_second();
        }
        self.second = None;
        let mut heard = std::mem::take(&mut self.heard);
        let warnings = heard.take_warnings();
        self.opened.link.warnings.add(&self.server, warnings);
        let mut peer = heard.into_peer(&self.server, detected.revision);
        if self.naming == Naming::Its {
            peer = peer.called_by_its_name();
        }
        // Requests without an answer are not needed any more.
        (self.discover, self.initialize) = (None, None);
        let peer = self.opened.link.meet(peer).clone();
        if !detected.revision.is_modern() {
            #[cfg(feature = "http")]
            super::http::begin_session(&self.opened).await;
            #[cfg(not(feature = "http"))]
            self.opened.link.notify("notifications/initialized", &());
        }
        let connection = Connection::new(self.opened, peer, detected);
        connection.ask_for_logs();
        connection.keep_alive();
        connection.watch_given_roots();
        connection
    }

    async fn fail(self, mut failure: ProbeFailure) -> ConnectError {
        // A server that could not be started again did not close the connection: it did not answer.
        let mut asked = failure.tried.iter().rev();
        let last = asked.find(|attempt| matches!(attempt.step, probe::Step::Ask(..)));
        let was_silent =
            last.is_some_and(|last| matches!(last.outcome, Some(probe::Outcome::Silent(_))));
        if was_silent && failure.reason == Reason::Closed {
            failure.reason = Reason::Unresponsive;
        }
        let ending = self.opened.close().await;
        ConnectError::failed(self.server, failure, ending)
    }
}

fn poll_answer(
    slot: &mut Option<PendingAnswer>,
    context: &mut Context<'_>,
) -> Poll<<PendingAnswer as Future>::Output> {
    let Some(answer) = slot else {
        return Poll::Pending;
    };
    let polled = answer.as_mut().poll(context);
    if polled.is_ready() {
        *slot = None;
    }
    polled
}

fn unreachable_server(server: &Arc<str>, error: DialError) -> ConnectError {
    let server = server.clone();
    match error {
        DialError::Spawn(source) => ConnectError::Spawn { server, source },
        DialError::Io(source) => ConnectError::Unreachable { server, source },
    }
}
