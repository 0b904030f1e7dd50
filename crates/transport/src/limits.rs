//! Limits of one connection: sizes, queues and timeouts.

use std::time::Duration;

/// 4 MiB: an image or document of 3 MB fits in one message as base64, and sixty-four hostile peers that
/// send the largest message at once do not exhaust the memory of a small machine. Memory only grows
/// with the bytes that really arrive.
const MAX_MESSAGE_BYTES: usize = 4 * 1024 * 1024;

/// 40 Ki: about 3 MiB of values in memory, whatever the size of their message. That is a table of four
/// thousand rows with three columns.
const MAX_JSON_NODES: usize = 40 * 1024;

/// A message may have one more node for each 16 bytes, so each byte of a message may take five bytes of
/// values in memory.
const BYTES_PER_NODE: usize = 16;

/// 80 bytes: the approximate memory of a node: a value of `serde_json`, or its share of the list or
/// object that contains it.
const NODE_BYTES: usize = 80;

/// 1 MiB: sixteen times the capacity of a Linux pipe, so a peer that reads at its own pace never makes
/// a busy server wait, and a thousand peers that do not read cost at most a gigabyte.
const OUTBOX_HIGH_WATER_BYTES: usize = 1024 * 1024;

/// 1 ms: too short for a user or a peer to notice, long enough for a thousand small answers.
const FLUSH_AFTER: Duration = Duration::from_millis(1);

/// 5 s: longer than existing clients wait between closing the input and sending SIGTERM (2 s), so that
/// the peer decides how long a late answer is worth waiting for.
const LINGER: Duration = Duration::from_secs(5);

/// 1 MiB: if a large message has grown a read or write buffer beyond this, its memory is freed after
/// the message, so that it is not held for the life of the connection.
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
    /// The size limit of incoming messages in bytes, without the line end. A longer line is skipped and
    /// reported as [`LineFault::TooLong`](crate::LineFault::TooLong).
    pub max_message_bytes: usize,
    /// The limit on JSON nodes that any message may have: values and names, with one more for each
    /// string, three more for each list and four more for each object. A larger message may have one
    /// more for each 16 bytes. JSON can take forty times as many bytes in memory as on the wire, so a
    /// limit on bytes alone does not limit the memory of a message; a node takes about eighty bytes.
    pub max_json_nodes: usize,
    /// With more queued bytes than this, senders wait, and with more bytes of unsent answers than this,
    /// nothing more is read.
    pub outbox_high_water_bytes: usize,
    /// How long answers may be held back for others of the same batch, to be sent with one write.
    pub flush_after: Duration,
    /// How long one direction of a connection may outlive the other: the time for late answers after
    /// the end of the input, and for the peer to close its side after the end of the output.
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
    /// Sets the size limit of incoming messages, in bytes.
    pub fn with_max_message_bytes(self, max_message_bytes: usize) -> Self {
        Self {
            max_message_bytes,
            ..self
        }
    }

    /// Sets the limit on JSON nodes that any message may have.
    pub fn with_max_json_nodes(self, max_json_nodes: usize) -> Self {
        Self {
            max_json_nodes,
            ..self
        }
    }

    /// Returns how many JSON nodes a message of this length may have.
    pub fn nodes_of(&self, message_bytes: usize) -> usize {
        self.max_json_nodes
            .saturating_add(message_bytes / BYTES_PER_NODE)
    }

    /// Returns the approximate memory of this many JSON nodes, in bytes.
    pub fn bytes_of_nodes(nodes: usize) -> usize {
        nodes.saturating_mul(NODE_BYTES)
    }

    /// Sets the number of queued bytes above which senders wait.
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
