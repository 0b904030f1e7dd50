//! Broken programs.

use super::*;

#[test]
fn a_program_that_is_not_there() {
    let diagnosis = doctor(&["--", "a-program-that-nobody-has"]);
    diagnosis.errors_are(3, &["start.not-found"]);
}

#[cfg(unix)]
#[test]
fn a_program_that_may_not_be_executed() {
    let path = script("server");
    let diagnosis = doctor(&["--", path.to_str().expect("the path is UTF-8")]);
    diagnosis.errors_are(3, &["start.not-executable"]);
}

#[test]
fn a_program_that_ends_at_once_is_shown_with_its_last_words() {
    let diagnosis = broken("exits");
    diagnosis.errors_are(3, &["start.exits"]);
    diagnosis.has_seen("start.exits", "a_module_that_nobody_installed");
}

/// The whole run is bounded, and says what it waited for.
#[test]
fn a_program_that_hangs_is_diagnosed_in_time() {
    let start = Instant::now();
    let diagnosis = broken_within("6", "hang", &[]);
    assert!(
        start.elapsed() < Duration::from_secs(12),
        "{:?}",
        start.elapsed()
    );
    diagnosis.errors_are(7, &["handshake.silent"]);
}

#[test]
fn a_program_that_does_nothing_wrong() {
    let diagnosis = broken("server");
    diagnosis.errors_are(0, &[]);
    assert_eq!(
        diagnosis.wrong("warning"),
        Vec::<&str>::new(),
        "{:#}",
        diagnosis.report
    );
    assert_eq!(diagnosis.report["revisions"][0], "2025-11-25");
}

#[test]
fn a_banner_on_stdout() {
    let diagnosis = broken("stray");
    diagnosis.errors_are(4, &["stdout.stray"]);
    diagnosis.has_seen("stdout.stray", "Server listening on stdio");
    let rule = &diagnosis.finding("stdout.stray")["rule"];
    assert_eq!(rule["numbers"][0], "S1");
}

#[test]
fn messages_over_several_lines() {
    let diagnosis = broken_within("10", "pretty", &[]);
    diagnosis.errors_are(4, &["stdout.pretty"]);
}

#[test]
fn messages_with_the_headers_of_language_servers() {
    let diagnosis = broken_within("10", "framing", &[]);
    diagnosis.errors_are(4, &["stdout.framing"]);
}

#[test]
fn a_server_that_does_not_survive_the_probe_for_its_era() {
    let diagnosis = broken("fragile");
    diagnosis.errors_are(3, &["start.dies", "start.probe"]);
    diagnosis.has_seen("start.probe", "unknown method server/discover");
    diagnosis.has_seen("start.dies", "unknown method prompts/list");
}

#[test]
fn a_program_that_does_not_end() {
    let diagnosis = broken_within("20", "stubborn", &[]);
    diagnosis.errors_are(0, &[]);
    diagnosis.warns_of("start.end");
}

#[test]
fn schemas_that_are_refused_elsewhere() {
    let diagnosis = broken("schemas");
    diagnosis.errors_are(
        4,
        &[
            "schema.external",
            "schema.header",
            "schema.invalid",
            "schema.root-type",
        ],
    );
    for id in [
        "schema.name",
        "schema.name-length",
        "schema.items",
        "schema.type-list",
        "schema.root-union",
        "schema.reference",
        "schema.recursion",
        "schema.description",
        "schema.invisible",
    ] {
        diagnosis.warns_of(id);
    }
    let places = &diagnosis.finding("schema.type-list")["places"];
    assert_eq!(places[0], "tool `lists` /properties/value");
}

#[test]
fn pages_that_never_end() {
    let diagnosis = broken("pages");
    diagnosis.errors_are(4, &["lists.cursor-loop"]);
}

#[test]
fn duplicates_nulls_and_an_order_that_changes() {
    let diagnosis = broken("lists");
    diagnosis.errors_are(4, &["lists.duplicate", "lists.null"]);
    diagnosis.warns_of("lists.order");
}

#[test]
fn ids_of_another_type() {
    let diagnosis = broken("ids");
    diagnosis.errors_are(4, &["methods.envelope", "methods.id"]);
}

#[test]
fn a_greeting_without_a_version_that_exists() {
    let diagnosis = broken("greeting");
    diagnosis.errors_are(4, &["handshake.shape", "handshake.version"]);
}

#[test]
fn requests_without_an_answer_and_notifications_with_one() {
    let diagnosis = broken_within("30", "mute", &[]);
    diagnosis.errors_are(4, &["methods.notification", "methods.unanswered"]);
}

#[test]
fn a_server_that_is_slow_and_dies_of_a_cancellation() {
    let diagnosis = broken("slow");
    diagnosis.errors_are(4, &["cancel.unknown", "start.dies"]);
    diagnosis.warns_of("time.slow");
}

#[test]
fn a_modern_server_that_breaks_the_rules() {
    let diagnosis = broken("modern");
    diagnosis.errors_are(
        4,
        &[
            "cache.hints",
            "cancel.listen",
            "discover.codes",
            "discover.meta",
            "discover.result-type",
            "discover.unknown-version",
        ],
    );
    diagnosis.warns_of("discover.identity");
}

/// No tool runs unless it was asked for, and then only those that say they read.
#[test]
fn tools_that_give_what_they_did_not_promise() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let mark = folder.path().join("called");
    let path = script("liar");
    let path = path.to_str().expect("the path is UTF-8");
    let mark_text = mark.to_str().expect("the path is UTF-8");
    let diagnosis = doctor(&["--", "python3", path, mark_text]);
    diagnosis.errors_are(0, &[]);
    let diagnosis = doctor(&["--call", "--", "python3", path, mark_text]);
    diagnosis.errors_are(4, &["call.output", "call.unstructured"]);
    diagnosis.has_seen("call.output", "count");
    assert!(!mark.exists(), "a tool was called that does not only read");
}
