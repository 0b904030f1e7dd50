//! Limits of one connection: sizes, queues and timeouts.

use std::time::Duration;

/// 4 MiB: a picture or document of 3 MB fits in one message as base64, and sixty-four hostile peers
/// that send the largest message at once do not take the memory of a small machine. Memory grows
/// with the bytes that really arrive, never ahead of them.
const MAX_MESSAGE_BYTES: usize = 4 * 1024 * 1024;

/// 40 Ki: some 3 MiB of values in memory, whatever the size of the message that they came in. That
/// is a table of four thousand rows with three columns.
const MAX_JSON_NODES: usize = 40 * 1024;

/// A message may have one more node for each 16 bytes of it, so five bytes of values for each of
/// its own.
const BYTES_PER_NODE: usize = 16;

/// 80 bytes: what a node takes in memory, about: a value of `serde_json`, or the share of one in
/// the list or object that holds it.
const NODE_BYTES: usize = 80;

/// 1 MiB: sixteen times what a Linux pipe holds, so a peer that reads at its own pace never makes
/// a busy server wait, and a thousand peers that do not read cost at most a gigabyte.
const OUTBOX_HIGH_WATER_BYTES: usize = 1024 * 1024;

/// 1 ms: too short for a user or a peer to notice, long enough for a thousand small answers.
const FLUSH_AFTER: Duration = Duration::from_millis(1);

/// 5 s: longer than the clients in the field wait between closing the input and sending SIGTERM
/// (2 s), so that it is the peer who decides how long a late answer is worth waiting for.
const LINGER: Duration = Duration::from_secs(5);

/// 1 MiB: a read or write buffer that a large message has grown beyond this is given back when the
/// message is through, so that it does not cost its memory for the life of the connection.
pub(crate) const RETAINED_BUFFER_BYTES: usize = 1024 * 1024;

/// The limits of one connection.
///
/// ```
/// use turnbuckle_transport::Limits;
///
/// let limits = Limits::default().with_max_message_bytes(1024 * 1024);
/// assert_eq!(limits.max_message_bytes, 1024 * 1024);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Longest message taken from the peer, in bytes, without its line end. A longer line is
    /// skipped and reported as [`LineFault::TooLong`](crate::LineFault::TooLong).
    pub max_message_bytes: usize,
    /// JSON nodes that any message may have: values and names, with one more for each string, three
    /// more for each list and four more for each object. A larger message may have one more for
    /// each 16 bytes of it. JSON can take forty times as many bytes in memory as on the wire, so a
    /// limit on bytes alone does not bound the memory of a message; a node takes about eighty
    /// bytes.
    pub max_json_nodes: usize,
    /// Above this many queued bytes senders wait, and above this many bytes of unsent answers
    /// nothing more is read.
    pub outbox_high_water_bytes: usize,
    /// How long answers may be held back for others of the same batch, to leave with one write.
    pub flush_after: Duration,
    /// How long one direction of a connection may outlive the other: the time for late answers
    /// after the peer's end of input, and for the peer to hang up after our end of output.
    pub linger: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_message_bytes: MAX_MESSAGE_BYTES,
            max_json_nodes: MAX_JSON_NODES,
            outbox_high_water_bytes: OUTBOX_HIGH_WATER_BYTES,
            flush_after: FLUSH_AFTER,
            linger: LINGER,
        }
    }
}

impl Limits {
    /// Sets the longest message taken from the peer, in bytes.
    pub fn with_max_message_bytes(self, max_message_bytes: usize) -> Self {
        Self {
            max_message_bytes,
            ..self
        }
    }

    /// Sets how many JSON nodes any message may have.
    pub fn with_max_json_nodes(self, max_json_nodes: usize) -> Self {
        Self {
            max_json_nodes,
            ..self
        }
    }

    /// How many JSON nodes a message of this length may have.
    pub fn nodes_of(&self, message_bytes: usize) -> usize {
        self.max_json_nodes
            .saturating_add(message_bytes / BYTES_PER_NODE)
    }

    /// The memory that so many JSON nodes take, in bytes, about.
    pub fn bytes_of_nodes(nodes: usize) -> usize {
        nodes.saturating_mul(NODE_BYTES)
    }

    /// Sets the number of queued bytes above which writers wait.
    pub fn with_outbox_high_water_bytes(self, outbox_high_water_bytes: usize) -> Self {
        Self {
            outbox_high_water_bytes,
            ..self
        }
    }

    /// Sets how long answers may be held back for others of the same batch.
    pub fn with_flush_after(self, flush_after: Duration) -> Self {
        Self {
            flush_after,
            ..self
        }
    }

    /// Sets how long one direction may outlive the other.
    pub fn with_linger(self, linger: Duration) -> Self {
        Self { linger, ..self }
    }
}
