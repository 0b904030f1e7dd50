//! Clients of every revision, each of whose requests reaches another replica.

use std::time::{Duration, Instant};

use serde_json::json;
use tokio::time::timeout;
use turnbuckle::{Answers, Client, Revision, protocol::ElicitResult};

use super::{Cluster, TIMEOUT, wire::Session};

const LEGACY: [&str; 3] = ["2025-03-26", "2025-06-18", "2025-11-25"];

#[tokio::test(flavor = "multi_thread")]
async fn clients_of_every_revision_work_through_a_balancer() {
    let cluster = Cluster::start(3).await;
    for revision in Revision::ALL {
        let answers =
            Answers::new().on_form(|_| async { Ok(ElicitResult::accept([("name", "Ada")])) });
        let client = Client::new("test", "1.0.0").answering(answers);
        let connected = client.only(*revision).connect(&*cluster.balancer.url).await;
        let client = connected.unwrap_or_else(|error| panic!("{revision}: {error}"));
        let mut cooks = std::collections::BTreeSet::new();
        for _ in 0..6 {
            let lunch = timeout(TIMEOUT, client.call("lunch", json!({}))).await;
            let lunch = lunch.expect("it is answered in time");
            cooks.insert(
                lunch
                    .unwrap_or_else(|error| panic!("{revision}: {error}"))
                    .text(),
            );
        }
        // With HTTP+SSE there is one stream, and all calls run where the stream is.
        if revision.as_str() != "2024-11-05" {
            assert!(cooks.len() > 1, "{revision}: all by {cooks:?}");
        }
        if revision.as_str() >= "2025-06-18" {
            for _ in 0..3 {
                let tea = timeout(TIMEOUT, client.call("tea", json!({}))).await;
                let tea = tea.expect("it is answered in time");
                let tea = tea.unwrap_or_else(|error| panic!("{revision}: {error}"));
                assert_eq!(tea.text(), "tea for Ada", "{revision}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_one_process_asks_is_answered_cancelled_and_resumed_through_another() {
    let cluster = Cluster::start(2).await;
    let (here, there) = (&*cluster.replicas[0].host, &*cluster.replicas[1].host);
    for revision in ["2025-06-18", "2025-11-25"] {
        let session = Session::open(here, revision).await;

        let mut tea = session.call(here, 1, "tea").await;
        let (_, question) = tea.message().await.expect("a question");
        let answer = json!({
            "jsonrpc": "2.0", "id": question["id"],
            "result": { "action": "accept", "content": { "name": "Ada" } },
        });
        let sent = Instant::now();
        assert_eq!(session.post(there, answer).await.status, 202);
        let (_, result) = tea.message().await.expect("a result");
        println!(
            "{revision}: answered through another replica in {:?}",
            sent.elapsed()
        );
        assert_eq!(result["result"]["content"][0]["text"], "tea for Ada");

        let mut dough = session.call(here, 2, "knead").await;
        let (first, progress) = dough.message().await.expect("progress");
        assert_eq!(progress["method"], "notifications/progress");
        drop(dough);
        let mut dough = session.resume(there, &first).await;
        assert_eq!(dough.status, 200);
        let mut step = progress["params"]["progress"].as_f64().expect("a step");
        for _ in 0..20 {
            let (_, progress) = dough.message().await.expect("it goes on");
            let next = progress["params"]["progress"].as_f64().expect("a step");
            assert!(next > step, "{next} came after {step}");
            step = next;
        }
        let cancel = json!({
            "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 2 },
        });
        assert_eq!(session.post(there, cancel).await.status, 202);
        let ended = timeout(TIMEOUT, async { while dough.message().await.is_some() {} });
        ended.await.expect("the stream ends");

        assert_eq!(session.end(there).await, 204);
        for address in [here, there] {
            assert_eq!(session.call(address, 3, "lunch").await.status, 404);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plain_call_costs_no_command_of_redis() {
    let cluster = Cluster::start(2).await;
    let hosts = [&*cluster.replicas[0].host, &*cluster.replicas[1].host];
    for revision in LEGACY {
        let session = Session::open(hosts[0], revision).await;
        // Each replica reads once what is stored about the session.
        for host in hosts {
            session.call(host, 1, "lunch").await.result(1).await;
        }
        let before = cluster.commands();
        for number in 2..52 {
            let host = hosts[usize::try_from(number % 2).expect("0 or 1")];
            let lunch = session
                .call(host, number, "lunch")
                .await
                .result(number)
                .await;
            assert!(lunch.get("result").is_some(), "{lunch}");
        }
        assert_eq!(cluster.commands(), before, "{revision}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_outlives_a_killed_replica_and_its_call_is_told_of() {
    let mut cluster = Cluster::start(2).await;
    let (here, there) = (
        cluster.replicas[0].host.clone(),
        cluster.replicas[1].host.clone(),
    );
    let session = Session::open(&here, "2025-11-25").await;
    let mut dough = session.call(&here, 7, "knead").await;
    let (last, _) = dough.message().await.expect("progress");
    cluster.replicas[0]
        .child
        .kill()
        .await
        .expect("it is killed");
    let killed = Instant::now();
    while dough.message().await.is_some() {}
    let mut lost = session.resume(&there, &last).await;
    // The stored events come first.
    let error = loop {
        let (_, message) = lost.message().await.expect("an answer");
        if message.get("id").is_some() {
            break message;
        }
        assert_eq!(message["method"], "notifications/progress");
    };
    println!(
        "told after {:?} that the replica was killed",
        killed.elapsed()
    );
    assert_eq!(error["id"], 7);
    assert!(
        error["error"]["message"]
            .as_str()
            .expect("a text")
            .contains("call again")
    );
    let lunch = session.call(&there, 8, "lunch").await.result(8).await;
    assert!(lunch.get("result").is_some(), "{lunch}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_result_of_a_call_outlives_its_replica() {
    for revision in ["2025-06-18", "2025-11-25"] {
        let mut cluster = Cluster::start(2).await;
        let (here, there) = (
            cluster.replicas[0].host.clone(),
            cluster.replicas[1].host.clone(),
        );
        let session = Session::open(&here, revision).await;
        let mut tea = session.call(&here, 1, "tea").await;
        let (asked, question) = tea.message().await.expect("a question");
        // The client has left when the result arrives.
        drop(tea);
        let answer = json!({
            "jsonrpc": "2.0", "id": question["id"],
            "result": { "action": "accept", "content": { "name": "Ada" } },
        });
        assert_eq!(session.post(&there, answer).await.status, 202);
        let stream = asked.rsplitn(3, '-').last().expect("a stream").to_owned();
        let written = timeout(TIMEOUT, async {
            while cluster.redis_says(&["XLEN", &format!("turnbuckle:events:{{{stream}}}")]) != "2" {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        });
        written.await.expect("the result is written down");
        let killed = cluster.replicas[0].child.kill().await;
        killed.expect("it is killed");
        let mut resumed = session.resume(&there, &asked).await;
        let (_, result) = resumed.message().await.expect("a result");
        assert_eq!(result["result"]["content"][0]["text"], "tea for Ada");
        assert!(resumed.message().await.is_none(), "and nothing else");
        // The stream of another session cannot be read with this one.
        let stranger = Session::open(&there, revision).await;
        let mut refused = stranger.resume(&there, &asked).await;
        if refused.status == 200 {
            let (_, error) = refused.message().await.expect("an answer");
            assert!(error.get("error").is_some(), "{error}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_task_of_a_killed_replica_has_failed_within_ten_seconds() {
    let mut cluster = Cluster::start(2).await;
    let (here, there) = (
        cluster.replicas[0].url.clone(),
        cluster.replicas[1].url.clone(),
    );
    let client = Client::new("test", "1.0.0").only(Revision::V2026_07_28);
    let (here, there) = (
        client.clone().connect(&*here).await.expect("it answers"),
        client.connect(&*there).await.expect("it answers"),
    );
    let ticket = super::begin(&here, "bread").await.ticket().clone();
    cluster.replicas[0]
        .child
        .kill()
        .await
        .expect("it is killed");
    let killed = Instant::now();
    let failed = timeout(TIMEOUT, there.task(ticket).result()).await;
    let failed = failed.expect("it ends in time").expect_err("it has failed");
    let took = killed.elapsed();
    println!("told after {took:?} that the task failed");
    assert!(failed.to_string().contains("has ended"), "{failed}");
    assert!(
        took < Duration::from_secs(15),
        "{took:?}, on a busy machine"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replica_that_is_told_to_end_ends_its_tasks_first() {
    let mut cluster = Cluster::start(2).await;
    let client = Client::new("test", "1.0.0").only(Revision::V2026_07_28);
    let here = client
        .clone()
        .connect(&*cluster.replicas[0].url)
        .await
        .expect("it answers");
    let there = client
        .connect(&*cluster.replicas[1].url)
        .await
        .expect("it answers");
    let ticket = super::begin(&here, "bread").await.ticket().clone();
    drop(here);
    cluster.replicas[0].terminate();
    let ended = timeout(TIMEOUT, cluster.replicas[0].child.wait()).await;
    assert!(ended.expect("it ends in time").expect("it ends").success());
    let failed = timeout(TIMEOUT, there.task(ticket).result()).await;
    let failed = failed
        .expect("it is known at once")
        .expect_err("it has failed");
    assert!(failed.to_string().contains("shut down"), "{failed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn plain_calls_go_on_while_redis_is_away_and_the_rest_heals() {
    let mut cluster = Cluster::start(2).await;
    let (here, there) = (
        cluster.replicas[0].host.clone(),
        cluster.replicas[1].host.clone(),
    );
    let session = Session::open(&here, "2025-06-18").await;
    cluster.stop_redis().await;
    // Known here, and used there for the first time.
    for (number, host) in [(1, &here), (2, &there), (3, &here), (4, &there)] {
        let lunch = session
            .call(host, number, "lunch")
            .await
            .result(number)
            .await;
        assert!(lunch.get("result").is_some(), "{lunch}");
    }
    let opened = Session::open(&there, "2025-06-18").await;
    let lunch = opened.call(&here, 1, "lunch").await.result(1).await;
    assert!(lunch.get("result").is_some(), "{lunch}");
    // Requests that need Redis are refused, and can be tried again.
    assert_eq!(session.end(&here).await, 503);
    let mut tea = session.call(&here, 5, "tea").await;
    let (_, question) = tea.message().await.expect("a question");
    let answer = json!({
        "jsonrpc": "2.0", "id": question["id"],
        "result": { "action": "accept", "content": { "name": "Ada" } },
    });
    assert_eq!(session.post(&there, answer.clone()).await.status, 503);

    cluster.start_redis().await;
    let healed = timeout(TIMEOUT, async {
        while session.post(&there, answer.clone()).await.status != 202 {}
    });
    healed.await.expect("it heals");
    let (_, result) = tea.message().await.expect("a result");
    assert_eq!(result["result"]["content"][0]["text"], "tea for Ada");
    assert_eq!(session.end(&there).await, 204);
}
