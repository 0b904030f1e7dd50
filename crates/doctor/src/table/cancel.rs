//! The checks of cancellation, and of streams that are closed early.

use crate::check::checks;

checks! { Cancel;
    UNKNOWN Error "cancel.unknown" {
        claim: "Cancelling a request that does not exist is ignored.",
        breaks: "clients whose cancellation comes after the answer, which cannot be avoided",
        rule: "2025-11-25/basic/utilities/cancellation" "PC2",
        fix: "Ignore the notification.",
    }
    SURVIVES Error "cancel.survives" {
        claim: "The server goes on after a request was cancelled, and answers it at most once.",
        rule: "2026-07-28/basic/patterns/cancellation" "PC2 S4",
        fix: "Treat the end of a cancelled request like any other end.",
    }
    ACKNOWLEDGED Error "cancel.listen" {
        claim: "`subscriptions/listen` is acknowledged first, with its id.",
        breaks: "clients that wait for changes",
        rule: "2026-07-28/basic/patterns/subscriptions" "U1",
        fix: "Send `notifications/subscriptions/acknowledged` first, and `io.modelcontextprotocol/subscriptionId` in the `_meta` of everything on that stream.",
    }
    LEFT Error "cancel.left" {
        claim: "A subscription that was cancelled or left is silent, and the server goes on.",
        rule: "2026-07-28/basic/patterns/cancellation" "S4 N4",
        fix: "Stop sending for that id.",
    }
}
