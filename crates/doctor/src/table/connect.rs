//! The checks of reaching a server at a URL.

use crate::check::checks;

checks! { Connect;
    URL Error "connect.url" {
        claim: "The URL can be read, and is `http` or `https`.",
        fix: "Write it as `https://host/path`; give credentials as a header (`-H`), not in the URL.",
    }
    RESOLVE Error "connect.resolve" {
        claim: "The name of the host has an address.",
        fix: "Check the spelling of the host, the VPN and the DNS servers of this machine.",
    }
    TCP Error "connect.tcp" {
        claim: "Something accepts connections at the port.",
        fix: "Start the server, or check its port and the firewalls between. A server in a container listens at 0.0.0.0, not at 127.0.0.1.",
    }
    ADDRESSES Warning "connect.addresses" {
        claim: "Every address of the name answers, of both IP families.",
        breaks: "clients that try only the first address, such as older Node",
        fix: "Listen at all addresses of the name, or remove the others from DNS; for `localhost`, listen at 127.0.0.1 and at ::1, or use the address that answers.",
    }
    PROXY Error "connect.proxy" {
        claim: "The proxy that is set can be used and lets requests through.",
        fix: "Check HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY, or `--proxy`; add the host to NO_PROXY if it is reached directly.",
    }
    CLEARTEXT Warning "connect.cleartext" {
        claim: "Requests to other machines are encrypted.",
        rule: "2026-07-28/basic/authorization/security-considerations" "",
        fix: "Use `https`; over `http` anyone on the network can read tokens and change answers.",
    }
}
