//! The connection to a server at a URL while its revision is detected.

use std::sync::Arc;

use turnbuckle_transport::http::client::{Address, Agent};

use super::{
    authorize::AuthorizeHook,
    driver::open_http,
    http_sse::{find_stream, pump},
};
use crate::{link::Opened, profile::Profile};

/// How to reach a server at a URL.
pub(crate) struct HttpRoute {
    agent: Agent,
    address: Address,
    hook: Option<AuthorizeHook>,
    first: FirstAttempt,
}

/// What is tried first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FirstAttempt {
    /// A POST.
    Post,
    /// A GET for the event stream of HTTP+SSE, because that was detected the last time.
    Events,
}

impl HttpRoute {
    pub(crate) fn new(agent: Agent, address: Address, hook: Option<AuthorizeHook>) -> Self {
        Self {
            agent,
            address,
            hook,
            first: FirstAttempt::Post,
        }
    }

    /// Tries HTTP+SSE first, if that was detected the last time.
    pub(crate) fn try_events_first(&mut self, was_found: bool) {
        self.first = if was_found {
            FirstAttempt::Events
        } else {
            FirstAttempt::Post
        };
    }

    pub(crate) async fn open(&self, server: Arc<str>, profile: Arc<Profile>) -> Opened {
        let (agent, address) = (self.agent.clone(), self.address.clone());
        let opened = open_http(server, profile, agent, address);
        if let Some(hook) = &self.hook {
            hook.attach(&opened.link);
        }
        if self.first == FirstAttempt::Events {
            // If that does not work any more, the search continues with a POST.
            open_events(&opened).await;
        }
        opened
    }

    /// Called after a POST of `initialize` has failed: tries HTTP+SSE.
    pub(crate) async fn reopen(opened: &Opened) -> bool {
        let Some(http) = opened.link.wire.http() else {
            return false;
        };
        // A server that accepts a POST does not use HTTP+SSE, whatever it answered.
        let is_answered = (200..300).contains(&http.last_status());
        if is_answered || http.uses_http_sse() {
            return false;
        }
        open_events(opened).await
    }
}

async fn open_events(opened: &Opened) -> bool {
    let link = opened.link.clone();
    let Some(http) = link.wire.http().cloned() else {
        return false;
    };
    match find_stream(&http).await {
        Ok(events) => {
            opened.spawn(pump(link, http, events));
            true
        }
        Err(fault) => {
            let error = fault.into_error(link.server().clone(), "GET");
            tracing::debug!(server = &**link.server(), %error, "the server has no HTTP+SSE event stream");
            false
        }
    }
}
