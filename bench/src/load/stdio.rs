//! Load over stdio: a fixed number of outstanding requests, whose answers may come in any order.

use std::{cell::RefCell, collections::HashMap, rc::Rc, time::Instant};

use memchr::memmem::Finder;
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    process::{ChildStdin, ChildStdout},
    sync::Semaphore,
    time::timeout,
};

use super::{
    call::{self, Call, Era},
    tally::{CHECKED, Measured, Span, Tally, Until},
};
use crate::{Result, process::Running};

/// How many bytes are read at once: the capacity of a pipe.
const READ: usize = 64 * 1024;

/// Starts a server and drives it with `window` requests outstanding.
pub(crate) async fn drive(
    command: &[String],
    call: Call,
    window: usize,
    until: Until,
) -> Result<Measured> {
    let mut server = Running::piped(command)?;
    let mut input = server.child.stdin.take().ok_or("the input is a pipe")?;
    let output = server.child.stdout.take().ok_or("the output is a pipe")?;
    let mut lines = Lines::new(output);
    let run = async {
        greet(&mut input, &mut lines, call).await?;
        let road = Rc::new(Road {
            tally: Tally::new(until),
            credits: Semaphore::new(window),
            began: RefCell::default(),
        });
        // The writer is a separate task, because a server may stop reading until its answers are read.
        let writer = tokio::task::spawn_local(write(Rc::clone(&road), input, call));
        let measured = read(&road, &mut lines, call, server.pid, until).await;
        writer.abort();
        measured
    };
    let measured = timeout(until.deadline(), run)
        .await
        .map_err(|_| format!("{call:?} over stdio took too long: {command:?}"))??;
    drop(lines);
    match until {
        // Under valgrind, the process writes its counts when it ends.
        Until::Requests(_) => server.wait().await?,
        Until::Elapsed { .. } => server.child.kill().await?,
    }
    Ok(measured)
}

/// The handshake, or one call, so that the start of the process is not measured.
async fn greet(input: &mut ChildStdin, lines: &mut Lines, call: Call) -> Result<()> {
    let mut first = match call.era {
        Era::Legacy => call::initialize(),
        Era::Modern => call.message(),
    };
    first.push(b'\n');
    input.write_all(&first).await?;
    let answer: Value = serde_json::from_slice(&lines.next().await?)?;
    if answer.get("result").is_none() {
        return Err(format!("the first answer is {answer}").into());
    }
    if call.era == Era::Legacy {
        input
            .write_all(&[call::INITIALIZED, b"\n"].concat())
            .await?;
    }
    Ok(())
}

/// The state that writer and reader share.
struct Road {
    tally: Tally,
    credits: Semaphore,
    /// When each outstanding request was sent.
    began: RefCell<HashMap<u64, Instant>>,
}

async fn write(road: Rc<Road>, mut input: ChildStdin, call: Call) -> Result<()> {
    let mut message = call.message();
    message.push(b'\n');
    let mut batch = Vec::new();
    loop {
        road.credits.acquire().await?.forget();
        let credits = 1 + road.credits.forget_permits(usize::MAX);
        batch.clear();
        let now = Instant::now();
        for _ in 0..credits {
            let Some(id) = road.tally.next() else { break };
            call::number(&mut message, id);
            road.began.borrow_mut().insert(id, now);
            batch.extend_from_slice(&message);
        }
        input.write_all(&batch).await?;
    }
}

async fn read(
    road: &Road,
    lines: &mut Lines,
    call: Call,
    pid: u32,
    until: Until,
) -> Result<Measured> {
    let start = Instant::now();
    let mut span: Option<Span> = None;
    let mut answers = 0;
    let id_at = Finder::new(b"\"id\":");
    loop {
        let (warm, end) = match until {
            Until::Requests(all) => (true, answers >= all),
            Until::Elapsed { warm, measured } => {
                let elapsed = start.elapsed();
                (elapsed >= warm, elapsed >= warm + measured)
            }
        };
        if warm && span.is_none() {
            span = Some(road.tally.begin(pid));
        }
        if let (true, Some(span)) = (end, &span) {
            return road.tally.finish(span);
        }
        lines.fill().await?;
        let now = Instant::now();
        let mut arrived = 0;
        while let Some(line) = lines.take() {
            // A message without an id is a notification.
            let Some(id) = id_at.find(line).and_then(|at| id(&line[at + 5..])) else {
                continue;
            };
            if answers % CHECKED == 0 {
                call.check(&serde_json::from_slice(line)?, id)?;
            }
            if let Some(began) = road.began.borrow_mut().remove(&id) {
                road.tally.record(now - began);
            }
            answers += 1;
            arrived += 1;
        }
        road.credits.add_permits(arrived);
    }
}

fn id(text: &[u8]) -> Option<u64> {
    std::str::from_utf8(text.get(..9)?).ok()?.parse().ok()
}

/// The lines that a process writes.
pub(crate) struct Lines {
    output: ChildStdout,
    buffer: Vec<u8>,
    start: usize,
    seen: usize,
    filled: usize,
}

impl Lines {
    pub(crate) fn new(output: ChildStdout) -> Self {
        Self {
            output,
            buffer: vec![0; READ],
            start: 0,
            seen: 0,
            filled: 0,
        }
    }

    /// The next complete line, if there is one.
    fn take(&mut self) -> Option<&[u8]> {
        let Some(length) = memchr::memchr(b'\n', &self.buffer[self.seen..self.filled]) else {
            self.seen = self.filled;
            return None;
        };
        let line = self.start..self.seen + length;
        self.start = line.end + 1;
        self.seen = self.start;
        Some(&self.buffer[line])
    }

    async fn fill(&mut self) -> Result<()> {
        self.buffer.copy_within(self.start..self.filled, 0);
        self.filled -= self.start;
        self.seen -= self.start;
        self.start = 0;
        if self.filled == self.buffer.len() {
            self.buffer.resize(self.filled * 2, 0);
        }
        match self.output.read(&mut self.buffer[self.filled..]).await? {
            0 => Err("the server closed its output".into()),
            read => {
                self.filled += read;
                Ok(())
            }
        }
    }

    pub(crate) async fn next(&mut self) -> Result<Vec<u8>> {
        loop {
            if let Some(line) = self.take() {
                return Ok(line.to_vec());
            }
            self.fill().await?;
        }
    }
}
