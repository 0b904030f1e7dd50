//! The checks of the headers of 2026-07-28.

use crate::check::checks;

checks! { Headers;
    VERSION_MISMATCH Error "headers.version-mismatch" {
        claim: "`MCP-Protocol-Version` that differs from `_meta` is refused with 400 and -32020.",
        rule: "2026-07-28/basic/transports/streamable-http" "X2",
        fix: "Compare the header with `_meta` of the body before anything else.",
    }
    VERSION_MISSING Warning "headers.version-missing" {
        claim: "A modern request without `MCP-Protocol-Version` is not served.",
        rule: "2026-07-28/basic/transports/streamable-http" "X2",
        fix: "Answer 400 and -32020 when the header is missing.",
    }
    METHOD_MISSING Error "headers.method-missing" {
        claim: "A request without `Mcp-Method` is refused with 400 and -32020.",
        rule: "2026-07-28/basic/transports/streamable-http" "X2",
        fix: "Require the header on every request of 2026-07-28.",
    }
    METHOD_MISMATCH Error "headers.method-mismatch" {
        claim: "`Mcp-Method` that differs from the body is refused with 400 and -32020.",
        breaks: "proxies and gateways that route or filter by the header: a request can pass for another",
        rule: "2026-07-28/basic/transports/streamable-http" "X2",
        fix: "Compare the header with `method`.",
    }
    NAME_MISMATCH Error "headers.name-mismatch" {
        claim: "`Mcp-Name` that differs from the body is refused with 400 and -32020.",
        breaks: "proxies and gateways that route or filter by the header",
        rule: "2026-07-28/basic/transports/streamable-http" "X2",
        fix: "Compare the header with `params.name` or `params.uri`.",
    }
    ENCODED Error "headers.encoded" {
        claim: "`Mcp-Name` in the encoding for what headers cannot carry (`=?base64?…?=`) is understood.",
        rule: "2026-07-28/basic/transports/streamable-http" "X3",
        fix: "Decode the value before it is compared.",
    }
    LEGACY_VERSION Error "headers.legacy-version" {
        claim: "In a session, an `MCP-Protocol-Version` that does not exist is refused with 400.",
        rule: "2025-11-25/basic/transports" "H11",
        fix: "Check the header on every request after `initialize`.",
    }
}
