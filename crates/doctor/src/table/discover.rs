//! The checks of `server/discover`.

use crate::check::checks;

checks! { Discover;
    FAILS Error "discover.fails" {
        claim: "A server that speaks 2026-07-28 answers `server/discover`.",
        rule: "2026-07-28/server/discover" "M4",
        fix: "Implement `server/discover`; clients begin with it.",
    }
    SHAPE Error "discover.shape" {
        claim: "Its result has `supportedVersions` and `capabilities`.",
        rule: "2026-07-28/server/discover" "M4",
        fix: "Give `supportedVersions` as a list of dates, not empty, and `capabilities` as an object.",
    }
    VERSIONS Error "discover.versions" {
        claim: "`supportedVersions` names the version that was spoken.",
        rule: "2026-07-28/basic/versioning" "M4 M3",
        fix: "List every revision that the server accepts.",
    }
    IDENTITY Warning "discover.identity" {
        claim: "The server says who it is in the `_meta` of its results.",
        rule: "2026-07-28/basic" "M6",
        fix: "Add `io.modelcontextprotocol/serverInfo` with `name` and `version` to `_meta` of every result.",
    }
    UNKNOWN_VERSION Error "discover.unknown-version" {
        claim: "A version that it does not speak is refused with -32022, `supported` and `requested` (HTTP 400).",
        rule: "2026-07-28/basic/versioning" "M3",
        fix: "Check `io.modelcontextprotocol/protocolVersion` of each request, and answer with those that are supported.",
    }
    META Error "discover.meta" {
        claim: "A request without the required `_meta` is refused with -32602 (HTTP 400).",
        rule: "2026-07-28/basic" "M2",
        fix: "Require `protocolVersion` and `clientCapabilities` in `_meta` of each request.",
    }
    RESULT_TYPE Error "discover.result-type" {
        claim: "Every result has a `resultType`.",
        rule: "2026-07-28/basic" "J7",
        fix: "Add `\"resultType\": \"complete\"` to results.",
    }
    REQUESTS Error "discover.requests" {
        claim: "A modern server sends no requests of its own.",
        rule: "2026-07-28/basic" "J8",
        fix: "Ask with an `input_required` result instead.",
    }
    CODES Error "discover.codes" {
        claim: "No error has a code that 2026-07-28 retired or reserves.",
        rule: "2026-07-28/basic" "J9",
        fix: "Use -32602 for unknown resources, and codes outside of -32768 to -32000 for your own errors.",
    }
}
