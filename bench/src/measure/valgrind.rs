//! Servers and clients under valgrind: figures that do not depend on the machine.
//!
//! The cost of one request is the difference of two runs, one with twice the requests of the other,
//! divided by the difference in requests: starting and ending are part of both.

use std::{
    net::SocketAddr,
    path::PathBuf,
    process::Stdio,
    sync::atomic::{AtomicU32, Ordering},
};

use tokio::{process::Command, time::timeout};

use crate::{
    Result,
    load::{self, Call, Until},
    measure::crowd::{self, Crowd},
    peers::target,
    process::Running,
};

/// Outstanding requests, which over HTTP is the number of connections: like a server that is slightly busy.
pub(crate) const OUTSTANDING: usize = 4;

/// The tool of valgrind that runs the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tool {
    /// Counts instructions.
    Callgrind,
    /// Counts allocations.
    Dhat,
}

/// How a server is reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Transport {
    Stdio,
    Http,
}

/// The path of a profile; the file is removed when this is dropped.
pub(crate) struct Profile(PathBuf);

impl Profile {
    pub(crate) fn new() -> Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = target().join("tmp");
        std::fs::create_dir_all(&folder)?;
        Ok(Self(
            folder.join(format!("bench.{}.{number}", std::process::id())),
        ))
    }

    pub(crate) fn under(&self, tool: Tool, command: &[String]) -> Vec<String> {
        let file = self.0.display();
        let options = match tool {
            Tool::Callgrind => [
                "--tool=callgrind".to_owned(),
                format!("--callgrind-out-file={file}"),
            ],
            Tool::Dhat => ["--tool=dhat".to_owned(), format!("--dhat-out-file={file}")],
        };
        let valgrind = ["valgrind".to_owned(), "-q".to_owned()];
        [&valgrind[..], &options, command].concat()
    }

    pub(crate) fn text(&self) -> Result<String> {
        let text = std::fs::read(&self.0);
        let text = text.map_err(|error| format!("valgrind left no profile: {error}"))?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// Instructions of the whole run.
    pub(crate) fn instructions(&self) -> Result<u64> {
        let text = self.text()?;
        let total = text.lines().rev().find_map(|line| {
            line.strip_prefix("totals: ")
                .or_else(|| line.strip_prefix("summary: "))
        });
        Ok(total.ok_or("the profile has no total")?.trim().parse()?)
    }
}

impl Drop for Profile {
    fn drop(&mut self) {
        // If this fails, the file remains in the build's folder for temporary files.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// A server's run under valgrind.
pub(crate) struct Trial<'a> {
    pub(crate) command: &'a [String],
    pub(crate) transport: Transport,
    pub(crate) call: Call,
    /// Other connected clients.
    pub(crate) crowd: Crowd,
}

impl Trial<'_> {
    /// Serves this many requests.
    pub(crate) async fn run(&self, tool: Tool, requests: u64) -> Result<Profile> {
        let profile = Profile::new()?;
        let command = profile.under(tool, self.command);
        let until = Until::Requests(requests);
        match self.transport {
            Transport::Stdio => {
                load::stdio::drive(&command, self.call, OUTSTANDING, until).await?;
            }
            Transport::Http => {
                let (server, address) = Running::http(&command).await?;
                let crowd = crowd::gather(self.crowd, address).await?;
                let at = (server.pid, address);
                load::http::drive(at, self.call, OUTSTANDING, until).await?;
                drop(crowd);
                server.end().await?;
            }
        }
        Ok(profile)
    }

    /// Instructions for one request.
    pub(crate) async fn instructions(&self, requests: u64) -> Result<f64> {
        let once = self.run(Tool::Callgrind, requests).await?.instructions()?;
        let twice = self
            .run(Tool::Callgrind, 2 * requests)
            .await?
            .instructions()?;
        Ok(per_request(once, twice, requests))
    }
}

/// Instructions of a client for one call. `client` is its command without the number of calls and
/// the server's address, which are added at its end.
pub(crate) async fn client_instructions(
    client: &[String],
    place: &Place<'_>,
    calls: u64,
) -> Result<f64> {
    let mut counts = [0; 2];
    for (count, calls) in counts.iter_mut().zip([calls, 2 * calls]) {
        let profile = Profile::new()?;
        let mut command = profile.under(Tool::Callgrind, client);
        command.push(calls.to_string());
        match place {
            Place::Command(server) => command.extend_from_slice(server),
            Place::Address(address) => command.push(format!("http://{address}/mcp")),
        }
        let run = Command::new(&command[0])
            .args(&command[1..])
            // valgrind complains about system calls that it passes on without knowing them.
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .status();
        let status = timeout(Until::Requests(calls).deadline(), run)
            .await
            .map_err(|_| format!("{command:?} took too long"))??;
        if !status.success() {
            return Err(format!("{command:?} ended with {status}").into());
        }
        *count = profile.instructions()?;
    }
    Ok(per_request(counts[0], counts[1], calls))
}

/// Where a client finds the server.
pub(crate) enum Place<'a> {
    Command(&'a [String]),
    Address(SocketAddr),
}

#[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^52")]
pub(crate) fn per_request(once: u64, twice: u64, requests: u64) -> f64 {
    (twice as f64 - once as f64) / requests as f64
}
