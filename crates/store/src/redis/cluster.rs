//! A Redis Cluster: each command is sent to the node that has the slot of its key.
//!
//! The answers of nodes determine where slots are. An unreachable node delays no commands for other nodes.

use std::{
    borrow::Cow,
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use ::redis::{Client, Cmd, ErrorKind, RedisError, ServerErrorKind, Value};
use tokio::{
    sync::{Semaphore, watch},
    time::{Instant, sleep, timeout},
};
use turnbuckle_base::lock::Mutex;

use super::{
    address::Address,
    connection::COMMAND_TIMEOUT,
    process::{Process, was_refused},
    scripts::{Scripts, arguments},
    slot::slot_of,
    slot_map::SlotMap,
    target::{Access, ClusterTarget},
};
use crate::StoreError;

/// How long a node may take to return the slot map.
const MAP_WITHIN: Duration = Duration::from_secs(1);

/// How long to wait before the slot map is requested again, or a refused command is repeated.
const PAUSE: Duration = Duration::from_millis(100);

/// How long a command waits for a node that accepts it. It was not carried out before.
const OWNER_WITHIN: Duration = Duration::from_secs(3);

/// How often a command follows a redirection to another node.
const MAX_REDIRECTS: usize = 8;

/// The connections to the nodes of a cluster.
#[derive(Debug)]
pub(super) struct Cluster {
    access: Access,
    seeds: Vec<Address>,
    known: Mutex<Known>,
    scripts: Scripts,
    failovers: watch::Sender<u64>,
    /// One caller requests the slot map at a time; the others use the known one meanwhile.
    looking: Semaphore,
    /// The index of the node that is asked next. The nodes take turns, because any node may be cut
    /// off from the others.
    turn: AtomicUsize,
}

#[derive(Debug)]
struct Known {
    map: SlotMap,
    looked: Instant,
    is_stale: bool,
    /// The nodes with slots, according to the last slot map.
    masters: Vec<Address>,
    processes: HashMap<Address, Arc<Process>>,
}

/// Where a command is sent next.
pub(super) enum Next {
    Owner,
    Moved(Address),
    Ask(Address),
}

impl Cluster {
    /// Connects and finds the nodes.
    pub(super) async fn open(target: ClusterTarget) -> Result<Self, StoreError> {
        let cluster = Self {
            access: target.access,
            known: Mutex::new(Known {
                map: SlotMap::unknown(target.nodes.clone()),
                looked: Instant::now(),
                is_stale: true,
                masters: Vec::new(),
                processes: HashMap::new(),
            }),
            seeds: target.nodes,
            scripts: Scripts::default(),
            failovers: watch::Sender::new(0),
            looking: Semaphore::new(1),
            turn: AtomicUsize::new(0),
        };
        cluster.look().await.map_err(|error| {
            let said = format!("no node of the cluster can be used: {error}");
            StoreError::new("redis", said)
        })?;
        cluster.check_version().await?;
        Ok(cluster)
    }

    /// Messages within a shard were added in Redis 7.
    async fn check_version(&self) -> Result<(), StoreError> {
        let owner = self.known.lock().map.owners().into_iter().next();
        let Some(owner) = owner else {
            let said = "the cluster has no slots: assign them, with `redis-cli --cluster create`";
            return Err(StoreError::new("redis", said));
        };
        let mut ask = ::redis::cmd("COMMAND");
        ask.arg("INFO").arg("SPUBLISH");
        let answered = match self.process(&owner) {
            Ok(process) => process.send(&ask).await,
            Err(error) => Err(error),
        };
        match answered {
            Ok(Value::Array(known)) if matches!(known.first(), None | Some(Value::Nil)) => {
                let said = "the cluster is too old: Redis 7 or Valkey is needed";
                Err(StoreError::new("redis", said))
            }
            // The user may not be permitted to ask, and the node may just have become unreachable.
            _ => Ok(()),
        }
    }

    /// Sends a command to the node that has its key.
    pub(super) async fn send(&self, command: &Cmd) -> Result<Value, RedisError> {
        let Some(key) = key_of(command) else {
            return self.scripts.take(command);
        };
        let slot = slot_of(key);
        let mut command = Cow::Borrowed(command);
        let until = Instant::now() + OWNER_WITHIN;
        let (mut next, mut redirects) = (Next::Owner, 0);
        loop {
            let error = match self.send_once(slot, &next, &command).await {
                Err(error) => error,
                answered => return answered,
            };
            if error.kind() == ErrorKind::Server(ServerErrorKind::NoScript)
                && let Some(whole) = self.scripts.whole(&command)
            {
                command = Cow::Owned(whole);
                continue;
            }
            next = Next::Owner;
            match self.heed(&error) {
                Some(redirect) if redirects < MAX_REDIRECTS => {
                    redirects += 1;
                    next = redirect;
                }
                _ if was_refused(&error) && Instant::now() + PAUSE < until => sleep(PAUSE).await,
                _ => return Err(error),
            }
        }
    }

    async fn send_once(&self, slot: u16, next: &Next, command: &Cmd) -> Result<Value, RedisError> {
        match next {
            Next::Owner => {
                let owner = self.owner(slot).await?;
                self.process(&owner)?.send(command).await
            }
            Next::Moved(address) => self.process(address)?.send(command).await,
            Next::Ask(address) => {
                // `ASKING` applies only to the next command.
                let mut both = ::redis::pipe();
                both.cmd("ASKING");
                both.add_command(command.clone());
                let mut answers = self.process(address)?.send_all(&both, 0, 2).await?;
                answers.pop().unwrap_or(Value::Nil).extract_error()
            }
        }
    }

    /// Updates the slot map according to an error, and returns where to send the command next.
    pub(super) fn heed(&self, error: &RedisError) -> Option<Next> {
        let redirect = error.redirect_node();
        let redirect = redirect.and_then(|(to, slot)| Some((Address::parse(to, 0)?, slot)));
        let mut known = self.known.lock();
        match (error.kind(), redirect) {
            (ErrorKind::Server(ServerErrorKind::Moved), Some((to, slot))) => {
                known.map.set_owner(slot, to.clone());
                known.is_stale = true;
                Some(Next::Moved(to))
            }
            (ErrorKind::Server(ServerErrorKind::Ask), Some((to, _))) => Some(Next::Ask(to)),
            (ErrorKind::Server(_), _) if !was_refused(error) => None,
            _ => {
                known.is_stale = true;
                None
            }
        }
    }

    /// The node that has a slot. If the known slot map was wrong, it is requested again first.
    pub(super) async fn owner(&self, slot: u16) -> Result<Address, RedisError> {
        let (is_stale, looked) = {
            let known = self.known.lock();
            (known.is_stale, known.looked)
        };
        if is_stale && looked.elapsed() >= PAUSE {
            // If no node answers, use the known slot map.
            let _ = self.look().await;
        }
        self.owner_now(slot).ok_or_else(|| {
            let said = "no node of the cluster has the slot";
            RedisError::from((ErrorKind::Client, said, slot.to_string()))
        })
    }

    /// The node that has a slot, according to the known slot map.
    pub(super) fn owner_now(&self, slot: u16) -> Option<Address> {
        self.known.lock().map.owner(slot).cloned()
    }

    /// Requests the slot map again if it is at least this old.
    pub(super) async fn look_after(&self, age: Duration) {
        let looked = self.known.lock().looked;
        if looked.elapsed() >= age {
            let _ = self.look().await;
        }
    }

    /// A number that changes when other nodes become masters.
    pub(super) fn failovers(&self) -> watch::Receiver<u64> {
        self.failovers.subscribe()
    }

    /// A client for messages in the shard of this node.
    pub(super) fn listener(&self, address: &Address) -> Result<Client, RedisError> {
        self.access.listener(address)
    }

    /// Requests the slot map from one node after the other, until one answers.
    async fn look(&self) -> Result<(), RedisError> {
        let Ok(_looking) = self.looking.try_acquire() else {
            return Ok(());
        };
        let mut nodes = {
            let mut known = self.known.lock();
            known.looked = Instant::now();
            known.map.nodes().to_vec()
        };
        let turn = self.turn.fetch_add(1, Ordering::Relaxed) % nodes.len().max(1);
        nodes.rotate_left(turn);
        let seeds = self.seeds.iter().filter(|seed| !nodes.contains(seed));
        let seeds: Vec<_> = seeds.cloned().collect();
        let ask = {
            let mut ask = ::redis::cmd("CLUSTER");
            ask.arg("SLOTS");
            ask
        };
        let mut failure = RedisError::from((ErrorKind::Client, "no node of the cluster is known"));
        for node in nodes.into_iter().chain(seeds) {
            let asked = async { SlotMap::read(self.process(&node)?.send(&ask).await?, &node) };
            match timeout(MAP_WITHIN, asked).await {
                // A node that was just started knows no other nodes.
                Ok(Ok(map)) if map.nodes().is_empty() => {}
                Ok(Ok(map)) => {
                    self.learn(map);
                    return Ok(());
                }
                Ok(Err(error)) => failure = error,
                Err(_) => failure = std::io::Error::from(std::io::ErrorKind::TimedOut).into(),
            }
        }
        Err(failure)
    }

    fn learn(&self, map: SlotMap) {
        let mut known = self.known.lock();
        let seeds = &self.seeds;
        known
            .processes
            .retain(|address, _| map.nodes().contains(address) || seeds.contains(address));
        let mut masters = map.owners();
        masters.sort_unstable();
        let has_failed_over = masters != known.masters && !known.masters.is_empty();
        known.masters = masters;
        known.map = map;
        known.is_stale = false;
        drop(known);
        if has_failed_over {
            self.failovers.send_modify(|count| *count += 1);
        }
    }

    fn process(&self, address: &Address) -> Result<Arc<Process>, RedisError> {
        let mut known = self.known.lock();
        if let Some(process) = known.processes.get(address) {
            return Ok(Arc::clone(process));
        }
        let process = Arc::new(Process::new(self.access.client(address)?, COMMAND_TIMEOUT));
        known
            .processes
            .insert(address.clone(), Arc::clone(&process));
        Ok(process)
    }
}

/// The first key of a command. All its other keys are in the same slot. In the commands of this
/// crate it is the first argument, except for scripts.
fn key_of(command: &Cmd) -> Option<&[u8]> {
    let mut arguments = arguments(command);
    match arguments.next()? {
        b"EVAL" | b"EVALSHA" => arguments.nth(2),
        b"PING" | b"SCRIPT" => None,
        _ => arguments.next(),
    }
}

#[cfg(test)]
mod tests {
    use ::redis::cmd;

    use super::*;

    #[test]
    fn commands_go_where_their_key_is() {
        assert_eq!(key_of(cmd("GET").arg("a")), Some(&b"a"[..]));
        let mut script = cmd("EVALSHA");
        script.arg("0123").arg(2).arg("one").arg("two").arg("value");
        assert_eq!(key_of(&script), Some(&b"one"[..]));
        assert_eq!(key_of(cmd("SCRIPT").arg("LOAD").arg("return 1")), None);
        assert_eq!(key_of(&cmd("PING")), None);
    }
}
