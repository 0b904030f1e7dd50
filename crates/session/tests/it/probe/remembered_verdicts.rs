//! Searches that start with a remembered revision.

use super::*;
use Revision::{V2025_06_18, V2026_07_28};

#[test]
fn a_legacy_server_is_not_probed_again() {
    play(
        remembering(V2025_06_18),
        "started                -> initialize 2025-11-25 60s
         initialized 2025-06-18 -> ready 2025-06-18",
    );
}

#[test]
fn a_server_that_became_modern_is_found_out_again() {
    play(
        remembering(V2025_06_18),
        "started                   -> initialize 2025-11-25 60s
         refused initialize -32601 -> discover 2026-07-28 5s
         discovered 2026-07-28     -> ready 2026-07-28",
    );
    play(
        remembering(V2025_06_18),
        "started               -> initialize 2025-11-25 60s
         timeout               -> discover 2026-07-28 5s
         discovered 2026-07-28 -> ready 2026-07-28",
    );
    play(
        remembering(V2025_06_18),
        "started               -> initialize 2025-11-25 60s
         closed                -> reopen
         started               -> discover 2026-07-28 5s
         discovered 2026-07-28 -> ready 2026-07-28",
    );
}

#[test]
fn a_legacy_server_that_answers_late_is_still_legacy() {
    play(
        remembering(V2025_06_18),
        "started                -> initialize 2025-11-25 60s
         timeout                -> discover 2026-07-28 5s
         initialized 2025-06-18 -> ready 2025-06-18",
    );
}

#[test]
fn a_legacy_server_that_crashed_once_is_probed_and_then_initialized() {
    play(
        remembering(V2025_06_18),
        "started                 -> initialize 2025-11-25 60s
         closed                  -> reopen
         started                 -> discover 2026-07-28 5s
         refused discover -32601 -> initialize 2025-11-25 60s
         initialized 2025-06-18  -> ready 2025-06-18",
    );
}

#[test]
fn a_dead_legacy_server_is_started_a_limited_number_of_times() {
    play(
        remembering(V2025_06_18),
        "started -> initialize 2025-11-25 60s
         closed  -> reopen
         started -> discover 2026-07-28 5s
         closed  -> fail closed",
    );
    play(
        remembering(V2025_06_18),
        "started -> initialize 2025-11-25 60s
         timeout -> discover 2026-07-28 5s
         timeout -> fail unresponsive",
    );
}

#[test]
fn a_modern_server_gets_the_long_timeout_because_silence_is_a_slow_start() {
    play(
        remembering(V2026_07_28),
        "started               -> discover 2026-07-28 60s
         discovered 2026-07-28 -> ready 2026-07-28",
    );
}

#[test]
fn a_server_that_became_legacy_is_found_out_again() {
    play(
        remembering(V2026_07_28),
        "started                 -> discover 2026-07-28 60s
         refused discover -32601 -> initialize 2025-11-25 60s
         initialized 2025-11-25  -> ready 2025-11-25",
    );
    play(
        remembering(V2026_07_28),
        "started                -> discover 2026-07-28 60s
         closed                 -> reopen
         started                -> initialize 2025-11-25 60s
         initialized 2025-11-25 -> ready 2025-11-25",
    );
}

#[test]
fn a_verdict_that_the_settings_forbid_is_not_followed() {
    play(
        remembering(V2025_06_18).with_aim(RevisionChoice::Era(Era::Modern)),
        "started -> discover 2026-07-28 60s",
    );
    play(
        remembering(V2026_07_28).with_aim(RevisionChoice::Era(Era::Legacy)),
        "started -> initialize 2025-11-25 60s",
    );
}

#[test]
fn a_verdict_is_kept_as_json() {
    let detected = DetectedRevision {
        revision: V2025_06_18,
    };
    let json = serde_json::to_string(&detected).unwrap();
    assert_eq!(json, r#"{"revision":"2025-06-18"}"#);
    assert_eq!(
        serde_json::from_str::<DetectedRevision>(&json).unwrap(),
        detected
    );
    assert!(serde_json::from_str::<DetectedRevision>(r#"{"revision":"2031-01-01"}"#).is_err());
}

#[test]
fn a_server_that_crashed_after_naming_its_version_gets_its_handshake_after_the_restart() {
    play(
        remembering(V2025_06_18),
        "started                              -> initialize 2025-11-25 60s
         refused initialize -32602 2024-11-05 -> initialize 2024-11-05 60s
         closed                               -> reopen
         started                              -> discover 2026-07-28 5s
         discovered 2024-11-05                -> initialize 2024-11-05 60s
         initialized 2024-11-05               -> ready 2024-11-05",
    );
}
