//! A server that does not answer but accepts a second connection: both eras are tried, and the first
//! answer counts.

use super::*;

fn program() -> Settings {
    Settings::new().with_second_connection()
}

// rule: M8
#[test]
fn one_that_hangs_on_discover_is_tried_with_initialize_on_a_second_connection() {
    play(
        program(),
        "started                -> discover 2026-07-28 5s
         timeout                -> second 2025-11-25 60s
         initialized 2025-06-18 -> ready 2025-06-18",
    );
}

#[test]
fn a_slow_modern_server_is_modern_however_it_answers_first() {
    for event in ["discovered 2026-07-28", "refused discover -32021"] {
        play(
            program(),
            &format!(
                "started -> discover 2026-07-28 5s
                 timeout -> second 2025-11-25 60s
                 {event} -> ready 2026-07-28"
            ),
        );
        // The machine is so busy that `initialize` takes longer than the head start: then
        // `server/discover` gets twice as much time in total.
        play(
            program(),
            &format!(
                "started                         -> discover 2026-07-28 5s
                 timeout                         -> second 2025-11-25 60s
                 initialized 2025-11-25 after 12 -> confirm 7s
                 {event}                         -> ready 2026-07-28"
            ),
        );
    }
}

#[test]
fn a_slow_server_that_hangs_on_discover_is_legacy_in_the_end() {
    for event in [
        "timeout",
        "closed",
        "refused discover -32601",
        "garbage",
        "discovered",
    ] {
        play(
            program(),
            &format!(
                "started                         -> discover 2026-07-28 5s
                 timeout                         -> second 2025-11-25 60s
                 initialized 2025-11-25 after 12 -> confirm 7s
                 {event}                         -> ready 2025-11-25"
            ),
        );
    }
}

#[test]
fn a_slow_legacy_server_goes_on_with_the_connection_that_was_first() {
    play(
        program(),
        "started                 -> discover 2026-07-28 5s
         timeout                 -> second 2025-11-25 60s
         refused discover -32601 -> initialize 2025-11-25 60s
         initialized 2025-11-25  -> ready 2025-11-25",
    );
}

#[test]
fn a_second_connection_that_fails_leaves_the_first_its_time() {
    for event in [
        "second-closed",
        "refused initialize -32601",
        "initialized 2031-01-01",
    ] {
        play(
            program(),
            &format!(
                "started               -> discover 2026-07-28 5s
                 timeout               -> second 2025-11-25 60s
                 {event}               -> await-discover 60s
                 discovered 2026-07-28 -> ready 2026-07-28"
            ),
        );
    }
    // The server may not work when it runs twice: then it is started again after the first has exited.
    play(
        program(),
        "started                -> discover 2026-07-28 5s
         timeout                -> second 2025-11-25 60s
         second-closed          -> await-discover 60s
         timeout                -> reopen
         started                -> initialize 2025-11-25 60s
         initialized 2025-11-25 -> ready 2025-11-25",
    );
    play(
        program(),
        "started                   -> discover 2026-07-28 5s
         timeout                   -> second 2025-11-25 60s
         refused initialize -32603 -> await-discover 60s
         timeout                   -> fail refused",
    );
}

#[test]
fn a_first_connection_that_ends_leaves_the_second() {
    play(
        program(),
        "started                -> discover 2026-07-28 5s
         timeout                -> second 2025-11-25 60s
         closed                 -> keep-second 60s
         initialized 2025-11-25 -> ready 2025-11-25",
    );
}

#[test]
fn silence_on_both_ends_the_search() {
    play(
        program(),
        "started -> discover 2026-07-28 5s
         timeout -> second 2025-11-25 60s
         timeout -> fail unresponsive",
    );
}

#[test]
fn over_http_a_late_modern_answer_counts_at_once() {
    let at_url = || Settings::new().with_second_way();
    play(
        at_url(),
        "started               -> discover 2026-07-28 5s
         timeout               -> initialize 2025-11-25 60s
         discovered 2026-07-28 -> ready 2026-07-28",
    );
    play(
        at_url(),
        "started                        -> discover 2026-07-28 5s
         timeout                        -> initialize 2025-11-25 60s
         initialized 2025-11-25 after 8 -> confirm 3s
         discovered 2026-07-28          -> ready 2026-07-28",
    );
    play(
        at_url(),
        "started                -> discover 2026-07-28 5s
         timeout                -> initialize 2025-11-25 60s
         initialized 2025-11-25 -> ready 2025-11-25",
    );
}
