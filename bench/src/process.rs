//! Processes under measurement: started on their own core, measured through `/proc`, and ended.

use std::{
    collections::HashMap,
    fs,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    process::Stdio,
    time::Duration,
};

use tokio::{
    net::TcpStream,
    process::{Child, Command},
    time::{Instant, sleep, timeout},
};
use turnbuckle_test_replicas::free_port;

use crate::Result;

/// The core of every server, so that requests per second are for one core.
pub(crate) const SERVER_CORE: &str = "0";

/// The core of the load generator.
pub(crate) const GENERATOR_CORE: &str = "1";

/// How long a server may take until it listens. Python under load needs several seconds, and
/// valgrind makes everything fifty times slower.
const STARTING: Duration = Duration::from_mins(1);

/// How many attempts are made to find a free port and start a server there.
const ATTEMPTS: usize = 20;

/// How long a server may take to end after SIGTERM. It may wait for its streams.
const ENDING: Duration = Duration::from_secs(30);

/// Restricts this process to its core, unless the machine has only one.
pub(crate) fn settle() -> Result<()> {
    if std::thread::available_parallelism()?.get() < 2 {
        eprintln!("warning: one core for servers and generator, so times are not to be trusted");
        return Ok(());
    }
    let own = std::process::id().to_string();
    let pinned = std::process::Command::new("taskset")
        .args(["-cp", GENERATOR_CORE, &own])
        .stdout(Stdio::null())
        .status()
        .map_err(|error| format!("`taskset` does not run, install util-linux: {error}"))?;
    if pinned.success() {
        Ok(())
    } else {
        Err("`taskset` could not put the generator on core 1".into())
    }
}

/// A running server, alone on its core.
pub(crate) struct Running {
    pub(crate) child: Child,
    pub(crate) pid: u32,
}

impl Running {
    /// Starts a command with pipes for input and output.
    pub(crate) fn piped(command: &[String]) -> Result<Self> {
        Self::spawn(command, Stdio::piped, SERVER_CORE)
    }

    /// Starts an HTTP server with `{PORT}` in its command replaced, and waits until it listens.
    /// If its port is taken, the server is started again with another port.
    pub(crate) async fn http(command: &[String]) -> Result<(Self, SocketAddr)> {
        Self::http_with(SERVER_CORE, &|port| Ok(at_port(command, port))).await
    }

    /// The same on the core of the generator, for a server behind the measured one.
    pub(crate) async fn upstream(command: &[String]) -> Result<(Self, SocketAddr)> {
        Self::http_with(GENERATOR_CORE, &|port| Ok(at_port(command, port))).await
    }

    /// The same on this core, with a command that is made for each port.
    pub(crate) async fn http_with(
        core: &str,
        command: &dyn Fn(u16) -> Result<Vec<String>>,
    ) -> Result<(Self, SocketAddr)> {
        for _ in 1..ATTEMPTS {
            let address = reserve()?;
            match Self::http_at(core, command(address.port())?, address).await {
                Err(_) if TcpListener::bind(address).is_err() => {}
                outcome => return outcome,
            }
        }
        let address = reserve()?;
        Self::http_at(core, command(address.port())?, address).await
    }

    async fn http_at(
        core: &str,
        command: Vec<String>,
        address: SocketAddr,
    ) -> Result<(Self, SocketAddr)> {
        let mut running = Self::spawn(&command, Stdio::null, core)?;
        let deadline = Instant::now() + STARTING;
        while TcpStream::connect(address).await.is_err() {
            if let Some(status) = running.child.try_wait()? {
                return Err(format!("{command:?} ended with {status}").into());
            }
            if Instant::now() > deadline {
                return Err(format!("{command:?} did not listen within {STARTING:?}").into());
            }
            sleep(Duration::from_millis(20)).await;
        }
        // The program that accepted the connection must be the server.
        if let Some(status) = running.child.try_wait()? {
            return Err(format!("{command:?} ended with {status}").into());
        }
        Ok((running, address))
    }

    fn spawn(command: &[String], pipe: fn() -> Stdio, core: &str) -> Result<Self> {
        // Instructions are the same on any core, so counting them uses all cores.
        let pinning: &[&str] = match command.first() {
            Some(program) if program == "valgrind" => &["env"],
            _ => &["taskset", "-c", core],
        };
        let child = Command::new(pinning[0])
            .args(&pinning[1..])
            .args(command)
            .stdin(pipe())
            .stdout(pipe())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| format!("{command:?} does not start: {error}"))?;
        let pid = child.id().ok_or("the process has ended already")?;
        Ok(Self { child, pid })
    }

    /// Asks the process to end, and waits for it.
    pub(crate) async fn end(self) -> Result<()> {
        signal("-TERM", self.pid)?;
        self.wait().await
    }

    /// The same for a program that starts others: remaining processes are killed.
    pub(crate) async fn end_with_others(self) -> Result<()> {
        let others: Vec<_> = Relation::all()
            .descendants(self.pid)
            .map(|it| (it.pid, it.began.clone()))
            .collect();
        self.end().await?;
        let left = Relation::all();
        for (pid, began) in others {
            if left.0.iter().any(|it| it.pid == pid && it.began == began) {
                signal("-KILL", pid)?;
            }
        }
        Ok(())
    }

    /// Waits for the process, whose input has ended, and kills it if it does not end.
    pub(crate) async fn wait(mut self) -> Result<()> {
        if timeout(ENDING, self.child.wait()).await.is_err() {
            self.child.kill().await?;
        }
        Ok(())
    }
}

/// An unused address, for a server that takes its port as an argument. The port is
/// not one of those that the system gives to outgoing connections.
pub(crate) fn reserve() -> Result<SocketAddr> {
    Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, free_port()?)))
}

fn at_port(command: &[String], port: u16) -> Vec<String> {
    let port = port.to_string();
    command
        .iter()
        .map(|it| it.replace("{PORT}", &port))
        .collect()
}

pub(crate) fn signal(name: &str, pid: u32) -> Result<()> {
    std::process::Command::new("kill")
        .args([name, &pid.to_string()])
        .stderr(Stdio::null())
        .status()?;
    Ok(())
}

/// Which process started which.
struct Relation(Vec<Process>);

struct Process {
    pid: u32,
    parent: u32,
    program: String,
    /// When it began, in a unit of the system: process ids may be reused.
    began: String,
}

impl Relation {
    fn all() -> Self {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let process = |entry: fs::DirEntry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            let text = fs::read_to_string(entry.path().join("stat")).ok()?;
            let (start, rest) = text.rsplit_once(')')?;
            let fields: Vec<_> = rest.split_whitespace().collect();
            Some(Process {
                pid,
                parent: fields.get(1)?.parse().ok()?,
                program: start.split_once('(')?.1.to_owned(),
                began: (*fields.get(19)?).to_owned(),
            })
        };
        Self(entries.filter_map(process).collect())
    }

    fn descendants(&self, pid: u32) -> impl Iterator<Item = &Process> {
        let is_below = move |process: &&Process| {
            let mut at = process.parent;
            while at != pid {
                match self.0.iter().find(|it| it.pid == at) {
                    Some(above) => at = above.parent,
                    None => return false,
                }
            }
            true
        };
        self.0.iter().filter(is_below)
    }
}

/// The program behind gateways, whose cost is not theirs.
const UPSTREAM: &str = "bench-server";

/// The CPU time of each thread of a process and of the processes that it started, in nanoseconds, without
/// the server behind a gateway.
#[derive(Default)]
pub(crate) struct Ran(HashMap<String, u64>);

impl Ran {
    pub(crate) fn of(pid: u32) -> Self {
        let relation = Relation::all();
        let others = relation.descendants(pid);
        let others = others.filter(|it| it.program != UPSTREAM);
        let mut threads = Self::of_one(pid);
        for other in others {
            threads.extend(Self::of_one(other.pid));
        }
        Self(threads)
    }

    fn of_one(pid: u32) -> HashMap<String, u64> {
        let mut threads = HashMap::new();
        for thread in fs::read_dir(format!("/proc/{pid}/task"))
            .into_iter()
            .flatten()
            .flatten()
        {
            let text = fs::read_to_string(thread.path().join("schedstat")).unwrap_or_default();
            let nanoseconds = text.split(' ').next().and_then(|it| it.parse().ok());
            let name = thread.file_name().to_string_lossy().into_owned();
            threads.insert(name, nanoseconds.unwrap_or(0));
        }
        threads
    }

    /// Seconds between an earlier measurement and this one; threads that ended in between are not counted.
    pub(crate) fn since(&self, earlier: &Self) -> f64 {
        let ran = self
            .0
            .iter()
            .map(|(thread, now)| now.saturating_sub(earlier.0.get(thread).copied().unwrap_or(0)));
        Duration::from_nanos(ran.sum()).as_secs_f64()
    }
}

/// Memory of a process in megabytes: the current `VmRSS`, or the peak `VmHWM`.
pub(crate) fn megabytes(pid: u32, field: &str) -> f64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let kilobytes = status.lines().find_map(|line| {
        let value = line.strip_prefix(field)?.strip_prefix(':')?;
        value.trim().strip_suffix(" kB")?.parse::<f64>().ok()
    });
    kilobytes.unwrap_or(f64::NAN) / 1024.0
}

/// Raises the limit of open files for this process and those it starts, as far as the system allows it.
pub(crate) fn allow_files(count: usize) -> Result<()> {
    let own = std::process::id().to_string();
    let limit = format!("--nofile={count}:");
    let status = std::process::Command::new("prlimit")
        .args(["--pid", &own, &limit])
        .status()?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{count} files at once are not allowed; raise `ulimit -Hn`").into())
    }
}
