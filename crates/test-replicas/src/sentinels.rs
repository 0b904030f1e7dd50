//! A master with two replicas, and three sentinels that watch them.

use crate::redis_server::{DATA, GONE_AFTER_MS, RedisServer, access, offset, until, words};

/// The name of the service that the sentinels watch.
const SERVICE: &str = "main";

/// A master, its replicas, and sentinels that watch them.
pub struct Sentinels {
    /// The master and the replicas, in no particular order.
    pub servers: Vec<RedisServer>,
    /// The sentinels.
    pub sentinels: Vec<RedisServer>,
    _folder: tempfile::TempDir,
}

impl Sentinels {
    /// Starts all processes without passwords.
    pub fn start() -> Self {
        Self::start_with("", "")
    }

    /// Starts all processes with a password for the servers, and one for the sentinels.
    pub fn start_with(password: &str, sentinel_password: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut servers: Vec<RedisServer> = Vec::new();
        for number in 0..3 {
            let master = servers.first().map(|master| master.port.to_string());
            let folder = folder.path().join(format!("server-{number}"));
            servers.push(RedisServer::start(&folder, &access(password), |port, _| {
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
            servers[1..].iter().all(RedisServer::has_link)
        });
        let mut sentinels = Vec::new();
        for number in 0..3 {
            let folder = folder.path().join(format!("sentinel-{number}"));
            let master = servers[0].port;
            sentinels.push(RedisServer::start(&folder, &access(sentinel_password), |port, _| {
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

    /// The hosts of a URL for the sentinels, and the service.
    pub fn hosts_and_service(&self) -> String {
        let hosts: Vec<_> = self
            .sentinels
            .iter()
            .map(|sentinel| format!("127.0.0.1:{}", sentinel.port))
            .collect();
        format!("{}/{SERVICE}", hosts.join(","))
    }

    /// The URL for servers.
    pub fn url(&self) -> String {
        format!("redis+sentinel://{}", self.hosts_and_service())
    }

    /// The port of the master, according to the sentinels.
    pub fn master_port(&self) -> u16 {
        let said = self.sentinels[0].says(&["SENTINEL", "GET-MASTER-ADDR-BY-NAME", SERVICE]);
        let port = said.lines().nth(1).expect("a host and a port");
        port.parse().expect("a port")
    }

    /// The master, according to the sentinels.
    pub fn master(&mut self) -> &mut RedisServer {
        let port = self.master_port();
        let mut servers = self.servers.iter_mut();
        let master = servers.find(|server| server.port == port);
        master.expect("the master is one of ours")
    }

    /// Waits until the replicas have received everything from the master.
    pub fn replicate(&mut self) {
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
