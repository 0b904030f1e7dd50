//! One Redis process at a port of loopback.

use std::{
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use crate::free_port;

/// How long anything may take here: far longer than it needs.
const TIMEOUT: Duration = Duration::from_secs(30);

/// How often other ports are tried, in case a port is taken between the check and the use.
const ATTEMPTS: usize = 5;

/// How long a process must be silent before the others regard it as gone, in milliseconds. It is as
/// short as a busy machine allows.
pub(crate) const GONE_AFTER_MS: &str = "1500";

/// A Redis process, which ends when this is dropped.
pub struct RedisServer {
    child: Child,
    /// The port on which it listens.
    pub port: u16,
    pub(crate) bus_port: u16,
    words: Vec<String>,
    folder: PathBuf,
    /// The arguments of `redis-cli` for access.
    access: Vec<String>,
}

impl RedisServer {
    /// Starts a process. `words` makes its arguments from a port, and from a second port for the
    /// bus of a cluster.
    pub fn start(folder: &Path, access: &[&str], words: impl Fn(u16, u16) -> Vec<String>) -> Self {
        for _ in 0..ATTEMPTS {
            let [port, bus_port] = [(); 2].map(|()| free_port().expect("there are free ports"));
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
            assert!(begun.elapsed() < TIMEOUT, "redis-server does not listen");
            std::thread::sleep(Duration::from_millis(20));
        }
        true
    }

    /// The id of the process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Kills the process.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Starts the process again at the same port, with the data in its folder.
    pub fn start_again(&mut self) {
        self.child = run(&self.folder, &self.words);
        assert!(self.listens(), "redis-server does not start again");
    }

    /// Sends a signal to the process, given as an argument of `kill`, such as `-STOP`.
    pub fn signal(&self, signal: &str) {
        let sent = Command::new("kill")
            .args([signal, &self.child.id().to_string()])
            .status();
        assert!(sent.expect("`kill` is there").success());
    }

    /// Whether it accepts connections.
    pub fn is_there(&self) -> bool {
        TcpStream::connect(("127.0.0.1", self.port)).is_ok()
    }

    /// The answer to a command. A server that becomes a replica closes all its connections; then
    /// the command is sent again.
    pub fn says(&self, command: &[&str]) -> String {
        let begun = Instant::now();
        loop {
            match self.answer(command) {
                Ok(answer) => return answer,
                Err(error) => assert!(begun.elapsed() < TIMEOUT, "{command:?}: {error}"),
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

    /// Sends a command whose answer must be `OK`.
    pub fn does(&self, command: &[&str]) {
        assert_eq!(self.says(command), "OK", "{command:?}");
    }

    /// Whether it is a replica that is connected to its master.
    pub(crate) fn has_link(&self) -> bool {
        self.says(&["INFO", "replication"])
            .contains("master_link_status:up")
    }
}

impl Drop for RedisServer {
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

/// Waits until a condition is true.
pub fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < TIMEOUT, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The arguments of `redis-cli` for a password.
pub(crate) fn access(password: &str) -> Vec<&str> {
    if password.is_empty() {
        Vec::new()
    } else {
        vec!["--no-auth-warning", "-a", password]
    }
}

/// Converts the arguments of a command.
pub fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// Arguments for all servers with data: nothing is written to files, and replication starts
/// immediately. `DEBUG` is allowed, so that tests can make a server sleep.
pub(crate) const DATA: [&str; 10] = [
    "--bind",
    "127.0.0.1",
    "--save",
    "",
    "--appendonly",
    "no",
    "--repl-diskless-sync-delay",
    "0",
    "--enable-debug-command",
    "yes",
];

/// A single server, without sentinels or a cluster.
pub struct Lone {
    /// The process.
    pub server: RedisServer,
    _folder: tempfile::TempDir,
}

impl Lone {
    /// Starts a server that writes nothing to files.
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    /// Starts a server that writes everything to files before it answers, so that all data exists
    /// after a restart.
    pub fn start_lasting() -> Self {
        Self::start_with(&["--appendonly", "yes", "--appendfsync", "always"])
    }

    fn start_with(more: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let server = RedisServer::start(folder.path(), &[], |port, _| {
            let mut all = words(&["--port", &port.to_string()]);
            all.extend(DATA.map(str::to_owned));
            all.extend(words(more));
            all
        });
        Self {
            server,
            _folder: folder,
        }
    }

    /// The port on which it listens.
    pub fn port(&self) -> u16 {
        self.server.port
    }

    /// The URL of the server.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.server.port)
    }
}

/// The replication offset of a server: how much of the written data it has.
pub(crate) fn offset(server: &RedisServer) -> u64 {
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
