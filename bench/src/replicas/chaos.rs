//! `bench chaos`, from its arguments to its result.

use std::{
    fs::File,
    path::PathBuf,
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use tokio::{
    sync::mpsc,
    task::JoinSet,
    time::{sleep, timeout},
};

use super::{
    conductor::Conductor,
    event::REPLICAS,
    guest::{Guest, Run},
    history::History,
    random::Random,
    recovery, report,
    sdk::{Plan, SdkClients, Wanted},
    site::{BalancerKind, Balancing, Replica},
    store::{Store, StoreKind},
    tally::{Fault, Tally},
    work,
};
use crate::{
    Result,
    peers::{build_own, own, target},
    process::allow_files,
};

pub(crate) const USAGE: &str = "chaos [--clients N] [--minutes N] [--seed N] [--balancer own|haproxy] [--store redis|sentinel|cluster] [--sdk N] [--replica PROGRAM]";

/// Open files for each client: its requests and its stream, each with two more at the balancer, and some reserve.
const FILES_PER_CLIENT: usize = 12;

/// The calm at the end, after which everything must work.
const CALM: Duration = Duration::from_secs(10);

/// How long clients may take to finish their work.
const FINISHED_WITHIN: Duration = Duration::from_mins(2);

/// The options of the command line.
struct Options {
    clients: usize,
    minutes: f64,
    seed: u64,
    balancer: BalancerKind,
    store: StoreKind,
    sdk: Wanted,
    /// The program of the replicas; built if not given.
    replica: Option<PathBuf>,
}

impl Options {
    fn parse(words: &[&str]) -> Result<Self> {
        let mut options = Self {
            clients: 1000,
            minutes: 2.0,
            seed: u64::from(std::process::id()),
            balancer: BalancerKind::Own,
            store: StoreKind::Redis,
            sdk: Wanted::Installed,
            replica: None,
        };
        for pair in words.chunks(2) {
            let &[name, value] = pair else {
                return Err(format!("`{}` has no value; usage: bench {USAGE}", pair[0]).into());
            };
            let odd = || format!("`{name} {value}` is not known; usage: bench {USAGE}");
            match name {
                "--clients" => options.clients = value.parse()?,
                "--minutes" => options.minutes = value.parse()?,
                "--seed" => options.seed = value.parse()?,
                "--balancer" => {
                    options.balancer = BalancerKind::named(value).ok_or_else(odd)?;
                }
                "--sdk" => options.sdk = Wanted::Number(value.parse()?),
                "--replica" => options.replica = Some(value.into()),
                "--store" => options.store = StoreKind::named(value).ok_or_else(odd)?,
                _ => return Err(odd().into()),
            }
        }
        Ok(options)
    }
}

/// `bench chaos`. Fails if an answer was lost, duplicated, late or given to another client.
pub(crate) async fn command(words: &[&str]) -> Result<()> {
    let options = Options::parse(words)?;
    let program = if let Some(program) = &options.replica {
        program.clone()
    } else {
        build_own("bench-replica", "replicas")?;
        own("bench-replica")
    };
    allow_files(options.clients * FILES_PER_CLIENT + 1000)?;
    let logs = target().join("chaos");
    std::fs::create_dir_all(&logs)?;
    let store = Store::start(options.store);
    let url = store.url();
    let replicas: Result<Vec<_>> = (0..REPLICAS)
        .map(|number| Replica::start(&program, &url, &logs.join(format!("replica-{number}.log"))))
        .collect();
    let replicas = replicas?;
    let balancing = Balancing::start(options.balancer, &replicas)?;
    let plan = Plan::of(options.sdk, &format!("http://{}/mcp", balancing.address))?;
    println!(
        "{} clients, {REPLICAS} replicas, {}, {}, seed {}",
        options.clients,
        options.balancer.name(),
        options.store.name(),
        options.seed
    );
    println!("{}", plan.describe());
    println!("logs of clients and replicas are in {}", logs.display());
    let run = Arc::new(Run {
        address: balancing.address.clone(),
        tally: Tally::new(Some(File::create(logs.join("clients.log"))?)),
        history: History::default(),
        is_over: false.into(),
    });
    let others = options.clients.saturating_sub(plan.clients());
    let guests = (0..others).map(|number| Arc::new(Guest::new(&run, number)));
    let guests: Vec<_> = guests.collect();
    let (kills, heard) = mpsc::unbounded_channel();
    let recovering = tokio::spawn(recovery::watch(guests.clone(), heard));
    let mut working = JoinSet::new();
    let mut seeds = Random::new(options.seed);
    for guest in &guests {
        working.spawn_local(work::work(Arc::clone(guest), Random::new(seeds.next())));
    }
    let sdk_clients = SdkClients::start(plan, &run, &logs)?;
    sleep(CALM).await;
    let conductor = Conductor {
        run: Arc::clone(&run),
        replicas,
        store,
        kills,
    };
    let conductor = conduct(conductor, &options).await?;
    sleep(CALM).await;
    run.tally.say("the run is over");
    run.is_over.store(true, Ordering::Relaxed);
    let finished = timeout(FINISHED_WITHIN, async {
        while let Some(ended) = working.join_next().await {
            ended?;
        }
        Ok::<_, tokio::task::JoinError>(())
    });
    if let Ok(finished) = finished.await {
        finished?;
    } else {
        let left = working.len();
        let problem = format!("{left} clients did not finish within {FINISHED_WITHIN:?}");
        run.tally.fault(Fault::Hung, "clients", &problem);
    }
    let counts = sdk_clients.end().await;
    drop(conductor);
    let recoveries = recovering.await?;
    drop(balancing);
    if report::print(&run.tally, &recoveries, &counts) {
        Ok(())
    } else {
        let seed = options.seed;
        Err(format!(
            "answers were lost, doubled, late or mixed up; `--seed {seed}` has the same events"
        )
        .into())
    }
}

/// Lets all events happen while the clients are working.
async fn conduct(mut conductor: Conductor, options: &Options) -> Result<Conductor> {
    let (seed, minutes) = (options.seed, options.minutes);
    let until = Instant::now() + Duration::from_secs_f64(minutes * 60.0);
    let conducting = tokio::task::spawn_blocking(move || {
        let count = conductor
            .conduct(seed, until)
            .map_err(|error| error.to_string())?;
        let tally = &conductor.run.tally;
        tally.say(&format!("{count} events, calm from now on"));
        Ok::<_, String>(conductor)
    });
    Ok(conducting.await??)
}
