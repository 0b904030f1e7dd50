//! Processes under measurement: started on a core of their own, weighed through `/proc`, ended.

use std::{
    collections::HashMap,
    fs,
    hash::{BuildHasher as _, RandomState},
    net::{Ipv4Addr, SocketAddr, TcpListener},
    ops::RangeInclusive,
    process::Stdio,
    time::Duration,
};

use tokio::{
    net::TcpStream,
    process::{Child, Command},
    time::{Instant, sleep, timeout},
};

use crate::Result;

/// The core of every server, so that requests a second are for one core.
const SERVER_CORE: &str = "0";

/// The core of the generator of load.
const GENERATOR_CORE: &str = "1";

/// How long a server may take until it listens. Python under load needs several seconds, and
/// valgrind makes everything fifty times slower.
const STARTING: Duration = Duration::from_mins(1);

/// Attempts to find a free port, and to start a server at it.
const ATTEMPTS: usize = 20;

/// The lowest port that a server is started at. Many services are configured below it.
const LOWEST_PORT: u16 = 10_000;

/// How long a server may take to end after it was told to. It may wait for its streams.
const ENDING: Duration = Duration::from_secs(30);

/// Puts this process on its core. A machine with one core has no choice.
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

/// A server that runs, alone on its core.
pub(crate) struct Running {
    pub(crate) child: Child,
    pub(crate) pid: u32,
}

impl Running {
    /// Starts a command with pipes for input and output.
    pub(crate) fn piped(command: &[String]) -> Result<Self> {
        Self::spawn(command, Stdio::piped)
    }

    /// Starts a server of HTTP, `{PORT}` in its command being filled in, and waits until it listens.
    /// A server that finds its port taken is started again at another.
    pub(crate) async fn http(command: &[String]) -> Result<(Self, SocketAddr)> {
        for _ in 1..ATTEMPTS {
            let address = reserve()?;
            match Self::http_at(command, address).await {
                Err(_) if TcpListener::bind(address).is_err() => {}
                outcome => return outcome,
            }
        }
        Self::http_at(command, reserve()?).await
    }

    async fn http_at(command: &[String], address: SocketAddr) -> Result<(Self, SocketAddr)> {
        let port = address.port().to_string();
        let command: Vec<_> = command
            .iter()
            .map(|it| it.replace("{PORT}", &port))
            .collect();
        let mut running = Self::spawn(&command, Stdio::null)?;
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

    fn spawn(command: &[String], pipe: fn() -> Stdio) -> Result<Self> {
        // Instructions are the same on any core, and counting them takes all that there are.
        let pinning: &[&str] = match command.first() {
            Some(program) if program == "valgrind" => &["env"],
            _ => &["taskset", "-c", SERVER_CORE],
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

    /// Tells the process to end, and waits for it.
    pub(crate) async fn end(self) -> Result<()> {
        let pid = self.pid.to_string();
        std::process::Command::new("kill")
            .args(["-TERM", &pid])
            .status()?;
        self.wait().await
    }

    /// Waits for the process, whose input has ended, and kills it if it stays.
    pub(crate) async fn wait(mut self) -> Result<()> {
        if timeout(ENDING, self.child.wait()).await.is_err() {
            self.child.kill().await?;
        }
        Ok(())
    }
}

/// An unused address, for a server that takes its port as an argument. Its port is
/// not one of those that the system gives to outgoing connections.
fn reserve() -> Result<SocketAddr> {
    let outgoing = outgoing_ports();
    let ports: Vec<u16> = (LOWEST_PORT..=u16::MAX)
        .filter(|port| !outgoing.contains(port))
        .collect();
    for attempt in 0..ATTEMPTS {
        let random = RandomState::new().hash_one(attempt);
        let index = usize::try_from(random % ports.len().max(1) as u64)?;
        let Some(port) = ports.get(index) else { break };
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, *port));
        if TcpListener::bind(address).is_ok() {
            return Ok(address);
        }
    }
    Err(format!("no free port outside of {outgoing:?}, where outgoing connections are").into())
}

/// The ports that the system gives to outgoing connections; those of IANA where it does not say.
fn outgoing_ports() -> RangeInclusive<u16> {
    let text = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
    let mut ports = text.split_whitespace().map_while(|word| word.parse().ok());
    match (ports.next(), ports.next()) {
        (Some(first), Some(last)) => first..=last,
        _ => 49_152..=u16::MAX,
    }
}

/// How long each thread of a process has run, in nanoseconds.
#[derive(Default)]
pub(crate) struct Ran(HashMap<String, u64>);

impl Ran {
    pub(crate) fn of(pid: u32) -> Self {
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
        Self(threads)
    }

    /// Seconds between an earlier look and this one; what ended between them is lost.
    pub(crate) fn since(&self, earlier: &Self) -> f64 {
        let ran = self
            .0
            .iter()
            .map(|(thread, now)| now.saturating_sub(earlier.0.get(thread).copied().unwrap_or(0)));
        Duration::from_nanos(ran.sum()).as_secs_f64()
    }
}

/// Memory of a process in megabytes: `VmRSS` now, or `VmHWM` at its highest.
pub(crate) fn megabytes(pid: u32, field: &str) -> f64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let kilobytes = status.lines().find_map(|line| {
        let value = line.strip_prefix(field)?.strip_prefix(':')?;
        value.trim().strip_suffix(" kB")?.parse::<f64>().ok()
    });
    kilobytes.unwrap_or(f64::NAN) / 1024.0
}

/// Lets this process and those it starts have so many files open, as far as the system allows it.
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
