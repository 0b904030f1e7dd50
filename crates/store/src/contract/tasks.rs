//! Tests for stores of tasks.

use std::{
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use serde_json::value::to_raw_value;
use turnbuckle_protocol::{
    ErrorObject, InputRequest, InputRequests, RequestParams, TaskState, TaskStatus,
};

use crate::{
    bus::NodeId,
    task::{
        Answers, Changed, JournalChange, NewTask, Restart, RunChange, TaskChange, TaskEnd, TaskKey,
        TaskRecord, Tasks, TasksError,
    },
};

/// How long a store may take to report a change. This is far longer than needed, because the test
/// is not a benchmark.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Tests the contract of [`Tasks`], each clause with a new store without tasks.
///
/// # Panics
/// If a clause is violated. The message names the clause.
pub async fn tasks<S: Tasks>(empty: impl AsyncFn() -> S) {
    begins_and_is_found(&empty().await).await;
    an_id_is_given_once(&empty().await).await;
    belongs_to_its_owner(&empty().await).await;
    changes_by_the_rules(&empty().await).await;
    ends_once(&empty().await).await;
    every_end_is_kept(&empty().await).await;
    is_asked_and_answered(&empty().await).await;
    lives_for_its_time(&empty().await).await;
    pages_hold_everything_once(&empty().await).await;
    a_foreign_cursor_is_refused(&empty().await).await;
    tells_of_changes(empty().await).await;
    two_who_end_it_do_not_both_win(empty().await).await;
    one_takes_it_over(empty().await).await;
    is_found_by_its_replica(&empty().await).await;
    has_what_another_replica_needs(&empty().await).await;
}

fn at(second: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_800_000_000 + second)
}

fn new(key: &TaskKey) -> NewTask {
    NewTask {
        key: key.clone(),
        ttl: Some(Duration::from_mins(1)),
        poll_interval: Some(Duration::from_millis(500)),
        payer: None,
        restart: None,
    }
}

fn key(id: &str) -> TaskKey {
    TaskKey::new("ada", id)
}

async fn begin(store: &impl Tasks, id: &str) -> Arc<TaskRecord> {
    let begun = store.create(new(&key(id)), at(0)).await;
    begun.unwrap_or_else(|error| panic!("a task cannot begin: {error}"))
}

async fn found(store: &impl Tasks, key: &TaskKey, now: SystemTime) -> Option<Arc<TaskRecord>> {
    let found = store.get(key, now).await;
    found.unwrap_or_else(|error| panic!("a task cannot be looked for: {error}"))
}

async fn change(store: &impl Tasks, id: &str, change: TaskChange, second: u64) -> Changed {
    let changed = store.change(&key(id), change, at(second)).await;
    changed.unwrap_or_else(|error| panic!("a task cannot be changed: {error}"))
}

fn cancelled() -> TaskChange {
    let reason = Some("enough".into());
    TaskChange::End(TaskEnd::Cancelled { reason })
}

fn questions(keys: &[&str]) -> InputRequests {
    let roots = || InputRequest::ListRoots(RequestParams::default());
    let keys = keys.iter().map(|key| ((*key).to_owned(), roots()));
    keys.collect()
}

fn answers(keys: &[&str]) -> Answers {
    let answer = || to_raw_value(&serde_json::json!({"roots": []})).expect("this is JSON");
    let keys = keys.iter().map(|key| ((*key).to_owned(), answer()));
    keys.collect()
}

async fn begins_and_is_found(store: &impl Tasks) {
    let begun = begin(store, "t1").await;
    assert_eq!(begun.version, 1, "the first version is 1");
    let record = found(store, &key("t1"), at(0)).await;
    let record = record.expect("what was begun is found at once");
    assert_eq!(record.owner, "ada");
    assert_eq!(record.task, begun.task);
    assert_eq!(record.task.state.status(), TaskStatus::Working);
    assert_eq!(record.task.ttl_ms, Some(60_000));
    assert_eq!(record.task.poll_interval_ms, Some(500));
    assert!(found(store, &key("t2"), at(0)).await.is_none());
}

async fn an_id_is_given_once(store: &impl Tasks) {
    begin(store, "t1").await;
    for owner in ["ada", "bob"] {
        let again = store.create(new(&TaskKey::new(owner, "t1")), at(0)).await;
        assert!(
            matches!(again, Err(TasksError::Taken)),
            "an id is one of all owners' tasks: {again:?}"
        );
    }
}

async fn belongs_to_its_owner(store: &impl Tasks) {
    begin(store, "t1").await;
    let foreign = TaskKey::new("bob", "t1");
    assert!(found(store, &foreign, at(0)).await.is_none());
    let changed = store.change(&foreign, cancelled(), at(0)).await;
    assert!(matches!(changed, Ok(Changed::Unknown)), "{changed:?}");
    let page = store.list("bob", None, 10, at(0)).await;
    assert!(page.is_ok_and(|page| page.tasks.is_empty()));
    let record = found(store, &key("t1"), at(0)).await;
    assert!(record.is_some_and(|record| record.version == 1));
    store
        .create(new(&TaskKey::new("bob", "t2")), at(0))
        .await
        .expect("bob begins one too");
    let page = store
        .list("ada", None, 10, at(0))
        .await
        .expect("ada's tasks are listed");
    assert_eq!(page.tasks.len(), 1);
}

async fn changes_by_the_rules(store: &impl Tasks) {
    begin(store, "t1").await;
    let said = change(store, "t1", TaskChange::Say("half".into()), 5).await;
    let Changed::Now(said) = said else {
        panic!("a task that works can say something: {said:?}")
    };
    assert_eq!(said.version, 2);
    assert_eq!(said.task.status_message.as_deref(), Some("half"));
    assert_ne!(said.task.last_updated_at, said.task.created_at);
    let again = change(store, "t1", TaskChange::Say("half".into()), 6).await;
    assert!(matches!(again, Changed::Now(record) if record.version == 2));
    let unknown = change(store, "t2", TaskChange::Say("half".into()), 6).await;
    assert!(matches!(unknown, Changed::Unknown));
}

async fn ends_once(store: &impl Tasks) {
    begin(store, "t1").await;
    assert!(matches!(
        change(store, "t1", cancelled(), 1).await,
        Changed::Now(_)
    ));
    for again in [
        cancelled(),
        TaskChange::Say("no".into()),
        TaskChange::Ask(questions(&["a"])),
        TaskChange::End(TaskEnd::Failed(ErrorObject::internal("late"))),
    ] {
        let changed = change(store, "t1", again, 2).await;
        let Changed::Over(record) = changed else {
            panic!("a task that has ended does not change: {changed:?}")
        };
        assert_eq!(record.task.state, TaskState::Cancelled);
        assert_eq!(record.task.status_message.as_deref(), Some("enough"));
    }
}

async fn every_end_is_kept(store: &impl Tasks) {
    let text = r#"{"content":[],"isError":true,"big":12345678901234567890123}"#;
    let result: Box<serde_json::value::RawValue> =
        serde_json::from_str(text).expect("this is JSON");
    let done = TaskEnd::Completed {
        result,
        is_error: true,
        message: Some("it went wrong".into()),
    };
    let error = ErrorObject::internal("broken");
    begin(store, "done").await;
    begin(store, "failed").await;
    change(store, "done", TaskChange::End(done), 1).await;
    let failed = TaskChange::End(TaskEnd::Failed(error.clone()));
    change(store, "failed", failed, 1).await;
    let record = found(store, &key("done"), at(2)).await;
    let record = record.expect("a task that ended is still there");
    assert!(record.is_error, "whether the result is an error is kept");
    let TaskState::Completed(result) = &record.task.state else {
        panic!("it was completed: {:?}", record.task.state)
    };
    assert_eq!(result.get(), text, "results are kept to the letter");
    let record = found(store, &key("failed"), at(2)).await;
    let record = record.expect("a task that failed is still there");
    assert_eq!(record.task.state, TaskState::Failed(error));
}

async fn is_asked_and_answered(store: &impl Tasks) {
    begin(store, "t1").await;
    change(store, "t1", TaskChange::Ask(questions(&["b", "a"])), 1).await;
    let record = found(store, &key("t1"), at(1)).await.expect("it is there");
    let open: Vec<_> = record.open().into_iter().flatten().collect();
    assert_eq!(open.len(), 2);
    assert_eq!(open[0].0, "b", "questions keep their order");
    change(store, "t1", TaskChange::Answer(answers(&["b", "x"])), 2).await;
    let record = found(store, &key("t1"), at(2)).await.expect("it is there");
    assert_eq!(record.task.state.status(), TaskStatus::InputRequired);
    assert_eq!(record.answers.keys().collect::<Vec<_>>(), ["b"]);
    change(store, "t1", TaskChange::Answer(answers(&["a"])), 3).await;
    let record = found(store, &key("t1"), at(3)).await.expect("it is there");
    assert_eq!(record.task.state.status(), TaskStatus::Working);
    assert_eq!(
        record.answers.len(),
        2,
        "answers wait for the replica that runs it"
    );
    change(store, "t1", cancelled(), 4).await;
    let record = found(store, &key("t1"), at(4)).await.expect("it is there");
    assert!(record.answers.is_empty(), "answers are not kept for longer");
}

async fn lives_for_its_time(store: &impl Tasks) {
    begin(store, "t1").await;
    let forever = NewTask {
        ttl: None,
        ..new(&key("t2"))
    };
    store
        .create(forever, at(0))
        .await
        .expect("a task may have no end");
    change(store, "t1", cancelled(), 1).await;
    assert!(found(store, &key("t1"), at(59)).await.is_some());
    assert!(found(store, &key("t1"), at(60)).await.is_none());
    let changed = change(store, "t1", cancelled(), 60).await;
    assert!(matches!(changed, Changed::Unknown), "{changed:?}");
    let page = store
        .list("ada", None, 10, at(60))
        .await
        .expect("tasks are listed");
    let left: Vec<_> = page
        .tasks
        .iter()
        .map(|record| &record.task.task_id)
        .collect();
    assert_eq!(left, ["t2"]);
    assert!(found(store, &key("t2"), at(1_000_000_000)).await.is_some());
}

async fn pages_hold_everything_once(store: &impl Tasks) {
    let ids: Vec<_> = (0..7).map(|number| format!("t{number}")).collect();
    for id in &ids {
        begin(store, id).await;
    }
    let (mut seen, mut cursor) = (Vec::new(), None);
    for _ in 0..ids.len() {
        let page = store
            .list("ada", cursor.as_deref(), 3, at(1))
            .await
            .expect("a page comes");
        assert!(page.tasks.len() <= 3, "a page is no longer than it may be");
        seen.extend(page.tasks.iter().map(|record| record.task.task_id.clone()));
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(seen, ids, "the oldest first, each of them once");
    assert!(cursor.is_none(), "the last page says that it is the last");
    let page = store
        .list("ada", None, ids.len(), at(1))
        .await
        .expect("a page comes");
    assert!(page.next.is_none(), "a page that holds all is the last");
}

async fn a_foreign_cursor_is_refused(store: &impl Tasks) {
    begin(store, "t1").await;
    let page = store.list("ada", Some("no cursor"), 3, at(1)).await;
    assert!(matches!(page, Err(TasksError::BadCursor)), "{page:?}");
}

async fn tells_of_changes(store: impl Tasks) {
    let store = Arc::new(store);
    let key = key("t1");
    within(
        store.changed(&key, 0),
        "what is not there is not waited for",
    )
    .await;
    begin(&*store, "t1").await;
    within(
        store.changed(&key, 0),
        "what changed before is told at once",
    )
    .await;
    let waiting = tokio::spawn({
        let (store, key) = (Arc::clone(&store), key.clone());
        async move { store.changed(&key, 1).await }
    });
    tokio::task::yield_now().await;
    assert!(!waiting.is_finished(), "nothing has changed yet");
    change(&*store, "t1", TaskChange::Say("half".into()), 1).await;
    within(
        async { waiting.await.expect("waiting does not panic") },
        "those who wait are notified",
    )
    .await;
}

async fn within<E: std::fmt::Display>(
    told: impl Future<Output = Result<(), E>>,
    clause: &'static str,
) {
    let Ok(told) = tokio::time::timeout(TIMEOUT, told).await else {
        panic!("{clause}: nothing came within {TIMEOUT:?}")
    };
    if let Err(error) = told {
        panic!("{clause}: {error}")
    }
}

async fn two_who_end_it_do_not_both_win(store: impl Tasks) {
    const RIVALS: usize = 16;
    let store = Arc::new(store);
    begin(&*store, "t1").await;
    let rivals: Vec<_> = (0..RIVALS)
        .map(|number| {
            let store = Arc::clone(&store);
            let error = ErrorObject::internal(number.to_string());
            let end = TaskChange::End(TaskEnd::Failed(error));
            tokio::spawn(async move { store.change(&key("t1"), end, at(1)).await })
        })
        .collect();
    let mut winners = 0;
    for rival in rivals {
        let changed = rival.await.expect("a change does not panic");
        winners += usize::from(matches!(changed, Ok(Changed::Now(_))));
    }
    assert_eq!(winners, 1, "of all who end a task, one does");
}

fn restartable(id: &str, node: NodeId) -> NewTask {
    let mut restart = Restart::new("call".into(), "journal".into(), 3);
    restart.node = Some(node);
    NewTask {
        restart: Some(restart),
        ..new(&key(id))
    }
}

async fn one_takes_it_over(store: impl Tasks) {
    const RIVALS: u64 = 16;
    let store = Arc::new(store);
    let begun = store.create(restartable("t1", NodeId::new(1)), at(0)).await;
    assert!(begun.is_ok(), "{begun:?}");
    let rivals: Vec<_> = (2..2 + RIVALS)
        .map(|number| {
            let store = Arc::clone(&store);
            let node = NodeId::new(number);
            let take = TaskChange::TakeOver { turn: 0, node };
            tokio::spawn(async move { store.change(&key("t1"), take, at(1)).await })
        })
        .collect();
    let mut winners = Vec::new();
    for rival in rivals {
        if let Ok(Changed::Now(record)) = rival.await.expect("a change does not panic") {
            winners.push(record.restart.clone().expect("it is kept"));
        }
    }
    let [winner] = &*winners else {
        panic!("of all who take a task over, one does: {winners:?}")
    };
    assert_eq!(winner.turn, 1, "each takeover is a turn");
    let record = found(&*store, &key("t1"), at(2)).await;
    let record = record.expect("it goes on");
    assert_eq!(record.restart.as_ref(), Some(winner));
    assert_eq!(record.task.state.status(), TaskStatus::Working);
    let journal = JournalChange::Now("more".into());
    let late = TaskChange::Run(RunChange {
        turn: 0,
        journal,
        change: None,
    });
    let changed = change(&*store, "t1", late, 3).await;
    assert!(
        matches!(changed, Changed::Over(_)),
        "a replica that lost the task cannot change it: {changed:?}"
    );
}

async fn is_found_by_its_replica(store: &impl Tasks) {
    let (one, other) = (NodeId::new(1), NodeId::new(2));
    for id in ["t1", "t2", "t3"] {
        let begun = store.create(restartable(id, one), at(0)).await;
        assert!(begun.is_ok(), "{begun:?}");
    }
    begin(store, "t4").await;
    let running = async |node| {
        let keys = store.running_at(node).await;
        let keys = keys.unwrap_or_else(|error| panic!("tasks cannot be looked for: {error}"));
        let mut ids: Vec<_> = keys.into_iter().map(|key| key.id).collect();
        ids.sort();
        ids
    };
    assert_eq!(running(one).await, ["t1", "t2", "t3"]);
    change(store, "t1", cancelled(), 1).await;
    let take = TaskChange::TakeOver {
        turn: 0,
        node: other,
    };
    change(store, "t2", take, 1).await;
    change(store, "t3", TaskChange::HandOver { turn: 0 }, 1).await;
    let left = running(one).await;
    assert!(
        left.contains(&"t3".into()),
        "tasks that still run are found: {left:?}"
    );
    assert!(
        !left.contains(&"t1".into()),
        "tasks that are over are not found: {left:?}"
    );
    assert!(running(other).await.contains(&"t2".into()));
}

async fn has_what_another_replica_needs(store: &impl Tasks) {
    let restart = async |id| {
        let restart = store.restart(&key(id), at(1)).await;
        restart.unwrap_or_else(|error| panic!("a call cannot be looked for: {error}"))
    };
    let run = |journal, change: Option<TaskChange>| {
        TaskChange::Run(RunChange {
            turn: 0,
            journal,
            change: change.map(Box::new),
        })
    };
    begin(store, "plain").await;
    assert_eq!(restart("plain").await, None, "no replica goes on with it");
    for id in ["t1", "t2", "t3"] {
        let begun = store.create(restartable(id, NodeId::new(1)), at(0)).await;
        assert!(begun.is_ok(), "{begun:?}");
    }
    let first = restart("t1").await.expect("it may go on elsewhere");
    assert_eq!((&*first.call, &*first.journal), ("call", "journal"));
    change(store, "t1", TaskChange::Say("on the way".into()), 1).await;
    let more = JournalChange::Now("more".into());
    let said = TaskChange::Say("halfway".into());
    change(store, "t1", run(more, Some(said)), 1).await;
    let take = TaskChange::TakeOver {
        turn: 0,
        node: NodeId::new(2),
    };
    change(store, "t1", take, 1).await;
    let next = restart("t1").await.expect("it may go on elsewhere");
    assert_eq!((&*next.call, &*next.journal), ("call", "more"));
    assert_eq!((next.node, next.turn), (Some(NodeId::new(2)), 1));
    change(store, "t2", run(JournalChange::GiveUp, None), 1).await;
    change(store, "t2", TaskChange::HandOver { turn: 0 }, 1).await;
    let given_up = restart("t2").await.expect("it runs");
    assert!(!given_up.may_be_taken_over(), "{given_up:?}");
    assert_eq!(given_up.call, "", "what cannot be used is not kept");
    change(store, "t3", run(JournalChange::Same, Some(cancelled())), 1).await;
    assert_eq!(restart("t3").await, None, "it is over");
}
