//! Memory of a gateway for calls and sessions that wait: parked calls, and open but silent sessions.

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

/// How many servers have parked calls. Each has at most 32 of them.
const SERVERS: usize = 32;

/// How many calls one caller has, who may have 16.
const OF_ONE_CALLER: usize = 16;

/// How many calls are parked before the first measurement, so that memory for one-time setup is not counted.
const BEFORE: usize = 256;

/// How many calls are measured.
const WEIGHED: usize = 512;

/// The time that the gateway gets to finish its work for the last of them.
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

/// Kilobytes of one parked call, for servers at a URL or with a command.
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

/// Makes calls that ask, and does not answer the questions.
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
