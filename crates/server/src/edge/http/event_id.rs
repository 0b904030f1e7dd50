//! Event ids: the stream, and a position in it. If there are replicas, the id also contains the
//! replica that has the stream, and the request to which the stream belongs. So another replica can
//! tell the client what happened to the stream.

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use turnbuckle_protocol::Id;

use crate::replica::Place;

/// The maximum length of a request id that is part of event ids, in bytes of JSON.
const MAX_REQUEST: usize = 64;

/// The common part of the event ids of a stream.
pub(super) enum StreamName {
    /// The number of the stream, if there are no replicas.
    Local(u64),
    /// The parts of an id before and after the number of the event.
    Placed(Box<str>, Box<str>),
}

/// The messages that a stream carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Carries {
    /// The messages of a call; of this call, if its id is short.
    Call(Option<Id>),
    /// Messages to the session as a whole.
    Standing,
}

/// A parsed event id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EventId {
    /// The replica of the stream; `None` if there are no replicas.
    pub(super) place: Option<Place>,
    pub(super) stream: u64,
    pub(super) event: u64,
    pub(super) carries: Carries,
}

impl StreamName {
    /// Makes the name of a stream on a replica.
    pub(super) fn at(place: Place, stream: u64, carries: &Carries) -> Self {
        let (mark, request) = match carries {
            Carries::Standing => ("s", String::new()),
            Carries::Call(request) => ("", request.as_ref().map_or(String::new(), encoded)),
        };
        Self::Placed(
            format!("{}{mark}{stream}-", place.prefix()).into(),
            request.into(),
        )
    }

    /// Makes the id of an event.
    pub(super) fn event(&self, event: u64) -> String {
        match self {
            Self::Local(stream) => format!("{stream}-{event}"),
            Self::Placed(before, after) => format!("{before}{event}{after}"),
        }
    }
}

/// Encodes the id of a request for the end of an event id; empty if it is too long.
fn encoded(request: &Id) -> String {
    let text = serde_json::to_vec(request).unwrap_or_default();
    if text.is_empty() || text.len() > MAX_REQUEST {
        return String::new();
    }
    format!("-{}", BASE64_URL_SAFE_NO_PAD.encode(text))
}

fn decoded(request: &str) -> Option<Id> {
    let text = BASE64_URL_SAFE_NO_PAD.decode(request).ok()?;
    serde_json::from_slice(&text).ok()
}

impl EventId {
    /// Parses an event id that this server made.
    pub(super) fn parse(id: &str) -> Option<Self> {
        if let Some((place, rest)) = Place::split(id) {
            return Self::parse_placed(place, rest);
        }
        let (stream, event) = id.split_once('-')?;
        Some(Self {
            place: None,
            stream: stream.parse().ok()?,
            event: event.parse().ok()?,
            carries: Carries::Call(None),
        })
    }

    fn parse_placed(place: Place, rest: &str) -> Option<Self> {
        let (stream, rest) = rest.split_once('-')?;
        let (event, request) = match rest.split_once('-') {
            Some((event, request)) => (event, Some(decoded(request)?)),
            None => (rest, None),
        };
        let (stream, carries) = match stream.strip_prefix('s') {
            Some(stream) => (stream, Carries::Standing),
            None => (stream, Carries::Call(request)),
        };
        Some(Self {
            place: Some(place),
            stream: stream.parse().ok()?,
            event: event.parse().ok()?,
            carries,
        })
    }
}

#[cfg(test)]
mod tests {
    use turnbuckle_store::bus::NodeId;

    use super::*;

    #[test]
    fn ids_are_read_back_and_nothing_else_is() {
        let read = EventId::parse(&StreamName::Local(3).event(14)).unwrap();
        assert_eq!((read.place, read.stream, read.event), (None, 3, 14));
        for strange in [
            "",
            "3",
            "3-",
            "-14",
            "3-14-15",
            "a-b",
            "-1-2",
            "3-+",
            "3--4",
            "0000000000000001.2-3",
            "0000000000000001.2-3-",
            "0000000000000001.2-3-4-!",
        ] {
            assert_eq!(EventId::parse(strange), None, "{strange}");
        }
    }

    #[test]
    fn an_id_with_a_place_says_what_its_stream_carries() {
        let place = Place {
            node: NodeId::new(1),
            number: 2,
        };
        let long = Id::from("x".repeat(100));
        for (carries, read) in [
            (Carries::Standing, Carries::Standing),
            (Carries::Call(None), Carries::Call(None)),
            (
                Carries::Call(Some(Id::from(7))),
                Carries::Call(Some(Id::from(7))),
            ),
            (
                Carries::Call(Some(Id::from("a-b"))),
                Carries::Call(Some(Id::from("a-b"))),
            ),
            (Carries::Call(Some(long)), Carries::Call(None)),
        ] {
            let id = StreamName::at(place, 3, &carries).event(4);
            let expected = EventId {
                place: Some(place),
                stream: 3,
                event: 4,
                carries: read,
            };
            assert_eq!(EventId::parse(&id), Some(expected), "{id}");
        }
    }
}
