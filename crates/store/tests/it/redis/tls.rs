//! `rediss://`, with a user, a password and a database.

use std::{
    net::TcpListener,
    path::Path,
    process::{Child, Command, Stdio},
    time::Instant,
};

use turnbuckle_store::{
    StateClaim, StateUse, UsedStates as _,
    redis::{Redis, RedisTls},
};
use turnbuckle_test_replicas::{RedisServer, until, words};

use super::TIMEOUT;

/// How often another port is tried, in case it is taken between the check and the use.
const ATTEMPTS: usize = 5;

/// A Redis process that accepts only TLS, which ends when this is dropped.
struct TlsEngine {
    child: Child,
    port: u16,
}

impl TlsEngine {
    fn start(folder: &Path) -> Self {
        for _ in 0..ATTEMPTS {
            let free = TcpListener::bind("127.0.0.1:0").unwrap();
            let port = free.local_addr().unwrap().port();
            drop(free);
            let child = Command::new("redis-server")
                .args(["--port", "0", "--tls-port", &port.to_string()])
                .args([
                    "--bind",
                    "127.0.0.1",
                    "--save",
                    "",
                    "--tls-auth-clients",
                    "optional",
                ])
                .args(["--tls-cert-file", "cert.pem", "--tls-key-file", "key.pem"])
                .args([
                    "--tls-ca-cert-file",
                    "cert.pem",
                    "--requirepass",
                    "open sesame",
                ])
                .args(["--user", "ada", "on", ">hunter:2", "~*", "&*", "+@all"])
                .current_dir(folder)
                .stdout(Stdio::null())
                .spawn()
                .expect("`redis-server` is installed; `./scripts/test redis` installs it");
            let mut engine = Self { child, port };
            if engine.listens() {
                return engine;
            }
        }
        panic!("redis-server does not listen");
    }

    fn listens(&mut self) -> bool {
        let begun = Instant::now();
        while begun.elapsed() < TIMEOUT {
            if self.child.try_wait().unwrap().is_some() {
                return false;
            }
            if std::net::TcpStream::connect(("127.0.0.1", self.port)).is_ok() {
                return true;
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        false
    }

    fn url(&self, user: &str, database: u8) -> String {
        format!("rediss://{user}@localhost:{}/{database}", self.port)
    }
}

impl Drop for TlsEngine {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test]
async fn redis_is_reached_by_tls_with_a_user_and_a_database() {
    let folder = tempfile::tempdir().unwrap();
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    std::fs::write(folder.path().join("cert.pem"), made.cert.pem()).unwrap();
    let key = made.signing_key.serialize_pem();
    std::fs::write(folder.path().join("key.pem"), &key).unwrap();
    let engine = TlsEngine::start(folder.path());
    let trusting = || RedisTls::new().root(made.cert.pem());
    let used = StateUse::new(b"one", 7, 10, 0);

    let ada = engine.url("ada:hunter%3A2", 0);
    let redis = Redis::open_with_tls(&ada, trusting()).await.unwrap();
    assert_eq!(
        redis.used_states().claim(used).await.unwrap(),
        StateClaim::FirstUse
    );
    assert_eq!(
        redis.used_states().claim(used).await.unwrap(),
        StateClaim::AlreadyUsed
    );
    // Listening uses a separate connection.
    let (bus, node) = (redis.bus(), turnbuckle_store::bus::NodeId::new(1));
    let (_joined, _) = super::node(&bus, node);
    let ready = turnbuckle_store::bus::Bus::ready(&bus, node);
    tokio::time::timeout(TIMEOUT, ready).await.unwrap();

    let other = engine.url(":open%20sesame", 3);
    let tls = trusting().client_certificate(made.cert.pem(), key);
    let other = Redis::open_with_tls(&other, tls).await.unwrap();
    let claimed = other.used_states().claim(used).await.unwrap();
    assert_eq!(claimed, StateClaim::FirstUse, "another database is another");

    let unknown = Redis::open(&ada).await.unwrap_err().to_string();
    assert!(unknown.contains("certificate"), "{unknown}");
    let stranger = engine.url("ada:wrong", 0);
    let refused = Redis::open_with_tls(&stranger, trusting()).await;
    assert!(refused.is_err(), "a wrong password");
    let plain = Redis::open_with_tls("redis://127.0.0.1/", trusting()).await;
    assert!(plain.is_err(), "no TLS where it is not said");
}

/// A folder with a certificate for loopback, and the arguments for a server with TLS only.
struct Certified {
    folder: tempfile::TempDir,
    pem: String,
}

impl Certified {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
        let made = rcgen::generate_simple_self_signed(names).unwrap();
        let pem = made.cert.pem();
        std::fs::write(folder.path().join("cert.pem"), &pem).unwrap();
        let key = made.signing_key.serialize_pem();
        std::fs::write(folder.path().join("key.pem"), key).unwrap();
        Self { folder, pem }
    }

    fn start(&self, more: impl Fn(u16) -> Vec<String>) -> RedisServer {
        let file = self.folder.path().join("cert.pem");
        let access = ["--tls", "--cacert", file.to_str().unwrap()];
        RedisServer::start(self.folder.path(), &access, |port, bus_port| {
            let port = port.to_string();
            let mut all = words(&["--port", "0", "--tls-port", &port]);
            all.extend(words(&["--bind", "127.0.0.1", "--save", ""]));
            all.extend(words(&["--tls-cert-file", "cert.pem"]));
            all.extend(words(&["--tls-key-file", "key.pem"]));
            all.extend(words(&["--tls-ca-cert-file", "cert.pem"]));
            all.extend(words(&["--tls-auth-clients", "no"]));
            all.extend(words(&["--tls-replication", "yes"]));
            all.extend(more(bus_port));
            all
        })
    }

    async fn works(&self, url: &str) {
        let tls = || RedisTls::new().root(&self.pem);
        let redis = Redis::open_with_tls(url, tls()).await.unwrap();
        let used = StateUse::new(b"one", 7, 10, 0);
        assert_eq!(
            redis.used_states().claim(used).await.unwrap(),
            StateClaim::FirstUse
        );
        assert_eq!(
            redis.used_states().claim(used).await.unwrap(),
            StateClaim::AlreadyUsed
        );
        let (bus, node) = (redis.bus(), turnbuckle_store::bus::NodeId::new(1));
        let (_joined, _) = super::node(&bus, node);
        let ready = turnbuckle_store::bus::Bus::ready(&bus, node);
        tokio::time::timeout(TIMEOUT, ready).await.unwrap();
        let unknown = Redis::open(url).await.unwrap_err().to_string();
        assert!(unknown.contains("certificate"), "{unknown}");
        let plain = url.replace("rediss", "redis");
        let plain = Redis::open_with_tls(&plain, tls()).await;
        assert!(plain.is_err(), "no TLS where it is not said");
    }
}

#[tokio::test]
async fn a_cluster_is_reached_by_tls() {
    let certified = Certified::new();
    let node = certified.start(|bus_port| {
        let bus_port = bus_port.to_string();
        let mut all = words(&["--cluster-enabled", "yes", "--cluster-port", &bus_port]);
        all.extend(words(&["--tls-cluster", "yes"]));
        all
    });
    node.does(&["CLUSTER", "ADDSLOTSRANGE", "0", "16383"]);
    until("the cluster is ready", || {
        let said = node.says(&["CLUSTER", "INFO"]);
        said.contains("cluster_state:ok")
    });
    let url = format!("rediss+cluster://localhost:{}", node.port);
    certified.works(&url).await;
}

#[tokio::test]
async fn sentinels_and_their_master_are_reached_by_tls() {
    let certified = Certified::new();
    let master = certified.start(|_| Vec::new());
    let config = certified.folder.path().join("sentinel.conf");
    let sentinel = {
        let file = certified.folder.path().join("cert.pem");
        let access = ["--tls", "--cacert", file.to_str().unwrap()];
        RedisServer::start(certified.folder.path(), &access, |port, _| {
            let watched = format!(
                "port 0\ntls-port {port}\nbind 127.0.0.1\ntls-cert-file cert.pem\n\
                 tls-key-file key.pem\ntls-ca-cert-file cert.pem\ntls-auth-clients no\n\
                 tls-replication yes\nsentinel monitor main 127.0.0.1 {} 1\n",
                master.port
            );
            std::fs::write(&config, watched).unwrap();
            words(&["sentinel.conf", "--sentinel"])
        })
    };
    let url = format!("rediss+sentinel://localhost:{}/main", sentinel.port);
    certified.works(&url).await;
}
