//! The list of replicas: a sorted set in Redis that each replica updates twice a second.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use ::redis::Script;
use turnbuckle_base::lock::Mutex;

use super::{Redis, connection::failed};
use crate::{StoreError, bus::NodeId};

/// How often a node reports that it is present.
pub(super) const BEAT: Duration = Duration::from_millis(500);

/// How long a node counts as present after its last report, in milliseconds: three beats, so that
/// one late or lost report has no effect.
const LEASE_MS: u64 = 1500;

/// How long Redis must have answered every beat before a node that is not in the set counts as
/// missing. After a restart of Redis, all nodes are in the set again after some beats.
const SETTLED_AFTER: Duration = Duration::from_secs(3);

/// How long the answer to a beat may take. A later answer says nothing about the other nodes: their
/// beats may be late for the same reason, for example while another Redis process becomes master.
const LATE_AFTER: Duration = Duration::from_millis(LEASE_MS);

/// How long a node must be missing before its work is given up. With the lease and a beat this is
/// six seconds after its end.
const GONE_AFTER: Duration = Duration::from_secs(4);

/// How long a missing node is remembered.
const FORGET_AFTER: Duration = Duration::from_mins(1);

/// Reports that a node is present. The key is the set; the arguments are the node and its lease in
/// milliseconds. Returns all nodes that are present by the clock of Redis, and removes those that
/// have been absent for a minute.
const SAY: &str = r"
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - 60000)
redis.call('PEXPIRE', KEYS[1], 3600000)
return redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. now, '+inf')
";

/// The nodes as this process last saw them.
#[derive(Debug)]
pub(super) struct Nodes {
    say: Script,
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    /// Since when every beat was answered in time; `None` if the last one was not.
    since: Option<Instant>,
    /// When the last beat was answered.
    looked: Option<Instant>,
    /// When each node was last present.
    nodes: HashMap<NodeId, Instant>,
}

impl Nodes {
    pub(super) fn new() -> Self {
        Self {
            say: Script::new(SAY),
            seen: Mutex::default(),
        }
    }

    /// Reports that a node is present, and reads which others are.
    pub(super) async fn say(&self, redis: &Redis, node: NodeId) -> Result<(), StoreError> {
        let mut say = self.say.prepare_invoke();
        say.key(key(redis));
        say.arg(node.to_string()).arg(LEASE_MS);
        let mut commands = redis.commands.clone();
        let said = say.invoke_async::<Vec<String>>(&mut commands).await;
        let mut seen = self.seen.lock();
        match said {
            Ok(nodes) => {
                seen.see(
                    nodes.iter().filter_map(|node| NodeId::parse(node)),
                    Instant::now(),
                );
                Ok(())
            }
            Err(error) => {
                seen.since = None;
                Err(failed(error))
            }
        }
    }

    /// Reports that a node has left.
    pub(super) async fn leave(redis: &Redis, node: NodeId) -> Result<(), StoreError> {
        let mut remove = ::redis::cmd("ZREM");
        remove.arg(key(redis)).arg(node.to_string());
        redis.repeatable(&remove).await
    }

    /// Whether a node was present at the last look or shortly before. Also true while this is
    /// unknown, because Redis has come back so recently that not every node has reported again.
    pub(super) fn may_be_there(&self, node: NodeId) -> bool {
        self.seen.lock().may_be_there(node, Instant::now())
    }

    /// The nodes that were present at the last look or shortly before. While this is unknown, all
    /// nodes that were seen in the last minute.
    pub(super) fn there(&self) -> Vec<NodeId> {
        let seen = self.seen.lock();
        let (nodes, now) = (seen.nodes.keys(), Instant::now());
        let nodes = nodes.filter(|node| seen.may_be_there(**node, now));
        nodes.copied().collect()
    }

    /// Whether each node that is present has had time to report.
    pub(super) fn knows_all(&self) -> bool {
        self.seen.lock().is_settled(SETTLED_AFTER, Instant::now())
    }

    /// Whether a node has been missing for so long that its work can be given up.
    pub(super) fn is_gone(&self, node: NodeId) -> bool {
        self.seen.lock().is_gone(node, Instant::now())
    }
}

impl Seen {
    fn see(&mut self, nodes: impl Iterator<Item = NodeId>, now: Instant) {
        if self.is_late(now) {
            self.since = None;
        }
        self.since.get_or_insert(now);
        self.looked = Some(now);
        self.nodes.extend(nodes.map(|node| (node, now)));
        self.nodes.retain(|_, last| now - *last < FORGET_AFTER);
    }

    /// Whether the last look was so long ago that it is unknown which nodes are present.
    fn is_late(&self, now: Instant) -> bool {
        let ago = |looked| now.saturating_duration_since(looked);
        self.looked.is_none_or(|looked| ago(looked) >= LATE_AFTER)
    }

    /// Whether every beat was answered in time for this long.
    fn is_settled(&self, long: Duration, now: Instant) -> bool {
        let is_long = |since| now.saturating_duration_since(since) >= long;
        !self.is_late(now) && self.since.is_some_and(is_long)
    }

    /// For how long a node had been missing at the last look. The time since then says nothing about it.
    fn missing_for(&self, node: NodeId) -> Duration {
        match (self.looked, self.nodes.get(&node)) {
            (Some(looked), Some(last)) => looked.saturating_duration_since(*last),
            _ => Duration::MAX,
        }
    }

    fn may_be_there(&self, node: NodeId, now: Instant) -> bool {
        !self.is_settled(SETTLED_AFTER, now) || self.missing_for(node) < 2 * BEAT
    }

    fn is_gone(&self, node: NodeId, now: Instant) -> bool {
        self.is_settled(GONE_AFTER, now) && self.missing_for(node) >= GONE_AFTER
    }
}

fn key(redis: &Redis) -> String {
    redis.name("nodes", "all")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_gone_when_it_was_missed_for_long_and_never_while_nobody_looks() {
        let (node, other) = (NodeId::new(1), NodeId::new(2));
        let start = Instant::now();
        let after = |seconds| start + Duration::from_secs(seconds);
        let mut seen = Seen::default();
        assert!(!seen.is_gone(node, after(100)), "nothing was seen yet");
        for second in 0..=4 {
            seen.see([node].into_iter(), after(second));
            // It may be late at first.
            assert_eq!(seen.is_gone(other, after(second)), second >= 4);
        }
        for second in 5..=9 {
            seen.see([other].into_iter(), after(second));
            assert_eq!(seen.is_gone(node, after(second)), second >= 8);
            assert!(!seen.is_gone(other, after(second)));
        }
        // Redis was unreachable: all nodes have time to report again.
        seen.since = None;
        assert!(!seen.is_gone(node, after(10)));
        for second in 20..=24 {
            seen.see([other].into_iter(), after(second));
            assert_eq!(seen.is_gone(node, after(second)), second >= 24);
        }
        // Redis is slow: until it answers, no node counts as gone, however long ago the last look was.
        for late_ms in [0, 900, 1100, 1400, 1600, 5000] {
            let now = after(24) + Duration::from_millis(late_ms);
            assert!(seen.may_be_there(other, now), "after {late_ms} ms");
            assert_eq!(seen.may_be_there(node, now), late_ms >= 1500);
        }
        // The state is unknown, so all nodes get time again when Redis answers.
        assert!(!seen.is_gone(node, after(26)));
        assert!(!seen.is_gone(other, after(30)));
        for second in 30..=34 {
            seen.see([].into_iter(), after(second));
            assert_eq!(seen.is_gone(node, after(second)), second >= 34);
        }
    }
}
