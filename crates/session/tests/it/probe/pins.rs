//! Searches for one era or one revision.

use super::*;
use Revision::{V2025_06_18, V2025_11_25, V2026_07_28};

#[test]
fn a_modern_pin_fails_cleanly_at_a_legacy_server() {
    for (answer, reason) in [
        ("refused discover -32601", "not-modern"),
        ("garbage", "not-modern"),
        ("timeout", "unresponsive"),
        ("closed", "closed"),
        ("discovered 2025-11-25", "no-common-revision"),
        ("refused discover -32022 2025-11-25", "no-common-revision"),
    ] {
        for aim in [
            RevisionChoice::Era(Era::Modern),
            RevisionChoice::Revision(V2026_07_28),
        ] {
            play(
                pinned(aim),
                &format!("started -> discover 2026-07-28 60s\n{answer} -> fail {reason}"),
            );
        }
    }
}

#[test]
fn a_legacy_pin_never_probes() {
    for (answer, end) in [
        ("initialized 2024-11-05", "ready 2024-11-05"),
        ("refused initialize -32601", "fail refused"),
        (
            "refused initialize -32022 2026-07-28",
            "fail no-common-revision",
        ),
        ("timeout", "fail unresponsive"),
        ("closed", "fail closed"),
        ("garbage", "fail odd"),
    ] {
        play(
            pinned(RevisionChoice::Era(Era::Legacy)),
            &format!("started -> initialize 2025-11-25 60s\n{answer} -> {end}"),
        );
    }
}

#[test]
fn a_pinned_legacy_revision_takes_no_other_answer() {
    for (answer, end) in [
        ("initialized 2025-06-18", "ready 2025-06-18"),
        ("initialized 2025-03-26", "fail unsupported-answer"),
    ] {
        play(
            pinned(RevisionChoice::Revision(V2025_06_18)),
            &format!("started -> initialize 2025-06-18 60s\n{answer} -> {end}"),
        );
    }
}

#[test]
fn a_pin_outside_of_what_is_supported_fails_before_anything_is_sent() {
    let settings = pinned(RevisionChoice::Revision(V2026_07_28)).with_supported([V2025_11_25]);
    play(settings, "started -> fail nothing-allowed");
}

#[test]
fn a_client_of_one_era_searches_in_it_without_a_pin() {
    play(
        auto().with_supported([V2025_11_25, V2025_06_18]),
        "started -> initialize 2025-11-25 60s",
    );
    play(
        auto().with_supported([V2026_07_28]),
        "started                 -> discover 2026-07-28 60s
         refused discover -32601 -> fail not-modern",
    );
}
