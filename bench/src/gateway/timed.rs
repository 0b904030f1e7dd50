//! Time and CPU of a call through each gateway, and of the same call without a gateway just before.

use std::{net::SocketAddr, time::Duration};

use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::{
    link::{Behind, Cell, Link},
    programs::Program,
    results::{Gateways, Timed},
};
use crate::{
    Result,
    load::{
        self, Call, Era, Front, Measured, Operation, Until,
        call::{self, FIRST_ID},
        http::{Connection, modern_headers, session_headers},
    },
    process::{Running, SERVER_CORE},
    speed::Extent,
};

/// What is timed: name, bytes of the text, outstanding requests.
pub(crate) const SCENARIOS: [(&str, usize, usize); 4] = [
    (ONE_CLIENT, 100, 1),
    (BUSY, 100, 16),
    ("100 KB", 100_000, 1),
    ("4 MB", 4_000_000, 1),
];

/// One client, whose calls follow one another.
pub(crate) const ONE_CLIENT: &str = "100 B";

/// Sixteen clients, so that the gateway is always busy.
pub(crate) const BUSY: &str = "100 B, 16 clients";

/// How long a gateway may take until it lists the tools of its server.
const STARTING: Duration = Duration::from_secs(40);

/// A program that compiles while it runs needs more time to become fast.
const WARM_COMPILED: Duration = Duration::from_millis(200);
const WARM_JUST_IN_TIME: Duration = Duration::from_secs(1);

pub(crate) async fn measure(
    programs: &[Program],
    extent: Extent,
    gateways: &mut Gateways,
) -> Result<()> {
    let behind = Behind::start().await?;
    let rounds = match extent {
        Extent::Quick => 1,
        Extent::Full => 3,
    };
    for round in 0..rounds {
        for program in programs.iter().copied() {
            for link in program.links().iter().copied() {
                for cell in program.cells().iter().copied() {
                    // Gateways that are a hundred times slower are measured once.
                    if round > 0 && program.is_interpreted() {
                        continue;
                    }
                    let name = program.name();
                    eprintln!("timing: {name}, {}, {}", link.name(), cell.name());
                    let turn = Turn {
                        program,
                        link,
                        cell,
                        behind: &behind,
                        extent,
                    };
                    turn.run(gateways).await;
                }
            }
        }
    }
    behind.process.end().await
}

struct Turn<'a> {
    program: Program,
    link: Link,
    cell: Cell,
    behind: &'a Behind,
    extent: Extent,
}

/// A gateway that listens, or the command of a gateway that is started for each scenario.
enum Ready {
    Listening(Box<Running>, SocketAddr),
    Command(Vec<String>),
}

impl Turn<'_> {
    async fn run(&self, gateways: &mut Gateways) {
        let ready = match self.start().await {
            Ok(ready) => ready,
            Err(error) => return self.fail("", &*error, gateways),
        };
        for (scenario, bytes, clients) in SCENARIOS {
            match self.time(&ready, bytes, clients).await {
                Ok((direct, through)) => gateways.times.push(Timed {
                    program: self.program.name().to_owned(),
                    link: self.link,
                    cell: self.cell.name(),
                    scenario: scenario.to_owned(),
                    direct,
                    through,
                }),
                Err(error) => {
                    self.fail(scenario, &*error, gateways);
                    // A gateway that rejects the smallest call also rejects the others.
                    if bytes == 100 {
                        break;
                    }
                }
            }
        }
        if let Ready::Listening(process, _) = ready
            && let Err(error) = process.end_with_others().await
        {
            self.fail("ending", &*error, gateways);
        }
    }

    fn fail(&self, scenario: &str, error: &dyn std::error::Error, gateways: &mut Gateways) {
        let (name, link, cell) = (self.program.name(), self.link.name(), self.cell.name());
        let mut failure = format!("{name}, {link}, {cell}, {scenario}: {error}");
        failure.truncate(failure.floor_char_boundary(300));
        let failure = failure.replace('\n', " ");
        eprintln!("warning: {failure}");
        if !gateways.failures.contains(&failure) {
            gateways.failures.push(failure);
        }
    }

    async fn start(&self) -> Result<Ready> {
        let command = |port| {
            self.program
                .command(self.link, self.cell, self.behind, port)
        };
        if self.link == Link::StdioToHttp {
            return Ok(Ready::Command(command(0)?));
        }
        let (process, address) = Running::http_with(SERVER_CORE, &command).await?;
        match lists(address, self.program.front(), self.cell.front).await {
            Ok(()) => Ok(Ready::Listening(Box::new(process), address)),
            Err(error) => {
                process.end_with_others().await?;
                Err(error)
            }
        }
    }

    async fn time(
        &self,
        ready: &Ready,
        bytes: usize,
        clients: usize,
    ) -> Result<(Measured, Measured)> {
        let plain = Call::new(self.cell.front, Operation::Echo(bytes));
        let until = |warm, share| Until::Elapsed {
            warm,
            measured: self.extent.measured() * share / 10,
        };
        let soon = until(WARM_COMPILED, 5);
        let behind = self.behind;
        let direct = match self.link {
            Link::HttpToStdio => load::stdio::drive(&behind.stdio, plain, clients, soon).await?,
            Link::HttpToHttp | Link::StdioToHttp => {
                let at = (behind.process.pid, behind.address);
                load::http::drive(at, plain, clients, soon).await?
            }
        };
        let warm = if self.program.is_interpreted() {
            WARM_JUST_IN_TIME
        } else {
            WARM_COMPILED
        };
        let call = Call {
            front: self.program.front(),
            ..plain
        };
        // Four megabytes take a while, and some gateways take seconds.
        let until = until(warm, if bytes > 1_000_000 { 20 } else { 10 });
        let through = match ready {
            Ready::Listening(process, address) => {
                load::http::drive((process.pid, *address), call, clients, until).await?
            }
            Ready::Command(command) => load::stdio::drive(command, call, clients, until).await?,
        };
        Ok((direct, through))
    }
}

/// Waits until a gateway lists the tool of its server.
pub(crate) async fn lists(address: SocketAddr, front: Front, era: Era) -> Result<()> {
    let deadline = Instant::now() + STARTING;
    loop {
        let found = listed(address, front, era).await;
        match found {
            Ok(true) => return Ok(()),
            Ok(false) if Instant::now() > deadline => {
                return Err("it does not list the tools of its server".into());
            }
            Err(error) if Instant::now() > deadline => return Err(error),
            // If a gateway rejects an era, this does not wait.
            Err(error) if error.to_string().starts_with("status 4") => return Err(error),
            _ => sleep(Duration::from_millis(50)).await,
        }
    }
}

async fn listed(address: SocketAddr, front: Front, era: Era) -> Result<bool> {
    let mut connection = Connection::open_at(address, front.path).await?;
    let mut params = json!({});
    let headers = match era {
        Era::Legacy => {
            let session = connection.greet().await?;
            session.as_deref().map(session_headers).unwrap_or_default()
        }
        Era::Modern => {
            params["_meta"] = call::meta();
            modern_headers("tools/list", None)
        }
    };
    let request = connection.post(&headers, &call::request("tools/list", FIRST_ID, &params));
    let mut body = Vec::new();
    let answer = connection.exchange(&request, Some(&mut body)).await?;
    answer.expect(200, &body)?;
    let answer: Value = call::parse(&body)?;
    if let Some(error) = answer.get("error") {
        return Err(format!("status 400 in a body: {error}").into());
    }
    let wanted = format!("{}echo", front.prefix);
    let tools = answer["result"]["tools"].as_array();
    Ok(tools.is_some_and(|tools| tools.iter().any(|tool| tool["name"] == *wanted)))
}
