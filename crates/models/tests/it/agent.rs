//! The agent's loop, with scripted models and with one behind a socket.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_core::future::BoxFuture;
use serde_json::json;
use turnbuckle_models::agent::{Agent, AgentOutcome, BoxError, Event, Stop, ToolCall, Tools};
use turnbuckle_models::{Model, Scripted};
use turnbuckle_protocol::{
    CallToolResult, ContentBlock, SamplingContent, SamplingMessage, StopReason, Tool,
};

use crate::conversation::tool;
use crate::shape;
use crate::stand_in::{Reply, StandIn};
use crate::streaming::{openai, openai_stream};

/// Tools for tests: `together` returns when this many calls of it run at the same time.
struct Lab {
    meeting: tokio::sync::Barrier,
    alone: Mutex<Vec<String>>,
    running: AtomicUsize,
    most: AtomicUsize,
    dropped: Arc<AtomicUsize>,
}

impl Lab {
    fn new() -> Self {
        Self {
            meeting: tokio::sync::Barrier::new(3),
            alone: Mutex::new(Vec::new()),
            running: AtomicUsize::new(0),
            most: AtomicUsize::new(0),
            dropped: Arc::default(),
        }
    }
}

/// Counts calls that were cancelled.
struct Dropped(Arc<AtomicUsize>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Tools for Lab {
    fn tools(&self) -> BoxFuture<'_, Vec<Tool>> {
        let names = ["together", "alone", "echo", "fail", "hang", "files/read"];
        let tools = names.map(|name| tool(name, json!({"type": "object"})));
        Box::pin(async move { tools.to_vec() })
    }

    fn may_overlap(&self, name: &str) -> bool {
        name != "alone"
    }

    fn call<'a>(&'a self, call: ToolCall<'a>) -> BoxFuture<'a, Result<CallToolResult, BoxError>> {
        Box::pin(async move {
            match call.name {
                "together" => {
                    self.meeting.wait().await;
                    Ok(CallToolResult::text("met"))
                }
                "alone" => {
                    let running = self.running.fetch_add(1, Ordering::Relaxed) + 1;
                    self.most.fetch_max(running, Ordering::Relaxed);
                    tokio::task::yield_now().await;
                    self.alone.lock().unwrap().push(call.id.to_owned());
                    self.running.fetch_sub(1, Ordering::Relaxed);
                    Ok(CallToolResult::text("alone"))
                }
                "fail" => Err("the server is gone".into()),
                "hang" => {
                    let _dropped = Dropped(Arc::clone(&self.dropped));
                    std::future::pending().await
                }
                _ => Ok(CallToolResult::text(json!(call.arguments).to_string())),
            }
        })
    }
}

fn agent(script: &str) -> Agent {
    Agent::new(Scripted::parse("script", script).unwrap(), Lab::new())
}

fn asked() -> Vec<SamplingMessage> {
    vec![SamplingMessage::user("Go.")]
}

/// Runs with a time limit, so that calls which never meet fail the test.
async fn run(
    agent: &Agent,
    conversation: &mut Vec<SamplingMessage>,
) -> (AgentOutcome, Vec<String>) {
    let mut events = Vec::new();
    let mut report = |event: Event<'_>| events.push(brief(&event));
    let stop = Stop::new();
    let run = agent.run(conversation, &stop, &mut report);
    let ended = tokio::time::timeout(Duration::from_secs(20), run).await;
    (ended.expect("it ends").unwrap(), events)
}

fn brief(event: &Event<'_>) -> String {
    match event {
        Event::Asked { round } => format!("asked {round}"),
        Event::Delta(delta) => format!("{delta:?}"),
        Event::Answered(answer) => format!("answered {}", answer.result.text()),
        Event::Calling(call) => format!("calling {} {}", call.id, call.name),
        Event::Called { call, result, .. } => {
            let text = result
                .content
                .first()
                .and_then(ContentBlock::as_text)
                .unwrap_or_default();
            format!("called {} {text}", call.id)
        }
        Event::Rewritten(rewrite) => rewrite.to_string(),
        other => format!("{other:?}"),
    }
}

#[tokio::test]
async fn calls_of_one_answer_run_together_and_results_keep_their_order() {
    let script = "{\"calls\": [{\"name\": \"together\"}, {\"name\": \"together\"}, {\"name\": \"together\"}]}\n\
                  {\"text\": \"done\"}";
    let mut conversation = asked();
    let (ended, events) = run(&agent(script), &mut conversation).await;
    assert_eq!(ended, AgentOutcome::Done(StopReason::EndTurn));
    assert_eq!(
        events
            .iter()
            .filter(|event| event.starts_with("calling"))
            .count(),
        3
    );
    let ids: Vec<_> = conversation[2]
        .content
        .iter()
        .map(|content| match content {
            SamplingContent::ToolResult(result) => result.tool_use_id.as_str(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(ids, ["call_1", "call_2", "call_3"]);
    assert_eq!(conversation[3].content, [SamplingContent::text("done")]);
}

#[tokio::test]
async fn calls_that_may_not_overlap_run_one_after_the_other() {
    let script = "{\"calls\": [{\"name\": \"alone\"}, {\"name\": \"alone\"}, {\"name\": \"echo\"}]}\n{\"text\": \"done\"}";
    let lab = Arc::new(Lab::new());
    let model = Scripted::parse("script", script).unwrap();
    run(&Agent::new(model, Arc::clone(&lab)), &mut asked()).await;
    assert_eq!(*lab.alone.lock().unwrap(), ["call_1", "call_2"]);
    assert_eq!(lab.most.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn everything_is_observable_in_its_order() {
    let script = "{\"text\": \"Let me see.\", \"calls\": [{\"name\": \"echo\", \"arguments\": {\"a\": 1}}]}\n\
                  {\"expect\": \"{\\\"a\\\":1}\", \"text\": \"It is {{result}}\"}";
    let (_, events) = run(&agent(script), &mut asked()).await;
    assert_eq!(
        events,
        [
            "asked 1",
            "Text(\"Let \")",
            "Text(\"me \")",
            "Text(\"see.\")",
            "Call { index: 0, name: \"echo\" }",
            "answered Let me see.",
            "calling call_1 echo",
            "called call_1 {\"a\":1}",
            "asked 2",
            "Text(\"It \")",
            "Text(\"is \")",
            "Text(\"{\\\"a\\\":1}\")",
            "answered It is {\"a\":1}",
        ]
    );
}

// rule: T11
#[tokio::test]
async fn faults_are_told_to_the_model() {
    let script = "{\"calls\": [{\"name\": \"fail\"}, {\"name\": \"nothing\"}]}\n\
                  {\"expect\": \"the server is gone\\nthere is no tool `nothing`\", \"text\": \"sorry\"}";
    let mut conversation = asked();
    let (ended, _) = run(&agent(script), &mut conversation).await;
    assert_eq!(ended, AgentOutcome::Done(StopReason::EndTurn));
    for content in &conversation[2].content {
        let SamplingContent::ToolResult(result) = content else {
            panic!("{content:?}")
        };
        assert_eq!(result.is_error, Some(true));
    }
}

// rule: Q6
#[tokio::test]
async fn rounds_and_tokens_are_bounded() {
    let forever = "{\"calls\": [{\"name\": \"echo\"}]}\n".repeat(50);
    let mut conversation = asked();
    let (ended, _) = run(&agent(&forever).with_max_rounds(3), &mut conversation).await;
    assert_eq!(ended, AgentOutcome::RoundLimit { limit: 3 });
    // Every call has its result, so the conversation can continue.
    assert_eq!(conversation.len(), 7);
    let wordy = "{\"text\": \"one two three\", \"calls\": [{\"name\": \"echo\"}]}\n".repeat(50);
    let (ended, events) = run(&agent(&wordy).with_token_budget(8), &mut asked()).await;
    assert_eq!(ended, AgentOutcome::TokenLimit { limit: 8 });
    assert_eq!(
        events
            .iter()
            .filter(|event| event.starts_with("asked"))
            .count(),
        2
    );
}

#[tokio::test]
async fn a_stopped_run_cancels_its_calls_and_leaves_a_whole_conversation() {
    let script = "{\"text\": \"a\", \"calls\": [{\"name\": \"echo\"}, {\"name\": \"hang\"}]}\n{\"text\": \"b\"}";
    let lab = Arc::new(Lab::new());
    let model = Scripted::parse("script", script).unwrap();
    let agent = Agent::new(model, Arc::clone(&lab));
    let stop = Stop::new();
    let mut conversation = asked();
    let mut report = |event: Event<'_>| {
        if matches!(event, Event::Called { .. }) {
            stop.stop();
        }
    };
    let run = agent.run(&mut conversation, &stop, &mut report);
    let ended = tokio::time::timeout(Duration::from_secs(20), run).await;
    assert_eq!(ended.expect("it ends").unwrap(), AgentOutcome::Stopped);
    assert_eq!(lab.dropped.load(Ordering::Relaxed), 1);
    let texts: Vec<_> = conversation[2]
        .content
        .iter()
        .map(|content| match content {
            SamplingContent::ToolResult(result) => result.content[0].as_text().unwrap(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(
        texts,
        ["{}", "the user stopped the call before it was done"]
    );
}

/// A model that says something and then hangs.
struct Stuck(Stop);

impl Model for Stuck {
    fn name(&self) -> &'static str {
        "stuck"
    }

    fn answer<'a>(
        &'a self,
        _: &'a turnbuckle_protocol::CreateMessageRequestParams,
        report: &'a mut (dyn FnMut(turnbuckle_models::Delta<'_>) + Send),
    ) -> BoxFuture<'a, Result<turnbuckle_models::format::Answer, turnbuckle_models::ModelError>>
    {
        Box::pin(async move {
            report(turnbuckle_models::Delta::Text("I was about to"));
            self.0.stop();
            std::future::pending().await
        })
    }
}

#[tokio::test]
async fn a_stopped_model_is_silent_and_what_it_said_is_kept() {
    let stop = Stop::new();
    let agent = Agent::new(Stuck(stop.clone()), Lab::new());
    let mut conversation = asked();
    let mut report = |_: Event<'_>| {};
    let run = agent.run(&mut conversation, &stop, &mut report);
    let ended = tokio::time::timeout(Duration::from_secs(20), run).await;
    assert_eq!(ended.expect("it ends").unwrap(), AgentOutcome::Stopped);
    assert_eq!(
        conversation[1],
        SamplingMessage::assistant("I was about to")
    );
}

/// The whole way over a socket: tool calls in the stream, and their results in the next request.
#[tokio::test]
async fn a_run_with_a_real_api_sends_results_in_the_published_shape() {
    let chunk = json!({"model": "m", "choices": [{"index": 0, "delta": {"content": "Bye."}, "finish_reason": "stop"}]});
    let last = format!("data: {chunk}\n\ndata: [DONE]\n\n");
    let replies = [Reply::events(openai_stream()), Reply::events(last)];
    let stand_in = StandIn::start(shape::openai_chat, replies);
    let agent = Agent::new(openai(&stand_in.url), Lab::new());
    let (ended, events) = run(&agent, &mut asked()).await;
    assert_eq!(ended, AgentOutcome::Done(StopReason::EndTurn));
    assert_eq!(
        events[0],
        "tool `files/read`: renamed to `files_read` for the model"
    );
    let messages = stand_in.requests()[1].body["messages"].clone();
    assert_eq!(
        messages[2],
        json!({"role": "tool", "tool_call_id": "call_a", "content": "{\"path\":\"ä/b\"}"})
    );
    assert_eq!(
        messages[3]["content"],
        "The tool reported an error: the server is gone"
    );
}

/// Arguments that are not JSON are not sent to a server.
#[tokio::test]
async fn unreadable_arguments_are_told_to_the_model() {
    let chunk = |delta: serde_json::Value, reason: &str| {
        let chunk = json!({"model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]});
        Reply::events(format!("data: {chunk}\n\ndata: [DONE]\n\n"))
    };
    let call = json!({"tool_calls": [{"index": 0, "id": "x", "function": {"name": "echo", "arguments": "{\"a\": "}}]});
    let stand_in = StandIn::start(
        shape::openai_chat,
        [
            chunk(call, "tool_calls"),
            chunk(json!({"content": "ok"}), "stop"),
        ],
    );
    let agent = Agent::new(openai(&stand_in.url), Lab::new());
    run(&agent, &mut asked()).await;
    let messages = stand_in.requests()[1].body["messages"].clone();
    assert_eq!(
        messages[1]["tool_calls"][0]["function"]["arguments"], "{}",
        "compatible servers parse it"
    );
    let said = messages[2]["content"].as_str().unwrap();
    assert!(
        said.contains("the arguments must be a JSON object, got `{\"a\": `"),
        "{said}"
    );
}
