//! Requests that were sent to another replica and that run on this one.

use std::{
    collections::{HashMap, VecDeque},
    future::poll_fn,
    pin::pin,
    sync::{Arc, Weak},
    task::{Context, Poll},
    time::{Duration, Instant},
};

use futures_core::future::BoxFuture;
use turnbuckle_base::lock::Mutex;
use turnbuckle_protocol::envelope::{self, Frame, Message as Incoming};
use turnbuckle_transport::Outbox;

use super::site::Site;
use crate::{
    Caller,
    client::caller::{AtAnotherReplica, Unauthenticated},
    edge::{connection::Connection, running::Owner},
    replica::{Outcome, Pulled},
};

/// How many requests of other replicas may run here at a time.
const MAX_RUNS: usize = 1024;

/// How long a request is kept if the other replica no longer asks for its messages, because it has
/// ended or its client has disconnected.
const KEPT: Duration = Duration::from_mins(1);

/// The longest time that another replica waits for the next message. Then it asks again.
const MAX_WAIT: Duration = Duration::from_secs(20);

/// The requests of other replicas.
#[derive(Default)]
pub(super) struct Runs(Mutex<HashMap<String, Arc<ForwardedRun>>>);

/// A request of another replica: a connection that carries only this request.
struct ForwardedRun {
    outbox: Outbox,
    sent: Mutex<SentLines>,
    /// Dropping it ends the request.
    _owner: Owner,
}

/// The messages that the request has sent to its client.
struct SentLines {
    /// The number of the first line that is still kept.
    first: u64,
    lines: VecDeque<String>,
    is_over: bool,
    asked: Instant,
}

/// A request in the form in which another replica sends it.
pub(super) struct ForwardedRequest<'a> {
    pub(super) key: &'a str,
    pub(super) caller: Option<&'a str>,
    pub(super) scopes: &'a [String],
    /// The request as JSON; empty if it was sent before.
    pub(super) request: &'a str,
    /// How many lines the other replica has received.
    pub(super) after: u64,
    pub(super) wait: Duration,
}

/// Starts a request, or continues a running one, and waits for the next messages.
pub(super) fn run(
    site: &Arc<Site>,
    forwarded: &ForwardedRequest<'_>,
) -> Option<BoxFuture<'static, Outcome>> {
    let run = {
        let mut runs = site.runs.0.lock();
        match runs.get(forwarded.key) {
            Some(run) => Arc::clone(run),
            // The request ran before and was forgotten.
            None if forwarded.after > 0 || forwarded.request.is_empty() => return None,
            None if runs.len() >= MAX_RUNS => return None,
            None => {
                let run = Arc::new(begin(site, forwarded));
                runs.insert(forwarded.key.to_owned(), Arc::clone(&run));
                forget_later(Arc::downgrade(site), forwarded.key.to_owned());
                run
            }
        }
    };
    let (after, wait) = (forwarded.after, forwarded.wait.min(MAX_WAIT));
    Some(Box::pin(async move { run.pull(after, wait).await }))
}

/// Ends a request whose result is no longer awaited.
pub(super) fn stop(site: &Site, key: &str) -> Option<()> {
    let run = site.runs.0.lock().remove(key);
    // The request is dropped after the lock is released.
    run.map(drop)
}

fn begin(site: &Arc<Site>, forwarded: &ForwardedRequest<'_>) -> ForwardedRun {
    let caller = match forwarded.caller {
        Some(id) => Caller::new(id).with_scopes(forwarded.scopes.iter().cloned()),
        None => Caller::local().with(Unauthenticated),
    };
    let caller = caller.with(AtAnotherReplica);
    let outbox = Outbox::new(site.shared.settings.limits);
    let connection = Connection::new(Arc::clone(&site.shared), caller, outbox.clone());
    let run = ForwardedRun {
        outbox,
        sent: Mutex::new(SentLines {
            first: 0,
            lines: VecDeque::new(),
            is_over: false,
            asked: Instant::now(),
        }),
        _owner: connection.owner(),
    };
    connection.receive_paid(forwarded.request.as_bytes(), None);
    run
}

/// Forgets a request whose messages are no longer asked for. Must be called inside a runtime.
fn forget_later(site: Weak<Site>, key: String) {
    // This task ends with the request, or with the service.
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(KEPT).await;
            let Some(site) = site.upgrade() else { return };
            let run = site.runs.0.lock().get(&key).cloned();
            let Some(run) = run else { return };
            if run.sent.lock().asked.elapsed() >= KEPT {
                stop(&site, &key);
                return;
            }
        }
    });
}

impl ForwardedRun {
    /// Returns the messages after this number: those that are ready, or the first that arrive
    /// within `wait`.
    async fn pull(&self, after: u64, wait: Duration) -> Outcome {
        let mut late = pin!(tokio::time::sleep(wait));
        let pulled = poll_fn(|context| match self.poll_lines(after, context) {
            Poll::Ready(pulled) => Poll::Ready(pulled),
            Poll::Pending => late.as_mut().poll(context).map(|()| Pulled::default()),
        });
        Outcome::Pulled(pulled.await)
    }

    fn poll_lines(&self, after: u64, context: &mut Context<'_>) -> Poll<Pulled> {
        let mut sent = self.sent.lock();
        sent.asked = Instant::now();
        while sent.first < after && sent.lines.pop_front().is_some() {
            sent.first += 1;
        }
        loop {
            if !sent.lines.is_empty() || sent.is_over {
                let lines: Vec<_> = sent.lines.iter().map(String::as_str).collect();
                return Poll::Ready(Pulled {
                    events: lines.join("\n"),
                    is_over: sent.is_over,
                });
            }
            let mut bytes = Vec::new();
            match self.outbox.poll_lines(context, &mut bytes) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(None) => sent.is_over = true,
                Poll::Ready(Some(())) => {
                    let lines = String::from_utf8(bytes).unwrap_or_default();
                    for line in lines.lines().filter(|line| !line.is_empty()) {
                        sent.is_over |= is_answer(line);
                        sent.lines.push_back(line.to_owned());
                    }
                }
            }
        }
    }
}

fn is_answer(line: &str) -> bool {
    let parsed = envelope::parse(line.as_bytes());
    matches!(parsed, Ok(Frame::One(Incoming::Response(_))))
}
