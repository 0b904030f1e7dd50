//! A service that sentinels watch: commands are sent to its current master.

use std::{collections::HashMap, sync::Arc, time::Duration};

use ::redis::{Cmd, ErrorKind, Pipeline, RedisError, Value};
use tokio::{
    sync::{Notify, watch},
    task::{JoinHandle, JoinSet},
    time::{Instant, sleep, timeout, timeout_at},
};

use super::{
    address::Address,
    connection::{COMMAND_TIMEOUT, failed},
    process::{Process, was_refused},
    target::{Access, SentinelTarget},
};
use crate::StoreError;

/// How often the sentinels are asked for the master. A master that is cut off from the others still
/// answers, and only the others know that it is no longer the master.
const LOOK: Duration = Duration::from_secs(1);

/// How long a sentinel may take to answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(1);

/// How long to wait before the sentinels are asked again, or a refused command is repeated.
const PAUSE: Duration = Duration::from_millis(100);

/// How long a command waits for a master that accepts it. It was not carried out before.
const MASTER_WITHIN: Duration = Duration::from_secs(3);

/// The connection to the master of a service.
#[derive(Debug)]
pub(super) struct Sentinel {
    watched: Arc<Watched>,
    watching: JoinHandle<()>,
}

#[derive(Debug)]
struct Watched {
    sentinels: Vec<(Address, Arc<Process>)>,
    service: Arc<str>,
    to_master: Access,
    master: watch::Sender<Arc<Master>>,
    failovers: watch::Sender<u64>,
    /// Notified when a command shows that the master may have changed.
    look: Notify,
}

/// The master at a certain time.
#[derive(Debug)]
pub(super) struct Master {
    pub(super) address: Address,
    pub(super) process: Process,
}

impl Sentinel {
    /// Finds the master. It must be called within a runtime.
    pub(super) async fn open(target: SentinelTarget) -> Result<Self, StoreError> {
        let sentinels = target.sentinels.into_iter().map(|address| {
            let client = target.to_sentinels.client(&address).map_err(failed)?;
            Ok((address, Arc::new(Process::new(client, ANSWER_WITHIN))))
        });
        let sentinels = sentinels.collect::<Result<Vec<_>, StoreError>>()?;
        let service: Arc<str> = target.service.into();
        let address = find(&sentinels, &service).await?;
        let master = Master::new(address, &target.to_master).map_err(failed)?;
        // No command uses the connection yet, so its error can be returned.
        master
            .process
            .send(&::redis::cmd("PING"))
            .await
            .map_err(|error| {
                let address = &master.address;
                let said = format!("the master of `{service}` at {address} failed: {error}");
                StoreError::new("redis", said)
            })?;
        let watched = Arc::new(Watched {
            sentinels,
            service,
            to_master: target.to_master,
            master: watch::Sender::new(Arc::new(master)),
            failovers: watch::Sender::new(0),
            look: Notify::new(),
        });
        let watching = tokio::spawn(watch(Arc::clone(&watched)));
        Ok(Self { watched, watching })
    }

    /// The currently known master.
    pub(super) fn master(&self) -> Arc<Master> {
        Arc::clone(&self.watched.master.borrow())
    }

    /// A number that changes with each failover.
    pub(super) fn failovers(&self) -> watch::Receiver<u64> {
        self.watched.failovers.subscribe()
    }

    /// Waits until another process than this one is the master.
    pub(super) async fn master_after(&self, address: &Address) -> Arc<Master> {
        let mut master = self.watched.master.subscribe();
        let other = master.wait_for(|master| master.address != *address).await;
        // `self` has the sender, so it is not dropped.
        other.map_or_else(|_| self.master(), |master| Arc::clone(&master))
    }

    /// Sends a command to the master. If it was refused, it waits for a master that accepts it.
    pub(super) async fn send(&self, command: &Cmd) -> Result<Value, RedisError> {
        let until = Instant::now() + MASTER_WITHIN;
        loop {
            let master = self.master();
            match master.process.send(command).await {
                Err(error) if was_refused(&error) => {
                    self.watched.look.notify_one();
                    let other = self.master_after(&master.address);
                    let _ = timeout_at(until.min(Instant::now() + PAUSE), other).await;
                    if Instant::now() >= until {
                        return Err(error);
                    }
                }
                Err(error) => {
                    if !matches!(error.kind(), ErrorKind::Server(_)) {
                        self.watched.look.notify_one();
                    }
                    return Err(error);
                }
                answered => return answered,
            }
        }
    }

    pub(super) async fn send_all(
        &self,
        commands: &Pipeline,
        offset: usize,
        count: usize,
    ) -> Result<Vec<Value>, RedisError> {
        let master = self.master();
        master.process.send_all(commands, offset, count).await
    }
}

impl Drop for Sentinel {
    fn drop(&mut self) {
        self.watching.abort();
    }
}

impl Master {
    fn new(address: Address, access: &Access) -> Result<Self, RedisError> {
        let process = Process::new(access.client(&address)?, COMMAND_TIMEOUT);
        Ok(Self { address, process })
    }
}

/// Follows changes of the master until it is aborted.
async fn watch(watched: Arc<Watched>) {
    loop {
        let _ = timeout(LOOK, watched.look.notified()).await;
        if let Ok(address) = find(&watched.sentinels, &watched.service).await {
            let before = watched.master.borrow().address.clone();
            if address != before
                && let Ok(master) = Master::new(address, &watched.to_master)
            {
                tracing::info!(service = %watched.service, from = %before, to = %master.address, "redis has a new master");
                watched.master.send_replace(Arc::new(master));
                watched.failovers.send_modify(|count| *count += 1);
            }
        }
        sleep(PAUSE).await;
    }
}

/// Asks all sentinels. The one that saw the latest failover is right; others may be cut off
/// together with an earlier master.
async fn find(
    sentinels: &[(Address, Arc<Process>)],
    service: &Arc<str>,
) -> Result<Address, StoreError> {
    let mut asked = JoinSet::new();
    for (address, sentinel) in sentinels {
        let (address, sentinel) = (address.clone(), Arc::clone(sentinel));
        let service = Arc::clone(service);
        asked.spawn(async move { (address, ask(&sentinel, &service).await) });
    }
    let (mut found, mut failures) = (None::<(u64, Address)>, Vec::new());
    while let Some(asked) = asked.join_next().await {
        match asked {
            Ok((_, Ok((epoch, master)))) => {
                if found.as_ref().is_none_or(|(latest, _)| epoch > *latest) {
                    found = Some((epoch, master));
                }
            }
            Ok((sentinel, Err(error))) => failures.push(format!("{sentinel}: {error}")),
            // The runtime is shutting down.
            Err(_) => {}
        }
    }
    failures.sort();
    found.map(|(_, master)| master).ok_or_else(|| {
        let failures = failures.join("; ");
        let said = format!("no sentinel names the master of `{service}`: {failures}");
        StoreError::new("redis", said)
    })
}

/// The master according to one sentinel, and the number of the failover that made it master.
async fn ask(sentinel: &Process, service: &str) -> Result<(u64, Address), RedisError> {
    let mut pipeline = ::redis::pipe();
    for question in ["MASTER", "GET-MASTER-ADDR-BY-NAME"] {
        pipeline.cmd("SENTINEL").arg(question).arg(service);
    }
    let answers = sentinel.send_all(&pipeline, 0, 2).await?;
    let [about, address] = <[Value; 2]>::try_from(answers).map_err(|_| {
        RedisError::from((
            ErrorKind::Client,
            "the answer is not that of a Redis Sentinel",
        ))
    })?;
    let about: HashMap<String, String> = ::redis::from_redis_value(about.extract_error()?)?;
    let (host, port): (String, u16) = ::redis::from_redis_value(address.extract_error()?)?;
    let epoch = about
        .get("config-epoch")
        .and_then(|epoch| epoch.parse().ok());
    Ok((epoch.unwrap_or(0), Address::new(&host, port)))
}
