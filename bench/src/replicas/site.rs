//! The replicas, and the load balancer in front of them.

use std::{
    fs::File,
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use turnbuckle_test_replicas::Balancer;

use crate::{
    Result,
    peers::root,
    process::{reserve, signal},
};

/// How long a replica may take until it listens, and until it has ended.
const TIMEOUT: Duration = Duration::from_secs(40);

/// How often this is checked.
const LOOK: Duration = Duration::from_millis(10);

/// A process of the server at its port, until it is dropped.
pub(super) struct Replica {
    child: Child,
    pub(super) address: SocketAddr,
    url: String,
    clock_seconds: i64,
    program: PathBuf,
    log: File,
}

impl Replica {
    /// Starts one that writes its log to this file.
    pub(super) fn start(program: &Path, url: &str, log: &Path) -> Result<Self> {
        let address = reserve()?;
        let log = File::create(log)?;
        let child = run(program, address, url, 0, &log)?;
        let mut replica = Self {
            child,
            address,
            url: url.to_owned(),
            clock_seconds: 0,
            program: program.to_owned(),
            log,
        };
        replica.listens()?;
        Ok(replica)
    }

    /// Starts another process in its place, with its clock shifted by this many seconds from then on.
    pub(super) fn start_again(&mut self, clock_seconds: Option<i64>) -> Result<()> {
        self.clock_seconds = clock_seconds.unwrap_or(self.clock_seconds);
        let (program, clock) = (&self.program, self.clock_seconds);
        self.child = run(program, self.address, &self.url, clock, &self.log)?;
        self.listens()
    }

    fn listens(&mut self) -> Result<()> {
        let begun = Instant::now();
        while TcpStream::connect(self.address).is_err() {
            if let Some(status) = self.child.try_wait()? {
                return Err(format!("a replica ended with {status}").into());
            }
            if begun.elapsed() > TIMEOUT {
                return Err(format!("a replica did not listen within {TIMEOUT:?}").into());
            }
            std::thread::sleep(LOOK);
        }
        Ok(())
    }

    pub(super) fn kill(&mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    pub(super) fn signal(&self, name: &str) -> Result<()> {
        signal(name, self.child.id())
    }

    /// Asks it to end, and waits until it has.
    pub(super) fn end(&mut self) -> Result<()> {
        self.signal("-TERM")?;
        let begun = Instant::now();
        loop {
            match self.child.try_wait()? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => return Err(format!("after SIGTERM: {status}").into()),
                None if begun.elapsed() > TIMEOUT => {
                    return Err(format!("it did not end within {TIMEOUT:?} of SIGTERM").into());
                }
                None => std::thread::sleep(LOOK),
            }
        }
    }
}

impl Drop for Replica {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn run(
    program: &Path,
    address: SocketAddr,
    url: &str,
    clock_seconds: i64,
    log: &File,
) -> Result<Child> {
    let child = Command::new(program)
        .args([&address.port().to_string(), "--callers", "--durable"])
        .args(["--redis", url])
        .args(["--clock", &clock_seconds.to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log.try_clone()?)
        .spawn();
    Ok(child.map_err(|error| format!("`{}` does not start: {error}", program.display()))?)
}

/// The kind of load balancer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum BalancerKind {
    Own,
    Haproxy,
}

impl BalancerKind {
    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            "own" => Some(Self::Own),
            "haproxy" => Some(Self::Haproxy),
            _ => None,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Own => "a load balancer of ours",
            Self::Haproxy => "HAProxy",
        }
    }
}

/// A load balancer, until it is dropped.
pub(super) struct Balancing {
    pub(super) address: String,
    _own: Option<Balancer>,
    haproxy: Option<Child>,
}

impl Drop for Balancing {
    fn drop(&mut self) {
        if let Some(haproxy) = &mut self.haproxy {
            let _ = haproxy.kill();
            let _ = haproxy.wait();
        }
    }
}

impl Balancing {
    /// Starts one in front of these replicas. Must be called inside a runtime.
    pub(super) fn start(kind: BalancerKind, replicas: &[Replica]) -> Result<Self> {
        let addresses = replicas.iter().map(|replica| replica.address.to_string());
        if kind == BalancerKind::Own {
            let own = Balancer::start(addresses.collect());
            return Ok(Self {
                address: own.address.clone(),
                _own: Some(own),
                haproxy: None,
            });
        }
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?.to_string();
        let mut haproxy = Command::new("haproxy");
        // It inherits the socket that it listens on.
        haproxy
            .env("MCP_BIND", "fd@0")
            .stdin(Stdio::from(OwnedFd::from(listener)));
        for (number, replica) in (1..).zip(addresses) {
            haproxy.env(format!("MCP_REPLICA_{number}"), replica);
        }
        haproxy.arg("-db").arg("-f");
        haproxy.arg(root().join("examples/deploy/haproxy.cfg"));
        let haproxy = haproxy
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("`haproxy` does not start, install it: {error}"))?;
        Ok(Self {
            address,
            _own: None,
            haproxy: Some(haproxy),
        })
    }
}
