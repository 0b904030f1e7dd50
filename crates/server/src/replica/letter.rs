//! The messages between replicas.
//!
//! A letter is encrypted JSON. A replica of another version may send something unknown: unknown
//! messages are answered as such, and unknown members are ignored.

use serde::{Deserialize, Serialize};
use turnbuckle_store::bus::NodeId;

/// A message between replicas, with its sender.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Letter {
    from: String,
    /// The number of a call, which its answer repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) call: Option<u64>,
    /// The time after which its answer is no longer awaited, in milliseconds since 1970.
    pub(super) until_ms: u64,
    pub(super) content: Content,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Content {
    Message(Message),
    Answer(Outcome),
    /// The message of this call arrived again while the replica works on it. Replicas that do not
    /// know this content ignore it, and send the message a few more times.
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

/// A message from one replica to another.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "camelCase")]
pub(crate) enum Message {
    /// A client answered a request of the other replica.
    Reply {
        session: String,
        caller: Option<String>,
        /// The response as the client sent it, as JSON.
        response: String,
    },
    /// A client reported progress with a request of the other replica.
    Progress {
        session: String,
        caller: Option<String>,
        /// The params of the notification, as JSON.
        params: String,
    },
    /// A client cancelled one of its requests, which may run on any replica.
    Cancel {
        session: String,
        caller: Option<String>,
        /// The id of the request, as JSON.
        request: String,
        reason: Option<String>,
    },
    /// A client reported that its roots have changed.
    RootsChanged {
        session: String,
        caller: Option<String>,
    },
    /// A client changed the stored state of its session.
    Noted { session: String },
    /// A session has ended.
    Ended { session: String },
    /// Asks for the events of a call's stream after this one, because a client reads the stream
    /// from another replica.
    Pull {
        session: String,
        caller: Option<String>,
        /// The number of the place that the replica has for the session.
        place: u64,
        stream: u64,
        event: u64,
        /// How long to wait for new events, in milliseconds.
        wait_ms: u64,
    },
    /// A client of HTTP+SSE posted a message; its stream is on the other replica.
    Post {
        session: String,
        caller: Option<String>,
        scopes: Vec<String>,
        body: String,
    },
    /// A client of 2026-07-28 sent a request that the other replica must serve. Starts the request
    /// unless it runs already, and asks for its messages after this many.
    Run {
        /// Identifies the request.
        key: String,
        caller: Option<String>,
        scopes: Vec<String>,
        /// The request as JSON; empty if the other replica has it already.
        request: String,
        after: u64,
        /// How long to wait for new messages, in milliseconds.
        wait_ms: u64,
    },
    /// The result of such a request is no longer awaited.
    Stop { key: String },
    /// A client was asked to visit a URL. The replica that has the client's stream is to notify it
    /// when the elicitation is complete.
    Visit {
        session: String,
        caller: Option<String>,
        /// The id of the elicitation.
        visit: String,
    },
    /// A replica has shut down and left tasks to others.
    TasksLeft { node: String },
    /// A message that only newer replicas know.
    #[serde(other)]
    Unknown,
}

/// The answer to a message.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "camelCase")]
pub(crate) enum Outcome {
    /// The message was accepted.
    Done,
    /// The session or stream is not on this replica, or the answer is no longer awaited.
    NotHere,
    /// Events of a stream.
    Pulled(Pulled),
    /// The message is unknown to the other replica, or the answer is unknown to this one.
    #[serde(other)]
    Unknown,
}

/// Events of a stream, or messages of a request, one per line.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Pulled {
    /// The events in the form in which they are sent to the client.
    pub(crate) events: String,
    /// Whether no more will follow on this connection.
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
