//! The checks of a program's standard output.

use crate::check::checks;

checks! { Stdout;
    STRAY Error "stdout.stray" {
        claim: "Only messages are on stdout.",
        rule: "2026-07-28/basic/transports/stdio" "S1",
        fix: "Print and log to stderr (`console.error`, `print(…, file=sys.stderr)`, `logging`, `eprintln!`), also in libraries and banners.",
    }
    FRAMING Error "stdout.framing" {
        claim: "Messages are lines, without `Content-Length` headers as language servers have them.",
        rule: "2026-07-28/basic/transports/stdio" "S1",
        fix: "Write each message as one line that ends with a newline, and nothing before it.",
    }
    PRETTY Error "stdout.pretty" {
        claim: "A message is one line, not indented JSON over several.",
        rule: "2026-07-28/basic/transports/stdio" "S1",
        fix: "Write JSON without newlines (`JSON.stringify(message)`, `json.dumps(message)` without indent).",
    }
    ENCODING Error "stdout.encoding" {
        claim: "Messages are UTF-8 without a byte order mark.",
        rule: "2026-07-28/basic" "J1 S1",
        fix: "Write UTF-8 whatever the locale says (`PYTHONIOENCODING=utf-8`, `sys.stdout.reconfigure(encoding=\"utf-8\")`).",
    }
    TOO_LONG Error "stdout.too-long" {
        claim: "No message is longer than 16 MiB.",
        fix: "Page lists, and give large contents as resources that are read when they are wanted.",
    }
}
