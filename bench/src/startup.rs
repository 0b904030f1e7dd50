//! Startup: the time from the start of the process to its first answer, and the size of the program.

use std::{path::Path, process::Stdio, time::Duration, time::Instant};

use serde::{Deserialize, Serialize};
use tokio::{io::AsyncWriteExt, process::Command, time::timeout};

use crate::{
    Result,
    load::{call, stdio::Lines},
    peers::{Peer, built, cargo_build, run, target},
    speed::Extent,
    statistics::Spread,
};

/// How long a server may take to its first answer. Python under load needs seconds.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The smallest server of each SDK, or the server of the comparison for SDKs that are not linked
/// into a program.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Startup {
    pub(crate) server: String,
    /// Milliseconds to the first answer.
    first_answer: Vec<f64>,
    /// The size in bytes of the program without symbols, if it is compiled.
    pub(crate) size: Option<u64>,
}

impl Startup {
    pub(crate) fn first_answer(&self) -> Option<Spread> {
        Spread::of(self.first_answer.iter().copied())
    }
}

pub(crate) fn prepare() -> Result<()> {
    eprintln!("preparing the smallest servers");
    let folder = target().join("bench-peers/hello");
    cargo_build(&[
        "--package",
        "bench-hello",
        "--target-dir",
        &folder.to_string_lossy(),
    ])?;
    crate::peers::build("rmcp", "rmcp-hello")
}

pub(crate) async fn measure(extent: Extent) -> Result<Vec<Startup>> {
    let times = match extent {
        Extent::Quick => 5,
        Extent::Full => 15,
    };
    let mut all: Vec<_> = Peer::ALL
        .iter()
        .map(|server| Startup {
            server: server.name().to_owned(),
            first_answer: Vec::new(),
            size: None,
        })
        .collect();
    for time in 0..times {
        for (startup, server) in all.iter_mut().zip(Peer::ALL) {
            if time >= extent.share(times, server) {
                continue;
            }
            startup
                .first_answer
                .push(first_answer(&command(server)).await?);
        }
    }
    for (startup, server) in all.iter_mut().zip(Peer::ALL) {
        if Peer::NATIVE.contains(&server) {
            startup.size = Some(stripped(Path::new(&command(server)[0]))?);
        }
    }
    Ok(all)
}

fn command(server: Peer) -> Vec<String> {
    let hello = match server {
        Peer::Turnbuckle => built("hello", "bench-hello"),
        Peer::Rmcp => built("rmcp", "rmcp-hello"),
        Peer::Control | Peer::Node | Peer::Python => return server.stdio(),
    };
    vec![hello.to_string_lossy().into_owned()]
}

async fn first_answer(command: &[String]) -> Result<f64> {
    let mut opening = call::initialize();
    opening.push(b'\n');
    let began = Instant::now();
    let mut child = Command::new(&command[0])
        .args(&command[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()?;
    let mut input = child.stdin.take().ok_or("the input is a pipe")?;
    let mut lines = Lines::new(child.stdout.take().ok_or("the output is a pipe")?);
    input.write_all(&opening).await?;
    let answer = timeout(TIMEOUT, lines.next()).await;
    let answer = answer.map_err(|_| format!("no answer of {command:?} within {TIMEOUT:?}"))??;
    let took = began.elapsed();
    let answer: serde_json::Value = serde_json::from_slice(&answer)?;
    if answer.get("result").is_none() {
        return Err(format!("{command:?} refused `initialize`: {answer}").into());
    }
    child.kill().await?;
    Ok(took.as_secs_f64() * 1e3)
}

fn stripped(program: &Path) -> Result<u64> {
    let copy = target().join("tmp/bench.stripped");
    std::fs::create_dir_all(target().join("tmp"))?;
    run(std::process::Command::new("strip")
        .arg("-o")
        .arg(&copy)
        .arg(program))?;
    let size = copy.metadata()?.len();
    std::fs::remove_file(copy)?;
    Ok(size)
}
