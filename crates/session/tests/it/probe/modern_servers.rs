//! Servers without handshakes.

use super::*;

#[test]
fn a_discover_result_settles_it() {
    // stdio: a DiscoverResult means modern; pick a common version.
    play(
        auto(),
        "started                          -> discover 2026-07-28 5s
         discovered 2026-07-28 2025-11-25 -> ready 2026-07-28
         closed                           -> wait",
    );
}

// rule: M7
#[test]
fn recognised_modern_errors_never_lead_to_initialize() {
    // M7.
    for code in [-32020, -32021] {
        play(
            auto(),
            &format!(
                "started               -> discover 2026-07-28 5s
                 refused discover {code} -> ready 2026-07-28"
            ),
        );
    }
    play(
        auto(),
        "started                            -> discover 2026-07-28 5s
         refused discover -32022 2031-01-01 -> fail no-common-revision",
    );
    play(
        auto(),
        "started                 -> discover 2026-07-28 5s
         refused discover -32022 -> fail no-common-revision",
    );
}

#[test]
fn an_unsupported_version_error_that_lists_only_legacy_ones_means_initialize() {
    play(
        auto(),
        "started                                       -> discover 2026-07-28 5s
         refused discover -32022 2025-06-18 2024-11-05 -> initialize 2025-06-18 60s
         initialized 2025-06-18                        -> ready 2025-06-18",
    );
}

#[test]
fn a_discover_result_that_lists_only_legacy_versions_means_initialize() {
    play(
        auto(),
        "started               -> discover 2026-07-28 5s
         discovered 2025-03-26 -> initialize 2025-03-26 60s
         initialized 2025-03-26 -> ready 2025-03-26",
    );
}

#[test]
fn versions_from_the_future_alone_end_the_search() {
    play(
        auto(),
        "started               -> discover 2026-07-28 5s
         discovered 2031-01-01 -> fail no-common-revision",
    );
}

// rule: M7
#[test]
fn a_server_that_refuses_the_version_it_lists_is_asked_once_more() {
    play(
        auto(),
        "started                            -> discover 2026-07-28 5s
         refused discover -32022 2026-07-28 -> discover 2026-07-28 5s
         discovered 2026-07-28              -> ready 2026-07-28",
    );
    play(
        auto(),
        "started                            -> discover 2026-07-28 5s
         refused discover -32022 2026-07-28 -> discover 2026-07-28 5s
         refused discover -32022 2026-07-28 -> fail no-common-revision",
    );
}

#[test]
fn a_slow_one_that_refuses_initialize_is_known_by_its_late_answer() {
    play(
        auto(),
        "started                   -> discover 2026-07-28 5s
         timeout                   -> initialize 2025-11-25 60s
         discovered 2026-07-28     -> wait
         refused initialize -32601 -> ready 2026-07-28",
    );
    play(
        auto(),
        "started                            -> discover 2026-07-28 5s
         timeout                            -> initialize 2025-11-25 60s
         refused discover -32022 2026-07-28 -> wait
         timeout                            -> ready 2026-07-28",
    );
    play(
        auto(),
        "started                   -> discover 2026-07-28 5s
         timeout                   -> initialize 2025-11-25 60s
         refused discover -32021   -> wait
         refused initialize -32602 -> ready 2026-07-28",
    );
}

#[test]
fn a_slow_one_that_answers_out_of_order_is_asked_again() {
    play(
        auto(),
        "started                   -> discover 2026-07-28 5s
         timeout                   -> initialize 2025-11-25 60s
         refused initialize -32601 -> discover 2026-07-28 5s
         discovered 2026-07-28     -> ready 2026-07-28",
    );
}

#[test]
fn one_that_names_its_version_when_refusing_initialize_is_asked_at_it() {
    play(
        auto(),
        "started                              -> discover 2026-07-28 5s
         refused discover -32603              -> initialize 2025-11-25 60s
         refused initialize -32022 2026-07-28 -> discover 2026-07-28 5s
         discovered 2026-07-28                -> ready 2026-07-28",
    );
}

#[test]
fn one_that_dies_of_initialize_after_a_late_answer_is_started_anew_as_modern() {
    play(
        auto(),
        "started               -> discover 2026-07-28 5s
         timeout               -> initialize 2025-11-25 60s
         discovered 2026-07-28 -> wait
         closed                -> reopen
         started               -> discover 2026-07-28 5s
         discovered 2026-07-28 -> ready 2026-07-28",
    );
}

#[test]
fn one_that_sends_the_client_from_one_era_to_the_other_is_left() {
    play(
        auto(),
        "started                              -> discover 2026-07-28 5s
         refused discover -32603              -> initialize 2025-11-25 60s
         refused initialize -32022 2026-07-28 -> discover 2026-07-28 5s
         refused discover -32603              -> reopen
         started                              -> initialize 2025-11-25 60s
         refused initialize -32022 2026-07-28 -> fail refused",
    );
}
