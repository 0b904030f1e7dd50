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

/// A program that cannot be started is distinguished from one that does not exist.
#[cfg(unix)]
#[test]
fn programs_that_cannot_be_started() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("it can be written");
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&path, mode).expect("it is ours");
        path.to_str().expect("the path is UTF-8").to_owned()
    };
    let script = write("server", "#!/no/such/interpreter\n");
    doctor(&["--", &script]).errors_are(3, &["start.interpreter"]);
    let binary = write("other-machine", "\u{7f}ELF of another machine");
    doctor(&["--", &binary]).errors_are(3, &["start.failed"]);
    let entry = r#"{"mcpServers":{"lab":{"command":"true","cwd":"/no/such/folder"}}}"#;
    let config = write("mcp.json", entry);
    doctor(&["--config", &config, "lab"]).errors_are(3, &["start.folder"]);
}

#[test]
fn a_program_that_ends_at_once_is_shown_with_its_last_words() {
    let diagnosis = broken("exits");
    diagnosis.errors_are(3, &["start.exits"]);
    diagnosis.has_seen("start.exits", "a_module_that_nobody_installed");
}

/// The whole run has a time limit, and says what it waited for.
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
    let diagnosis = broken_within("25", "pretty", &[]);
    diagnosis.errors_are(4, &["stdout.pretty"]);
}

#[test]
fn messages_with_the_headers_of_language_servers() {
    let diagnosis = broken_within("25", "framing", &[]);
    diagnosis.errors_are(4, &["stdout.framing"]);
}

#[test]
fn a_server_that_does_not_survive_the_probe_for_its_era() {
    let diagnosis = broken("fragile");
    diagnosis.errors_are(3, &["start.dies", "start.probe"]);
    diagnosis.has_seen("start.probe", "unknown method server/discover");
    diagnosis.has_seen("start.dies", "unknown method prompts/list");
}

/// The message that made the program end is the one named, not the request before it.
#[test]
fn a_server_that_exits_on_a_line_that_is_not_json() {
    let diagnosis = broken("naive");
    diagnosis.errors_are(0, &[]);
    diagnosis.warns_of("methods.garbage");
    diagnosis.has_seen("methods.garbage", "JSONDecodeError");
}

#[test]
fn a_program_that_does_not_end() {
    let diagnosis = broken_within("20", "stubborn", &[]);
    diagnosis.errors_are(0, &[]);
    diagnosis.warns_of("start.end");
}

/// Problems in schemas, and where they are.
const SCHEMAS: [(&str, &str); 31] = [
    ("schema.annotations", "tool `torn` /annotations"),
    ("schema.boolean", "tool `yes` /properties/value"),
    ("schema.default", "tool `unfit` /properties/value"),
    (
        "schema.depth",
        "tool `nested` /properties/inner/properties/inner/properties/inner/properties/inner/properties/inner/properties/inner",
    ),
    ("schema.description", "tool `mute`"),
    ("schema.description-length", "tool `wordy`"),
    ("schema.dialect", "tool `ancient` /inputSchema"),
    ("schema.enum", "tool `digits` /properties/value"),
    ("schema.external", "tool `outside` /inputSchema"),
    ("schema.format", "tool `unsigned` /properties/value"),
    ("schema.header", "tool `header` /inputSchema"),
    ("schema.invalid", "tool `typo` /inputSchema"),
    ("schema.invisible", "tool `hidden` /description"),
    ("schema.items", "tool `arrays` /properties/value"),
    ("schema.name", "tool `list items`"),
    ("schema.name-case", "tools `get-user` and `Get_User`"),
    ("schema.name-length", "tool `xxxxx"),
    ("schema.output-invalid", "tool `results` /outputSchema"),
    ("schema.output-root", "tool `numbers` /outputSchema"),
    (
        "schema.pattern-properties",
        "tool `headers` /properties/value",
    ),
    ("schema.property-name", "tool `spaced`"),
    ("schema.recursion", "tool `tree` /inputSchema"),
    ("schema.reference", "tool `tree` /properties/root"),
    ("schema.required", "tool `needy`"),
    ("schema.root-type", "tool `root` /inputSchema"),
    ("schema.root-union", "tool `union` /inputSchema"),
    (
        "schema.secret-header",
        "tool `sign_in` /properties/password",
    ),
    ("schema.tuple", "tool `pairs` /properties/value"),
    ("schema.type-list", "tool `lists` /properties/value"),
    ("schema.untyped", "tool `anything` /properties/value"),
    ("schema.output-root", "tool `results` /outputSchema"),
];

#[test]
fn schemas_that_are_refused_elsewhere() {
    let diagnosis = broken("schemas");
    diagnosis.errors_are(
        4,
        &[
            "schema.external",
            "schema.header",
            "schema.invalid",
            "schema.output-invalid",
            "schema.output-root",
            "schema.root-type",
        ],
    );
    for (id, wanted) in SCHEMAS {
        let findings = diagnosis.findings().filter(|finding| finding["id"] == id);
        let places: Vec<&str> = findings
            .flat_map(|finding| finding["places"].as_array().into_iter().flatten())
            .filter_map(Value::as_str)
            .collect();
        let is_there = places.iter().any(|place| place.starts_with(wanted));
        assert!(is_there, "{id}: no {wanted} in {places:?}");
    }
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
    let diagnosis = broken_within("25", "mute", &["--era", "legacy"]);
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

/// No tool runs unless requested, and then only tools that declare that they only read.
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
