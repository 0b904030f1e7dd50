//! The rules of the revisions, as a table.
//!
//! Code that behaves differently in different revisions checks the rule that makes the difference,
//! never the date. Each revision's file has its own [`Rules`]: those of the revision before it, with
//! its changes.

use serde::{Deserialize, Serialize};

use crate::envelope::UnreadableId;

/// How a connection begins: with a handshake and a session, or without either.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Era {
    /// With `initialize` and a session: 2024-11-05 to 2025-11-25.
    Legacy,
    /// With version and capabilities in every request: since 2026-07-28.
    Modern,
}

/// How invalid arguments of a tool call are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArgumentErrors {
    /// As a JSON-RPC error, -32602.
    Protocol,
    /// As a result with `isError`, for the model.
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
    /// The era of the revision.
    pub era: Era,
    /// Whether several messages may be sent as one JSON array.
    pub batches: bool,
    /// The id of an error response if the id of the request could not be parsed.
    pub unreadable_id: UnreadableId,
    /// How invalid arguments of a tool call are reported.
    pub argument_errors: ArgumentErrors,
    /// Whether the revision has Streamable HTTP. Before it there was HTTP+SSE.
    pub streamable_http: bool,
    /// Whether requests over HTTP carry `MCP-Protocol-Version`.
    pub version_header: bool,
    /// Whether requests over HTTP repeat parts of their body in `Mcp-Method`, `Mcp-Name` and
    /// `Mcp-Param-*`, and a server refuses headers that contradict the body.
    pub mirrored_headers: bool,
    /// Whether the endpoint has `GET`, which opens or resumes a stream for messages that belong to no
    /// request, and `DELETE`, which ends a session.
    pub standing_streams: bool,
    /// Whether an SSE stream begins with an event without data whose id is the position for resuming.
    pub priming_events: bool,
    /// Whether sampling requests may contain tools.
    pub sampling_tools: bool,
    /// Whether a client declares that it can include context of servers in sampling.
    pub sampling_context: bool,
    /// Whether an elicitation in URL mode has an id, and its completion is announced.
    pub elicitation_ids: bool,
    /// Whether a server may fail a call with -32042, with URLs that the user must visit first.
    pub visits_first: bool,
    /// Whether a field in the params turns a call into a task, with methods that the revision itself
    /// defines.
    pub task_fields: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Revision;

    /// Returns the revisions in which a rule holds, by the last digits of their dates.
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
