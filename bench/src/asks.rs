//! Questions: compares a modern call that asks once with two plain calls, which is the same number of requests.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::{io::AsyncWriteExt as _, process::ChildStdin, time::timeout};

use crate::{
    Result,
    load::{
        call::{self, FIRST_ID},
        http::{Connection, modern_headers},
        stdio::Lines,
    },
    peers::Peer,
    process::{self, Ran, Running},
    report::table::{Table, count, dash, spread},
    speed::Extent,
    statistics::Spread,
};

/// How many calls of each kind one turn has.
const CALLS: u32 = 200;

/// The control does not implement the protocol, so it cannot ask.
const SERVERS: [Peer; 4] = [Peer::Turnbuckle, Peer::Rmcp, Peer::Node, Peer::Python];

/// How long all turns of one server may take.
const TIMEOUT: Duration = Duration::from_mins(2);

/// The cost of questions on one server: microseconds of CPU for a call that asks once, and for
/// two plain calls, for each turn.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Asks {
    pub(crate) server: String,
    /// The transport.
    pub(crate) road: String,
    asking: Vec<f64>,
    plain: Vec<f64>,
}

impl Asks {
    pub(crate) fn asking(&self) -> Option<Spread> {
        Spread::of(self.asking.iter().copied())
    }

    /// The cost as a multiple of two plain calls.
    pub(crate) fn ratio(&self) -> Option<Spread> {
        Spread::of(
            self.asking
                .iter()
                .zip(&self.plain)
                .map(|(asking, plain)| asking / plain),
        )
    }
}

/// `bench asks`: measures only questions.
pub(crate) async fn command() -> Result<()> {
    for server in SERVERS {
        server.prepare()?;
    }
    process::settle()?;
    println!("{}", table(&measure(Extent::Full).await?));
    Ok(())
}

pub(crate) fn table(asks: &[Asks]) -> Table {
    let mut table = Table::new([
        "server",
        "transport",
        "a call that asks once",
        "of two plain calls",
    ]);
    for it in asks {
        let microseconds = |it: Spread| format!("{} µs", count(it.median));
        let times = |it: Spread| format!("×{}", spread(it));
        table.row([
            it.server.clone(),
            it.road.clone(),
            it.asking().map_or_else(dash, microseconds),
            it.ratio().map_or_else(dash, times),
        ]);
    }
    table
}

pub(crate) async fn measure(extent: Extent) -> Result<Vec<Asks>> {
    let turns = match extent {
        Extent::Quick => 5,
        Extent::Full => 15,
    };
    let mut all = Vec::new();
    for server in SERVERS {
        for road in ["HTTP", "stdio"] {
            eprintln!("asking: {} over {road}", server.name());
            let mut caller = match road {
                "HTTP" => Caller::http(server).await?,
                _ => Caller::stdio(server)?,
            };
            let measured = timeout(TIMEOUT, caller.turn_by_turn(extent.share(turns, server))).await;
            let (asking, plain) = measured.map_err(|_| "asks took too long")??;
            all.push(Asks {
                server: server.name().to_owned(),
                road: road.to_owned(),
                asking,
                plain,
            });
            caller.process.end().await?;
        }
    }
    Ok(all)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Asking,
    Plain,
}

/// The only client of a server.
struct Caller {
    process: Running,
    road: Road,
    id: u64,
}

enum Road {
    Http(Connection),
    Stdio(ChildStdin, Lines),
}

impl Caller {
    async fn http(server: Peer) -> Result<Self> {
        let (process, address) = Running::http(&server.http()).await?;
        let road = Road::Http(Connection::open(address).await?);
        Ok(Self {
            process,
            road,
            id: FIRST_ID,
        })
    }

    fn stdio(server: Peer) -> Result<Self> {
        let mut process = Running::piped(&server.stdio())?;
        let input = process.child.stdin.take().ok_or("the input is a pipe")?;
        let output = process.child.stdout.take().ok_or("the output is a pipe")?;
        Ok(Self {
            process,
            road: Road::Stdio(input, Lines::new(output)),
            id: FIRST_ID,
        })
    }

    async fn turn_by_turn(&mut self, turns: usize) -> Result<(Vec<f64>, Vec<f64>)> {
        let (mut asking, mut plain) = (Vec::new(), Vec::new());
        // The first turn is the warm-up.
        for turn in 0..=turns {
            for (kind, measured) in [(Kind::Asking, &mut asking), (Kind::Plain, &mut plain)] {
                let before = Ran::of(self.process.pid);
                for _ in 0..CALLS {
                    self.twice(kind).await?;
                }
                let ran = Ran::of(self.process.pid).since(&before);
                if turn > 0 {
                    measured.push(ran * 1e6 / f64::from(CALLS));
                }
            }
        }
        Ok((asking, plain))
    }

    /// Makes two requests: a call that asks and its retry, or two plain calls.
    async fn twice(&mut self, kind: Kind) -> Result<()> {
        let arguments = json!({"text": "hello, world"});
        let tool = if kind == Kind::Asking { "ask" } else { "echo" };
        let mut meta = call::meta();
        meta["io.modelcontextprotocol/clientCapabilities"] = json!({"elicitation": {"form": {}}});
        let plain = json!({"name": tool, "arguments": arguments, "_meta": meta});
        let first = self.call(tool, &plain).await?;
        let second = if kind == Kind::Plain {
            self.call(tool, &plain).await?
        } else {
            let mut retry = plain;
            let answer = json!({"action": "accept", "content": {"row": 7}});
            retry["inputResponses"] = json!({"seat": answer});
            if let Some(state) = first.get("requestState") {
                retry["requestState"] = state.clone();
            }
            self.call(tool, &retry).await?
        };
        let is_asked = first["resultType"] == "input_required";
        let is_right = second["content"][0]["text"] == "hello, world";
        if is_right && is_asked == (kind == Kind::Asking) {
            return Ok(());
        }
        Err(format!("wrong answers to `{tool}`: {first} and {second}").into())
    }

    async fn call(&mut self, tool: &str, params: &Value) -> Result<Value> {
        let mut message = call::request("tools/call", self.id, params);
        self.id += 1;
        let body = match &mut self.road {
            Road::Http(connection) => {
                let headers = modern_headers("tools/call", Some(tool));
                let request = connection.post(&headers, &message);
                let mut body = Vec::new();
                let answer = connection.exchange(&request, Some(&mut body)).await?;
                answer.expect(200, &body)?;
                body
            }
            Road::Stdio(input, lines) => {
                message.push(b'\n');
                input.write_all(&message).await?;
                lines.next().await?
            }
        };
        Ok(call::parse(&body)?["result"].take())
    }
}
