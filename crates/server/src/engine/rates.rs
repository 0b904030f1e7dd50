//! Settings for the rates of callers and calls.

#[cfg(feature = "http")]
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use tokio::time::Instant;
use turnbuckle_protocol::error::code;
use turnbuckle_transport::Rate;

#[cfg(feature = "http")]
use super::shared_rates::SharedRates;
use crate::{Reject, client::Peer, quota::CallerCells};

/// Tool calls of one caller. A program that calls tools in a loop stays below it, and a runaway
/// program exceeds it within a second.
const TOOL_CALLS: (u32, u32) = (1000, 200);

/// Completions of one caller: a person who types makes ten in a second.
const COMPLETIONS: (u32, u32) = (200, 50);

/// Progress reports of one call: more than a progress bar can show, and few enough that a loop that
/// reports each of a million steps does not fill the connection.
const PROGRESS: (u32, u32) = (200, 50);

/// Log messages of one call: more than a person can read.
const LOG_MESSAGES: (u32, u32) = (1000, 200);

/// How often one caller may call tools and ask for completions, and how often one call may report
/// progress and log messages.
///
/// A caller is identified by a guard or a layer, otherwise by the address from which it calls. The
/// user who started the process, and callers on this machine that no guard identified, are not
/// counted. If the server runs inside another HTTP server, such as axum, all callers without an
/// identity count as one until the server knows their addresses (`HttpSettings::address_from`).
///
/// ```
/// use turnbuckle_server::{Rates, Server};
/// use turnbuckle_transport::Rate;
///
/// let rates = Rates::default().with_tool_calls(Rate::new(20, 5));
/// let server = Server::new("search", "1.0.0").rates(rates);
/// # server.build().unwrap();
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rates {
    /// The rate of `tools/call` of one caller. Defaults to 1,000 at once and 200 in a second. A
    /// call beyond it is rejected.
    pub tool_calls: Rate,
    /// The rate of `completion/complete` of one caller. Defaults to 200 at once and 50 in a second.
    /// A request beyond it is rejected.
    pub completions: Rate,
    /// The rate of progress reports of one call. Defaults to 200 at once and 50 in a second. A report
    /// beyond it is sent a moment later, or dropped if there is a newer report by then. The last
    /// report is always sent.
    pub progress: Rate,
    /// The rate of log messages of one call. Defaults to 1,000 at once and 200 in a second.
    /// Messages beyond it are dropped, and the client gets their number.
    pub log_messages: Rate,
}

impl Default for Rates {
    fn default() -> Self {
        Self {
            tool_calls: Rate::new(TOOL_CALLS.0, TOOL_CALLS.1),
            completions: Rate::new(COMPLETIONS.0, COMPLETIONS.1),
            progress: Rate::new(PROGRESS.0, PROGRESS.1),
            log_messages: Rate::new(LOG_MESSAGES.0, LOG_MESSAGES.1),
        }
    }
}

impl Rates {
    /// Sets how often one caller may call tools. `Rate::UNLIMITED` disables the limit.
    pub fn with_tool_calls(mut self, rate: Rate) -> Self {
        self.tool_calls = rate;
        self
    }

    /// Sets how often one caller may ask for completions.
    pub fn with_completions(mut self, rate: Rate) -> Self {
        self.completions = rate;
        self
    }

    /// Sets how often one call may report progress.
    pub fn with_progress(mut self, rate: Rate) -> Self {
        self.progress = rate;
        self
    }

    /// Sets how often one call may send log messages.
    pub fn with_log_messages(mut self, rate: Rate) -> Self {
        self.log_messages = rate;
        self
    }
}

/// A method whose requests are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RatedMethod {
    ToolCalls,
    Completions,
}

impl RatedMethod {
    /// The name of its setting in [`Rates`].
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::ToolCalls => "tool_calls",
            Self::Completions => "completions",
        }
    }
}

/// Counts recent requests of callers.
pub(crate) struct RateTable {
    rates: Rates,
    start: Instant,
    cells: [CallerCells<AtomicU64>; 2],
    /// The rates that all replicas count together, if they do, and the requests that this replica
    /// allows without asking the others.
    #[cfg(feature = "http")]
    shared: Option<(Arc<SharedRates>, [CallerCells<AtomicU64>; 2])>,
}

impl RateTable {
    pub(crate) fn new(rates: Rates) -> Self {
        Self {
            rates,
            start: Instant::now(),
            cells: [CallerCells::of_times(), CallerCells::of_times()],
            #[cfg(feature = "http")]
            shared: None,
        }
    }

    /// Counts the rates of all replicas together.
    #[cfg(feature = "http")]
    pub(crate) fn shared(mut self, shared: Option<Arc<SharedRates>>) -> Self {
        let cells = || [CallerCells::of_times(), CallerCells::of_times()];
        self.shared = shared.map(|shared| (shared, cells()));
        self
    }

    /// Updates the number of replicas that count together.
    #[cfg(feature = "http")]
    pub(crate) fn count_replicas(&self) {
        if let Some((shared, _)) = &self.shared {
            shared.count_replicas();
        }
    }

    /// Counts one request of a caller. Two callers are counted together only if they share both of
    /// their cells.
    ///
    /// # Errors
    /// If the caller sent too many requests recently.
    pub(crate) fn check(&self, what: RatedMethod, peer: &Peer) -> Result<(), Reject> {
        let Some(counted) = peer.counted_caller() else {
            return Ok(());
        };
        let (rate, index) = match what {
            RatedMethod::ToolCalls => (self.rates.tool_calls, 0),
            RatedMethod::Completions => (self.rates.completions, 1),
        };
        let now = u64::try_from(self.start.elapsed().as_micros()).unwrap_or(u64::MAX);
        // There may be many callers with unknown addresses, so each replica counts them on its own.
        #[cfg(feature = "http")]
        let shared = self.shared.as_ref();
        #[cfg(feature = "http")]
        let shared = shared.filter(|_| !counted.is_unknown(peer.caller()));
        #[cfg(feature = "http")]
        if let Some((shared, cells)) = shared {
            let parts = shared.parts();
            let given = cells[index].of(counted.key);
            if given
                .map(|cell| rate.take_part(parts, cell, now))
                .contains(&true)
            {
                return Ok(());
            }
        }
        let taken = self.cells[index].of(counted.key);
        let is_taken = taken.map(|cell| rate.take(cell, now)).contains(&true);
        #[cfg(feature = "http")]
        let is_taken = is_taken
            && shared.is_none_or(|(shared, _)| {
                shared.take(what.name(), counted.key, rate, || {
                    counted.name(peer.caller())
                })
            });
        if is_taken {
            return Ok(());
        }
        let setting = what.name();
        let message = if counted.is_unknown(peer.caller()) {
            format!(
                "rate limit of all callers whose address is unknown ({rate}) reached: wait a second, \
                 set `HttpSettings::address_from`, or raise `Rates::{setting}`"
            )
        } else {
            format!(
                "rate limit of this caller ({rate}) reached: wait a second, or raise \
                 `Rates::{setting}`"
            )
        };
        Err(Reject::new(code::TOO_MANY_REQUESTS, message))
    }
}

#[cfg(test)]
mod tests {
    use turnbuckle_transport::{Limits, Outbox};

    use super::*;
    use crate::{Caller, client::CancelFlag};

    #[test]
    fn one_caller_does_not_use_up_the_calls_of_another() {
        let rates = Rates::default().with_tool_calls(Rate::new(2, 1));
        let table = RateTable::new(rates);
        let (ada, eve) = (Caller::new("ada"), Caller::new("eve"));
        let peer = |caller: &Caller| {
            let outbox = Outbox::new(Limits::default());
            Peer::new(caller.clone(), outbox, None, CancelFlag::default())
        };
        let check = |what, caller| table.check(what, &peer(caller)).is_ok();
        let calls = [&ada, &ada, &ada, &eve].map(|caller| check(RatedMethod::ToolCalls, caller));
        assert_eq!(calls, [true, true, false, true]);
        assert!(check(RatedMethod::Completions, &ada));
        let refused = table.check(RatedMethod::ToolCalls, &peer(&ada));
        let text = format!("{:?}", refused.unwrap_err());
        assert!(text.contains("`Rates::tool_calls`"), "{text}");
    }
}
