//! Ids for outgoing requests. Each is used once.

use turnbuckle_protocol::{Id, IdRef};

/// A source of request ids: 1, 2, 3 and so on, without repetition.
///
/// 0 and the empty string are left out because some peers treat them as a missing id. The same numbers
/// are also progress tokens and subscription ids, which must be unique as well.
///
/// ```
/// use turnbuckle_protocol::Id;
/// use turnbuckle_session::requests::Ids;
///
/// let mut ids = Ids::new();
/// assert_eq!(ids.next_id(), Id::Int(1));
/// assert_eq!(ids.next_id(), Id::Int(2));
/// assert_eq!(Ids::prefixed("b7-").next_id(), Id::from("b7-1"));
/// ```
#[derive(Clone, Debug)]
pub struct Ids {
    prefix: Option<Box<str>>,
    last: u64,
}

impl Default for Ids {
    fn default() -> Self {
        Self::new()
    }
}

impl Ids {
    /// Creates integer ids, from 1.
    pub const fn new() -> Self {
        Self {
            prefix: None,
            last: 0,
        }
    }

    /// Creates string ids: `prefix` and an integer, from 1.
    ///
    /// Use it for a session whose requests come from several machines: each machine uses its own
    /// prefix, so that no id is used twice in the session.
    pub fn prefixed(prefix: &str) -> Self {
        Self {
            prefix: Some(prefix.into()),
            last: 0,
        }
    }

    /// Returns the next id.
    pub fn next_id(&mut self) -> Id {
        let number = self.next_number();
        self.id(number)
    }

    /// Returns whether an id was given out here. An answer with such an id belongs to that request, even
    /// if the request does not wait any more; with any other id, the peer invented it.
    ///
    /// ```
    /// use turnbuckle_protocol::IdRef;
    /// use turnbuckle_session::requests::Ids;
    ///
    /// let mut ids = Ids::new();
    /// ids.next_id();
    /// assert!(ids.has_issued(&IdRef::Int(1)));
    /// assert!(!ids.has_issued(&IdRef::Int(2)) && !ids.has_issued(&IdRef::Int(0)));
    /// ```
    pub fn has_issued(&self, id: &IdRef<'_>) -> bool {
        self.number(id)
            .is_some_and(|number| (1..=self.last).contains(&number))
    }

    pub(super) fn next_number(&mut self) -> u64 {
        // At a million ids per second, 63 bits last for three hundred thousand years.
        self.last += 1;
        self.last
    }

    pub(super) fn id(&self, number: u64) -> Id {
        match &self.prefix {
            Some(prefix) => Id::from(format!("{prefix}{number}")),
            None => Id::Int(number.cast_signed()),
        }
    }

    /// Returns the number in an id that came from a peer, if the id has the form of the ids made here.
    pub(super) fn number(&self, id: &IdRef<'_>) -> Option<u64> {
        match (&self.prefix, id) {
            (None, IdRef::Int(number)) => u64::try_from(*number).ok(),
            (Some(prefix), IdRef::Text(text)) => canonical(text.strip_prefix(&**prefix)?),
            _ => None,
        }
    }
}

/// Parses a number in the form that `next_id` writes: without a sign or leading zeros, so that two
/// texts never mean the same request.
fn canonical(digits: &str) -> Option<u64> {
    let number: u64 = digits.parse().ok()?;
    (number.to_string() == digits).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_and_the_empty_string_are_never_given_out() {
        assert_eq!(Ids::new().next_id(), Id::Int(1));
        assert_eq!(Ids::prefixed("").next_id(), Id::from("1"));
    }

    #[test]
    fn every_id_given_out_is_recognised() {
        for mut ids in [
            Ids::new(),
            Ids::prefixed("x"),
            Ids::prefixed("replica-9:"),
            Ids::prefixed(""),
        ] {
            for number in 1..30 {
                let id = ids.next_id();
                assert_eq!(ids.number(&id.as_ref()), Some(number), "{id}");
            }
        }
    }

    #[test]
    fn only_ids_given_out_are_issued() {
        for mut ids in [Ids::new(), Ids::prefixed("x"), Ids::prefixed("")] {
            let mut next = ids.clone();
            let issued = [next.next_id(), next.next_id()];
            for id in &issued {
                assert!(!ids.has_issued(&id.as_ref()), "{id}");
            }
            ids.next_id();
            assert!(ids.has_issued(&issued[0].as_ref()), "{}", issued[0]);
            assert!(!ids.has_issued(&issued[1].as_ref()), "{}", issued[1]);
            for id in [Id::Int(0), Id::Int(-1), Id::from("x0"), Id::from("0")] {
                assert!(!ids.has_issued(&id.as_ref()), "{id}");
            }
        }
    }

    #[test]
    fn ids_of_another_form_are_not() {
        let plain = Ids::new();
        for id in [Id::from("1"), Id::Int(-1), Id::Int(i64::MIN)] {
            assert_eq!(plain.number(&id.as_ref()), None, "{id}");
        }
        let prefixed = Ids::prefixed("a");
        for id in [
            Id::Int(1),
            Id::from("1"),
            Id::from("a"),
            Id::from("b1"),
            Id::from("a01"),
        ] {
            assert_eq!(prefixed.number(&id.as_ref()), None, "{id}");
        }
        for id in ["a+1", "a1 ", "a-1", "a1.0", "a99999999999999999999"] {
            assert_eq!(prefixed.number(&Id::from(id).as_ref()), None, "{id}");
        }
    }
}
