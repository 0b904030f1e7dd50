//! Tasks that another process continues.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use turnbuckle::{
    Answers, Client, Connection, Revision,
    client::TaskTicket,
    protocol::{ElicitResult, TaskStatus},
};

use super::{Replica, TIMEOUT, begin, busy, redis};

/// How the process that runs the task ends.
#[derive(Clone, Copy, Debug)]
enum End {
    Killed,
    Terminated,
}

/// What the task does when its process ends.
#[derive(Clone, Copy, Debug)]
enum Moment {
    /// It waits for an answer.
    Asking,
    /// It has its answer, and continues to work.
    Baking,
}

impl End {
    /// How soon another process continues the task: a killed process first has to be noticed as missing.
    fn longest(self) -> Duration {
        match self {
            // The docs promise ten seconds, and half a second is usual after SIGTERM. On a busy machine,
            // replicas are late to notice, and the process is late to end.
            Self::Killed => Duration::from_secs(25),
            Self::Terminated => Duration::from_secs(15),
        }
    }

    async fn of(self, replica: &mut Replica) {
        match self {
            Self::Killed => replica.child.kill().await.expect("it is killed"),
            Self::Terminated => {
                replica.terminate();
                let ended = tokio::time::timeout(TIMEOUT, replica.child.wait()).await;
                let status = ended.expect("it ends").expect("it can be waited for");
                assert!(status.success(), "{status}");
            }
        }
    }
}

/// A client that counts how often it is asked.
async fn counting(replica: &Replica, revision: Revision) -> (Connection, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let answers = Answers::new().on_form(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
        async { Ok(ElicitResult::accept([("taste", "lemon")])) }
    });
    let client = Client::new("test", "1.0.0").answering(answers);
    let connected = client.only(revision).connect(&*replica.url).await;
    (connected.expect("it answers"), asked)
}

async fn until_status(client: &Connection, ticket: &TaskTicket, wanted: TaskStatus) {
    let reached = tokio::time::timeout(TIMEOUT, async {
        loop {
            let task = client.task(ticket.clone()).status().await;
            let status = task.expect("it is there").status;
            assert!(!status.is_terminal(), "{status:?}");
            if status == wanted {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    });
    reached.await.expect("the status is reached");
}

async fn another_goes_on(revision: Revision, end: End, moment: Moment) {
    let folder = tempfile::tempdir().expect("a folder");
    let (_engine, redis) = redis(folder.path()).await;
    another_goes_on_with(&redis, revision, end, moment).await;
}

/// The same with the Redis at this URL.
async fn another_goes_on_with(redis: &str, revision: Revision, end: End, moment: Moment) {
    let case = format!("{revision} {end:?} {moment:?}");
    let mut one = Replica::start(redis).await;
    let quick = [("KITCHEN_BAKING", "0")];
    let others = [
        Replica::start_with(redis, &quick).await,
        Replica::start_with(redis, &quick).await,
    ];
    let first = one.child.id().expect("it runs");
    let here = one.connect(revision).await;
    let (there, asked) = counting(&others[0], revision).await;
    let ticket = begin(&here, "feast").await.ticket().clone();
    until_status(&there, &ticket, TaskStatus::InputRequired).await;
    let result = |ticket: TaskTicket| {
        let there = there.clone();
        tokio::spawn(async move { there.task(ticket).result().await })
    };
    let (made, since) = match moment {
        Moment::Asking => {
            let since = Instant::now();
            end.of(&mut one).await;
            (result(ticket.clone()), since)
        }
        Moment::Baking => {
            let made = result(ticket.clone());
            let baking = tokio::time::timeout(TIMEOUT, async {
                while busy(&here).await != "1" {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            });
            baking.await.expect("it has its answer");
            let since = Instant::now();
            end.of(&mut one).await;
            (made, since)
        }
    };
    let made = tokio::time::timeout(TIMEOUT, made).await;
    let made = made.unwrap_or_else(|_| panic!("{case}: no replica goes on with the task"));
    let made = made.expect("it does not panic").expect("it has a result");
    let took = since.elapsed();
    let made = made.text();
    let ordered = format!("a feast with lemon, ordered by {first}, made by ");
    let maker = made.strip_prefix(&ordered);
    let maker = maker.unwrap_or_else(|| panic!("{case}: {made}"));
    let ids = others.each_ref().map(|other| other.child.id());
    assert!(ids.contains(&maker.parse().ok()), "{case}: {made}");
    assert_eq!(asked.load(Ordering::Relaxed), 1, "{case}: asked once");
    assert!(took < end.longest(), "{case}: it took {took:?}");
    // All replicas see the same task.
    let (elsewhere, _) = counting(&others[1], revision).await;
    let again = elsewhere.task(ticket).result().await;
    assert_eq!(again.expect("it is kept").text(), made, "{case}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_of_a_killed_process_goes_on_in_a_session() {
    for moment in [Moment::Asking, Moment::Baking] {
        another_goes_on(Revision::V2025_11_25, End::Killed, moment).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_of_a_killed_process_goes_on_without_sessions() {
    for moment in [Moment::Asking, Moment::Baking] {
        another_goes_on(Revision::V2026_07_28, End::Killed, moment).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_ends_in_order_hands_its_tasks_over() {
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        for moment in [Moment::Asking, Moment::Baking] {
            another_goes_on(revision, End::Terminated, moment).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_goes_on_with_a_cluster_of_redis() {
    let cluster = tokio::task::block_in_place(turnbuckle_test_replicas::Cluster::start);
    for (end, moment) in [
        (End::Killed, Moment::Baking),
        (End::Terminated, Moment::Asking),
    ] {
        another_goes_on_with(&cluster.url(), Revision::V2025_11_25, end, moment).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_goes_on_with_sentinels_of_redis() {
    let sentinels = tokio::task::block_in_place(turnbuckle_test_replicas::Sentinels::start);
    for (end, moment) in [
        (End::Killed, Moment::Asking),
        (End::Terminated, Moment::Baking),
    ] {
        another_goes_on_with(&sentinels.url(), Revision::V2026_07_28, end, moment).await;
    }
}

/// The task continues even if no client polls it meanwhile.
#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_nobody_asks_for_goes_on() {
    for end in [End::Killed, End::Terminated] {
        let folder = tempfile::tempdir().expect("a folder");
        let (_engine, redis) = redis(folder.path()).await;
        let (mut one, other) = (Replica::start(&redis).await, Replica::start(&redis).await);
        let (here, _) = counting(&one, Revision::V2026_07_28).await;
        let there = other.connect(Revision::V2026_07_28).await;
        let ticket = begin(&here, "feast").await.ticket().clone();
        let answering = {
            let (there, ticket) = (there.clone(), ticket.clone());
            tokio::spawn(async move { there.task(ticket).result().await })
        };
        let baking = async |client: &Connection| {
            let baking = tokio::time::timeout(TIMEOUT, async {
                while busy(client).await != "1" {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            });
            baking.await.expect("it bakes");
        };
        baking(&here).await;
        answering.abort();
        end.of(&mut one).await;
        baking(&there).await;
        there.task(ticket).cancel().await.expect("it is cancelled");
        let stopped = tokio::time::timeout(TIMEOUT, async {
            while busy(&there).await != "0" {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        });
        stopped
            .await
            .expect("a cancelled task stops where it went on");
    }
}
