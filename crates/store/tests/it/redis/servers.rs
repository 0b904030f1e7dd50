//! Processes of Redis for tests: a master with two replicas and three sentinels, and a cluster of six
//! nodes. All are at ports of loopback that the system chooses, and end when they are dropped.

use std::{
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

/// How long anything may take here: far more than it needs.
const PATIENCE: Duration = Duration::from_secs(30);

/// How often other ports are tried, should one be taken between the look and the use.
const ATTEMPTS: usize = 5;

/// How long a process must be silent before others take it for gone, in milliseconds. It is as short
/// as a busy machine allows.
const GONE_AFTER_MS: &str = "1500";

/// The name of the service that the sentinels watch.
const SERVICE: &str = "main";

/// A process, until it is dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) port: u16,
    bus_port: u16,
    words: Vec<String>,
    folder: PathBuf,
    /// How `redis-cli` gets in.
    access: Vec<String>,
}

impl Server {
    /// Starts one with words that are made of a port, and of a second one for the bus of a cluster.
    pub(crate) fn start(
        folder: &Path,
        access: &[&str],
        words: impl Fn(u16, u16) -> Vec<String>,
    ) -> Self {
        for _ in 0..ATTEMPTS {
            let [port, bus_port] = free_ports();
            std::fs::create_dir_all(folder).unwrap();
            let words = words(port, bus_port);
            let mut server = Self {
                child: run(folder, &words),
                port,
                bus_port,
                words,
                folder: folder.to_owned(),
                access: self::words(access),
            };
            if server.listens() {
                return server;
            }
        }
        panic!("redis-server does not listen");
    }

    fn listens(&mut self) -> bool {
        let begun = Instant::now();
        // Another process may have taken the port.
        let this = format!("process_id:{}", self.child.id());
        let is_ours = |said: String| said.lines().any(|line| line.trim() == this);
        while !self.answer(&["INFO", "server"]).is_ok_and(is_ours) {
            if self.child.try_wait().unwrap().is_some() {
                return false;
            }
            assert!(begun.elapsed() < PATIENCE, "redis-server does not listen");
            std::thread::sleep(Duration::from_millis(20));
        }
        true
    }

    /// Ends it without warning.
    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Starts it at the same port, with what it has in its folder.
    pub(crate) fn start_again(&mut self) {
        self.child = run(&self.folder, &self.words);
        assert!(self.listens(), "redis-server does not start again");
    }

    pub(crate) fn signal(&self, signal: &str) {
        let sent = Command::new("kill")
            .args([signal, &self.child.id().to_string()])
            .status();
        assert!(sent.expect("`kill` is there").success());
    }

    /// Whether it takes connections.
    pub(crate) fn is_there(&self) -> bool {
        TcpStream::connect(("127.0.0.1", self.port)).is_ok()
    }

    /// What it answers to a command. A server that becomes a replica closes all its connections; then
    /// the command is sent again.
    pub(crate) fn says(&self, command: &[&str]) -> String {
        let begun = Instant::now();
        loop {
            match self.answer(command) {
                Ok(answer) => return answer,
                Err(error) => assert!(begun.elapsed() < PATIENCE, "{command:?}: {error}"),
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn answer(&self, command: &[&str]) -> Result<String, String> {
        let mut cli = Command::new("redis-cli");
        cli.args(["-h", "127.0.0.1", "-p", &self.port.to_string()]);
        let answered = cli.args(&self.access).args(command).output();
        let answered = answered.expect("`redis-cli` comes with `redis-server`");
        let [said, wrong] = [answered.stdout, answered.stderr]
            .map(|text| String::from_utf8_lossy(&text).trim().to_owned());
        if answered.status.success() {
            Ok(said)
        } else {
            Err(wrong)
        }
    }

    /// Sends a command that must be answered with `OK`.
    pub(crate) fn does(&self, command: &[&str]) {
        assert_eq!(self.says(command), "OK", "{command:?}");
    }

    fn has_link(&self) -> bool {
        self.says(&["INFO", "replication"])
            .contains("master_link_status:up")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

fn run(folder: &Path, words: &[String]) -> Child {
    Command::new("redis-server")
        .args(words)
        .current_dir(folder)
        .stdout(Stdio::null())
        .spawn()
        .expect("`redis-server` is installed; `./scripts/test redis` installs it")
}

fn free_ports() -> [u16; 2] {
    let free = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    free.each_ref()
        .map(|free| free.local_addr().unwrap().port())
}

/// Waits until something is so.
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// How `redis-cli` gets in with a password.
fn access(password: &str) -> Vec<&str> {
    if password.is_empty() {
        Vec::new()
    } else {
        vec!["--no-auth-warning", "-a", password]
    }
}

pub(crate) fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// What all servers with data have in common: nothing is written to files, and replicas follow at
/// once.
const DATA: [&str; 8] = [
    "--bind",
    "127.0.0.1",
    "--save",
    "",
    "--appendonly",
    "no",
    "--repl-diskless-sync-delay",
    "0",
];

/// A server that is no part of anything.
pub(crate) struct Lone {
    server: Server,
    _folder: tempfile::TempDir,
}

impl Lone {
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start(folder.path(), &[], |port, _| {
            let mut words = words(&["--port", &port.to_string()]);
            words.extend(DATA.map(str::to_owned));
            words
        });
        Self {
            server,
            _folder: folder,
        }
    }

    pub(crate) fn port(&self) -> u16 {
        self.server.port
    }
}

/// A master, its replicas, and sentinels that watch them.
pub(crate) struct Sentinels {
    pub(crate) servers: Vec<Server>,
    pub(crate) sentinels: Vec<Server>,
    _folder: tempfile::TempDir,
}

impl Sentinels {
    pub(crate) fn start() -> Self {
        Self::start_with("", "")
    }

    /// With a password of the servers, and one of the sentinels.
    pub(crate) fn start_with(password: &str, sentinel_password: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut servers: Vec<Server> = Vec::new();
        for number in 0..3 {
            let master = servers.first().map(|master| master.port.to_string());
            let folder = folder.path().join(format!("server-{number}"));
            servers.push(Server::start(&folder, &access(password), |port, _| {
                let mut words = words(&["--port", &port.to_string()]);
                words.extend(DATA.map(str::to_owned));
                if let Some(master) = &master {
                    words.extend(["--replicaof", "127.0.0.1", master].map(str::to_owned));
                }
                if !password.is_empty() {
                    let passwords = ["--requirepass", password, "--masterauth", password];
                    words.extend(passwords.map(str::to_owned));
                }
                words
            }));
        }
        until("the replicas follow", || {
            servers[1..].iter().all(Server::has_link)
        });
        let mut sentinels = Vec::new();
        for number in 0..3 {
            let folder = folder.path().join(format!("sentinel-{number}"));
            let master = servers[0].port;
            sentinels.push(Server::start(&folder, &access(sentinel_password), |port, _| {
                let mut config = vec![format!(
                    "port {port}\nbind 127.0.0.1\nsentinel monitor {SERVICE} 127.0.0.1 {master} 2\n\
                     sentinel down-after-milliseconds {SERVICE} {GONE_AFTER_MS}\n\
                     sentinel failover-timeout {SERVICE} 4000"
                )];
                if !password.is_empty() {
                    config.push(format!("sentinel auth-pass {SERVICE} {password}"));
                }
                if !sentinel_password.is_empty() {
                    config.push(format!("requirepass {sentinel_password}"));
                    config.push(format!("sentinel sentinel-pass {sentinel_password}"));
                }
                std::fs::write(folder.join("sentinel.conf"), config.join("\n")).unwrap();
                words(&["sentinel.conf", "--sentinel"])
            }));
        }
        let started = Self {
            servers,
            sentinels,
            _folder: folder,
        };
        until("the sentinels know all servers and each other", || {
            started.sentinels.iter().all(|sentinel| {
                let about = sentinel.says(&["SENTINEL", "MASTER", SERVICE]);
                let about: Vec<_> = about.lines().collect();
                let is = |name: &str, value: &str| about.windows(2).any(|two| two == [name, value]);
                is("num-slaves", "2") && is("num-other-sentinels", "2")
            })
        });
        started
    }

    /// The hosts of a URL that names the sentinels, and the service.
    pub(crate) fn hosts_and_service(&self) -> String {
        let hosts: Vec<_> = self
            .sentinels
            .iter()
            .map(|sentinel| format!("127.0.0.1:{}", sentinel.port))
            .collect();
        format!("{}/{SERVICE}", hosts.join(","))
    }

    pub(crate) fn url(&self) -> String {
        format!("redis+sentinel://{}", self.hosts_and_service())
    }

    /// The port of the master, as the sentinels know it.
    pub(crate) fn master_port(&self) -> u16 {
        let said = self.sentinels[0].says(&["SENTINEL", "GET-MASTER-ADDR-BY-NAME", SERVICE]);
        let port = said.lines().nth(1).expect("a host and a port");
        port.parse().expect("a port")
    }

    /// The master, as the sentinels know it.
    pub(crate) fn master(&mut self) -> &mut Server {
        let port = self.master_port();
        let mut servers = self.servers.iter_mut();
        let master = servers.find(|server| server.port == port);
        master.expect("the master is one of ours")
    }

    /// Waits until the replicas have all that the master has.
    pub(crate) fn replicate(&mut self) {
        let port = self.master_port();
        until("the replicas have everything", || {
            let servers = self.servers.iter();
            let master = servers.clone().find(|server| server.port == port);
            let offset = offset(master.expect("a master"));
            let mut replicas = servers.filter(|server| server.port != port);
            replicas.all(|replica| self::offset(replica) >= offset)
        });
    }
}

/// How much of what was written a server has.
fn offset(server: &Server) -> u64 {
    let said = server.says(&["INFO", "replication"]);
    let is_master = said.contains("role:master");
    let name = if is_master {
        "master_repl_offset:"
    } else {
        "slave_repl_offset:"
    };
    let line = said.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|line| line.trim().parse().ok()).unwrap_or(0)
}

/// Three masters that have all slots, and a replica of each.
pub(crate) struct Cluster {
    pub(crate) nodes: Vec<Server>,
    _folder: tempfile::TempDir,
}

/// A node of a cluster, as another one knows it.
struct Seen {
    port: u16,
    is_master: bool,
    is_gone: bool,
    slots: Vec<(u16, u16)>,
}

impl Cluster {
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let nodes: Vec<_> = (0..6)
            .map(|number| {
                let folder = folder.path().join(format!("node-{number}"));
                Server::start(&folder, &[], |port, bus_port| {
                    let mut words = words(&["--port", &port.to_string()]);
                    words.extend(DATA.map(str::to_owned));
                    let bus_port = bus_port.to_string();
                    let cluster = ["--cluster-enabled", "yes", "--cluster-port", &bus_port];
                    words.extend(cluster.map(str::to_owned));
                    let timeout = ["--cluster-node-timeout", GONE_AFTER_MS];
                    words.extend(timeout.map(str::to_owned));
                    // A replica takes over even if it heard nothing for long: tests are slow.
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
            nodes[3..].iter().all(Server::has_link)
        });
        until("all nodes agree", || {
            nodes.iter().all(|node| {
                let masters = seen(node).into_iter().filter(|seen| seen.is_master);
                masters.count() == 3 && node.says(&["CLUSTER", "INFO"]).contains("cluster_state:ok")
            })
        });
    }

    /// A URL that names two of the nodes.
    pub(crate) fn url(&self) -> String {
        let [one, other, ..] = &self.nodes[..] else {
            unreachable!("there are six")
        };
        format!(
            "redis+cluster://127.0.0.1:{},127.0.0.1:{}",
            one.port, other.port
        )
    }

    /// The masters that are there.
    pub(crate) fn masters(&self) -> Vec<&Server> {
        let ports = self.seen().into_iter();
        let ports = ports.filter(|seen| seen.is_master && !seen.is_gone);
        let ports: Vec<_> = ports.map(|seen| seen.port).collect();
        let nodes = self.nodes.iter();
        nodes.filter(|node| ports.contains(&node.port)).collect()
    }

    /// Where the node is that has a key or a channel.
    pub(crate) fn place_of(&self, key: &str) -> usize {
        self.place_of_slot(self.slot_of(key))
    }

    pub(crate) fn slot_of(&self, key: &str) -> u16 {
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

    /// Moves a slot to another master with all its keys, and does something while the keys are at the
    /// one and the slot is at the other.
    pub(crate) async fn migrate(&self, slot: u16, between: impl AsyncFnOnce()) {
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

    fn alive(&self) -> &Server {
        let mut nodes = self.nodes.iter();
        let alive = nodes.find(|node| node.is_there());
        alive.expect("some node is there")
    }

    fn seen(&self) -> Vec<Seen> {
        seen(self.alive())
    }

    /// Waits until the replicas have all that their masters have.
    pub(crate) fn replicate(&self) {
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

/// What a node knows of all nodes.
fn seen(node: &Server) -> Vec<Seen> {
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
