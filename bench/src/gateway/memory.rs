//! What waits in a gateway: parked calls, and sessions that are open and silent.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::sleep;

use super::{link::Behind, results::Memory};
use crate::{
    Result, idle,
    load::{
        call::{self, FIRST_ID},
        http::{Connection, modern_headers},
    },
    measure::crowd::Crowd,
    peers::{Peer, own},
    process::{self, Running, megabytes},
    speed::Extent,
};

/// Servers that the calls are parked at. Each has at most 32 of them.
const SERVERS: usize = 32;

/// Calls of one caller, who may have 16.
const OF_ONE_CALLER: usize = 16;

/// Calls that are parked before the first look, so that what is set up once is not counted.
const BEFORE: usize = 256;

/// Calls that are weighed.
const WEIGHED: usize = 512;

/// Time for the gateway to be done with the last of them.
const SETTLING: Duration = Duration::from_millis(500);

pub(crate) async fn measure(extent: Extent) -> Result<Memory> {
    process::allow_files(8192)?;
    let turns = match extent {
        Extent::Quick => 1,
        Extent::Full => 3,
    };
    let behind = Behind::start().await?;
    let program = own("bench-gateway").to_string_lossy().into_owned();
    let mut memory = Memory {
        parked: Vec::new(),
        parked_at_programs: Vec::new(),
        server_sessions: Vec::new(),
        gateway_sessions: Vec::new(),
    };
    for _ in 0..turns {
        eprintln!("weighing: {WEIGHED} parked calls, HTTP→HTTP");
        memory.parked.push(parked(&[behind.url()]).await?);
        eprintln!("weighing: {WEIGHED} parked calls, HTTP→stdio");
        let at_programs = parked(&behind.stdio).await?;
        memory.parked_at_programs.push(at_programs);
        eprintln!("weighing: idle sessions of a server and of a gateway");
        let server = idle::weigh(&Peer::Turnbuckle.http(), Crowd::Streams).await?;
        memory.server_sessions.push(server.1);
        let words = [&program, "{PORT}", "legacy", &behind.url()];
        let command = words.map(str::to_owned);
        let gateway = idle::weigh(&command, Crowd::Streams).await?;
        memory.gateway_sessions.push(gateway.1);
    }
    behind.process.end().await?;
    Ok(memory)
}

/// Kilobytes of one parked call of servers at a URL, or with a command.
async fn parked(server: &[String]) -> Result<f64> {
    let program = own("bench-gateway").to_string_lossy().into_owned();
    let words = [&program, "{PORT}", "parked", &SERVERS.to_string()].map(str::to_owned);
    let (process, address) = Running::http(&[&words[..], server].concat()).await?;
    let mut connection = Connection::open(address).await?;
    park(&mut connection, 0..BEFORE).await?;
    sleep(SETTLING).await;
    let before = megabytes(process.pid, "VmRSS");
    park(&mut connection, BEFORE..BEFORE + WEIGHED).await?;
    sleep(SETTLING).await;
    let after = megabytes(process.pid, "VmRSS");
    process.end().await?;
    #[expect(clippy::cast_precision_loss, reason = "some hundred calls")]
    Ok((after - before) * 1024.0 / WEIGHED as f64)
}

/// Calls that ask, and are not answered.
async fn park(connection: &mut Connection, calls: std::ops::Range<usize>) -> Result<()> {
    let mut meta = call::meta();
    meta["io.modelcontextprotocol/clientCapabilities"] = json!({"elicitation": {"form": {}}});
    for number in calls {
        let tool = format!("s{:02}__ask", number % SERVERS);
        let params = json!({"name": tool, "arguments": {"text": "hello, world"}, "_meta": meta});
        let message = call::request("tools/call", FIRST_ID, &params);
        let caller = number / OF_ONE_CALLER;
        let headers = modern_headers("tools/call", Some(&tool));
        let request = connection.post(&format!("{headers}x-caller: c{caller}\r\n"), &message);
        let mut body = Vec::new();
        let answer = connection.exchange(&request, Some(&mut body)).await?;
        answer.expect(200, &body)?;
        let answer: Value = call::parse(&body)?;
        if answer["result"]["resultType"] != "input_required" {
            return Err(format!("call {number} was not parked: {answer}").into());
        }
    }
    Ok(())
}
