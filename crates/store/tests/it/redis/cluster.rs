//! `redis+cluster://`, with a real cluster of six nodes.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use turnbuckle_store::{StateClaim, contract, redis::Redis};
use turnbuckle_test_replicas::{Cluster, Lone, until};

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
async fn a_cluster_keeps_all_contracts() {
    let cluster = Cluster::start();
    let url = cluster.url();
    contract::tasks(async || open(&url).await.tasks()).await;
    contract::used_states(async || open(&url).await.used_states()).await;
    contract::sessions(async || open(&url).await.sessions()).await;
    contract::events(async || open(&url).await.events()).await;
    contract::limits(&open(&url).await.limits()).await;
    let bus = async || Redis::open(&url).await.unwrap().prefix("bus:").bus();
    contract::bus(bus).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn keys_are_on_all_nodes_and_all_of_them_expire() {
    let cluster = Cluster::start();
    let mut pair = Pair::open(&cluster.url(), "s:").await;
    pair.works().await;
    for number in 0..30 {
        let id = format!("t{number}");
        pair.begin_task(&id).await.unwrap();
        pair.note(&id).await.unwrap();
        pair.claim(id.as_bytes()).await.unwrap();
    }
    let masters = cluster.masters();
    assert_eq!(masters.len(), 3);
    for master in masters {
        let keys = master.says(&["--scan"]);
        let keys: Vec<_> = keys.lines().collect();
        for kind in [
            "s:task:",
            "s:tasks-of:",
            "s:task-owner:",
            "s:session:",
            "s:spent:",
        ] {
            let count = keys.iter().filter(|key| key.starts_with(kind)).count();
            assert!(
                count > 0,
                "none of `{kind}` is at {}: {keys:?}",
                master.port
            );
        }
        for key in keys {
            let left: i64 = master.says(&["TTL", key]).parse().unwrap();
            assert_ne!(left, -1, "{key} is kept for ever");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn everything_heals_after_any_master_is_killed() {
    let mut cluster = Cluster::start();
    let mut pair = Pair::open(&cluster.url(), "f:").await;
    pair.works().await;
    for number in 0..20 {
        let id = format!("t{number}");
        pair.begin_task(&id).await.unwrap();
        pair.note(&id).await.unwrap();
        assert_eq!(
            pair.claim(id.as_bytes()).await.unwrap(),
            StateClaim::FirstUse
        );
    }
    // First the node that has the list of replicas, then the one that has the channel of a replica.
    // Each is started again before the next.
    for key in [
        "f:nodes:{all}",
        "f:channel:{0000000000000002}",
        "f:channel:{changes}",
    ] {
        cluster.replicate();
        let place = cluster.place_of(key);
        cluster.nodes[place].kill();
        let took = pair.works().await;
        println!("everything worked {took:?} after the node of `{key}` was killed");
        // All used keys may now be on other nodes.
        until("another node has its slots", || {
            cluster.place_of(key) != place
        });
        for number in 0..20 {
            let id = format!("t{number}");
            assert!(pair.has_task(&id).await, "{id}");
            assert!(pair.has_note(&id).await, "{id}");
            assert_eq!(
                pair.claim(id.as_bytes()).await.unwrap(),
                StateClaim::AlreadyUsed
            );
        }
        cluster.nodes[place].start_again();
        until("it is a replica again", || {
            let said = cluster.nodes[place].says(&["INFO", "replication"]);
            said.contains("master_link_status:up")
        });
        until("the cluster is whole", || {
            cluster.nodes.iter().all(|node| {
                let nodes = node.says(&["CLUSTER", "NODES"]);
                !nodes.contains("fail")
            })
        });
    }
}

/// The replica that is to take over hangs for longer than a node may be silent.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn everything_heals_after_an_election_that_takes_long() {
    let mut cluster = Cluster::start();
    let mut pair = Pair::open(&cluster.url(), "l:").await;
    pair.works().await;
    pair.begin_task("t").await.unwrap();
    cluster.replicate();
    let place = cluster.place_of("l:nodes:{all}");
    cluster.nodes[place + 3].signal("-STOP");
    cluster.nodes[place].kill();
    let goes_on = async {
        tokio::time::sleep(Duration::from_secs(8)).await;
        cluster.nodes[place + 3].signal("-CONT");
    };
    let (took, ()) = tokio::join!(pair.works(), goes_on);
    println!("everything worked {took:?} after the node was killed");
    assert!(pair.has_task("t").await);
}

/// The replica does not receive the end of the task: it is stopped, and its connection closed.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_end_of_a_task_that_was_lost_with_its_master_is_written_again() {
    let cluster = Cluster::start();
    let mut pair = Pair::open(&cluster.url(), "e:").await;
    pair.works().await;
    pair.begin_task("t").await.unwrap();
    cluster.replicate();
    let place = cluster.place_of("e:task:{owner of t}:t");
    let (master, replica) = (&cluster.nodes[place], &cluster.nodes[place + 3]);
    replica.signal("-STOP");
    master.says(&["CLIENT", "KILL", "TYPE", "replica"]);
    pair.end_task("t").await;
    assert_eq!(pair.is_over("t").await, Some(true));
    master.signal("-KILL");
    until("it is gone", || !master.is_there());
    replica.signal("-CONT");
    let is_over = eventually(async || (pair.is_over("t").await == Some(true)).then_some(()));
    tokio::time::timeout(HEALED_WITHIN, is_over)
        .await
        .expect("it is written again");
    pair.works().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_node_that_hangs_is_left() {
    let cluster = Cluster::start();
    let mut pair = Pair::open(&cluster.url(), "h:").await;
    pair.works().await;
    let place = cluster.place_of("h:channel:{0000000000000002}");
    cluster.nodes[place].signal("-STOP");
    let took = pair.works().await;
    println!("everything worked {took:?} after a node was stopped");
    cluster.nodes[place].signal("-CONT");
    until("it is a replica", || {
        cluster.nodes[place].says(&["ROLE"]).starts_with("slave")
    });
    pair.works().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn slots_move_while_they_are_used() {
    let cluster = Cluster::start();
    let mut pair = Pair::open(&cluster.url(), "m:").await;
    pair.works().await;
    pair.note("a").await.unwrap();
    pair.begin_task("t").await.unwrap();
    for key in [
        "m:session:{a}",
        "m:task:{owner of t}:t",
        "m:nodes:{all}",
        "m:channel:{0000000000000002}",
        "m:channel:{all}",
        "m:channel:{changes}",
        "m:channel:{tasks}",
    ] {
        let (slot, before) = (cluster.slot_of(key), cluster.place_of(key));
        cluster
            .migrate(slot, async || {
                assert!(pair.has_note("a").await);
                assert!(pair.note("a").await.unwrap());
                assert!(pair.has_task("t").await);
            })
            .await;
        assert_ne!(cluster.place_of(key), before, "{key} is elsewhere");
        assert!(pair.has_note("a").await);
        assert!(pair.has_task("t").await);
        let took = pair.works().await;
        println!("everything worked {took:?} after `{key}` moved");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_failover_on_request_is_followed() {
    let cluster = Cluster::start();
    let mut pair = Pair::open(&cluster.url(), "o:").await;
    pair.works().await;
    let place = cluster.place_of("o:channel:{0000000000000002}");
    let replica = &cluster.nodes[place + 3];
    assert_eq!(replica.says(&["CLUSTER", "FAILOVER"]), "OK");
    until("the replica is master", || {
        replica.says(&["ROLE"]).starts_with("master")
    });
    let took = pair.works().await;
    println!("everything worked {took:?} after the failover");
}

#[tokio::test]
async fn nodes_that_are_away_and_nodes_of_no_cluster_are_told() {
    let refused = Redis::open("redis+cluster://127.0.0.1:1,127.0.0.1:2").await;
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("no node of the cluster"), "{refused}");
    let one = Lone::start();
    let url = format!("redis+cluster://127.0.0.1:{}", one.port());
    let refused = Redis::open(&url).await.unwrap_err().to_string();
    assert!(refused.contains("cluster support disabled"), "{refused}");
}
