//! The checks of calls of tools that only read.

use crate::check::checks;

checks! { Call;
    FAILED Warning "call.failed" {
        claim: "The tool can be called without arguments, as its schema says.",
        fix: "Name what is required in the schema, or make it optional.",
    }
    SHAPE Error "call.shape" {
        claim: "The result has `content`, a list of blocks that have a `type`.",
        rule: "2026-07-28/server/tools" "T4",
        fix: "Give `content`, empty if need be.",
    }
    UNSTRUCTURED Error "call.unstructured" {
        claim: "A tool with an output schema gives `structuredContent`.",
        breaks: "clients that check: the call fails although the tool ran",
        rule: "2026-07-28/server/tools" "T4",
        fix: "Give `structuredContent`, or remove the output schema.",
    }
    OUTPUT Error "call.output" {
        claim: "`structuredContent` matches the output schema.",
        breaks: "clients that check: the call fails although the tool ran",
        rule: "2026-07-28/server/tools" "T4",
        fix: "Correct the schema or the result.",
    }
    TEXT Warning "call.text" {
        claim: "Structured content is also given as text.",
        breaks: "clients up to 2025-03-26 and models that read content alone: they see nothing",
        rule: "2026-07-28/server/tools" "T4",
        fix: "Add a text block with the same content as JSON.",
    }
}
