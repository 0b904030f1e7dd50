//! Records of tasks that this version cannot read.

use std::{
    sync::{Arc, Mutex},
    time::UNIX_EPOCH,
};

use turnbuckle_store::{
    bus::{MemoryBus, NodeId},
    task::{LeasedTasks, NewTask, Restart, TaskChange, Tasks as _, TasksError},
};

use super::{Engine, TIMEOUT, new, redis_cli};

#[tokio::test]
async fn a_record_that_cannot_be_read_hides_no_other() {
    let engine = Engine::start();
    let tasks = Arc::new(engine.open_as("odd:").await.tasks());
    let bus = Arc::new(MemoryBus::default());
    let (lost, here) = (NodeId::new(1), NodeId::new(2));
    let one = LeasedTasks::new(tasks.clone(), bus.clone(), lost);
    let begin = async |id| {
        let restart = Restart::new("call".into(), "journal".into(), 1);
        let task = NewTask {
            restart: Some(restart),
            ..new("ada", id, None)
        };
        one.create(task, UNIX_EPOCH).await.unwrap().key()
    };
    let (odd, good) = (begin("odd").await, begin("good").await);
    let records = redis_cli(&engine, &["KEYS", &format!("*{}", odd.id)]);
    for key in records.lines() {
        if redis_cli(&engine, &["GET", key]).starts_with('{') {
            redis_cli(&engine, &["SET", key, "{}"]);
        }
    }
    let index = redis_cli(&engine, &["KEYS", "*tasks-at*"]);
    redis_cli(&engine, &["ZADD", index.trim(), "1", "not a key"]);

    let other = LeasedTasks::new(tasks.clone(), bus, here);
    let offered = Arc::new(Mutex::new(Vec::new()));
    let taken = Arc::clone(&offered);
    other.on_takeover(Box::new(move |record| {
        taken.lock().unwrap().push(record.task.task_id.clone());
    }));
    assert_eq!(other.look_after(lost).await.unwrap(), 1);
    assert_eq!(*offered.lock().unwrap(), std::slice::from_ref(&good.id));

    for _ in 0..2 {
        let page = other.list("ada", None, 10, UNIX_EPOCH).await.unwrap();
        let ids: Vec<_> = page.tasks.iter().map(|it| &it.task.task_id).collect();
        assert_eq!(ids, [&good.id]);
    }
    let take = TaskChange::TakeOver {
        turn: 0,
        node: here,
    };
    let taken = other.change(&odd, take, UNIX_EPOCH).await;
    assert!(matches!(taken, Err(TasksError::Unreadable(_))), "{taken:?}");
    let got = other.get(&odd, UNIX_EPOCH).await;
    assert!(matches!(got, Err(TasksError::Unreadable(_))), "{got:?}");
    let changed = tokio::time::timeout(TIMEOUT, tasks.changed(&odd, 1)).await;
    assert!(changed.expect("it is not waited for").is_err());
}
