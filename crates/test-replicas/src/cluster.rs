//! A Redis Cluster of six nodes.

use crate::redis_server::{DATA, GONE_AFTER_MS, RedisServer, offset, until, words};

/// A Redis Cluster: three masters with all slots, and a replica of each.
pub struct Cluster {
    /// The masters and the replicas, in no particular order.
    pub nodes: Vec<RedisServer>,
    _folder: tempfile::TempDir,
}

/// A node of a cluster, as another node sees it.
struct Seen {
    port: u16,
    is_master: bool,
    is_gone: bool,
    slots: Vec<(u16, u16)>,
}

impl Cluster {
    /// Starts all six nodes.
    pub fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let nodes: Vec<_> = (0..6)
            .map(|number| {
                let folder = folder.path().join(format!("node-{number}"));
                RedisServer::start(&folder, &[], |port, bus_port| {
                    let mut words = words(&["--port", &port.to_string()]);
                    words.extend(DATA.map(str::to_owned));
                    let bus_port = bus_port.to_string();
                    let cluster = ["--cluster-enabled", "yes", "--cluster-port", &bus_port];
                    words.extend(cluster.map(str::to_owned));
                    let timeout = ["--cluster-node-timeout", GONE_AFTER_MS];
                    words.extend(timeout.map(str::to_owned));
                    // A replica takes over even if it received nothing for a long time, because
                    // tests are slow.
                    let factor = ["--cluster-replica-validity-factor", "0"];
                    words.extend(factor.map(str::to_owned));
                    words
                })
            })
            .collect();
        let cluster = Self {
            nodes,
            _folder: folder,
        };
        cluster.meet();
        cluster
    }

    fn meet(&self) {
        let nodes = &self.nodes;
        let slots = [("0", "5460"), ("5461", "10922"), ("10923", "16383")];
        for (node, (first, last)) in nodes.iter().zip(slots) {
            node.does(&["CLUSTER", "ADDSLOTSRANGE", first, last]);
        }
        for (node, epoch) in nodes.iter().zip(1..) {
            node.does(&["CLUSTER", "SET-CONFIG-EPOCH", &epoch.to_string()]);
        }
        for node in &nodes[1..] {
            let (port, bus_port) = (node.port.to_string(), node.bus_port.to_string());
            nodes[0].does(&["CLUSTER", "MEET", "127.0.0.1", &port, &bus_port]);
        }
        until("all nodes know each other", || {
            nodes.iter().all(|node| seen(node).len() == nodes.len())
        });
        for (master, replica) in nodes[..3].iter().zip(&nodes[3..]) {
            let id = master.says(&["CLUSTER", "MYID"]);
            replica.does(&["CLUSTER", "REPLICATE", &id]);
        }
        until("the replicas follow", || {
            nodes[3..].iter().all(RedisServer::has_link)
        });
        until("all nodes agree", || {
            nodes.iter().all(|node| {
                let masters = seen(node).into_iter().filter(|seen| seen.is_master);
                masters.count() == 3 && node.says(&["CLUSTER", "INFO"]).contains("cluster_state:ok")
            })
        });
    }

    /// A URL that names two of the nodes.
    pub fn url(&self) -> String {
        let [one, other, ..] = &self.nodes[..] else {
            unreachable!("there are six")
        };
        format!(
            "redis+cluster://127.0.0.1:{},127.0.0.1:{}",
            one.port, other.port
        )
    }

    /// The masters that are running.
    pub fn masters(&self) -> Vec<&RedisServer> {
        let ports = self.seen().into_iter();
        let ports = ports.filter(|seen| seen.is_master && !seen.is_gone);
        let ports: Vec<_> = ports.map(|seen| seen.port).collect();
        let nodes = self.nodes.iter();
        nodes.filter(|node| ports.contains(&node.port)).collect()
    }

    /// The index of the node that has a key or a channel.
    pub fn place_of(&self, key: &str) -> usize {
        self.place_of_slot(self.slot_of(key))
    }

    /// The slot of a key.
    pub fn slot_of(&self, key: &str) -> u16 {
        let slot = self.alive().says(&["CLUSTER", "KEYSLOT", key]);
        slot.parse().expect("a slot")
    }

    fn place_of_slot(&self, slot: u16) -> usize {
        let mut seen = self.seen().into_iter();
        let owner = seen.find(|seen| {
            let mut slots = seen.slots.iter();
            slots.any(|(first, last)| (*first..=*last).contains(&slot))
        });
        let owner = owner.expect("each slot has an owner");
        let place = self.nodes.iter().position(|node| node.port == owner.port);
        place.expect("it is one of ours")
    }

    /// Moves a slot to another master with all its keys. Calls `between` while the keys are still
    /// at the old master and the slot is already at the new one.
    pub async fn migrate(&self, slot: u16, between: impl AsyncFnOnce()) {
        let from = self.place_of_slot(slot);
        let masters = self.masters();
        let to = masters
            .iter()
            .find(|node| node.port != self.nodes[from].port);
        let (from, to) = (&self.nodes[from], to.expect("there are three"));
        let [from_id, to_id] = [from, to].map(|node| node.says(&["CLUSTER", "MYID"]));
        let slot = slot.to_string();
        to.does(&["CLUSTER", "SETSLOT", &slot, "IMPORTING", &from_id]);
        from.does(&["CLUSTER", "SETSLOT", &slot, "MIGRATING", &to_id]);
        let keys = from.says(&["CLUSTER", "GETKEYSINSLOT", &slot, "100"]);
        let port = to.port.to_string();
        let mut migrate = vec!["MIGRATE", "127.0.0.1", &port, "", "0", "5000", "KEYS"];
        migrate.extend(keys.lines().filter(|key| !key.is_empty()));
        if migrate.len() > 7 {
            from.does(&migrate);
        }
        between().await;
        for node in [to, from] {
            node.does(&["CLUSTER", "SETSLOT", &slot, "NODE", &to_id]);
        }
    }

    fn alive(&self) -> &RedisServer {
        let mut nodes = self.nodes.iter();
        let alive = nodes.find(|node| node.is_there());
        alive.expect("some node is there")
    }

    fn seen(&self) -> Vec<Seen> {
        seen(self.alive())
    }

    /// Waits until the replicas have received everything from their masters.
    pub fn replicate(&self) {
        until("the replicas have everything", || {
            self.masters().into_iter().all(|master| {
                let said = master.says(&["INFO", "replication"]);
                let there = said.lines().find(|line| line.starts_with("slave0:"));
                let there = there.and_then(|line| {
                    line.split(',')
                        .find_map(|part| part.strip_prefix("offset="))
                });
                there.is_some_and(|there| there.parse().is_ok_and(|there| offset(master) <= there))
            })
        });
    }
}

/// The state of all nodes, as one node sees it.
fn seen(node: &RedisServer) -> Vec<Seen> {
    let said = node.says(&["CLUSTER", "NODES"]);
    let lines = said.lines().filter(|line| !line.contains("handshake"));
    lines
        .map(|line| {
            let mut words = line.split(' ');
            let address = words.nth(1).unwrap().split('@').next().unwrap();
            let flags = words.next().unwrap();
            let slots = words.skip(5).filter(|slots| !slots.starts_with('['));
            Seen {
                port: address.rsplit(':').next().unwrap().parse().unwrap(),
                is_master: flags.contains("master"),
                is_gone: flags.contains("fail"),
                slots: slots
                    .map(|slots| {
                        let (first, last) = slots.split_once('-').unwrap_or((slots, slots));
                        (first.parse().unwrap(), last.parse().unwrap())
                    })
                    .collect(),
            }
        })
        .collect()
}
