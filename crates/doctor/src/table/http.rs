//! The checks of HTTP.

use crate::check::checks;

checks! { Http;
    SILENT Error "http.silent" {
        claim: "A request is answered.",
        fix: "The port is open and nothing answers: look for a server that hangs, a port of another protocol, or a proxy that waits for its backend.",
    }
    NOT_HTTP Error "http.not-http" {
        claim: "The server at this address speaks HTTP.",
        fix: "Check the port: something else listens there.",
    }
    REDIRECT Warning "http.redirect" {
        claim: "The URL answers without a redirect.",
        breaks: "clients that do not follow redirects of POST, and those that turn them into GET",
        fix: "Use the URL of the redirect. The usual reason is a slash too many or too few at the end.",
    }
    NO_ENDPOINT Error "http.no-endpoint" {
        claim: "There is an MCP endpoint at the URL.",
        rule: "2026-07-28/basic/transports/streamable-http" "N2",
        fix: "Check the path: `/mcp` is usual, and `/sse` for the older transport.",
    }
    PAGE Error "http.page" {
        claim: "The answer is not a web page.",
        fix: "The URL leads to a web site, a sign-in page or a gateway's error page; check the path, and any proxy in between.",
    }
    SERVER_ERROR Error "http.server-error" {
        claim: "No answer has a status of 500 and above.",
        fix: "Look at the server's log: it failed, or a proxy in front of it could not reach it.",
    }
    CONTENT_TYPE Error "http.content-type" {
        claim: "Answers to requests are `application/json` or `text/event-stream`, and say so.",
        rule: "2026-07-28/basic/transports/streamable-http" "N2 H4",
        fix: "Set `Content-Type: application/json` on answers that are JSON.",
    }
    NOTIFICATION Warning "http.notification" {
        claim: "A notification is accepted with 202 and no body.",
        breaks: "clients that wait for a body, or read one as a message",
        rule: "2025-11-25/basic/transports" "H4",
        fix: "Answer notifications with 202 Accepted and an empty body.",
    }
    GET Warning "http.get" {
        claim: "GET is a stream of events, or refused with 405.",
        breaks: "clients that ask for a stream after the handshake and take other statuses for failures",
        rule: "2025-11-25/basic/transports" "H4 M10",
        fix: "Answer GET with `text/event-stream`, or with 405 Method Not Allowed.",
    }
    BUFFERING Warning "http.buffering" {
        claim: "Streams of events carry `X-Accel-Buffering: no`.",
        breaks: "servers behind proxies such as nginx, which hold events back until the stream ends",
        rule: "2026-07-28/basic/transports/streamable-http" "N5",
        fix: "Send `X-Accel-Buffering: no` with every `text/event-stream` answer.",
    }
    UNKNOWN_METHOD Error "http.unknown-method" {
        claim: "An unknown method is answered with 404 and error -32601 in 2026-07-28.",
        rule: "2026-07-28/basic/transports/streamable-http" "N2",
        fix: "Answer with status 404 and the JSON-RPC error -32601 in the body.",
    }
    BAD_JSON Warning "http.bad-json" {
        claim: "A body that is not JSON is refused with 400.",
        rule: "2026-07-28/basic/transports/streamable-http" "J1",
        fix: "Answer with status 400, and error -32700 in the body.",
    }
}
