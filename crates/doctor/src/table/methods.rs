//! The checks of the envelope, and of answers to unknown methods.

use crate::check::checks;

checks! { Methods;
    ENVELOPE Error "methods.envelope" {
        claim: "Every answer says `\"jsonrpc\": \"2.0\"` and has a result or an error, not both.",
        rule: "2026-07-28/basic" "J1 J4",
        fix: "Write answers by the rules of JSON-RPC 2.0.",
    }
    ID Error "methods.id" {
        claim: "Answers have the id of their request: the same value, of the same type.",
        breaks: "clients that find the request by its id; they wait forever",
        rule: "2026-07-28/basic" "J4",
        fix: "Give the id back as it came: 7 is not \"7\".",
    }
    ERROR Error "methods.error" {
        claim: "Errors have an integer `code` and a `message`.",
        rule: "2026-07-28/basic" "J4",
        fix: "Give both.",
    }
    UNKNOWN Warning "methods.unknown" {
        claim: "An unknown method is error -32601.",
        breaks: "clients that use it to find out what a server supports",
        rule: "2026-07-28/basic" "J4",
        fix: "Answer with error -32601, \"method not found\".",
    }
    UNANSWERED Error "methods.unanswered" {
        claim: "Every request is answered, known or not.",
        rule: "2026-07-28/basic" "J4",
        fix: "Answer with an error where there is no result; silence costs the client its deadline.",
    }
    PING Error "methods.ping" {
        claim: "`ping` is answered with an empty result.",
        breaks: "clients that ping to see whether a session lives, and close it",
        rule: "2025-11-25/basic/utilities/ping" "V6",
        fix: "Answer `{}`.",
    }
    UNKNOWN_TOOL Warning "methods.unknown-tool" {
        claim: "A tool that does not exist is error -32602.",
        rule: "2026-07-28/server/tools" "T7",
        fix: "Answer with error -32602 that names the tool; `isError` is for tools that ran.",
    }
    UNKNOWN_RESOURCE Warning "methods.unknown-resource" {
        claim: "A resource that does not exist is an error: -32002 up to 2025-11-25, -32602 since.",
        rule: "2026-07-28/server/resources" "RS2",
        fix: "Answer with that error and never with empty contents.",
    }
    UNKNOWN_PROMPT Warning "methods.unknown-prompt" {
        claim: "A prompt that does not exist is error -32602.",
        rule: "2026-07-28/server/prompts" "RS4",
        fix: "Answer with error -32602.",
    }
    NOTIFICATION Error "methods.notification" {
        claim: "A notification is never answered.",
        rule: "2026-07-28/basic" "J1",
        fix: "Send nothing for messages without an id, also when they are unknown.",
    }
    GARBAGE Warning "methods.garbage" {
        claim: "A line that is not JSON does not end the server.",
        rule: "2026-07-28/basic/transports/stdio" "J1",
        fix: "Answer with error -32700 without an id, or skip the line, and go on.",
    }
}
