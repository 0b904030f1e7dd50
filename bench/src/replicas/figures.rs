//! `bench replicas`: the cost of running a server as several replicas.

use std::{sync::Arc, time::Duration};

use serde_json::json;
use turnbuckle_test_replicas::{Balancer, Lone};

use super::{
    awake::AwakeProcessors,
    exchange::Plan,
    guest::{Guest, Run, deadline},
    history::History,
    random::Random,
    redis_commands::Monitor,
    reply_times,
    tally::{Fault, Kind, Tally},
};
use crate::{
    Result,
    idle::weigh,
    load::{self, Call, Operation, Until},
    measure::{
        crowd::Crowd,
        valgrind::{Transport, Trial},
    },
    peers::{build_own, own},
    process::{Running, settle},
    report::table::{Table, count, times},
};

/// How many requests are counted for their instructions.
const COUNTED: u64 = 400;

/// How often each kind of request is made to count its Redis commands.
const TIMES: u32 = 20;

/// How many clients call at once to measure calls per second.
const CALLERS: usize = 16;

/// How long they call.
const CALLING: Until = Until::Elapsed {
    warm: Duration::from_secs(1),
    measured: Duration::from_secs(5),
};

/// Clients by the index of their revision.
const SESSION: usize = 3;
const MODERN: usize = 4;

pub(crate) async fn command() -> Result<()> {
    build_own("bench-replica", "replicas")?;
    settle()?;
    let redis = Lone::start();
    let alone = program(None);
    let replica = program(Some(&redis.url()));
    println!("{}", instructions(&alone, &replica).await?);
    println!("{}", load_and_memory(&alone, &replica).await?);
    println!("{}", replies(&replica, &redis).await?);
    println!("{}", commands(&replica, &redis).await?);
    Ok(())
}

fn program(redis: Option<&str>) -> Vec<String> {
    let mut command = vec![own("bench-replica").to_string_lossy().into_owned()];
    command.push("{PORT}".to_owned());
    if let Some(url) = redis {
        command.extend(["--redis".to_owned(), url.to_owned()]);
    }
    command
}

/// Instructions of a plain call with replicas and without.
async fn instructions(alone: &[String], replica: &[String]) -> Result<Table> {
    let mut table = Table::new([
        "instructions of a call of 100 B",
        "one server",
        "a replica",
        "ratio",
    ]);
    for (name, call) in [
        ("in a session", Call::legacy(Operation::Echo(100))),
        ("of 2026-07-28", Call::modern(Operation::Echo(100))),
    ] {
        eprintln!("counting: a call {name}");
        let trial = |command| Trial {
            command,
            transport: Transport::Http,
            call,
            crowd: Crowd::Nobody,
        };
        let one = trial(alone).instructions(COUNTED).await?;
        let other = trial(replica).instructions(COUNTED).await?;
        table.row([
            name.to_owned(),
            count(one),
            count(other),
            times(other / one),
        ]);
    }
    Ok(table)
}

async fn load_and_memory(alone: &[String], replica: &[String]) -> Result<Table> {
    let mut table = Table::new(["on one core", "one server", "a replica"]);
    for (name, call) in [
        (
            "calls a second in sessions",
            Call::legacy(Operation::Echo(100)),
        ),
        (
            "calls a second of 2026-07-28",
            Call::modern(Operation::Echo(100)),
        ),
    ] {
        let mut row = vec![name.to_owned()];
        for command in [alone, replica] {
            let (server, address) = Running::http(command).await?;
            let measured = load::http::drive((server.pid, address), call, CALLERS, CALLING).await?;
            // The rate of a core that never waits for the generator.
            row.push(count(1e6 / measured.cpu_us));
            server.end().await?;
        }
        table.row(row);
    }
    for (name, crowd) in [
        (
            "KB for an idle session",
            Crowd::Sessions as fn(usize) -> Crowd,
        ),
        ("KB for an idle session with its stream", Crowd::Streams),
        ("KB for a listener of 2026-07-28", Crowd::Listeners),
    ] {
        let mut row = vec![name.to_owned()];
        for command in [alone, replica] {
            // Megabytes for a thousand are kilobytes for one.
            row.push(count(weigh(command, crowd).await?.1));
        }
        table.row(row);
    }
    Ok(table)
}

/// A client at an address.
fn guest(address: String, place: usize) -> Arc<Guest> {
    let run = Run {
        address,
        tally: Tally::new(None),
        history: History::default(),
        is_over: false.into(),
    };
    Arc::new(Guest::new(&Arc::new(run), place))
}

async fn replies(replica: &[String], redis: &Lone) -> Result<Table> {
    let callers = [replica, &["--callers".to_owned()]].concat();
    let (one, here_at) = Running::http(&callers).await?;
    let (other, there_at) = Running::http(&callers).await?;
    let [here, there] = [here_at, there_at].map(|at| guest(at.to_string(), SESSION));
    here.open().await.ok_or("no session was opened")?;
    there.set_session(here.session());
    let redis = redis.server.pid();
    let asleep = reply_times::measure(&here, &there, redis).await?;
    let awake = AwakeProcessors::start()?;
    let measured = reply_times::measure(&here, &there, redis).await?;
    drop(awake);
    check(&here)?;
    for process in [one, other] {
        process.end().await?;
    }
    let mut table = Table::new([
        "a reply at another replica than the call",
        "p50 ms",
        "p99 ms",
        "p50 ms, processors asleep between calls",
        "p99 ms",
    ]);
    for (name, awake, asleep) in [
        ("until it is taken (202)", measured.taken, asleep.taken),
        (
            "until the call has its result",
            measured.result,
            asleep.result,
        ),
    ] {
        let times = [&awake, &asleep].map(|it| [0.5, 0.99].map(|part| count(it.quantile(part))));
        let cells = [name.to_owned()].into_iter();
        table.row(cells.chain(times.into_iter().flatten()));
    }
    let name = "µs of CPU of Redis for each such call".to_owned();
    let empty = String::new;
    table.row([name, count(measured.redis_us), empty(), empty(), empty()]);
    Ok(table)
}

fn check(guest: &Guest) -> Result<()> {
    let faults: u64 = Fault::ALL
        .iter()
        .map(|fault| guest.run.tally.faults(*fault))
        .sum();
    if faults == 0 {
        Ok(())
    } else {
        Err("there were wrong answers".into())
    }
}

/// Redis commands for each kind of request, with two replicas that take requests in turn, so that
/// the messages after the first one of an exchange arrive at the other replica.
async fn commands(replica: &[String], redis: &Lone) -> Result<Table> {
    let callers = [replica, &["--callers".to_owned()]].concat();
    let (one, here) = Running::http(&callers).await?;
    let (other, there) = Running::http(&callers).await?;
    let balancer = Balancer::start(vec![here.to_string(), there.to_string()]);
    let session = guest(balancer.address.clone(), SESSION);
    let modern = guest(balancer.address.clone(), MODERN);
    session.open().await.ok_or("no session was opened")?;
    // Both replicas know the session, and one-time setup is done.
    for guest in [&session, &modern] {
        for _ in 0..4 {
            guest.order().await.ok_or("a call was not answered")?;
        }
    }
    let mut monitor = Monitor::start(&redis.server).await?;
    let mut table = Table::new(["request", "commands of Redis"]);
    let mut random = Random::new(1);
    for (name, guest) in [("in a session", &session), ("of 2026-07-28", &modern)] {
        let missing = || format!("not answered: {name}");
        let calls = monitor.count(TIMES, async || {
            Ok(guest.order().await.ok_or_else(missing)?)
        });
        table.row([format!("a plain call {name}"), count(calls.await?)]);
        let lists = monitor.count(TIMES, async || list(guest).await);
        table.row([format!("a list {name}"), count(lists.await?)]);
        let asks = monitor.count(TIMES, async || Ok(guest.ask().await.ok_or_else(missing)?));
        table.row([format!("a call that asks, {name}"), count(asks.await?)]);
        let cancels = monitor.count(TIMES, async || {
            guest.cancel().await;
            Ok(())
        });
        table.row([
            format!("a call that is cancelled, {name}"),
            count(cancels.await?),
        ]);
        let tasks = monitor.count(TIMES, async || {
            guest.task(&mut random).await;
            Ok(())
        });
        table.row([
            format!("a task with its polls, {name}"),
            count(tasks.await?),
        ]);
    }
    let resumes = monitor.count(TIMES, async || {
        session.resume(&mut random).await;
        Ok(())
    });
    let name = "a call with 20 steps that is resumed at another replica".to_owned();
    table.row([name, count(resumes.await?)]);
    let subscribes = monitor.count(TIMES, async || subscribe(&session).await);
    table.row(["a subscription".to_owned(), count(subscribes.await?)]);
    let sessions = monitor.count(TIMES, async || {
        session.end().await;
        session.open().await.ok_or("no session was opened")?;
        Ok(())
    });
    let name = "DELETE, `initialize`, a subscription, and two first looks".to_owned();
    table.row([name, count(sessions.await?)]);
    drop(monitor);
    for guest in [&session, &modern] {
        check(guest)?;
    }
    for process in [one, other] {
        process.end().await?;
    }
    Ok(table)
}

async fn list(guest: &Guest) -> Result<()> {
    let message = guest.request(guest.number(), "tools/list", json!({}));
    let ended = guest.exchange(Kind::Call, &message, Plan::Wait).await;
    let listed = ended.and_then(super::exchange::Ended::result);
    listed.map_err(|trouble| trouble.to_string())?;
    Ok(())
}

async fn subscribe(guest: &Guest) -> Result<()> {
    let params = json!({ "uri": format!("{}-{}", guest.uri(), guest.number()) });
    let message = guest.request(guest.number(), "resources/subscribe", params);
    let arrival = guest.post(&message, deadline()).await;
    let arrival = arrival.map_err(|trouble| trouble.to_string())?;
    match arrival.status {
        200 => Ok(()),
        status => Err(format!("status {status} for a subscription").into()),
    }
}
