//! The names of the protocol's own headers, in lower case as HTTP/2 requires.

use crate::{
    Revision,
    method::{Method, PromptsGet, ResourcesRead, TasksCancel, TasksGet, TasksUpdate, ToolsCall},
};

/// The revision of a request. Since 2025-06-18.
pub const PROTOCOL_VERSION: &str = "mcp-protocol-version";
/// The method of a request. Since 2026-07-28.
pub const METHOD: &str = "mcp-method";
/// The name or URI of a request's subject; see [`name_of`]. Since 2026-07-28.
pub const NAME: &str = "mcp-name";
/// The prefix of the headers for arguments of tools. Since 2026-07-28.
pub const PARAM_PREFIX: &str = "mcp-param-";
/// The session of a request. From 2025-03-26 to 2025-11-25.
pub const SESSION_ID: &str = "mcp-session-id";
/// The last event that a client has received of a stream that it wants to resume. Until 2025-11-25.
pub const LAST_EVENT_ID: &str = "last-event-id";

/// Returns the member of `params` that `Mcp-Name` repeats for a method, or `None` if the method has no
/// such header.
///
/// ```
/// use turnbuckle_protocol::http::name_of;
///
/// assert_eq!(name_of("resources/read"), Some("uri"));
/// assert_eq!(name_of("tools/list"), None);
/// ```
pub fn name_of(method: &str) -> Option<&'static str> {
    match method {
        ToolsCall::NAME | PromptsGet::NAME => Some("name"),
        ResourcesRead::NAME => Some("uri"),
        // The tasks extension, "request headers".
        TasksGet::NAME | TasksUpdate::NAME | TasksCancel::NAME => Some("taskId"),
        _ => None,
    }
}

/// Returns whether an intermediary may rely on `Mcp-Method`, `Mcp-Name` and `Mcp-Param-*` of a request
/// with this `MCP-Protocol-Version`: whether the server must compare them with the body.
///
/// streamable-http: if the version is older or missing, an intermediary that enforces a policy based on
/// these headers SHOULD reject the request, because the server does not check them.
///
/// ```
/// use turnbuckle_protocol::http::are_checked;
///
/// assert!(are_checked(Some("2026-07-28")));
/// assert!(!are_checked(Some("2025-11-25")) && !are_checked(None));
/// ```
pub fn are_checked(version: Option<&str>) -> bool {
    version
        .and_then(|version| version.parse::<Revision>().ok())
        .is_some_and(|revision| revision.rules().mirrored_headers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::entries;

    #[test]
    fn only_headers_of_a_revision_that_has_them_are_checked() {
        for &revision in Revision::ALL {
            let version = Some(revision.as_str());
            let is_checked = revision.rules().mirrored_headers;
            assert_eq!(are_checked(version), is_checked, "{revision}");
        }
        assert!(are_checked(Some("2026-07-28")));
        for version in [None, Some(""), Some("2026"), Some("latest")] {
            assert!(!are_checked(version), "{version:?}");
        }
    }

    // rule: Z5
    #[test]
    fn six_methods_have_a_name() {
        let named: Vec<_> = entries()
            .iter()
            .filter_map(|entry| Some((entry.name, name_of(entry.name)?)))
            .collect();
        assert_eq!(
            named,
            [
                ("tools/call", "name"),
                ("resources/read", "uri"),
                ("prompts/get", "name"),
                ("tasks/get", "taskId"),
                ("tasks/cancel", "taskId"),
                ("tasks/update", "taskId"),
            ]
        );
    }

    #[test]
    fn methods_are_case_sensitive() {
        assert_eq!(name_of("Tools/Call"), None);
        assert_eq!(name_of(""), None);
    }

    #[test]
    fn names_are_lower_case() {
        for name in [
            PROTOCOL_VERSION,
            METHOD,
            NAME,
            PARAM_PREFIX,
            SESSION_ID,
            LAST_EVENT_ID,
        ] {
            assert_eq!(name, name.to_ascii_lowercase());
        }
    }
}
