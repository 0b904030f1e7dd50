//! The rules of the revisions, as a table.
//!
//! Code that behaves differently from one revision to the next asks for the rule that makes the
//! difference, never for a date. Each revision's file has its own [`Rules`]: those of the revision
//! before it, with what it changed.

use serde::{Deserialize, Serialize};

use crate::envelope::UnreadableId;

/// How a peer opens: with a handshake and a session, or with requests complete in themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Era {
    /// `initialize` first, then a session: 2024-11-05 to 2025-11-25.
    Legacy,
    /// Version and capabilities on every request: 2026-07-28 on.
    Modern,
}

/// How a client learns that the arguments of a tool call do not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArgumentErrors {
    /// In a JSON-RPC error, -32602.
    Protocol,
    /// In a result with `isError`, which the model reads.
    Result,
}

/// The rules of a revision.
///
/// ```
/// use turnbuckle_protocol::Revision;
///
/// let with_batches: Vec<_> = Revision::ALL
///     .iter()
///     .filter(|revision| revision.rules().batches)
///     .collect();
/// assert_eq!(with_batches, [&Revision::V2025_03_26]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one independent rule of the specification, and the struct is their table"
)]
pub struct Rules {
    /// How a client opens.
    pub era: Era,
    /// Whether several messages may travel as one JSON array.
    pub batches: bool,
    /// The id of an error response if the id of the request could not be read.
    pub unreadable_id: UnreadableId,
    /// Where arguments of a tool that do not fit are reported.
    pub argument_errors: ArgumentErrors,
    /// Whether the revision has Streamable HTTP. Before it there was HTTP+SSE.
    pub streamable_http: bool,
    /// Whether requests over HTTP carry `MCP-Protocol-Version`.
    pub version_header: bool,
    /// Whether requests over HTTP repeat parts of their body in `Mcp-Method`, `Mcp-Name` and
    /// `Mcp-Param-*`, and a server refuses those that contradict it.
    pub mirrored_headers: bool,
    /// Whether the endpoint has `GET`, which opens a standing stream or resumes one, and `DELETE`,
    /// which ends a session.
    pub standing_streams: bool,
    /// Whether an SSE stream begins with an event without data that names the place to resume from.
    pub priming_events: bool,
    /// Whether a server may ask a client's model to use tools.
    pub sampling_tools: bool,
    /// Whether a client declares that it can include context of servers in sampling.
    pub sampling_context: bool,
    /// Whether an elicitation by URL has an id, whose completion is announced.
    pub elicitation_ids: bool,
    /// Whether a server may end a call with -32042, which lists URLs that must be visited first.
    pub visits_first: bool,
    /// Whether a call can be turned into a task by a field of its parameters, with methods that the
    /// revision itself defines.
    pub task_fields: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Revision;

    /// The revisions that a rule holds in, by the last digits of their dates.
    fn holds(rule: impl Fn(&Rules) -> bool) -> Vec<&'static str> {
        Revision::ALL
            .iter()
            .filter(|revision| rule(revision.rules()))
            .map(|revision| revision.as_str())
            .filter(|date| *date != "DRAFT")
            .collect()
    }

    #[test]
    fn each_rule_holds_where_the_specification_has_it() {
        let (r1, r2, r3) = ("2024-11-05", "2025-03-26", "2025-06-18");
        let (r4, r5) = ("2025-11-25", "2026-07-28");
        assert_eq!(holds(|it| it.era == Era::Modern), [r5]);
        assert_eq!(holds(|it| it.batches), [r2]);
        assert_eq!(
            holds(|it| it.unreadable_id == UnreadableId::Null),
            [r1, r2, r3]
        );
        assert_eq!(
            holds(|it| it.argument_errors == ArgumentErrors::Result),
            [r4, r5]
        );
        assert_eq!(holds(|it| it.streamable_http), [r2, r3, r4, r5]);
        assert_eq!(holds(|it| it.version_header), [r3, r4, r5]);
        assert_eq!(holds(|it| it.mirrored_headers), [r5]);
        assert_eq!(holds(|it| it.standing_streams), [r1, r2, r3, r4]);
        assert_eq!(holds(|it| it.priming_events), [r4]);
        assert_eq!(holds(|it| it.sampling_tools), [r4, r5]);
        assert_eq!(holds(|it| it.sampling_context), [r4, r5]);
        assert_eq!(holds(|it| it.elicitation_ids), [r4]);
        assert_eq!(holds(|it| it.visits_first), [r4]);
        assert_eq!(holds(|it| it.task_fields), [r4]);
    }
}
