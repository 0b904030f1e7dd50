//! A table of faults: the behavior of a server, and all findings about it.

use super::*;

/// Asserts that there are exactly these findings, except for durations on a busy machine.
#[track_caller]
fn is_all(diagnosis: &Diagnosis, code: i32, errors: &[&str], warnings: &[&str]) {
    diagnosis.errors_are(code, errors);
    let mut found = diagnosis.wrong("warning");
    found.retain(|id| !["time.slow", "start.end"].contains(id));
    assert_eq!(found, warnings, "{:#}", diagnosis.report);
}

/// Two seconds for each answer: enough for Python on a busy machine.
const SECONDS: &str = "25";

fn program(fault: &str, options: &[&str]) -> Diagnosis {
    let path = script("faults");
    let path = path.to_str().expect("the path is UTF-8");
    let mut words = vec!["--timeout", SECONDS];
    words.extend(options);
    words.extend(["--", "python3", path, fault]);
    doctor(&words)
}

fn site(fault: &str, options: &[&str]) -> Diagnosis {
    let mut words = vec!["--timeout", SECONDS];
    words.extend(options);
    Site::broken(fault, &[]).doctor(&words)
}

/// `test: kind(fault) code [errors] [warnings]`, where the fault is an option of `faults.py` or
/// `at_url.py`.
macro_rules! faults {
    ($($test:ident: $kind:ident($fault:literal $(, $option:literal)*) $code:literal
        [$($error:literal),*] [$($warning:literal),*];)*) => {$(
        #[test]
        fn $test() {
            let diagnosis = $kind($fault, &[$($option),*]);
            is_all(&diagnosis, $code, &[$($error),*], &[$($warning),*]);
        }
    )*};
}

faults! {
    nothing_but_errors: program("refuses") 4 ["handshake.fails"] [];
    the_first_revision_out_of_turn: program("old") 0
        [] ["handshake.early", "handshake.old", "lists.undeclared"];
    lists_of_the_wrong_size_and_shape: program("lists") 4
        ["lists.fails", "lists.shape"]
        ["lists.cursor", "lists.large", "lists.many", "lists.unstable", "lists.uri"];
    other_answers_to_what_does_not_exist: program("methods") 4
        ["methods.error", "methods.ping"]
        [
            "methods.unknown",
            "methods.unknown-prompt",
            "methods.unknown-resource",
            "methods.unknown-tool"
        ];
    every_answer_twice: program("twice") 4 ["cancel.survives"] [];
    // These two send output that cannot be parsed, and the report says so instead of calling them silent.
    a_message_without_an_end: program("too-long") 4 ["stdout.too-long"] [];
    a_mark_before_each_message: program("encoding", "--era", "legacy") 4 ["stdout.encoding"] [];
    results_that_cannot_be_used: program("results", "--call") 4
        ["call.shape"] ["call.failed", "call.text"];
    newer_revisions_alone: program("future") 4 ["discover.fails"] [];
    discovery_without_versions: program("shapeless") 4 ["discover.shape"] [];
    promises_that_are_not_kept: program("promises") 4
        ["cache.pages", "cancel.left", "discover.requests", "discover.versions"]
        ["cache.stale", "handshake.refusal", "lists.unstable"];

    a_refusal: site("forbidden") 5 ["auth.refused"] [];
    metadata_without_a_server: site("nobody") 5
        ["auth.needed", "auth.servers"] ["auth.challenge"];
    metadata_with_a_server_that_is_none: site("stranger") 5
        ["auth.needed", "auth.server-metadata"] ["auth.challenge"];
    sessions_with_unusable_ids: site("sloppy") 4
        ["session.id"] ["handshake.echo", "http.get", "origin.status"];
    sessions_that_do_not_end: site("undeletable") 0 [] ["session.delete"];
    sessions_that_end_with_the_wrong_status: site("forgetful") 4
        ["session.ended"] ["session.unknown"];
    streams_that_are_held_back: site("streams") 4 ["headers.encoded"] ["http.buffering"];
}

/// The run ends in time, and says which step it was in.
#[test]
fn a_list_that_takes_longer_than_there_is_time() {
    let site = Site::broken("endless", &[]);
    let diagnosis = site.doctor(&["--timeout", SECONDS, "--era", "legacy"]);
    assert_eq!(diagnosis.code, 7, "{}", diagnosis.stderr);
    let said = diagnosis.finding("time.total")["message"].to_string();
    assert!(said.contains("listing with `tools/list`"), "{said}");
}

/// Every check has a test: its id appears in one. Checks that a test cannot trigger in a short time are
/// tested beside the code, and listed here.
#[test]
fn every_check_is_tried() {
    const BESIDE_THE_CODE: [&str; 2] = ["start.slow", "connect.addresses"];
    let read = |path: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        std::fs::read_to_string(path).expect("it can be read")
    };
    let page = read("../../docs/doctor.md");
    let ids = page.lines().filter_map(|line| {
        let (id, _) = line.strip_prefix("| `")?.split_once('`')?;
        id.contains('.').then_some(id)
    });
    let files = ["connection", "faults", "program", "site"];
    let tests: String = files
        .map(|name| read(&format!("tests/it/doctor/{name}.rs")))
        .concat();
    let untried: Vec<_> = ids
        .filter(|id| !BESIDE_THE_CODE.contains(id) && !tests.contains(&format!("\"{id}\"")))
        .collect();
    assert_eq!(untried, Vec::<&str>::new());
}
