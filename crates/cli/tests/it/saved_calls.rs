//! `turnbuckle test`: saved calls against the demo server.

use serde_json::{Value, json};

use crate::program::{Place, stderr, stdout};

const CALLS: &str = r#"
server: lab
calls:
  - name: adds two numbers
    tool: add
    arguments: {a: 1, b: 2}
    expect:
      - at: $.structuredContent.sum
        equals: 3
      - at: $.content[0].text
        contains: "3"
  - tool: weather
    arguments: {place: Oslo}
    expect:
      - at: $.structuredContent
        schema: {type: object, required: [temperature]}
  - resource: demo://readme
    expect:
      - at: $.contents[*].uri
        equals: demo://readme
  - prompt: summarise
    arguments: {text: a long text}
    expect:
      - at: $.messages
        schema: {minItems: 1}
  - name: an argument that does not fit is refused
    tool: add
    arguments: {a: one, b: 2}
    error: true
    expect:
      - at: $.content[0].text
        matches: "/a"
"#;

#[test]
fn what_is_as_expected_passes() {
    let place = Place::with_lab();
    place.write("calls.yaml", CALLS);
    let output = place.run(&["test", "calls.yaml", "--junit", "report.xml"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let said = stdout(&output);
    assert!(said.contains("ok    adds two numbers ("), "{said}");
    assert!(said.ends_with("5 of 5 as expected\n"), "{said}");
    let report = place.read("report.xml");
    let head = "<testsuite name=\"lab\" tests=\"5\" failures=\"0\"";
    assert!(report.contains(head), "{report}");
}

#[test]
fn what_is_not_as_expected_is_said_and_the_command_fails() {
    let place = Place::with_lab();
    let calls = json!({"calls": [
        {"name": "a sum", "tool": "add", "arguments": {"a": 1, "b": 2},
         "expect": [{"at": "$.structuredContent.sum", "equals": 4}, {"at": "$.structuredContent.sum", "equals": 3}]},
        {"tool": "add", "arguments": {"a": "one", "b": 2}},
        {"tool": "no-such-tool"},
        {"tool": "add", "arguments": {"a": 1, "b": 2}, "error": true},
        {"tool": "add", "arguments": {"a": 1, "b": 2}},
    ]});
    place.write("calls.json", &calls.to_string());
    let words = ["test", "calls.json", "lab", "--junit", "report.xml"];
    let output = place.run(&words);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = stdout(&output);
    for line in [
        "FAIL  a sum (",
        "      $.structuredContent.sum: expected 4, got 3\n",
        "FAIL  add {\"a\":\"one\",\"b\":2} (",
        "FAIL  no-such-tool (",
        "      expected an error, got a result\n",
        "ok    add {\"a\":1,\"b\":2} (",
        "1 of 5 as expected\n",
    ] {
        assert!(said.contains(line), "{line}: {said}");
    }
    assert_eq!(said.matches("      it failed: ").count(), 2, "{said}");
    let told = stderr(&output);
    assert!(
        told.ends_with("error: 4 calls are not as expected\n"),
        "{told}"
    );
    let report = place.read("report.xml");
    assert_eq!(report.matches("<failure message=").count(), 4, "{report}");

    let output = place.run(&[&words[..], &["--json"]].concat());
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let printed: Value = serde_json::from_str(&stdout(&output)).expect("it is one object");
    assert_eq!(
        (&printed["passed"], &printed["failed"]),
        (&json!(1), &json!(4))
    );
    assert_eq!(printed["calls"][0]["name"], "a sum");
    assert_eq!(printed["calls"][4]["passed"], true);
}

#[test]
fn a_file_that_is_wrong_calls_nothing() {
    let place = Place::with_lab();
    for (text, said) in [
        ("{", "`calls.json` is not a file of saved calls: "),
        (
            r#"{"calls": [{"tool": "a", "expect": [{}]}]}"#,
            "call 1: `at` needs one of",
        ),
    ] {
        place.write("calls.json", text);
        let output = place.run(&["test", "calls.json", "lab"]);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(stderr(&output).contains(said), "{output:?}");
    }
    let output = place.run(&["test", "no-such-file", "lab"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    place.write("calls.json", r#"{"calls": [{"tool": "add"}]}"#);
    let output = place.run(&["test", "calls.json", "https://127.0.0.1:9/mcp"]);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
}

#[test]
fn a_server_that_dies_fails_its_calls_and_the_report_is_written() {
    let place = Place::new();
    let dying = r#"
import json, sys, time
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "d", "version": "1"}}
    if asked["method"] == "tools/list":
        result = {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in ["live", "die"]]}
    if asked["method"] == "tools/call":
        if asked["params"]["name"] == "die":
            time.sleep(0.05)
            sys.exit(3)
        result = {"content": [{"type": "text", "text": "hi"}]}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"#;
    place.write("dying.py", dying);
    place.write(
        "calls.json",
        r#"{"calls": [{"tool": "live"}, {"tool": "die"}, {"tool": "live"}]}"#,
    );
    let words = ["test", "calls.json", "--junit", "report.xml"];
    let server = ["--era", "legacy", "--", "python3", "dying.py"];
    let output = place.run(&[&words[..], &server[..]].concat());
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let said = stdout(&output);
    assert!(said.contains("FAIL  die ("), "{said}");
    assert!(said.contains("skip  live\n"), "{said}");
    assert!(
        said.ends_with("1 of 3 as expected, 1 not called\n"),
        "{said}"
    );
    // All lines about a problem are below its call.
    let shown: Vec<_> = said.lines().skip(2).collect();
    let problem = shown.iter().take_while(|line| !line.starts_with("skip"));
    assert!(
        problem.clone().all(|line| line.starts_with("      ")),
        "{said}"
    );
    let report = place.read("report.xml");
    assert!(
        report.contains("tests=\"3\" failures=\"1\" skipped=\"1\""),
        "{report}"
    );
    let times = report.matches("time=\"0.000\"").count();
    assert!(times <= 2, "the call that failed took a while: {report}");
    let output = place.run(&[&["test", "calls.json", "--json"][..], &server[..]].concat());
    let outcome: Value = serde_json::from_str(&stdout(&output)).expect("one JSON object");
    assert_eq!(
        (&outcome["passed"], &outcome["failed"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(outcome["skipped"], 1);
    // A server that cannot be reached is in the report, too.
    std::fs::remove_file(place.path().join("report.xml")).expect("it was written");
    let output = place.run(&[&words[..], &["http://127.0.0.1:1/mcp"]].concat());
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let report = place.read("report.xml");
    assert!(
        report.contains("tests=\"3\" failures=\"1\" skipped=\"2\""),
        "{report}"
    );
}
