//! A connection to the examined server, over any transport.

use std::time::Duration;

use serde_json::{Value, json};
use turnbuckle::protocol::{http::header, meta::key};

use super::{EventsTransport, Exchange, HttpTransport, Spoken, StdioTransport, conduct};
use crate::{limits::Limits, report::Report};

/// The largest message, 16 MiB: more than any list or HTML page. It limits the memory that a server can make
/// doctor use.
pub(crate) const MAX_MESSAGE: usize = 16 * 1024 * 1024;

/// The transports.
pub(crate) enum Transport {
    Stdio(Box<StdioTransport>),
    Http(Box<HttpTransport>),
    Events(Box<EventsTransport>),
}

/// A connection to the examined server: a transport, the revision, and the next id.
pub(crate) struct Connection<'r> {
    pub(crate) transport: Transport,
    pub(crate) spoken: Spoken,
    pub(crate) limits: Limits,
    pub(crate) report: &'r Report,
    next: u64,
}

impl<'r> Connection<'r> {
    pub(crate) fn new(
        transport: Transport,
        spoken: Spoken,
        limits: Limits,
        report: &'r Report,
    ) -> Self {
        Self {
            transport,
            spoken,
            limits,
            report,
            next: 1,
        }
    }

    /// The next free id.
    pub(crate) fn next_id(&mut self) -> Value {
        self.next += 1;
        json!(self.next - 1)
    }

    /// Sends a request and waits for its answer.
    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Exchange {
        let limit = self.limits.probe;
        self.ask_within(method, params, limit).await
    }

    pub(crate) async fn ask_within(
        &mut self,
        method: &str,
        params: Value,
        limit: Duration,
    ) -> Exchange {
        let id = self.next_id();
        let message = self.spoken.request(&id, method, params);
        self.send(message, limit).await
    }

    /// Sends a request unchanged, and waits for its answer.
    pub(crate) async fn send(&mut self, message: Value, limit: Duration) -> Exchange {
        // The time of the first answer includes the start of the program, which has its own check.
        let is_start = matches!(&self.transport, Transport::Stdio(stdio) if !stdio.has_answered);
        let exchange = self.exchange(message, limit).await;
        conduct::look(self.report, &self.spoken, &exchange);
        if !is_start {
            conduct::pace(self.report, &exchange);
        }
        exchange
    }

    /// Sends a modern request whose headers repeat its body, even where the body is wrong.
    pub(crate) async fn send_as_written(&mut self, message: Value) -> Exchange {
        let limit = self.limits.probe;
        let Transport::Http(transport) = &self.transport else {
            return self.send(message, limit).await;
        };
        let mut post = transport.post(&self.spoken, &message);
        let said = message["params"]["_meta"][key::PROTOCOL_VERSION].as_str();
        for (name, value) in &mut post.headers {
            if *name == header::PROTOCOL_VERSION
                && let Some(said) = said
            {
                said.clone_into(value);
            }
        }
        let exchange = transport.send(post, message, limit).await;
        conduct::look(self.report, &self.spoken, &exchange);
        exchange
    }

    async fn exchange(&mut self, message: Value, limit: Duration) -> Exchange {
        if let Transport::Stdio(stdio) = &self.transport
            && stdio.is_gone()
        {
            self.report.mute(true);
        }
        match &mut self.transport {
            Transport::Stdio(stdio) => stdio.exchange(message, limit).await,
            Transport::Http(http) => http.exchange(&self.spoken, message, limit).await,
            Transport::Events(events) => events.exchange(message, limit).await,
        }
    }

    /// Sends a notification. Over HTTP even a notification gets an answer.
    pub(crate) async fn notify(&mut self, method: &str, params: Value) -> Exchange {
        let message = Spoken::notification(method, params);
        let limit = self.limits.probe;
        match &mut self.transport {
            Transport::Stdio(stdio) => stdio.write(&message, limit).await,
            Transport::Http(http) => http.exchange(&self.spoken, message, limit).await,
            Transport::Events(events) => events.post(&message, limit).await,
        }
    }

    /// Whether it uses HTTP with a status for each message.
    pub(crate) fn is_http(&self) -> bool {
        matches!(self.transport, Transport::Http(_))
    }

    pub(crate) fn is_stdio(&self) -> bool {
        matches!(self.transport, Transport::Stdio(_))
    }

    pub(crate) fn is_modern(&self) -> bool {
        self.spoken.is_modern()
    }
}
