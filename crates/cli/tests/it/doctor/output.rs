//! The output with the findings.

use super::*;

fn text(words: &[&str]) -> (String, String, i32) {
    let output = Command::new(BINARY)
        .arg("doctor")
        .args(words)
        .stdin(Stdio::null())
        .output()
        .expect("the binary starts");
    (
        String::from_utf8(output.stdout).expect("stdout is UTF-8"),
        String::from_utf8(output.stderr).expect("stderr is UTF-8"),
        output.status.code().expect("it was not killed"),
    )
}

#[test]
fn a_person_reads_what_was_seen_the_rule_and_the_fix() {
    let path = script("stray");
    let path = path.to_str().expect("the path is UTF-8");
    let (stdout, stderr, code) = text(&["--", "python3", path]);
    assert_eq!(code, 4);
    for line in [
        "  error stdout      a line on stdout is not a message  [stdout.stray]",
        "                    seen:   stdout: Server listening on stdio...",
        "                    rule:   2025-11-25/basic/transports (S1)",
        "     ok handshake   2025-11-25",
    ] {
        assert!(
            stdout.lines().any(|own| own == line),
            "no {line:?} in\n{stdout}"
        );
    }
    assert!(
        stdout.contains("fix:    Print and log to stderr"),
        "{stdout}"
    );
    let last = stdout.lines().last().expect("there are lines");
    assert!(last.contains(" checks, 1 error, "), "{last}");
    assert!(stderr.starts_with("error: a line on stdout is not a message [stdout.stray]\nhint: "));
}

#[test]
fn warnings_are_no_errors_unless_strict() {
    let path = script("liar");
    let path = path.to_str().expect("the path is UTF-8");
    let fine = script("server");
    let fine = fine.to_str().expect("the path is UTF-8");
    assert_eq!(text(&["--strict", "--", "python3", fine]).2, 0);
    assert_eq!(text(&["--", "python3", path, "/dev/null"]).2, 0);
    let slow = script("lists");
    let slow = slow.to_str().expect("the path is UTF-8");
    assert_eq!(text(&["--strict", "--", "python3", slow]).2, 4);
}

#[test]
fn code_scanning_reads_sarif() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let file = folder.path().join("doctor.sarif");
    let file_text = file.to_str().expect("the path is UTF-8");
    broken_within("60", "schemas", &["--sarif", file_text]);
    let log: Value =
        serde_json::from_slice(&std::fs::read(&file).expect("it was written")).expect("it is JSON");
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    let results = run["results"].as_array().expect("there are results");
    let recursion = results
        .iter()
        .find(|result| result["ruleId"] == "schema.recursion")
        .expect("it is among them");
    assert_eq!(recursion["level"], "warning");
    let index = recursion["ruleIndex"].as_u64().expect("it has a rule");
    let rules = run["tool"]["driver"]["rules"]
        .as_array()
        .expect("there are rules");
    let rule = &rules[usize::try_from(index).expect("it is small")];
    assert_eq!(rule["id"], "schema.recursion");
    let place = &recursion["locations"][0]["logicalLocations"][0]["fullyQualifiedName"];
    assert_eq!(place, "tool `tree` /inputSchema");
}

#[test]
fn a_word_too_many_is_not_a_second_server() {
    let (_, stderr, code) = text(&["http://127.0.0.1:1/mcp", "tools"]);
    assert_eq!(code, 2);
    assert!(stderr.contains("unexpected argument `tools`"), "{stderr}");
}
