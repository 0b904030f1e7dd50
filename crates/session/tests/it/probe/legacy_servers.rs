//! Servers that require a handshake.

use super::*;

// rule: M8
#[test]
fn any_other_error_means_initialize_on_the_same_connection() {
    // stdio: the fallback MUST NOT depend on one code.
    for code in [
        -32601, -32602, -32600, -32603, -32000, -32001, -32004, -32023, 0, 1,
    ] {
        play(
            auto(),
            &format!(
                "started                 -> discover 2026-07-28 5s
                 refused discover {code} -> initialize 2025-11-25 60s
                 initialized 2025-06-18  -> ready 2025-06-18"
            ),
        );
    }
}

// rule: M8
#[test]
fn silence_means_initialize_on_the_same_connection() {
    play(
        auto(),
        "started                -> discover 2026-07-28 5s
         timeout                -> initialize 2025-11-25 60s
         initialized 2024-11-05 -> ready 2024-11-05",
    );
}

#[test]
fn an_odd_answer_means_initialize_on_the_same_connection() {
    for odd in ["garbage", "discovered"] {
        play(
            auto(),
            &format!(
                "started                -> discover 2026-07-28 5s
                 {odd}                  -> initialize 2025-11-25 60s
                 initialized 2025-11-25 -> ready 2025-11-25"
            ),
        );
    }
}

#[test]
fn one_that_exits_on_discover_is_started_anew_without_a_probe() {
    play(
        auto(),
        "started                -> discover 2026-07-28 5s
         closed                 -> reopen
         started                -> initialize 2025-11-25 60s
         initialized 2025-11-25 -> ready 2025-11-25",
    );
}

#[test]
fn one_that_answers_discover_with_an_error_and_then_exits_is_started_anew() {
    play(
        auto(),
        "started                 -> discover 2026-07-28 5s
         refused discover -32600 -> initialize 2025-11-25 60s
         closed                  -> reopen
         started                 -> initialize 2025-11-25 60s
         initialized 2025-03-26  -> ready 2025-03-26",
    );
}

#[test]
fn one_that_the_probe_wedged_is_started_anew() {
    play(
        auto(),
        "started                -> discover 2026-07-28 5s
         timeout                -> initialize 2025-11-25 60s
         timeout                -> reopen
         started                -> initialize 2025-11-25 60s
         initialized 2025-11-25 -> ready 2025-11-25",
    );
}

#[test]
fn one_that_the_probe_made_refuse_initialize_is_started_anew() {
    play(
        auto(),
        "started                   -> discover 2026-07-28 5s
         refused discover -32600   -> initialize 2025-11-25 60s
         refused initialize -32600 -> reopen
         started                   -> initialize 2025-11-25 60s
         initialized 2025-11-25    -> ready 2025-11-25",
    );
}

#[test]
fn a_late_answer_to_discover_does_not_confuse() {
    for late in [
        "refused discover -32601",
        "discovered 2026-07-28",
        "garbage",
    ] {
        play(
            auto(),
            &format!(
                "started                -> discover 2026-07-28 5s
                 timeout                -> initialize 2025-11-25 60s
                 {late}                 -> wait
                 initialized 2025-06-18 -> ready 2025-06-18
                 {late}                 -> wait"
            ),
        );
    }
}

#[test]
fn a_second_odd_answer_is_the_one_to_initialize() {
    play(
        auto(),
        "started -> discover 2026-07-28 5s
         timeout -> initialize 2025-11-25 60s
         garbage -> wait
         garbage -> reopen",
    );
}

#[test]
fn answers_of_the_old_connection_are_ignored_while_it_is_reopened() {
    play(
        auto(),
        "started                 -> discover 2026-07-28 5s
         closed                  -> reopen
         refused discover -32601 -> wait
         discovered 2026-07-28   -> wait
         started                 -> initialize 2025-11-25 60s",
    );
}

#[test]
fn an_initialize_error_that_lists_versions_is_retried_once_at_a_common_one() {
    play(
        auto(),
        "started                                         -> discover 2026-07-28 5s
         refused discover -32601                         -> initialize 2025-11-25 60s
         refused initialize -32602 2024-11-05 2025-03-26 -> initialize 2025-03-26 60s
         initialized 2025-03-26                          -> ready 2025-03-26",
    );
    play(
        pinned(RevisionChoice::Era(Era::Legacy)),
        "started                              -> initialize 2025-11-25 60s
         refused initialize -32602 2024-11-05 -> initialize 2024-11-05 60s
         refused initialize -32602 2025-03-26 -> fail refused",
    );
}

#[test]
fn a_version_learnt_from_an_error_is_kept_when_the_server_is_started_anew() {
    play(
        auto(),
        "started                              -> discover 2026-07-28 5s
         refused discover -32601              -> initialize 2025-11-25 60s
         refused initialize -32602 2024-11-05 -> initialize 2024-11-05 60s
         closed                               -> reopen
         started                              -> initialize 2024-11-05 60s
         initialized 2024-11-05               -> ready 2024-11-05",
    );
}

#[test]
fn an_initialize_error_that_lists_nothing_known_ends_the_search() {
    play(
        auto(),
        "started                         -> discover 2026-07-28 5s
         refused discover -32601         -> initialize 2025-11-25 60s
         refused initialize -32602 1.0.0 -> fail no-common-revision",
    );
}

#[test]
fn an_answer_at_a_version_the_client_does_not_speak_ends_the_search() {
    // V3. A modern version cannot be used after a handshake either.
    for version in ["2023-01-01", "2026-07-28", "1.0"] {
        play(
            auto(),
            &format!(
                "started                 -> discover 2026-07-28 5s
                 refused discover -32601 -> initialize 2025-11-25 60s
                 initialized {version}   -> fail unsupported-answer"
            ),
        );
    }
}

#[test]
fn one_that_exits_on_initialize_too_is_said_to_have_closed() {
    play(
        auto(),
        "started                 -> discover 2026-07-28 5s
         refused discover -32600 -> initialize 2025-11-25 60s
         closed                  -> reopen
         started                 -> initialize 2025-11-25 60s
         closed                  -> fail closed",
    );
}
