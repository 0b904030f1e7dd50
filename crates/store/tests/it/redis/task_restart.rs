//! The calls and journals of tasks in Redis, which only replicas need that continue a task.

use std::time::{Duration, SystemTime};

use serde_json::value::RawValue;
use turnbuckle_store::{
    bus::NodeId,
    redis::TASK_BYTES_PER_OWNER,
    task::{
        Changed, JournalChange, NewTask, Restart, RunChange, TaskChange, TaskEnd, TaskKey,
        Tasks as _, TasksError,
    },
};

use super::{Engine, new, redis_cli};

/// The size of a large call in bytes.
const LARGE: usize = 100 * 1024;

fn restartable(id: &str, call: usize) -> NewTask {
    let mut restart = Restart::new("c".repeat(call), "journal".into(), 3);
    restart.node = Some(NodeId::new(1));
    NewTask {
        restart: Some(restart),
        ..new("ada", id, Some(Duration::from_mins(5)))
    }
}

fn learns(journal: String) -> TaskChange {
    TaskChange::Run(RunChange {
        turn: 0,
        journal: JournalChange::Now(journal),
        change: None,
    })
}

/// The bytes that Redis has received and sent.
fn traffic(engine: &Engine) -> (u64, u64) {
    let info = redis_cli(engine, &["INFO", "stats"]);
    let field = |name: &str| {
        let line = info.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|value| value.trim().parse().ok())
            .expect("Redis counts bytes")
    };
    (
        field("total_net_input_bytes:"),
        field("total_net_output_bytes:"),
    )
}

#[tokio::test]
async fn looking_at_a_task_does_not_carry_its_call() {
    const LOOKS: u64 = 100;
    /// How many bytes one poll may transfer: the record, and some for the list.
    const MAX_BYTES: u64 = 1024;
    let engine = Engine::start();
    let store = engine.open().await.tasks();
    let (key, now) = (TaskKey::new("ada", "t1"), SystemTime::now());
    store.create(restartable("t1", LARGE), now).await.unwrap();
    store
        .change(&key, learns("j".repeat(LARGE)), now)
        .await
        .unwrap();
    let before = traffic(&engine);
    for _ in 0..LOOKS {
        assert!(store.get(&key, now).await.unwrap().is_some());
        let page = store.list("ada", None, 10, now).await.unwrap();
        assert_eq!(page.tasks.len(), 1);
    }
    for number in 0..LOOKS {
        let said = TaskChange::Say(format!("step {number}"));
        store.change(&key, said, now).await.unwrap();
    }
    let after = traffic(&engine);
    let sent = (after.1 - before.1) / (3 * LOOKS);
    let received = (after.0 - before.0) / (3 * LOOKS);
    assert!(sent < MAX_BYTES, "{sent} bytes of Redis for each look");
    assert!(
        received < MAX_BYTES,
        "{received} bytes to Redis for each look"
    );
    let whole = store.restart(&key, now).await.unwrap().unwrap();
    assert_eq!((whole.call.len(), whole.journal.len()), (LARGE, LARGE));
}

#[tokio::test]
async fn calls_expire_with_their_tasks_and_end_with_them() {
    let engine = Engine::start();
    let store = engine.open_as("r:").await.tasks();
    let (key, now) = (TaskKey::new("ada", "t1"), SystemTime::now());
    let name = "r:task-restart:{ada}:t1";
    let left = |name: &str| -> i64 { redis_cli(&engine, &["PTTL", name]).trim().parse().unwrap() };
    store.create(restartable("t1", 10), now).await.unwrap();
    assert!(left(name) > 0, "{}", left(name));
    store
        .change(&key, learns("more".into()), now)
        .await
        .unwrap();
    let (call, record) = (left(name), left("r:task:{ada}:t1"));
    assert!(call > 0 && call <= record + 1000, "{call}, {record}");
    let end = TaskChange::End(TaskEnd::Cancelled { reason: None });
    let ended = store.change(&key, end, now).await;
    assert!(matches!(ended, Ok(Changed::Now(_))), "{ended:?}");
    assert_eq!(redis_cli(&engine, &["EXISTS", name]).trim(), "0");
}

#[tokio::test]
async fn calls_and_journals_count_among_the_bytes_of_an_owner() {
    let engine = Engine::start();
    let store = engine.open().await.tasks();
    let now = SystemTime::now();
    let half = TASK_BYTES_PER_OWNER / 2;
    store.create(restartable("t1", half), now).await.unwrap();
    let refused = store.create(restartable("t2", half), now).await;
    let is_refused = matches!(refused, Err(TasksError::TooLarge { bytes }) if bytes > half);
    assert!(is_refused, "{refused:?}");
    let key = TaskKey::new("ada", "t1");
    let refused = store.change(&key, learns("j".repeat(half)), now).await;
    let is_refused = matches!(refused, Err(TasksError::TooLarge { bytes }) if bytes > half);
    assert!(is_refused, "{refused:?}");
    // Replaced data is not counted.
    for _ in 0..3 {
        let journal = "j".repeat(half / 2);
        store.change(&key, learns(journal), now).await.unwrap();
    }
}

#[tokio::test]
async fn a_result_may_take_the_place_of_the_call() {
    let engine = Engine::start();
    let store = engine.open().await.tasks();
    let now = SystemTime::now();
    let part = TASK_BYTES_PER_OWNER / 10;
    store
        .create(restartable("t1", 5 * part), now)
        .await
        .unwrap();
    store
        .create(restartable("t2", 4 * part), now)
        .await
        .unwrap();
    let result = format!(r#"{{"content":[],"text":"{}"}}"#, "r".repeat(4 * part));
    let end = TaskChange::End(TaskEnd::Completed {
        result: RawValue::from_string(result).unwrap(),
        is_error: false,
        message: None,
    });
    let ended = store.change(&TaskKey::new("ada", "t1"), end, now).await;
    assert!(matches!(ended, Ok(Changed::Now(_))), "{ended:?}");
}

/// In an earlier format a record contained the call and the journal. Replicas of both kinds run
/// side by side while a server is upgraded.
#[tokio::test]
async fn a_record_with_its_call_in_it_is_read_and_written() {
    let engine = Engine::start();
    let store = engine.open_as("r:").await.tasks();
    let (key, now) = (TaskKey::new("ada", "t1"), SystemTime::now());
    store.create(restartable("t1", 10), now).await.unwrap();
    let name = "r:task:{ada}:t1";
    let record = redis_cli(&engine, &["GET", name]);
    let older = record.trim().replace(
        r#""call":"","journal":"""#,
        r#""call":"the call","journal":"the journal""#,
    );
    assert_ne!(record.trim(), older);
    redis_cli(&engine, &["SET", name, &older, "KEEPTTL"]);
    redis_cli(&engine, &["DEL", "r:task-restart:{ada}:t1"]);
    let whole = async || store.restart(&key, now).await.unwrap().unwrap();
    let read = whole().await;
    assert_eq!((&*read.call, &*read.journal), ("the call", "the journal"));
    store
        .change(&key, learns("more".into()), now)
        .await
        .unwrap();
    let read = whole().await;
    assert_eq!((&*read.call, &*read.journal), ("the call", "more"));
}
