//! The checks of cache hints.

use crate::check::checks;

checks! { Cache;
    HINTS Error "cache.hints" {
        claim: "Results of discovery and lists have `ttlMs` (0 or more) and `cacheScope` (public or private).",
        rule: "2026-07-28/server/utilities/caching" "K1",
        fix: "Add both; `\"ttlMs\": 0, \"cacheScope\": \"private\"` promises nothing.",
    }
    PAGES Error "cache.pages" {
        claim: "All pages of a list have one `cacheScope`.",
        rule: "2026-07-28/server/utilities/caching" "K1",
        fix: "Decide for the whole list.",
    }
    STALE Warning "cache.stale" {
        claim: "A list that may be kept does not change from one request to the next.",
        breaks: "clients that cache it, as the server allows",
        rule: "2026-07-28/server/utilities/caching" "K1 M11",
        fix: "Give a `ttlMs` of 0 to what changes.",
    }
}
