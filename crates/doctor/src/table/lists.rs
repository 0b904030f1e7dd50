//! The checks of lists.

use crate::check::checks;

checks! { Lists;
    FAILS Error "lists.fails" {
        claim: "The lists of all declared capabilities can be read.",
        rule: "2026-07-28/server/tools" "T1 M4",
        fix: "Answer the list, empty if need be, or do not declare the capability.",
    }
    UNDECLARED Warning "lists.undeclared" {
        claim: "Each list that has entries is declared as a capability.",
        breaks: "clients, which do not ask for undeclared lists",
        rule: "2026-07-28/server/tools" "T1 RS1 RS4",
        fix: "Declare the capability.",
    }
    SHAPE Error "lists.shape" {
        claim: "Every entry has the members it needs, of the types they have.",
        breaks: "clients that check: they refuse the whole list for one entry",
        rule: "2026-07-28/schema" "T5 J4",
        fix: "Correct the entry.",
    }
    NULL Error "lists.null" {
        claim: "Members without a value are left out, not null.",
        breaks: "clients built with the TypeScript SDK and others that check types: they refuse the whole list",
        rule: "2026-07-28/schema" "J4",
        fix: "Leave the member out (`exclude_none=True`, `skip_serializing_if`, `omitempty`).",
    }
    DUPLICATE Error "lists.duplicate" {
        claim: "No two entries have the same name or URI.",
        breaks: "providers that refuse two tools of one name, and clients that call the wrong one",
        rule: "2026-07-28/server/tools" "T6",
        fix: "Rename one.",
    }
    CURSOR_LOOP Error "lists.cursor-loop" {
        claim: "Pages come to an end.",
        breaks: "clients that follow cursors: they never finish",
        rule: "2026-07-28/server/utilities/pagination" "RS6",
        fix: "Leave `nextCursor` out of the last page, and never give the same cursor twice in a walk.",
    }
    CURSOR Warning "lists.cursor" {
        claim: "An invented cursor is answered with error -32602.",
        rule: "2026-07-28/server/utilities/pagination" "RS6",
        fix: "Refuse it; a client that gets the first page instead may loop.",
    }
    ORDER Warning "lists.order" {
        claim: "A list has the same order each time.",
        breaks: "prompt caches of providers, which are lost when the order of tools changes",
        rule: "2026-07-28/server/tools" "T1",
        fix: "Sort, or use a map that keeps its order.",
    }
    UNSTABLE Warning "lists.unstable" {
        claim: "A list has the same entries each time it is asked for.",
        rule: "2026-07-28/server/tools" "M11",
        fix: "List the same for the same caller, and notify when it changes.",
    }
    MANY Warning "lists.many" {
        claim: "There are at most 128 tools.",
        breaks: "OpenAI and VS Code, which take 128 tools in all; Cursor takes fewer; models choose worse",
        fix: "Offer fewer tools, by toolsets or by several servers.",
    }
    LARGE Warning "lists.large" {
        claim: "The list of tools is at most 100 KB.",
        breaks: "every user: all of it is in every prompt, about a token for four bytes",
        fix: "Shorten descriptions and schemas, or offer fewer tools.",
    }
    URI Warning "lists.uri" {
        claim: "URIs of resources are URIs, and templates are URI templates.",
        rule: "2026-07-28/server/resources" "RS1",
        fix: "Begin with a scheme (`file:///…`, `notes://…`), encode blanks, and close every brace of a template.",
    }
}
