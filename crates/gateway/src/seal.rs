//! Seals the gateway's state between two requests of a client. The client carries the sealed state,
//! which is bound to the caller and to the request.

use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use turnbuckle_base::wall_clock;
use turnbuckle_server::Reject;
use turnbuckle_session::round::{
    Binding, Journal, KeyRing, RequestDigest,
    seal::{Key, NONCE_BYTES},
};

/// The content of a `requestState` of the gateway.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Ticket {
    /// A call of a legacy server that waits for answers.
    Parked {
        /// The process that has the call.
        node: u64,
        /// The number of the call.
        number: u64,
        /// The round of questions that the client was asked.
        round: u32,
        /// The server that the call runs on.
        server: String,
    },
    /// The state of a modern server, and the server that it belongs to.
    Upstream {
        /// The server.
        server: String,
        /// The server's own state, if it sent one.
        state: Option<String>,
    },
    /// A call that did not run because the user has to visit some URLs first (-32042).
    Visit {
        /// The server.
        server: String,
        /// The visits.
        visits: Vec<AskedVisit>,
    },
}

/// A visit that a client was asked for. Some servers change the id or the query of the URL each
/// time, so the query is left out here.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct AskedVisit {
    pub(crate) id: Option<String>,
    pub(crate) url: Option<String>,
    pub(crate) message: Option<String>,
}

/// The label of the gateway's state in the journal.
const MEMO: &str = "gateway";

/// Seals and opens states.
pub(crate) struct Sealer {
    keys: KeyRing,
}

impl Sealer {
    /// Uses random keys, unless keys are given.
    pub(crate) fn new(keys: Option<KeyRing>) -> Self {
        let keys = keys.unwrap_or_else(|| KeyRing::new(Key::new(random())));
        Self { keys }
    }

    /// Seals a value for a caller and a request.
    pub(crate) fn seal<T: Serialize>(
        &self,
        value: &T,
        caller: Option<&str>,
        request: RequestDigest,
        lasts: Duration,
    ) -> Result<String, Reject> {
        let mut journal = Journal::new();
        journal.record_memo(MEMO, value).map_err(|error| {
            Reject::internal(format!("cannot store the state of the call: {error}"))
        })?;
        let expires = now().saturating_add(millis(lasts));
        let binding = binding(caller, request);
        Ok(self
            .keys
            .seal(&journal, &binding, expires, random::<NONCE_BYTES>()))
    }

    /// Opens a sealed value.
    pub(crate) fn open<T: DeserializeOwned>(
        &self,
        state: &str,
        caller: Option<&str>,
        request: RequestDigest,
    ) -> Result<T, Reject> {
        let opened = self
            .keys
            .open(state, &binding(caller, request), now())
            .map_err(|bad| {
                let error = bad.to_error();
                let reject = Reject::new(error.code, error.message);
                match error.data {
                    Some(data) => reject.with_data(data),
                    None => reject,
                }
            })?;
        let memo = opened.journal.memo(MEMO);
        memo.and_then(|raw| serde_json::from_str(raw.get()).ok())
            .ok_or_else(|| Reject::invalid_params("`requestState` was not made by this gateway"))
    }
}

fn binding(caller: Option<&str>, request: RequestDigest) -> Binding<'_> {
    let binding = Binding::new(request);
    match caller {
        Some(caller) => binding.with_caller(caller),
        None => binding,
    }
}

/// Random bytes from the operating system.
pub(crate) fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    if getrandom::fill(&mut bytes).is_err() {
        // Without random bytes, others could open what is sealed.
        tracing::error!("could not get random bytes from the operating system");
        std::process::abort();
    }
    bytes
}

/// Milliseconds since 1970.
pub(crate) fn now() -> u64 {
    let since = wall_clock::now().duration_since(SystemTime::UNIX_EPOCH);
    millis(since.unwrap_or_default())
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_opens_for_its_caller_and_its_request_alone() {
        let sealer = Sealer::new(None);
        let request = RequestDigest::named("tools/call", "a");
        let ticket = Ticket::Visit {
            server: "s".to_owned(),
            visits: Vec::new(),
        };
        let lasts = Duration::from_mins(1);
        let state = sealer.seal(&ticket, Some("ada"), request, lasts).unwrap();
        assert!(sealer.open::<Ticket>(&state, Some("ada"), request).is_ok());
        assert!(sealer.open::<Ticket>(&state, Some("eve"), request).is_err());
        assert!(sealer.open::<Ticket>(&state, None, request).is_err());
        let other = RequestDigest::named("tools/call", "b");
        assert!(sealer.open::<Ticket>(&state, Some("ada"), other).is_err());
    }
}
