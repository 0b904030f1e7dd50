//! Asks: a modern call that asks once next to two plain calls, which are as many requests.

use std::{net::SocketAddr, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::{
    Result,
    load::{
        call::{self, FIRST_ID},
        http::{Connection, modern_headers, post},
    },
    peers::Peer,
    process::{Ran, Running},
    speed::Extent,
    statistics::Spread,
};

/// Calls of each kind in one turn.
const CALLS: u32 = 200;

/// How long all turns of one server may take.
const PATIENCE: Duration = Duration::from_mins(2);

/// What asks cost one server: microseconds of CPU for a call that asks once, turn by turn, and for
/// two plain calls.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Asks {
    pub(crate) server: String,
    asking: Vec<f64>,
    plain: Vec<f64>,
}

impl Asks {
    pub(crate) fn asking(&self) -> Option<Spread> {
        Spread::of(self.asking.iter().copied())
    }

    /// As a multiple of two plain calls.
    pub(crate) fn ratio(&self) -> Option<Spread> {
        Spread::of(
            self.asking
                .iter()
                .zip(&self.plain)
                .map(|(asking, plain)| asking / plain),
        )
    }
}

pub(crate) async fn measure(extent: Extent) -> Result<Vec<Asks>> {
    let turns = match extent {
        Extent::Quick => 5,
        Extent::Full => 15,
    };
    let mut all = Vec::new();
    // The control knows no protocol, so it cannot ask.
    for server in [Peer::Turnbuckle, Peer::Rmcp, Peer::Node, Peer::Python] {
        eprintln!("asking: {}", server.name());
        let (process, address) = Running::http(&server.http()).await?;
        let measured = timeout(PATIENCE, turn_by_turn(&process, address, turns)).await;
        let (asking, plain) = measured.map_err(|_| "asks took too long")??;
        all.push(Asks {
            server: server.name().to_owned(),
            asking,
            plain,
        });
        process.end().await?;
    }
    Ok(all)
}

async fn turn_by_turn(
    process: &Running,
    address: SocketAddr,
    turns: usize,
) -> Result<(Vec<f64>, Vec<f64>)> {
    let mut caller = Caller {
        connection: Connection::open(address).await?,
        address,
    };
    let (mut asking, mut plain) = (Vec::new(), Vec::new());
    // The first turn warms up.
    for turn in 0..=turns {
        for (kind, measured) in [(Kind::Asking, &mut asking), (Kind::Plain, &mut plain)] {
            let before = Ran::of(process.pid);
            for _ in 0..CALLS {
                caller.twice(kind).await?;
            }
            let ran = Ran::of(process.pid).since(&before);
            if turn > 0 {
                measured.push(ran * 1e6 / f64::from(CALLS));
            }
        }
    }
    Ok((asking, plain))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Asking,
    Plain,
}

struct Caller {
    connection: Connection,
    address: SocketAddr,
}

impl Caller {
    /// Two requests: a call that asks and its retry, or two plain calls.
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
        let message = call::request("tools/call", FIRST_ID, params);
        let request = post(
            self.address,
            &modern_headers("tools/call", Some(tool)),
            &message,
        );
        let mut body = Vec::new();
        let answer = self.connection.exchange(&request, Some(&mut body)).await?;
        answer.expect(200, &body)?;
        Ok(call::parse(&body)?["result"].take())
    }
}
