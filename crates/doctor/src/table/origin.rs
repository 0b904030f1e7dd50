//! The checks of protection against DNS rebinding.

use crate::check::checks;

checks! { Origin;
    FOREIGN Error "origin.foreign" {
        claim: "A request with the Origin of a foreign web page is refused with 403.",
        breaks: "users who run the server on their machine: any web page they open can use it",
        rule: "2026-07-28/basic/transports/streamable-http" "H1 N3",
        fix: "Check `Origin` against a list of origins that you allow, and answer 403 to others. SDKs call it DNS rebinding protection, and often have it off.",
    }
    STATUS Warning "origin.status" {
        claim: "The refusal of a foreign Origin has status 403.",
        rule: "2026-07-28/basic/transports/streamable-http" "H1 N3",
        fix: "Answer 403 Forbidden.",
    }
    HOST Warning "origin.host" {
        claim: "A request for a foreign Host is refused.",
        breaks: "users who run the server on their machine, in browsers that send no Origin",
        rule: "2026-07-28/basic/transports/streamable-http" "H1",
        fix: "Accept `localhost`, `127.0.0.1` and `[::1]` as Host, with your port, and nothing else.",
    }
}
