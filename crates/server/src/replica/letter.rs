//! The messages between replicas.
//!
//! A letter is JSON in a sealed box. A replica of another version may send what this one does not
//! know: an unknown message is answered so, and unknown members are passed over.

use serde::{Deserialize, Serialize};
use turnbuckle_store::bus::NodeId;

/// One message on its way, with its return address.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Letter {
    from: String,
    /// The number of a call, which its answer repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) call: Option<u64>,
    /// When its answer is no longer awaited, in milliseconds since 1970.
    pub(super) until_ms: u64,
    pub(super) content: Content,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Content {
    Message(Message),
    Answer(Outcome),
    /// The message of this call came again while it is worked on. A replica that does not know this
    /// passes over it, and sends the message some more times.
    AtWork,
}

impl Letter {
    pub(super) fn new(from: NodeId, call: Option<u64>, until_ms: u64, content: Content) -> Self {
        Self {
            from: from.to_string(),
            call,
            until_ms,
            content,
        }
    }

    pub(super) fn from(&self) -> Option<NodeId> {
        NodeId::parse(&self.from)
    }
}

/// What one replica wants of another.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "camelCase")]
pub(crate) enum Message {
    /// A client answered a request of that replica.
    Reply {
        session: String,
        caller: Option<String>,
        /// As it came, as JSON.
        response: String,
    },
    /// A client tells how far it is with a request of that replica.
    Progress {
        session: String,
        caller: Option<String>,
        /// As JSON.
        params: String,
    },
    /// A client cancelled a request of its own, which may run at any replica.
    Cancel {
        session: String,
        caller: Option<String>,
        /// Its id, as JSON.
        request: String,
        reason: Option<String>,
    },
    /// A client says that its roots have changed.
    RootsChanged {
        session: String,
        caller: Option<String>,
    },
    /// A client changed something of its session.
    Noted { session: String },
    /// A session has ended.
    Ended { session: String },
    /// A client reads the stream of a call from elsewhere: what came after this event.
    Pull {
        session: String,
        caller: Option<String>,
        /// The number of the place that the replica has for the session.
        place: u64,
        stream: u64,
        event: u64,
        /// How long to wait for something to come, in milliseconds.
        wait_ms: u64,
    },
    /// A client of HTTP+SSE posted a message; its stream is at that replica.
    Post {
        session: String,
        caller: Option<String>,
        scopes: Vec<String>,
        body: String,
    },
    /// A client of 2026-07-28 sent a request whose work is at that replica: begins it, unless it runs
    /// already, and asks for what came after so many messages.
    Run {
        /// Tells this request from all others.
        key: String,
        caller: Option<String>,
        scopes: Vec<String>,
        /// As JSON; empty if the other replica has it already.
        request: String,
        after: u64,
        /// How long to wait for something to come, in milliseconds.
        wait_ms: u64,
    },
    /// Such a request is not waited for any more.
    Stop { key: String },
    /// A client was sent to a URL, and is to be told when that is done, by whichever replica has its
    /// stream.
    Visit {
        session: String,
        caller: Option<String>,
        /// The name of the visit.
        visit: String,
    },
    /// A replica ends in order, and has left tasks to others.
    TasksLeft { node: String },
    /// Something that only a newer replica knows.
    #[serde(other)]
    Unknown,
}

/// The result.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "camelCase")]
pub(crate) enum Outcome {
    /// The message was accepted.
    Done,
    /// The session or stream does not exist here, or the answer is no longer awaited.
    NotHere,
    /// Events of a stream.
    Pulled(Pulled),
    /// What was asked is not known here, or the answer is not known to us.
    #[serde(other)]
    Unknown,
}

/// Events of a stream, or messages of a request, one in each line.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Pulled {
    /// As they go out.
    pub(crate) events: String,
    /// Whether no more will come on this connection.
    pub(crate) is_over: bool,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_newer_replica_says_is_unknown_and_no_error() {
        let newer = json!({ "what": "sing", "song": 7 });
        assert!(matches!(
            serde_json::from_value(newer).unwrap(),
            Message::Unknown
        ));
        let newer = json!({ "outcome": "sung", "applause": true });
        assert!(matches!(
            serde_json::from_value(newer).unwrap(),
            Outcome::Unknown
        ));
        let more = json!({ "what": "noted", "session": "a", "since": 1 });
        let known = serde_json::from_value(more).unwrap();
        assert!(matches!(known, Message::Noted { session } if session == "a"));
    }
}
