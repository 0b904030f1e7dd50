//! The two eras, and how a server determines the era of a message.
//!
//! One connection may carry both at once: a legacy session and modern requests, which need no session.
//! So the era is a property of the message, never of the connection.

use turnbuckle_protocol::Revision;

pub use turnbuckle_protocol::revision::Era;

/// Returns the era of a message that came over a connection: a pipe, a socket, a pair in memory.
///
/// `modern_version` is the value of `io.modelcontextprotocol/protocolVersion` in the `_meta` of the
/// params, whatever its type, parsed or raw: a message with an unknown version, or with a number
/// instead of a string, is still a modern request and is refused as one.
///
/// `notifications/cancelled` names no version in any revision. It cancels the request with its id, in
/// either era, so look up the id in [`InFlight`](crate::InFlight) before you call this function.
///
/// ```
/// use turnbuckle_session::{Era, era};
///
/// assert_eq!(era::of("initialize", None), Era::Legacy);
/// assert_eq!(era::of("tools/list", None), Era::Legacy);
/// assert_eq!(era::of("tools/list", Some("2026-07-28")), Era::Modern);
/// ```
pub fn of(method: &str, modern_version: Option<&str>) -> Era {
    match method {
        // This comes first: `initialize` is always legacy, even from a client that adds `_meta` to
        // everything.
        "initialize" => Era::Legacy,
        _ if modern_version.is_some() => Era::Modern,
        // No legacy revision has these methods. Without a version they are modern and incomplete, and
        // an error that names the missing field helps more than "initialize first".
        "server/discover" | "subscriptions/listen" => Era::Modern,
        _ => Era::Legacy,
    }
}

/// Returns the era of a message that came in an HTTP POST without the id of a known session.
///
/// Like [`of`], but if the message itself does not determine the era, the `MCP-Protocol-Version` header
/// does: a legacy revision or no header means legacy (the header did not exist before 2025-06-18), and
/// any other value means a modern request without its metadata.
///
/// ```
/// use turnbuckle_session::{Era, era};
///
/// assert_eq!(era::of_post("tools/list", None, Some("2025-06-18")), Era::Legacy);
/// assert_eq!(era::of_post("tools/list", None, None), Era::Legacy);
/// assert_eq!(era::of_post("tools/list", None, Some("2026-07-28")), Era::Modern);
/// ```
pub fn of_post(method: &str, modern_version: Option<&str>, header: Option<&str>) -> Era {
    match (of(method, modern_version), header) {
        (Era::Legacy, Some(date)) if method != "initialize" => {
            Revision::from_date(date).map_or(Era::Modern, Era::from)
        }
        (era, _) => era,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn initialize_is_legacy_whatever_it_carries() {
        assert_eq!(of("initialize", Some("2026-07-28")), Era::Legacy);
        assert_eq!(
            of_post("initialize", Some("2026-07-28"), Some("2026-07-28")),
            Era::Legacy
        );
        assert_eq!(of_post("initialize", None, Some("2026-07-28")), Era::Legacy);
    }

    #[test]
    fn a_version_in_the_message_makes_it_modern_even_if_the_version_is_unknown() {
        for version in ["2026-07-28", "2025-06-18", "v999.0.0", ""] {
            assert_eq!(of("tools/call", Some(version)), Era::Modern);
            assert_eq!(of_post("tools/call", Some(version), None), Era::Modern);
            assert_eq!(
                of_post("tools/call", Some(version), Some("2025-06-18")),
                Era::Modern
            );
        }
    }

    #[test]
    fn methods_that_only_the_modern_era_has_are_modern_without_a_version_too() {
        assert_eq!(of("server/discover", None), Era::Modern);
        assert_eq!(of("subscriptions/listen", None), Era::Modern);
    }

    #[test]
    fn eras_interleave_on_one_connection() {
        let messages = [
            ("initialize", None, Era::Legacy),
            ("server/discover", Some("2026-07-28"), Era::Modern),
            ("notifications/initialized", None, Era::Legacy),
            ("tools/call", Some("2026-07-28"), Era::Modern),
            ("tools/call", None, Era::Legacy),
            ("notifications/cancelled", None, Era::Legacy),
        ];
        for (method, version, era) in messages {
            assert_eq!(of(method, version), era, "{method} {version:?}");
        }
    }

    #[test]
    fn the_header_decides_where_the_message_is_silent() {
        for (header, era) in [
            (None, Era::Legacy),
            (Some("2024-11-05"), Era::Legacy),
            (Some("2025-03-26"), Era::Legacy),
            (Some("2025-11-25"), Era::Legacy),
            (Some("2026-07-28"), Era::Modern),
            (Some("2027-01-01"), Era::Modern),
            (Some("nonsense"), Era::Modern),
        ] {
            assert_eq!(of_post("tools/list", None, header), era, "{header:?}");
        }
    }
}
