//! The checks of sessions over HTTP.

use crate::check::checks;

checks! { Session;
    ID Error "session.id" {
        claim: "The id of a session is visible ASCII.",
        rule: "2025-11-25/basic/transports" "H9",
        fix: "Use characters from 0x21 to 0x7E, such as a UUID.",
    }
    GUESSABLE Warning "session.guessable" {
        claim: "The ids of two sessions differ, and cannot be guessed.",
        breaks: "users whose session an attacker takes over",
        rule: "2025-11-25/basic/transports" "H9",
        fix: "Use a random UUID or 16 random bytes.",
    }
    MISSING Warning "session.missing" {
        claim: "A server with sessions refuses requests without an id with 400.",
        rule: "2025-11-25/basic/transports" "H9",
        fix: "Answer 400 Bad Request.",
    }
    UNKNOWN Warning "session.unknown" {
        claim: "An unknown session is answered with 404, like one that has ended.",
        breaks: "clients after a restart of the server: they open a new session on 404 alone",
        rule: "2025-11-25/basic/transports" "H9 H10",
        fix: "Answer 404 Not Found for ids that are unknown; a server that was restarted cannot know which have ended.",
    }
    DELETE Warning "session.delete" {
        claim: "DELETE ends a session, or is refused with 405.",
        rule: "2025-11-25/basic/transports" "H10",
        fix: "Answer DELETE with a 2xx status and end the session, or with 405.",
    }
    UNDEAD Error "session.undead" {
        claim: "A session that was deleted is no longer served.",
        rule: "2025-11-25/basic/transports" "H9",
        fix: "Forget the session on DELETE, on all replicas.",
    }
    ENDED Error "session.ended" {
        claim: "A session that has ended is answered with 404, and no other status.",
        breaks: "clients, which open a new session on 404 alone",
        rule: "2025-11-25/basic/transports" "H9 H10",
        fix: "Answer 404 Not Found.",
    }
}
