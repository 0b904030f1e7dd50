//! Incoming requests that are being served. Each is answered once, and a cancellation finds its work.

use std::collections::HashMap;

use turnbuckle_protocol::{Id, error::code};

/// How many requests of one peer may be served at once on one connection.
///
/// An entry costs little, but the handler behind it may cost anything. A thousand is more than a host
/// of one user needs, and small enough that requests are refused before memory runs out.
pub const MAX_IN_FLIGHT: usize = 1024;

/// Requests that are being served, by the id that the peer gave them. `H` ends the work: an abort
/// handle or a cancellation token.
///
/// Only the ids of requests in progress are kept. Legacy revisions forbid a peer to use an id twice in
/// a whole session, but enforcing that would take memory for every request ever served, without any
/// benefit: the peer matches an answer only against its own open requests. Modern revisions require no
/// more than is checked here. Both eras of one connection share one table, because their ids come from
/// one sender.
///
/// ```
/// use turnbuckle_protocol::Id;
/// use turnbuckle_session::InFlight;
///
/// let mut serving = InFlight::new();
/// let ticket = serving.begin(Id::Int(7), "handle of the work")?;
/// assert!(serving.begin(Id::Int(7), "another").is_err());
/// assert_eq!(serving.cancel(&Id::Int(7)), Some("handle of the work"));
/// assert_eq!(serving.finish(&ticket), None); // cancelled: no answer goes out
/// # Ok::<(), turnbuckle_session::in_flight::Refused>(())
/// ```
#[derive(Debug)]
pub struct InFlight<H> {
    limit: usize,
    last_turn: u64,
    /// The peer chooses the keys, so the map must use a keyed hash.
    serving: HashMap<Id, Slot<H>>,
}

#[derive(Debug)]
struct Slot<H> {
    turn: u64,
    handle: H,
    cancellable: Cancellable,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cancellable {
    Yes,
    No,
}

/// The right to answer one request. It is valid until the request is finished or cancelled, and does
/// not become valid again if the peer uses the id again.
#[derive(Debug, PartialEq, Eq)]
pub struct Ticket {
    id: Id,
    turn: u64,
}

impl Ticket {
    /// Returns the id of the request.
    pub const fn id(&self) -> &Id {
        &self.id
    }
}

/// Why a request is not served. The answer is an error with the code of an invalid request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// A request with this id is still being served.
    #[error("id `{id}` belongs to a request still in flight: give each request an id of its own")]
    Duplicate {
        /// The id.
        id: Id,
    },
    /// The limit on requests in progress is reached.
    #[error("{limit} requests are in flight on this connection: wait for some to finish")]
    TooMany {
        /// The limit.
        limit: usize,
    },
}

impl Refused {
    /// Returns the JSON-RPC error code for the answer.
    pub const fn code(&self) -> i64 {
        code::INVALID_REQUEST
    }
}

impl<H> Default for InFlight<H> {
    fn default() -> Self {
        Self::new()
    }
}

impl<H> InFlight<H> {
    /// Creates an empty table with the limit [`MAX_IN_FLIGHT`].
    pub fn new() -> Self {
        Self {
            limit: MAX_IN_FLIGHT,
            last_turn: 0,
            serving: HashMap::new(),
        }
    }

    /// Sets the limit on requests in progress.
    pub fn with_limit(self, limit: usize) -> Self {
        Self { limit, ..self }
    }

    /// Starts a request.
    ///
    /// # Errors
    /// [`Refused`] if its id is in use or the limit is reached. The request must then not be served.
    pub fn begin(&mut self, id: Id, handle: H) -> Result<Ticket, Refused> {
        self.enter(id, handle, Cancellable::Yes)
    }

    /// Starts a request that cannot be cancelled: `initialize`.
    ///
    /// # Errors
    /// Fails as [`begin`](Self::begin) does.
    pub fn begin_uncancellable(&mut self, id: Id, handle: H) -> Result<Ticket, Refused> {
        self.enter(id, handle, Cancellable::No)
    }

    /// Checks whether a request with this id could begin now. It is for servers that answer most
    /// requests without registering them here.
    ///
    /// # Errors
    /// Fails as [`begin`](Self::begin) would.
    pub fn check(&self, id: &Id) -> Result<(), Refused> {
        if self.serving.contains_key(id) {
            return Err(Refused::Duplicate { id: id.clone() });
        }
        if self.serving.len() >= self.limit {
            return Err(Refused::TooMany { limit: self.limit });
        }
        Ok(())
    }

    fn enter(&mut self, id: Id, handle: H, cancellable: Cancellable) -> Result<Ticket, Refused> {
        self.check(&id)?;
        self.last_turn += 1;
        let turn = self.last_turn;
        let slot = Slot {
            turn,
            handle,
            cancellable,
        };
        self.serving.insert(id.clone(), slot);
        Ok(Ticket { id, turn })
    }

    /// Ends a request whose answer is ready. Returns `None` if it was cancelled in the meantime: then
    /// no answer may be sent for it.
    pub fn finish(&mut self, ticket: &Ticket) -> Option<H> {
        // The peer may have reused the id after cancelling; the new request has another turn.
        self.serving
            .get(&ticket.id)
            .filter(|slot| slot.turn == ticket.turn)?;
        self.serving.remove(&ticket.id).map(|slot| slot.handle)
    }

    /// Returns whether a request still waits for its answer.
    pub fn is_open(&self, ticket: &Ticket) -> bool {
        let slot = self.serving.get(&ticket.id);
        slot.is_some_and(|slot| slot.turn == ticket.turn)
    }

    /// Handles `notifications/cancelled`, and returns the handle that ends the work. Returns `None` for
    /// an id that is unknown or finished, and for `initialize`: such a notification is ignored.
    pub fn cancel(&mut self, id: &Id) -> Option<H> {
        self.serving
            .get(id)
            .filter(|slot| slot.cancellable == Cancellable::Yes)?;
        self.serving.remove(id).map(|slot| slot.handle)
    }

    /// Removes all requests, cancellable or not. Use it when the connection has ended.
    pub fn drain(&mut self) -> impl Iterator<Item = H> + use<'_, H> {
        self.serving.drain().map(|(_, slot)| slot.handle)
    }

    /// Removes all requests and returns them in the order in which they began. Use it when another
    /// session has replaced this one.
    pub fn take_all(&mut self) -> Vec<(Id, H)> {
        let mut all: Vec<_> = self.serving.drain().collect();
        all.sort_by_key(|(_, slot)| slot.turn);
        let ended = all.into_iter().map(|(id, slot)| (id, slot.handle));
        ended.collect()
    }

    /// Returns the number of requests in progress.
    pub fn len(&self) -> usize {
        self.serving.len()
    }

    /// Returns whether no request is in progress.
    pub fn is_empty(&self) -> bool {
        self.serving.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: i64) -> Id {
        Id::Int(number)
    }

    #[test]
    fn an_id_in_flight_is_refused_and_a_finished_one_is_not() {
        let mut serving = InFlight::new();
        let first = serving.begin(id(1), 'a').unwrap();
        assert_eq!(
            serving.begin(id(1), 'b'),
            Err(Refused::Duplicate { id: id(1) })
        );
        assert_eq!(serving.finish(&first), Some('a'));
        assert!(serving.begin(id(1), 'c').is_ok());
    }

    #[test]
    fn one_and_its_text_are_different_ids() {
        let mut serving = InFlight::new();
        serving.begin(id(1), 'a').unwrap();
        serving.begin(Id::from("1"), 'b').unwrap();
        assert_eq!(serving.cancel(&Id::from("1")), Some('b'));
        assert_eq!(serving.cancel(&id(1)), Some('a'));
    }

    // rule: PC2
    #[test]
    fn cancelling_what_is_unknown_done_or_cancelled_does_nothing() {
        let mut serving = InFlight::new();
        assert_eq!(serving.cancel(&id(1)), None);
        let ticket = serving.begin(id(1), 'a').unwrap();
        assert_eq!(serving.finish(&ticket), Some('a'));
        assert_eq!(serving.cancel(&id(1)), None);
        serving.begin(id(2), 'b').unwrap();
        assert_eq!(serving.cancel(&id(2)), Some('b'));
        assert_eq!(serving.cancel(&id(2)), None);
    }

    // rule: PC2
    #[test]
    fn initialize_cannot_be_cancelled() {
        // cancellation: the `initialize` request MUST NOT be cancelled by clients.
        let mut serving = InFlight::new();
        let ticket = serving.begin_uncancellable(id(1), 'a').unwrap();
        assert_eq!(serving.cancel(&id(1)), None);
        assert_eq!(serving.finish(&ticket), Some('a'));
    }

    #[test]
    fn a_cancelled_request_cannot_answer_for_the_next_with_its_id() {
        let mut serving = InFlight::new();
        let old = serving.begin(id(1), "old").unwrap();
        serving.cancel(&id(1));
        let new = serving.begin(id(1), "new").unwrap();
        assert!(!serving.is_open(&old) && serving.is_open(&new));
        assert_eq!(serving.finish(&old), None);
        assert_eq!(serving.finish(&new), Some("new"));
        assert_eq!(serving.finish(&new), None);
    }

    #[test]
    fn the_number_in_flight_is_bounded_and_a_duplicate_is_still_told_so() {
        let mut serving = InFlight::new().with_limit(2);
        serving.begin(id(1), 'a').unwrap();
        serving.begin(id(2), 'b').unwrap();
        assert_eq!(
            serving.begin(id(3), 'c'),
            Err(Refused::TooMany { limit: 2 })
        );
        assert_eq!(
            serving.begin(id(2), 'c'),
            Err(Refused::Duplicate { id: id(2) })
        );
        serving.cancel(&id(1));
        assert!(serving.begin(id(3), 'c').is_ok());
        assert_eq!(serving.len(), 2);
    }

    #[test]
    fn a_check_says_what_beginning_would_say_and_enters_nothing() {
        let mut serving = InFlight::new().with_limit(1);
        assert_eq!(serving.check(&id(1)), Ok(()));
        assert!(serving.is_empty());
        serving.begin(id(1), 'a').unwrap();
        for (number, refused) in [
            (1, Refused::Duplicate { id: id(1) }),
            (2, Refused::TooMany { limit: 1 }),
        ] {
            assert_eq!(serving.check(&id(number)), Err(refused.clone()));
            assert_eq!(serving.begin(id(number), 'b'), Err(refused));
        }
    }

    #[test]
    fn the_end_of_a_connection_ends_everything() {
        let mut serving = InFlight::new();
        serving.begin(id(1), 1).unwrap();
        serving.begin_uncancellable(id(2), 2).unwrap();
        let mut ended: Vec<_> = serving.drain().collect();
        ended.sort_unstable();
        assert_eq!(ended, [1, 2]);
        assert!(serving.is_empty());
    }
}
