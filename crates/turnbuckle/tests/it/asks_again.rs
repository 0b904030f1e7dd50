//! Handlers that are run again: those that ask the same questions pass, and the others are detected.

use std::{
    panic::AssertUnwindSafe,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use serde_json::json;
use turnbuckle::{
    Ask, Client, Form, Revision, Server, State, ToolError,
    client::Answers,
    protocol::{CreateMessageRequestParams, ElicitResult},
    tool,
};
use turnbuckle_testing::{reenter, run_as};

type Count = Arc<AtomicUsize>;

#[derive(Form)]
struct Name {
    name: String,
}

/// Says something else each time it runs.
#[tool]
async fn moody(State(runs): State<Count>, Ask(ask): Ask) -> Result<String, ToolError> {
    let run = runs.fetch_add(1, Ordering::SeqCst);
    let name = ask.form::<Name>("name", format!("Your name, please ({run})?"));
    Ok(name.await?.accepted()?.name)
}

/// Says something else each time, and ignores the answer.
#[tool]
async fn careless(State(runs): State<Count>, Ask(ask): Ask) -> String {
    let run = runs.fetch_add(1, Ordering::SeqCst);
    let name = ask.form::<Name>("name", format!("Your name, please ({run})?"));
    let Ok(answer) = name.await else {
        return "never mind".into();
    };
    answer.accepted().map_or("nobody".into(), |name| name.name)
}

/// Uses another key each time it runs.
#[tool]
async fn forgetful(State(runs): State<Count>, Ask(ask): Ask) -> Result<String, ToolError> {
    let run = runs.fetch_add(1, Ordering::SeqCst);
    let name = ask.form::<Name>(&format!("name-{run}"), "Your name?");
    Ok(name.await?.accepted()?.name)
}

/// Asks only the first time.
#[tool]
async fn hasty(State(runs): State<Count>, Ask(ask): Ask) -> Result<String, ToolError> {
    if runs.fetch_add(1, Ordering::SeqCst) > 0 {
        return Ok("done".into());
    }
    let name = ask.form::<Name>("name", "Your name?");
    Ok(name.await?.accepted()?.name)
}

/// Keeps what its question is made of.
#[tool]
async fn steady(State(runs): State<Count>, Ask(ask): Ask) -> Result<String, ToolError> {
    let run = ask
        .memo("run", async {
            Ok::<_, ToolError>(runs.fetch_add(1, Ordering::SeqCst))
        })
        .await?;
    let name = ask.form::<Name>("name", format!("Your name, please ({run})?"));
    let other = ask.form::<Name>("other", "And the other one?");
    let (name, other) = tokio::join!(name, other);
    Ok(format!(
        "{} and {}",
        name?.accepted()?.name,
        other?.accepted()?.name
    ))
}

fn server(runs: &Count) -> Server {
    Server::new("asks", "1.0.0")
        .state(Arc::clone(runs))
        .tool(moody)
        .tool(careless)
        .tool(forgetful)
        .tool(hasty)
        .tool(steady)
}

fn client(revision: Revision) -> Client {
    let answers = Answers::new().on_form(|form| async move {
        let name = if form.message.starts_with("And") {
            "Bob"
        } else {
            "Ada"
        };
        Ok(ElicitResult::accept([("name", name)]))
    });
    Client::new("test", "1.0.0")
        .answering(answers)
        .only(revision)
}

#[test]
fn a_handler_that_asks_something_else_fails_its_test() {
    for (tool, problem) in [
        ("moody", "it failed with"),
        ("careless", "it failed with"),
        ("forgetful", "it asked"),
        ("hasty", "it came to an end"),
    ] {
        let revision = Revision::V2026_07_28;
        let test = || {
            run_as(
                &client(revision),
                revision,
                server(&Count::default()),
                async |client| {
                    // A test body that checks nothing fails all the same.
                    let _ = client.call(tool, json!({})).await;
                },
            );
        };
        let failed = std::panic::catch_unwind(AssertUnwindSafe(test));
        let reason = *failed.unwrap_err().downcast::<String>().unwrap();
        assert!(reason.contains(&format!("`{tool}` asked")), "{reason}");
        assert!(reason.contains(problem), "{reason}");
    }
}

#[test]
fn a_handler_that_keeps_what_it_asks_of_passes_and_runs_its_effects_once() {
    for revision in [
        Revision::V2025_06_18,
        Revision::V2025_11_25,
        Revision::V2026_07_28,
    ] {
        let runs = Count::default();
        run_as(&client(revision), revision, server(&runs), async |client| {
            let output = client.call("steady", json!({})).await.unwrap();
            assert_eq!(output.text(), "Ada and Bob");
        });
        assert_eq!(runs.load(Ordering::SeqCst), 1, "{revision}");
    }
}

#[tokio::test]
async fn answers_come_one_at_a_time_and_the_handler_runs_again_at_each_pause() {
    let runs = Count::default();
    let counted = Arc::clone(&runs);
    let server =
        Server::new("asks", "1.0.0").tool(turnbuckle::Tool::new("both", move |Ask(ask): Ask| {
            counted.fetch_add(1, Ordering::SeqCst);
            async move {
                let request = CreateMessageRequestParams::new(vec![], 10);
                let (name, said) = tokio::join!(
                    ask.form::<Name>("name", "Your name?"),
                    ask.sample("said", request).or_else(|_| unreachable!())
                );
                said?;
                Ok::<_, ToolError>(name?.accepted()?.name)
            }
        }));
    let server = server.build().unwrap();
    let (end, differences) = reenter(&server);
    let client = Client::new("test", "1.0.0")
        .on_form(|_| async { Ok(ElicitResult::accept([("name", "Ada")])) })
        .on_sample(|_| async { Ok(turnbuckle::protocol::CreateMessageResult::new("m", "hi")) })
        .only(Revision::V2026_07_28);
    let client = client.connect(end).await.unwrap();
    assert_eq!(client.call("both", json!({})).await.unwrap().text(), "Ada");
    differences.assert_none();
    // The handler runs five times: both questions are asked, asked again, one is answered, it runs again,
    // and both are answered.
    assert_eq!(runs.load(Ordering::SeqCst), 5);
}

/// A question that a handler asks from a spawned task is asked too.
#[tokio::test]
async fn a_question_from_another_task_pauses_the_call() {
    let server = Server::new("asks", "1.0.0").tool(turnbuckle::Tool::new(
        "far",
        |Ask(ask): Ask| async move {
            let task = tokio::spawn(async move {
                tokio::task::yield_now().await;
                ask.form::<Name>("name", "Your name?").await?.accepted()
            });
            Ok::<_, ToolError>(task.await.map_err(ToolError::fault)??.name)
        },
    ));
    let server = server.build().unwrap();
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let client = turnbuckle_testing::connect_with(&server, &client(revision))
            .await
            .unwrap();
        assert_eq!(client.call("far", json!({})).await.unwrap().text(), "Ada");
    }
}

/// A question whose answer is no longer awaited is not asked.
#[tokio::test]
async fn a_question_that_is_dropped_is_taken_back() {
    let server = Server::new("asks", "1.0.0").tool(turnbuckle::Tool::new(
        "fickle",
        |Ask(ask): Ask| async move {
            {
                let mut first = std::pin::pin!(ask.form::<Name>("first", "Never mind?"));
                std::future::poll_fn(|context| {
                    let _ = first.as_mut().poll(context);
                    std::task::Poll::Ready(())
                })
                .await;
            }
            let name = ask.form::<Name>("name", "Your name?").await?;
            Ok::<_, ToolError>(name.accepted()?.name)
        },
    ));
    let server = server.build().unwrap();
    let (end, recorded) = turnbuckle_testing::record(&server);
    let client = client(Revision::V2026_07_28).connect(end).await.unwrap();
    assert_eq!(
        client.call("fickle", json!({})).await.unwrap().text(),
        "Ada"
    );
    assert!(!recorded.to_string().contains("Never mind?"), "{recorded}");
}
