//! Tests of reading messages with invalid parts.

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::{
    CallToolOutcome, Complete, CompleteResult, GetPromptResult, InitializeRequestParams,
    ListPromptsResult, ListResourcesResult, ListRootsResult, ListToolsResult, ReadResourceResult,
    lenient::{self, MAX_WARNINGS},
};

/// Reads a message, and returns the positions of the warnings.
fn read<T: DeserializeOwned>(method: &str, json: &Value) -> Option<(T, Vec<String>)> {
    let (read, warnings) = lenient::read::<T>(method, &json.to_string()).ok()?;
    let pointers = warnings.into_iter().map(|warning| warning.pointer);
    Some((read, pointers.collect()))
}

fn tool(name: &str) -> Value {
    json!({ "name": name, "inputSchema": { "type": "object" } })
}

// rule: J15
#[test]
fn one_odd_tool_does_not_lose_the_others() {
    let listed = json!({ "tools": [
        tool("a"),
        { "inputSchema": { "type": "object" } },
        { "name": "b" },
        { "name": "c", "inputSchema": [] },
        7,
        { "name": "d", "inputSchema": {}, "title": 7, "annotations": { "readOnlyHint": "yes" } },
        { "name": "e", "inputSchema": {}, "execution": { "taskSupport": "sometimes" } },
        tool("f"),
    ], "nextCursor": "more", "ttlMs": 5 });
    for is_modern in [false, true] {
        let (listed, warned) = if is_modern {
            let (Complete(listed), warned) = read("tools/list", &listed).expect("read");
            (listed, warned)
        } else {
            read::<ListToolsResult>("tools/list", &listed).expect("read")
        };
        let names: Vec<_> = listed.tools.iter().map(|tool| &*tool.name).collect();
        assert_eq!(names, ["a", "b", "c", "d", "e", "f"]);
        assert_eq!(listed.next_cursor.expect("a cursor").as_str(), "more");
        assert_eq!(listed.tools[1].input_schema["type"], "object");
        let wanted = [
            "/tools/2",
            "/tools/3",
            "/tools/1",
            "/tools/4",
            "/tools/5/title",
            "/tools/5/annotations/readOnlyHint",
        ];
        assert_eq!(warned, wanted);
    }
}

// rule: J15
#[test]
fn a_bad_entry_does_not_spoil_the_others_of_its_list() {
    let good = json!({ "uri": "a:b", "name": "n" });
    let odd = json!({ "uri": "a:c", "name": "m", "size": "large" });
    let listed = json!({ "resources": [odd, { "name": "x" }, good] });
    let (listed, warned) = read::<ListResourcesResult>("resources/list", &listed).expect("read");
    assert_eq!(listed.resources.len(), 2);
    assert_eq!(warned, ["/resources/0/size", "/resources/1"]);

    let listed = json!({ "prompts": [{ "name": "a", "arguments": [{ "name": "x" }, {}] }, {}] });
    let (listed, warned) = read::<ListPromptsResult>("prompts/list", &listed).expect("read");
    assert_eq!(listed.prompts[0].arguments.as_ref().map(Vec::len), Some(1));
    assert_eq!(warned, ["/prompts/0/arguments/1", "/prompts/1"]);

    // Positions refer to the original answer, whatever was removed before.
    let odd = json!([{}, 3, { "name": "x" }, { "name": "y", "required": "yes" }]);
    let listed = json!({ "prompts": [{ "name": "a", "arguments": odd }] });
    let (listed, warned) = read::<ListPromptsResult>("prompts/list", &listed).expect("read");
    assert_eq!(listed.prompts[0].arguments.as_ref().map(Vec::len), Some(2));
    assert_eq!(
        warned,
        [
            "/prompts/0/arguments/0",
            "/prompts/0/arguments/1",
            "/prompts/0/arguments/3/required"
        ]
    );

    let contents = json!({ "contents": [{ "uri": "a:b" }, { "uri": "a:b", "text": "" }] });
    let (read_result, warned) =
        read::<ReadResourceResult>("resources/read", &contents).expect("read");
    assert_eq!(read_result.contents.len(), 1);
    assert_eq!(warned, ["/contents/0"]);

    let text = json!({ "type": "text", "text": "hi" });
    let messages = json!({ "messages": [
        { "role": "system", "content": text }, { "role": "user" }, { "role": "user", "content": 1 },
    ] });
    let (prompt, warned) = read::<GetPromptResult>("prompts/get", &messages).expect("read");
    assert_eq!(prompt.messages.len(), 1);
    assert_eq!(warned, ["/messages/1", "/messages/2"]);

    let roots = json!({ "roots": [{ "uri": "file:///a" }, {}, { "uri": 1 }] });
    let (roots, warned) = read::<ListRootsResult>("roots/list", &roots).expect("read");
    assert_eq!(roots.roots.len(), 1);
    assert_eq!(warned, ["/roots/1", "/roots/2"]);
}

// rule: J15
#[test]
fn a_tool_result_keeps_what_can_be_read() {
    let result = json!({
        "content": [
            { "type": "text", "text": "a" }, { "type": "text", "text": 1 }, { "text": "b" },
            { "type": "text", "text": "c", "annotations": { "audience": ["human"] } },
            { "type": "text", "text": "d", "annotations": { "priority": "high" } },
        ],
        "structuredContent": { "x": 1.0 }, "isError": true,
    });
    let (outcome, warned) = read::<CallToolOutcome>("tools/call", &result).expect("read");
    let CallToolOutcome::Complete(result) = outcome else {
        panic!("a result")
    };
    let texts: Vec<_> = result
        .content
        .iter()
        .filter_map(|it| it.as_text())
        .collect();
    assert_eq!(texts, ["a", "c", "d"]);
    assert_eq!(result.is_error, Some(true));
    assert_eq!(
        warned,
        [
            "/content/1",
            "/content/2",
            "/content/4/annotations/priority"
        ]
    );
    let (outcome, warned) =
        read::<CallToolOutcome>("tools/call", &json!({ "structuredContent": 1 })).expect("read");
    assert!(matches!(outcome, CallToolOutcome::Complete(_)));
    assert_eq!(warned, [""]);
}

#[test]
fn what_would_change_its_meaning_is_not_left_out() {
    for result in [
        json!({ "content": [], "isError": "yes" }),
        json!({ "content": [], "resultType": "unheard_of" }),
        json!({ "resultType": "input_required", "inputRequests": { "a": 1 } }),
        json!({ "resultType": "task", "taskId": 7 }),
        json!([]),
        json!(null),
    ] {
        assert!(
            read::<CallToolOutcome>("tools/call", &result).is_none(),
            "{result}"
        );
    }
    let deep = format!("{}{}", "[".repeat(500), "]".repeat(500));
    for text in [
        format!(r#"{{"resultType":"input_required","inputRequests":{{"a":{deep}}}}}"#),
        format!(r#"{{"task":{{"taskId":"t","_meta":{{"a":{deep}}}}}}}"#),
        r#"{"content":[],"isError":1e999}"#.to_owned(),
        // Members that are sent back to the server must not be altered.
        r#"{"resultType":"input_required","requestState":"\ud83d"}"#.to_owned(),
    ] {
        let read = lenient::read::<CallToolOutcome>("tools/call", &text);
        assert!(read.is_err(), "{text}");
    }
}

#[test]
fn very_many_entries_that_cannot_be_parsed_are_counted() {
    let entries = vec!["1e999"; 5_000].join(",");
    let text = format!(r#"{{"tools":[{entries},{{"name":"a","inputSchema":{{}}}}]}}"#);
    let (listed, warnings) = lenient::read::<ListToolsResult>("tools/list", &text).expect("read");
    assert_eq!(listed.tools.len(), 1);
    assert_eq!(warnings.len(), MAX_WARNINGS + 1);
    let last = &warnings[MAX_WARNINGS].problem;
    assert_eq!(last, "4900 more of its parts could not be read");
}

#[test]
fn very_many_odd_entries_take_no_longer_than_they_are_many() {
    let entries: Vec<_> = (0..5_000).map(|name| json!({ "name": name })).collect();
    let listed = json!({ "tools": entries });
    let (listed, warned) = read::<ListToolsResult>("tools/list", &listed).expect("read");
    assert!(listed.tools.is_empty());
    assert_eq!(warned.len(), MAX_WARNINGS + 1);
}

// rule: J15
#[test]
fn half_a_character_or_a_deep_entry_does_not_lose_the_others() {
    let text = r#"{"tools":[
        {"name":"a","description":"cut \ud83d","inputSchema":{"type":"object"}},
        {"name":"b","inputSchema":{"type":"object"}}]}"#;
    let (listed, warnings) = lenient::read::<ListToolsResult>("tools/list", text).expect("read");
    assert_eq!(listed.tools.len(), 2);
    assert_eq!(listed.tools[0].description.as_deref(), Some("cut \u{fffd}"));
    assert_eq!(warnings.len(), 1, "{warnings:?}");

    let deep = format!("{}{}", "[".repeat(500), "]".repeat(500));
    let text = format!(
        r#"{{"tools":[{{"name":"a","inputSchema":{{"x":{deep}}}}},{{"name":7,"inputSchema":{{}}}},{{"name":"b","inputSchema":{{}}}}]}}"#
    );
    let (listed, warnings) = lenient::read::<ListToolsResult>("tools/list", &text).expect("read");
    assert_eq!(listed.tools.len(), 1);
    let places: Vec<_> = warnings.iter().map(|it| &*it.pointer).collect();
    assert_eq!(places, ["/tools/0", "/tools/1"], "{warnings:?}");

    let text = r#"{"content":[{"type":"text","text":"\udc00"},{"type":"text","text":"b"}]}"#;
    let (outcome, _) = lenient::read::<CallToolOutcome>("tools/call", text).expect("read");
    let CallToolOutcome::Complete(result) = outcome else {
        panic!("a result")
    };
    assert_eq!(result.content.len(), 2);
}

// rule: J15
#[test]
fn a_block_is_kept_whatever_the_order_of_its_members() {
    let block = json!({ "annotations": { "priority": "high" }, "text": "hi", "type": "text" });
    let result = json!({ "content": [block] });
    let (outcome, warned) = read::<CallToolOutcome>("tools/call", &result).expect("read");
    let CallToolOutcome::Complete(result) = outcome else {
        panic!("a result")
    };
    assert_eq!(result.content[0].as_text(), Some("hi"));
    assert_eq!(warned, ["/content/0/annotations/priority"]);
}

// rule: J15
#[test]
fn an_empty_array_is_taken_for_an_empty_schema() {
    let text = json!({"tools": [{"name": "a", "inputSchema": []}]}).to_string();
    let (kept, warnings) = lenient::read::<ListToolsResult>("tools/list", &text).unwrap();
    assert_eq!(kept.tools[0].name, "a");
    assert_eq!(kept.tools[0].input_schema["type"], "object");
    assert_eq!(warnings[0].pointer, "/tools/0");
}

// rule: J15
#[test]
fn a_client_is_known_by_its_name_whatever_its_version_is() {
    for (version, expected) in [(json!(1.5), "1.5"), (json!(null), "")] {
        let text = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "app", "version": version},
        });
        let text = text.to_string();
        let (kept, warnings) =
            lenient::read::<InitializeRequestParams>("initialize", &text).unwrap();
        assert_eq!(kept.client_info.name, "app");
        assert_eq!(kept.client_info.version, expected);
        assert_eq!(warnings[0].pointer, "/clientInfo");
    }
}

// rule: J15
#[test]
fn however_many_odd_values_there_are_the_good_ones_stay() {
    let mut values: Vec<Value> = (0..100).map(Value::from).collect();
    values.insert(7, json!("good"));
    values.push(json!("better"));
    let text = json!({"completion": {"values": values, "total": 2, "hasMore": "no"}}).to_string();
    let (kept, warnings) = lenient::read::<CompleteResult>("completion/complete", &text).unwrap();
    assert_eq!(kept.completion.values, ["good", "better"]);
    assert_eq!(kept.completion.total, Some(2));
    // Each warning has the original position.
    assert_eq!(warnings[0].pointer, "/completion/values/0");
    assert_eq!(warnings[7].pointer, "/completion/values/8");
    assert_eq!(warnings[7].value, 7);
    let last = warnings.last().unwrap();
    assert!(last.problem.contains("1 more"), "{last}");
}

// rule: J15
#[test]
fn odd_entries_of_an_array_inside_of_an_entry_count_once() {
    let mut icons: Vec<Value> = (0..40).map(|size| json!({"sizes": size})).collect();
    icons.insert(20, json!({"src": "https://a.example/i.png", "sizes": 7}));
    let tool = json!({"name": "t", "inputSchema": {}, "icons": icons});
    let text = json!({"tools": [{"name": 7, "inputSchema": {}}, tool]}).to_string();
    let (kept, warnings) = lenient::read::<ListToolsResult>("tools/list", &text).unwrap();
    assert_eq!(kept.tools.len(), 1);
    let icons = kept.tools[0].icons.as_ref().unwrap();
    assert_eq!(icons.len(), 1);
    assert_eq!(icons[0].src, "https://a.example/i.png");
    assert_eq!(warnings.len(), 42);
    assert_eq!(warnings[0].pointer, "/tools/0");
    assert_eq!(warnings[1].pointer, "/tools/1/icons/0");
    assert_eq!(warnings[21].pointer, "/tools/1/icons/20/sizes");
    assert_eq!(warnings[41].pointer, "/tools/1/icons/40");
}
