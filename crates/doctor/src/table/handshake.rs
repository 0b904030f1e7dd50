//! The checks of sessions.

use crate::check::checks;

checks! { Handshake;
    FAILS Error "handshake.fails" {
        claim: "The server answers `server/discover` or `initialize`.",
        rule: "2025-11-25/basic/lifecycle" "V1 M4",
        fix: "Implement `initialize` for clients up to 2025-11-25, `server/discover` for those after, best both.",
    }
    SILENT Error "handshake.silent" {
        claim: "The first request is answered in time.",
        rule: "2025-11-25/basic/lifecycle" "V7",
        fix: "Find out what the server waits for; output that is buffered and not flushed looks the same (`flush=True`, `PYTHONUNBUFFERED=1`).",
    }
    SHAPE Error "handshake.shape" {
        claim: "The result has `protocolVersion`, `capabilities` and `serverInfo` with `name` and `version`.",
        rule: "2025-11-25/basic/lifecycle" "V2",
        fix: "Add what is missing; clients refuse the session without it.",
    }
    VERSION Error "handshake.version" {
        claim: "The version that is answered is one that exists.",
        rule: "2025-11-25/basic/lifecycle" "V2 V3",
        fix: "Answer one of 2024-11-05, 2025-03-26, 2025-06-18 and 2025-11-25: clients leave when they do not know it.",
    }
    ECHO Warning "handshake.echo" {
        claim: "A version that does not exist is answered with one that the server supports.",
        rule: "2025-11-25/basic/lifecycle" "V2",
        fix: "Answer the newest version that you support instead of repeating whatever was asked for.",
    }
    OLD Warning "handshake.old" {
        claim: "The server speaks a revision of the last two years.",
        breaks: "clients that have dropped 2024-11-05",
        rule: "2025-11-25/basic/lifecycle" "V2",
        fix: "Update the SDK that the server is built with.",
    }
    EARLY Warning "handshake.early" {
        claim: "The server sends no requests before `notifications/initialized`, except `ping`.",
        rule: "2025-11-25/basic/lifecycle" "V4",
        fix: "Wait for `notifications/initialized` before asking the client for anything.",
    }
    MODERN_ONLY Warning "handshake.refusal" {
        claim: "A server without sessions refuses `initialize` with an error that names its versions.",
        breaks: "people with older clients, who do not see what to do",
        rule: "2026-07-28/basic/versioning" "M10",
        fix: "Name the supported versions in the message or data of the error.",
    }
}
