//! One tool that takes long, at every revision, and the ways in which a client can wait for it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::json;
use tokio::{sync::Semaphore, time::timeout};
use turnbuckle::{
    Ask, CallError, Client, Form, LiveServer, Progress, Revision, Server, State, TaskSettings,
    ToolError,
    client::{Answers, Started, TaskTicket},
    protocol::{ElicitResult, TaskStatus},
    tool,
};
use turnbuckle_testing::{connect_at, connect_with, every_revision, record};

const TIMEOUT: Duration = Duration::from_secs(20);

#[derive(Clone)]
struct Yard {
    gate: Arc<Semaphore>,
    alive: Arc<AtomicUsize>,
}

struct Alive(Arc<AtomicUsize>);

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Builds something.
#[tool(task)]
async fn build(
    State(yard): State<Yard>,
    #[extract] progress: Progress,
    target: String,
) -> Result<String, ToolError> {
    yard.alive.fetch_add(1, Ordering::SeqCst);
    let _alive = Alive(Arc::clone(&yard.alive));
    progress.of(1, 2).say("compiling").await;
    // Not finished at the first poll, so that the call becomes a task where tasks are supported.
    tokio::task::yield_now().await;
    yard.gate.acquire().await.expect("the gate stays").forget();
    if target == "nothing" {
        return Err(ToolError::new("there is nothing to build"));
    }
    Ok(format!("built {target}"))
}

/// Builds something, and cannot be waited for.
#[tool(task_only)]
async fn rebuild(State(yard): State<Yard>) -> String {
    yard.gate.acquire().await.expect("the gate stays").forget();
    "rebuilt".into()
}

#[derive(Debug, Form)]
struct Color {
    color: String,
}

/// Paints, and asks in which color.
#[tool(task)]
async fn paint(Ask(ask): Ask) -> Result<String, ToolError> {
    // Not finished at the first poll, so that there is a task that asks.
    tokio::task::yield_now().await;
    let color = ask
        .form::<Color>("color", "Which color?")
        .await?
        .accepted()?;
    let again = ask.form::<Color>("again", "And then?").await?.accepted()?;
    Ok(format!("{} and {}", color.color, again.color))
}

fn yard(permits: usize) -> (Yard, Server) {
    let yard = Yard {
        gate: Arc::new(Semaphore::new(permits)),
        alive: Arc::default(),
    };
    let settings = TaskSettings::default().poll_interval(Duration::from_millis(10));
    let server = Server::new("yard", "1")
        .state(yard.clone())
        .tasks(settings)
        .tool(build)
        .tool(rebuild)
        .tool(paint);
    (yard, server)
}

fn live(permits: usize) -> (Yard, LiveServer) {
    let (yard, server) = yard(permits);
    (yard, server.build().expect("the yard is in order"))
}

async fn until_alive(yard: &Yard, count: usize) {
    let waiting = async {
        while yard.alive.load(Ordering::SeqCst) != count {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    timeout(TIMEOUT, waiting)
        .await
        .expect("the work starts or stops");
}

const WITH_TASKS: [Revision; 2] = [Revision::V2025_11_25, Revision::V2026_07_28];

// rule: D1, Z5
every_revision! {
    async fn a_plain_call_gets_the_result_whether_or_not_it_was_a_task(client = yard(1).1) {
        let output = client.call("build", json!({ "target": "all" })).await.unwrap();
        assert_eq!(output.text(), "built all");
    }

    async fn a_call_that_may_become_a_task_comes_to_its_result(client = yard(1).1) {
        let started = client.call("build", json!({ "target": "all" })).task().await.unwrap();
        let has_tasks = client.server().revision() >= Revision::V2025_11_25;
        assert_eq!(matches!(started, Started::Task(_)), has_tasks);
        assert_eq!(started.result().await.unwrap().text(), "built all");
    }

    async fn a_tool_that_fails_fails_alike(client = yard(1).1) {
        let output = client.call("build", json!({ "target": "nothing" })).await.unwrap();
        assert_eq!(output.is_error, Some(true));
        assert_eq!(output.text(), "there is nothing to build");
    }

    async fn a_tool_that_only_runs_as_a_task_needs_a_revision_with_tasks(client = yard(1).1) {
        let rebuilt = client.call("rebuild", ()).await;
        if client.server().revision() >= Revision::V2025_11_25 {
            assert_eq!(rebuilt.unwrap().text(), "rebuilt");
        } else {
            let error = rebuilt.unwrap_err();
            let revision = client.server().revision();
            let why = format!("runs only as a task, which {revision} does not have");
            assert!(error.to_string().contains(&why), "{error}");
        }
    }
}

#[tokio::test]
async fn questions_of_a_task_reach_the_handlers_of_the_client() {
    for revision in WITH_TASKS {
        let (_yard, server) = live(0);
        let colors = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&colors);
        let client = Client::new("painter", "1")
            .only(revision)
            .answering(Answers::new().on_form(move |_| {
                let number = seen.fetch_add(1, Ordering::SeqCst);
                async move { Ok(ElicitResult::accept([("color", format!("color {number}"))])) }
            }));
        let client = connect_with(&server, &client).await.unwrap();
        let output = client.call("paint", ()).await.unwrap();
        assert_eq!(output.text(), "color 0 and color 1", "{revision}");
        assert_eq!(
            colors.load(Ordering::SeqCst),
            2,
            "no question is asked twice"
        );
    }
}

// rule: Z5
#[tokio::test]
async fn another_connection_comes_back_with_a_ticket() {
    for revision in WITH_TASKS {
        let (yard, server) = live(0);
        let client = connect_at(&server, revision).await.unwrap();
        let started = client
            .call("build", json!({ "target": "all" }))
            .task()
            .await;
        let Started::Task(task) = started.unwrap() else {
            panic!("{revision}: a task")
        };
        let kept = serde_json::to_string(task.ticket()).unwrap();
        until_alive(&yard, 1).await;
        client.close().await;
        drop((client, task));

        let ticket: TaskTicket = serde_json::from_str(&kept).unwrap();
        let client = connect_at(&server, revision).await.unwrap();
        let mut task = client.task(ticket);
        assert_eq!(task.status().await.unwrap().status, TaskStatus::Working);
        yard.gate.add_permits(1);
        assert_eq!(task.result().await.unwrap().text(), "built all");
        assert_eq!(
            task.result().await.unwrap().text(),
            "built all",
            "it is kept"
        );
    }
}

#[tokio::test]
async fn the_statuses_of_a_task_are_told_until_its_end() {
    for revision in WITH_TASKS {
        let (yard, server) = live(0);
        let client = connect_at(&server, revision).await.unwrap();
        let started = client
            .call("build", json!({ "target": "all" }))
            .task()
            .await;
        let Started::Task(task) = started.unwrap() else {
            panic!("{revision}: a task")
        };
        let mut statuses = task.statuses();
        let looking = async {
            let mut seen = Vec::new();
            while let Some(task) = statuses.next().await {
                let task = task.unwrap();
                if task.status_message.as_deref() == Some("compiling (1 of 2)") {
                    yard.gate.add_permits(1);
                }
                seen.push(task.status);
            }
            seen
        };
        let seen = timeout(TIMEOUT, looking).await.expect("it ends");
        assert_eq!(
            seen.last(),
            Some(&TaskStatus::Completed),
            "{revision}: {seen:?}"
        );
        assert!(statuses.next().await.is_none());
    }
}

// cancellation, 2025-11-25: a task is cancelled by `tasks/cancel`.
// rule: PC3
#[tokio::test]
async fn cancelling_a_task_stops_the_work() {
    for revision in WITH_TASKS {
        let (yard, server) = live(0);
        let client = Client::new("fickle", "1").only(revision);
        let (duplex, transcript) = record(&server);
        let client = client.connect(duplex).await.unwrap();
        let started = client
            .call("build", json!({ "target": "all" }))
            .task()
            .await;
        let Started::Task(mut task) = started.unwrap() else {
            panic!("{revision}: a task")
        };
        until_alive(&yard, 1).await;
        task.cancel().await.unwrap();
        until_alive(&yard, 0).await;
        task.cancel().await.unwrap();
        let error = task.result().await.unwrap_err();
        assert!(matches!(error, CallError::Rejected { .. }), "{error}");
        let said = transcript.to_string();
        assert!(said.contains(r#""method":"tasks/cancel""#), "{said}");
        assert!(!said.contains("notifications/cancelled"), "{said}");
    }
}

// The extension: dropping a call that is a task cancels it with `tasks/cancel`, not with a notification.
// rule: Z5
#[tokio::test(start_paused = true)]
async fn giving_up_a_call_gives_up_its_task() {
    let (yard, server) = live(0);
    let client = Client::new("fickle", "1").only(Revision::V2026_07_28);
    let (duplex, transcript) = record(&server);
    let client = client.connect(duplex).await.unwrap();
    let call = client.call("build", json!({ "target": "all" }));
    // Between two polls of the client, which are 10 ms apart: a poll that is under way would be cancelled too.
    let soon = Duration::from_millis(55);
    let given_up = timeout(soon, call.into_future()).await;
    assert!(given_up.is_err());
    until_alive(&yard, 0).await;

    let call = client.call("build", json!({ "target": "all" }));
    let error = call.deadline(soon).await.unwrap_err();
    assert!(matches!(error, CallError::Deadline { .. }), "{error}");
    until_alive(&yard, 0).await;
    let said = transcript.to_string();
    assert_eq!(
        said.matches(r#""method":"tasks/cancel""#).count(),
        2,
        "{said}"
    );
    assert!(!said.contains("notifications/cancelled"), "{said}");
}

#[tokio::test]
async fn questions_can_be_answered_by_hand() {
    let (_yard, server) = live(0);
    let client = Client::new("painter", "1").only(Revision::V2026_07_28);
    // The client declares forms, and does not answer any by itself.
    let client = client.answering(Answers::new().on_form(async |_| Ok(ElicitResult::decline())));
    let client = connect_with(&server, &client).await.unwrap();
    let Started::Task(mut task) = client.call("paint", ()).task().await.unwrap() else {
        panic!("a task")
    };
    for (key, color) in [("color", "red"), ("again", "blue")] {
        let asking = async {
            loop {
                let asks = task.asks().await.unwrap();
                if asks.contains_key(key) {
                    break;
                }
            }
        };
        timeout(TIMEOUT, asking).await.expect("it asks");
        let answer = ElicitResult::accept([("color", color)]).into();
        task.answer([(key.to_owned(), answer)].into_iter().collect())
            .await
            .unwrap();
    }
    assert_eq!(task.result().await.unwrap().text(), "red and blue");
}

/// Asks, and is not a task itself.
#[tool]
async fn quiz(Ask(ask): Ask) -> Result<String, ToolError> {
    let color = ask
        .form::<Color>("color", "Which color?")
        .await?
        .accepted()?;
    Ok(color.color)
}

#[tokio::test]
async fn a_client_is_asked_by_tasks_of_its_own_where_it_has_them() {
    for revision in Revision::ALL.iter().copied().skip(2) {
        let server = Server::new("quiz", "1")
            .tasks(TaskSettings::default().asks_by_tasks())
            .tool(quiz)
            .build()
            .expect("the quiz is in order");
        let answers = Answers::new().on_form(async |_| {
            tokio::task::yield_now().await;
            Ok(ElicitResult::accept([("color", "red")]))
        });
        let client = Client::new("player", "1").only(revision).answering(answers);
        let (duplex, transcript) = record(&server);
        let client = client.connect(duplex).await.unwrap();
        assert_eq!(client.call("quiz", ()).await.unwrap().text(), "red");
        let said = transcript.to_string();
        let is_asked_by_task = said.contains(r#""method":"tasks/result""#);
        assert_eq!(
            is_asked_by_task,
            revision == Revision::V2025_11_25,
            "{said}"
        );
    }
}
