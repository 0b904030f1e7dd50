//! Counts the commands that Redis gets because of a request, with `MONITOR`.

use std::{
    collections::HashSet,
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
    sync::mpsc,
    time::Duration,
};

use turnbuckle_test_replicas::RedisServer;

use crate::Result;

/// How long `MONITOR` may take to report the commands that were sent.
const TIMEOUT: Duration = Duration::from_secs(10);

/// How long replicas are left alone to see which commands they send by themselves.
const ALONE: Duration = Duration::from_secs(3);

/// How long commands after the end of a request may take.
const SETTLING: Duration = Duration::from_millis(300);

/// How many words identify a command: the command, the script or channel, and the key.
const TELLING: usize = 4;

/// `MONITOR` of a Redis, until it is dropped.
pub(super) struct Monitor<'a> {
    redis: &'a RedisServer,
    child: Child,
    lines: mpsc::Receiver<String>,
    /// The commands that replicas send by themselves.
    own: HashSet<String>,
    marks: u32,
}

impl Drop for Monitor<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl<'a> Monitor<'a> {
    /// Starts it, and learns which commands replicas send without any request.
    pub(super) async fn start(redis: &'a RedisServer) -> Result<Self> {
        let mut child = Command::new("redis-cli")
            .args(["-h", "127.0.0.1", "-p", &redis.port.to_string(), "MONITOR"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let output = child.stdout.take().ok_or("the output is a pipe")?;
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            let said = BufReader::new(output)
                .lines()
                .map_while(std::io::Result::ok);
            // Ends with the process.
            for line in said {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let mut monitor = Self {
            redis,
            child,
            lines,
            own: HashSet::new(),
            marks: 0,
        };
        let first = monitor.lines.recv_timeout(TIMEOUT)?;
        if first != "OK" {
            return Err(format!("MONITOR: {first}").into());
        }
        tokio::time::sleep(ALONE).await;
        let own = monitor.commands()?;
        monitor.own = own.iter().map(|line| signature(line)).collect();
        Ok(monitor)
    }

    /// The commands since the last call, without those inside scripts.
    fn commands(&mut self) -> Result<Vec<String>> {
        self.marks += 1;
        let mark = format!("mark-{}", self.marks);
        self.redis.says(&["ECHO", &mark]);
        let mut commands = Vec::new();
        loop {
            let line = self.lines.recv_timeout(TIMEOUT)?;
            if line.contains(&mark) {
                return Ok(commands);
            }
            // The commands inside a script are one command of a replica.
            if !line.contains(" lua]") {
                commands.push(line);
            }
        }
    }

    /// The commands that an action causes, each time that it is done.
    pub(super) async fn count(
        &mut self,
        times: u32,
        mut action: impl AsyncFnMut() -> Result<()>,
    ) -> Result<f64> {
        self.commands()?;
        for _ in 0..times {
            action().await?;
        }
        tokio::time::sleep(SETTLING).await;
        let commands = self.commands()?;
        let caused = commands
            .iter()
            .filter(|line| !self.own.contains(&signature(line)));
        let caused = u32::try_from(caused.count())?;
        Ok(f64::from(caused) / f64::from(times))
    }
}

/// The identifying words of a command in a line of `MONITOR`: `1700000000.1 [0 127.0.0.1:5] "EVALSHA" "…" "1" "key" …`.
fn signature(line: &str) -> String {
    let command = line.split_once("] ").map_or(line, |(_, command)| command);
    let words: Vec<_> = command.split(' ').take(TELLING).collect();
    words.join(" ")
}
