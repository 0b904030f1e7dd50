//! Tasks of sessions of 2025-11-25.

use serde_json::{Value, json};
use turnbuckle_protocol::Revision;
use turnbuckle_server::{Ask, Caller, Server, TaskSettings, Tool, ToolError};

use super::lab::{error, form, lab, next, quick, result, session, until_alive};
use crate::wire::Wire;

fn as_task(tool: &str, ttl: u64) -> Value {
    json!({ "name": tool, "arguments": {}, "task": { "ttl": ttl } })
}

// rule: PC3, D2, D3, D4, D5
#[tokio::test]
async fn a_session_creates_looks_waits_lists_and_cancels() {
    let (lab, server) = lab();
    let mut wire = session(&server, Caller::local()).await;
    let tools = result(&mut wire, "tools/list", json!({})).await;
    let support = |name: &str| {
        let tools = tools["tools"].as_array().unwrap().iter();
        let tool = tools.clone().find(|tool| tool["name"] == name).unwrap();
        tool["execution"]["taskSupport"].clone()
    };
    assert_eq!(support("slow"), "optional");
    assert_eq!(support("strict"), "required");
    assert_eq!(support("plain"), Value::Null);

    let created = result(&mut wire, "tools/call", as_task("slow", 60_000)).await;
    let first = created["task"].clone();
    assert_eq!(first["status"], "working", "{created}");
    assert_eq!(first["ttl"], 60_000);
    assert!(created.get("resultType").is_none());
    let id = &first["taskId"];
    // tasks: the parameter takes precedence over `_meta`.
    let meta = json!({ "io.modelcontextprotocol/related-task": { "taskId": "another" } });
    let seen = result(
        &mut wire,
        "tasks/get",
        json!({ "taskId": id, "_meta": meta }),
    )
    .await;
    assert_eq!((&seen["taskId"], &seen["status"]), (id, &json!("working")));
    assert!(seen.get("_meta").is_none());
    for task in [&first, &seen] {
        for time in ["createdAt", "lastUpdatedAt"] {
            assert!(task[time].is_string(), "{time} in {task}");
        }
        assert_eq!(task["ttl"], 60_000);
    }

    // Waits until the task has ended.
    let waiting = wire.ask("tasks/result", json!({ "taskId": id })).await;
    until_alive(&lab, 1).await;
    lab.gate.add_permits(1);
    let mut payload = Value::Null;
    let mut is_told = false;
    while payload.is_null() || !is_told {
        let message = next(&mut wire).await;
        if message["id"] == waiting {
            payload = message["result"].clone();
        } else {
            assert_eq!(message["method"], "notifications/tasks/status", "{message}");
            assert_eq!(message["params"]["taskId"], *id);
            assert_eq!(message["params"]["status"], "completed");
            is_told = true;
        }
    }
    assert_eq!(payload["content"][0]["text"], "done");
    let related = &payload["_meta"]["io.modelcontextprotocol/related-task"];
    assert_eq!(*related, json!({ "taskId": id }));

    let created = result(&mut wire, "tools/call", as_task("strict", 60_000)).await;
    let second = &created["task"]["taskId"];
    let listed = result(&mut wire, "tasks/list", json!({})).await;
    let listed: Vec<_> = listed["tasks"].as_array().unwrap().iter().collect();
    assert_eq!(listed.len(), 2);
    assert_eq!((&listed[0]["taskId"], &listed[1]["taskId"]), (id, second));
    until_alive(&lab, 1).await;
    let cancelled = result(&mut wire, "tasks/cancel", json!({ "taskId": second })).await;
    assert_eq!(cancelled["status"], "cancelled");
    until_alive(&lab, 0).await;
    let seen = result(&mut wire, "tasks/get", json!({ "taskId": second })).await;
    assert_eq!(seen["status"], "cancelled", "it stays so");
    for id in [id, second, &json!("nobody")] {
        let error = error(&mut wire, "tasks/cancel", json!({ "taskId": id })).await;
        assert_eq!(error["code"], -32_602);
    }
    let bad = error(&mut wire, "tasks/list", json!({ "cursor": "mine" })).await;
    assert_eq!(bad["code"], -32_602);
}

// rule: D1, D8
#[tokio::test]
async fn tools_and_calls_must_agree_on_tasks_in_a_session() {
    let (lab, server) = lab();
    let mut wire = session(&server, Caller::local()).await;
    for params in [
        as_task("plain", 1),
        json!({ "name": "strict", "arguments": {} }),
    ] {
        let error = error(&mut wire, "tools/call", params).await;
        assert_eq!(error["code"], -32_601, "{error}");
    }
    lab.gate.add_permits(1);
    assert_eq!(wire.text("slow", json!({})).await, "done");

    // A server that declares no tasks ignores the request for a task.
    let server = Server::new("plain", "1").tool(Tool::new("plain", quick));
    let server = server.build().expect("in order");
    let mut wire = Wire::at(&server, Revision::V2025_11_25).await;
    let done = result(&mut wire, "tools/call", as_task("plain", 1)).await;
    assert_eq!(done["content"][0]["text"], "at once");
}

#[tokio::test]
async fn older_sessions_have_no_tasks() {
    let (lab, server) = lab();
    for revision in [
        Revision::V2024_11_05,
        Revision::V2025_03_26,
        Revision::V2025_06_18,
    ] {
        let mut wire = Wire::at(&server, revision).await;
        lab.gate.add_permits(1);
        let done = result(&mut wire, "tools/call", as_task("slow", 1)).await;
        assert_eq!(done["content"][0]["text"], "done");
        assert_eq!(
            wire.code("tasks/get", json!({ "taskId": "t" })).await,
            -32_601
        );
        let params = json!({ "name": "strict", "arguments": {} });
        assert_eq!(wire.code("tools/call", params).await, -32_601);
    }
}

// tasks: every task that can be read is listed, but only to its caller; every page but the last has
// a cursor.
// rule: D6, D8
#[tokio::test]
async fn a_session_lists_the_tasks_of_its_caller_and_no_others() {
    let (_lab, server) = lab();
    let mut ada = session(&server, Caller::new("ada")).await;
    let mut created = Vec::new();
    for _ in 0..101 {
        let task = result(&mut ada, "tools/call", as_task("quick", 60_000)).await;
        created.push(task["task"]["taskId"].clone());
    }
    let (mut listed, mut cursor, mut pages) = (Vec::new(), json!({}), 0);
    loop {
        let page = result(&mut ada, "tasks/list", cursor).await;
        let tasks = page["tasks"].as_array().unwrap().iter();
        listed.extend(tasks.map(|task| task["taskId"].clone()));
        pages += 1;
        match page.get("nextCursor") {
            Some(next) => cursor = json!({ "cursor": next }),
            None => break,
        }
    }
    assert_eq!((listed, pages), (created.clone(), 2));

    let mut bob = session(&server, Caller::new("bob")).await;
    let page = result(&mut bob, "tasks/list", json!({})).await;
    assert_eq!(page, json!({ "tasks": [] }));
    for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
        let error = error(&mut bob, method, json!({ "taskId": created[0] })).await;
        assert_eq!(error["code"], -32_602, "{method}");
    }
}

// rule: D3
#[tokio::test]
async fn every_end_of_a_call_is_an_end_of_a_sessions_task() {
    let (_lab, server) = lab();
    let mut wire = session(&server, Caller::local()).await;
    let created = result(&mut wire, "tools/call", as_task("failing", 60_000)).await;
    let id = &created["task"]["taskId"];
    let payload = result(&mut wire, "tasks/result", json!({ "taskId": id })).await;
    assert_eq!(payload["isError"], true);
    let seen = result(&mut wire, "tasks/get", json!({ "taskId": id })).await;
    // tasks: in 2025-11-25 a result with `isError` is a failure.
    assert_eq!(seen["status"], "failed");
    assert_eq!(seen["statusMessage"], "no luck");

    let created = result(&mut wire, "tools/call", as_task("rejected", 60_000)).await;
    let id = &created["task"]["taskId"];
    let refused = error(&mut wire, "tasks/result", json!({ "taskId": id })).await;
    assert_eq!(refused["code"], -32_603);
    assert_eq!(refused["message"], "broken inside");

    let created = result(&mut wire, "tools/call", as_task("quick", 60_000)).await;
    let id = &created["task"]["taskId"];
    let payload = result(&mut wire, "tasks/result", json!({ "taskId": id })).await;
    assert_eq!(payload["content"][0]["text"], "at once");
}

// rule: D4
#[tokio::test]
async fn a_session_is_asked_while_it_waits_for_the_result() {
    let (_lab, server) = lab();
    let mut wire = session(&server, Caller::local()).await;
    let created = result(&mut wire, "tools/call", as_task("curious", 60_000)).await;
    let id = created["task"]["taskId"].clone();
    let waiting = wire.ask("tasks/result", json!({ "taskId": id })).await;
    let mut names = ["Ada", "Bob"].into_iter();
    let payload = loop {
        let message = next(&mut wire).await;
        if message["id"] == waiting && message.get("result").is_some() {
            break message;
        }
        if message["method"] != "elicitation/create" {
            assert_eq!(message["method"], "notifications/tasks/status", "{message}");
            continue;
        }
        let related = &message["params"]["_meta"]["io.modelcontextprotocol/related-task"];
        assert_eq!(*related, json!({ "taskId": id }));
        let name = names.next().expect("two questions");
        let answer = json!({ "action": "accept", "content": { "name": name } });
        wire.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": answer }))
            .await;
    };
    let text = payload["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("Ada") && text.contains("Bob"), "{text}");
}

#[tokio::test]
async fn a_question_that_a_session_refuses_fails_where_it_was_asked() {
    let (_lab, server) = lab();
    let mut wire = session(&server, Caller::local()).await;
    let created = result(&mut wire, "tools/call", as_task("later", 60_000)).await;
    let id = created["task"]["taskId"].clone();
    let waiting = wire.ask("tasks/result", json!({ "taskId": id })).await;
    let payload = loop {
        let message = next(&mut wire).await;
        if message["method"] == "elicitation/create" {
            let error = json!({ "code": -1, "message": "not today" });
            wire.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "error": error }))
                .await;
        } else if message["id"] == waiting {
            break message;
        }
    };
    assert_eq!(payload["result"]["isError"], true, "{payload}");
    assert!(payload.to_string().contains("not today"));
}

#[tokio::test]
async fn a_task_is_gone_and_its_work_stopped_when_its_time_is_over() {
    let (lab, server) = lab();
    let mut wire = session(&server, Caller::local()).await;
    let created = result(&mut wire, "tools/call", as_task("slow", 0)).await;
    let id = created["task"]["taskId"].clone();
    assert_eq!(
        created["task"]["ttl"], 1000,
        "no client gets less than a second"
    );
    until_alive(&lab, 1).await;
    // Waits for the end of the task, which is when it expires.
    let gone = error(&mut wire, "tasks/result", json!({ "taskId": id })).await;
    assert_eq!(gone["code"], -32_602);
    until_alive(&lab, 0).await;
    let gone = error(&mut wire, "tasks/get", json!({ "taskId": id })).await;
    assert_eq!(gone["code"], -32_602);
}

// rule: PC5, PC1
// progress, 2025-11-25: the token of the request MUST be that of its task's reports, up to its end.
#[tokio::test]
async fn a_sessions_task_keeps_its_progress_token_until_it_ends() {
    let (lab, server) = lab();
    let mut wire = session(&server, Caller::local()).await;
    let mut params = as_task("steps", 60_000);
    params["_meta"]["progressToken"] = json!("p");
    let created = result(&mut wire, "tools/call", params).await;
    let related = json!({ "taskId": created["task"]["taskId"] });
    for step in 1..=2 {
        lab.gate.add_permits(1);
        let report = next(&mut wire).await;
        assert_eq!(report["method"], "notifications/progress", "{report}");
        let params = &report["params"];
        assert_eq!(params["progressToken"], "p");
        assert_eq!(params["progress"].as_f64(), Some(f64::from(step)));
        let named = &params["_meta"]["io.modelcontextprotocol/related-task"];
        assert_eq!(*named, related);
    }
    let ended = next(&mut wire).await;
    assert_eq!(ended["params"]["status"], "completed", "{ended}");
    until_alive(&lab, 1).await;
    lab.gate.add_permits(1);
    until_alive(&lab, 0).await;
    wire.assert_quiet().await;
}

#[tokio::test]
async fn a_session_with_tasks_of_its_own_is_asked_by_them_if_the_server_wants_it() {
    let server = Server::new("asker", "1")
        .tasks(TaskSettings::default().asks_by_tasks())
        .tool(Tool::new("curious", async |Ask(ask): Ask| {
            let answer = ask.form_of("name", form("Name?")).await?;
            let name = serde_json::to_value(answer.content).expect("plain JSON")["name"].clone();
            Ok::<_, ToolError>(name.to_string())
        }))
        .build()
        .expect("in order");
    let mut wire = Wire::open(&server);
    let create = json!({ "elicitation": { "create": {} } });
    let params = json!({
        "protocolVersion": "2025-11-25", "clientInfo": { "name": "wire", "version": "1" },
        "capabilities": { "elicitation": { "form": {} }, "tasks": { "requests": create } },
    });
    wire.speak(Revision::V2025_11_25);
    wire.result("initialize", params).await;
    wire.notify("notifications/initialized", Value::Null).await;

    let call = wire.ask_tool("curious", json!({})).await;
    let asked = next(&mut wire).await;
    assert_eq!(asked["method"], "elicitation/create");
    assert_eq!(asked["params"]["task"], json!({ "ttl": 3_600_000 }));
    let now = "2025-11-25T00:00:00Z";
    let task = json!({
        "taskId": "t1", "status": "working", "ttl": 60_000, "createdAt": now, "lastUpdatedAt": now,
    });
    wire.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "task": task } }))
        .await;
    let fetched = next(&mut wire).await;
    assert_eq!(fetched["method"], "tasks/result", "{fetched}");
    assert_eq!(fetched["params"]["taskId"], "t1");
    let answer = json!({
        "action": "accept", "content": { "name": "Ada" },
        "_meta": { "io.modelcontextprotocol/related-task": { "taskId": "t1" } },
    });
    wire.send(&json!({ "jsonrpc": "2.0", "id": fetched["id"], "result": answer }))
        .await;
    let done = next(&mut wire).await;
    assert_eq!(done["id"], call);
    assert_eq!(done["result"]["content"][0]["text"], "\"Ada\"");

    // Cancelling the call also cancels the client's task.
    let call = wire.ask_tool("curious", json!({})).await;
    let asked = next(&mut wire).await;
    let mut task = task;
    task["taskId"] = json!("t2");
    wire.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "task": task } }))
        .await;
    assert_eq!(next(&mut wire).await["method"], "tasks/result");
    wire.cancel(&json!(call)).await;
    let mut said = [next(&mut wire).await, next(&mut wire).await];
    said.sort_by_key(|message| message["method"].to_string());
    assert_eq!(said[0]["method"], "notifications/cancelled");
    assert_eq!(said[1]["method"], "tasks/cancel");
    assert_eq!(said[1]["params"]["taskId"], "t2");
}
