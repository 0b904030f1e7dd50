//! `redis+sentinel://`, with real sentinels.

use std::sync::atomic::{AtomicU64, Ordering};

use turnbuckle_store::{StateClaim, contract, redis::Redis};
use turnbuckle_test_replicas::{Sentinels, until};

use super::replica::{HEALED_WITHIN, Pair, eventually};

async fn open(url: &str) -> Redis {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    Redis::open(url)
        .await
        .unwrap()
        .prefix(&format!("test{number}:"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_master_of_sentinels_keeps_all_contracts() {
    let sentinels = Sentinels::start();
    let url = sentinels.url();
    contract::tasks(async || open(&url).await.tasks()).await;
    contract::used_states(async || open(&url).await.used_states()).await;
    contract::sessions(async || open(&url).await.sessions()).await;
    contract::events(async || open(&url).await.events()).await;
    contract::limits(&open(&url).await.limits()).await;
    let bus = async || Redis::open(&url).await.unwrap().prefix("bus:").bus();
    contract::bus(bus).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn another_master_is_followed_after_one_is_killed() {
    let mut sentinels = Sentinels::start();
    let mut pair = Pair::open(&sentinels.url(), "f:").await;
    pair.works().await;
    for number in 0..20 {
        pair.begin_task(&format!("t{number}")).await.unwrap();
    }
    assert_eq!(pair.claim(b"before").await.unwrap(), StateClaim::FirstUse);
    assert!(pair.note("before").await.unwrap());
    sentinels.replicate();
    let killed = sentinels.master_port();
    sentinels.master().kill();
    let took = pair.works().await;
    println!("everything worked {took:?} after the master was killed");
    for number in 0..20 {
        assert!(pair.has_task(&format!("t{number}")).await, "t{number}");
    }
    assert_eq!(
        pair.claim(b"before").await.unwrap(),
        StateClaim::AlreadyUsed
    );
    assert!(pair.has_note("before").await);
    // The old master comes back, regards itself as master, and is made a replica.
    let mut servers = sentinels.servers.iter_mut();
    let old = servers.find(|server| server.port == killed).unwrap();
    old.start_again();
    until("it is a replica", || {
        old.says(&["ROLE"]).starts_with("slave")
    });
    pair.works().await;
    assert_ne!(sentinels.master_port(), killed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_master_that_is_made_a_replica_is_left_and_no_command_fails() {
    let mut sentinels = Sentinels::start();
    let mut pair = Pair::open(&sentinels.url(), "r:").await;
    pair.works().await;
    let before = sentinels.master_port();
    let said = sentinels.sentinels[0].says(&["SENTINEL", "FAILOVER", "main"]);
    assert_eq!(said, "OK");
    let mut number = 0;
    let switched = async {
        while sentinels.master_port() == before {
            number += 1;
            let id = format!("switch {number}");
            pair.claim(id.as_bytes()).await.unwrap();
        }
    };
    tokio::time::timeout(HEALED_WITHIN, switched)
        .await
        .expect("the sentinels make another one master");
    // The old master accepts writes for some seconds, and loses them when it becomes a replica.
    let mut servers = sentinels.servers.iter();
    let old = servers.find(|server| server.port == before).unwrap();
    until("nobody but the sentinels uses the old master", || {
        let clients = old.says(&["CLIENT", "LIST", "TYPE", "normal"]);
        let mut clients = clients.lines();
        clients.all(|it| it.contains("name=sentinel-") || it.contains("cmd=client|list"))
    });
    pair.works().await;
    assert_ne!(sentinels.master().port, before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_master_that_hangs_is_left() {
    let mut sentinels = Sentinels::start();
    let mut pair = Pair::open(&sentinels.url(), "h:").await;
    pair.works().await;
    let hung = sentinels.master_port();
    sentinels.master().signal("-STOP");
    let took = pair.works().await;
    println!("everything worked {took:?} after the master was stopped");
    let mut servers = sentinels.servers.iter();
    let old = servers.find(|server| server.port == hung).unwrap();
    old.signal("-CONT");
    until("it is a replica", || {
        old.says(&["ROLE"]).starts_with("slave")
    });
    pair.works().await;
}

/// The replicas do not receive the end of the task: they are stopped, and their connections closed.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_end_of_a_task_that_was_lost_with_its_master_is_written_again() {
    let mut sentinels = Sentinels::start();
    let mut pair = Pair::open(&sentinels.url(), "e:").await;
    pair.works().await;
    pair.begin_task("t").await.unwrap();
    sentinels.replicate();
    let port = sentinels.master_port();
    let replicas = || {
        let servers = sentinels.servers.iter();
        servers.filter(|server| server.port != port)
    };
    replicas().for_each(|replica| replica.signal("-STOP"));
    let mut servers = sentinels.servers.iter();
    let master = servers.find(|server| server.port == port).unwrap();
    master.says(&["CLIENT", "KILL", "TYPE", "replica"]);
    pair.end_task("t").await;
    assert_eq!(pair.is_over("t").await, Some(true));
    master.signal("-KILL");
    until("it is gone", || !master.is_there());
    replicas().for_each(|replica| replica.signal("-CONT"));
    let is_over = eventually(async || (pair.is_over("t").await == Some(true)).then_some(()));
    tokio::time::timeout(HEALED_WITHIN, is_over)
        .await
        .expect("it is written again");
    pair.works().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn sentinels_and_servers_have_passwords_of_their_own() {
    let mut sentinels = Sentinels::start_with("open", "sesame");
    let there = sentinels.hosts_and_service();
    let url = format!("redis+sentinel://:open@{there}/2?sentinel_password=sesame");
    let mut pair = Pair::open(&url, "p:").await;
    pair.works().await;
    let keys = sentinels.master().says(&["-n", "2", "DBSIZE"]);
    assert_ne!(keys, "0", "the database is the one that the URL names");
    for (url, wrong) in [
        (format!("redis+sentinel://:open@{there}"), "sentinel"),
        (
            format!("redis+sentinel://{there}?sentinel_password=sesame"),
            "the master of `main` at 127.0.0.1:",
        ),
        (
            format!("redis+sentinel://:open@{there}s?sentinel_password=sesame"),
            "`mains`",
        ),
    ] {
        let refused = Redis::open(&url).await.unwrap_err().to_string();
        assert!(refused.contains(wrong), "{refused}");
        assert!(!refused.contains("sesame"), "{refused}");
    }
    sentinels.master().kill();
    pair.works().await;
    eventually(async || pair.claim(b"after").await.ok()).await;
}

#[tokio::test]
async fn sentinels_that_are_away_are_named() {
    let url = "redis+sentinel://127.0.0.1:1,127.0.0.1:2/main";
    let refused = Redis::open(url).await.unwrap_err().to_string();
    assert!(
        refused.contains("no sentinel names the master of `main`"),
        "{refused}"
    );
    assert!(
        refused.contains("127.0.0.1:1") && refused.contains("127.0.0.1:2"),
        "{refused}"
    );
}
