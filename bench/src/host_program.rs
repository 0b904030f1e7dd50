//! Measures what a host adds to a client: `bench-host` prints microseconds of CPU time, one line for each figure.
//!
//! The servers are in this process and on the same thread, so that only the client and the
//! host differ. All kinds are measured in each round, and differences are taken within a round.

use std::{error::Error, time::Duration};

use rustix::time::{ClockId, clock_gettime};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use turnbuckle::{
    Args, LiveServer, Server, Target, Tool,
    client::{Client, Connection},
    host::{Audit, CatalogTool, Host, Rules, ServerSpec},
    tool,
    transport::duplex,
};

/// The number of rounds, of which the median counts.
const ROUNDS: usize = 21;

/// How many calls of each kind a round has.
const CALLS: u32 = 2_000;

/// The number of servers of the host that lists, and of tools of each.
const SERVERS: usize = 20;
const TOOLS: usize = 50;

/// How long the host waits between two reads of its lists.
const BETWEEN_LISTS: Duration = Duration::from_millis(120);

/// Servers whose lists change have one of these two tools at a time.
const EXTRA: [&str; 2] = ["extra_even", "extra_odd"];

/// Returns its text argument.
#[tool]
async fn echo(text: String) -> String {
    text
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "these tools are listed, not called")]
struct Search {
    /// Search query
    query: String,
    /// Maximum number of results
    #[schemars(range(min = 1, max = 100))]
    limit: Option<u32>,
    /// Verbose output
    verbose: Option<bool>,
}

async fn search(Args(_): Args<Search>) -> &'static str {
    "nothing found"
}

fn server(tools: usize) -> Server {
    let mut server = Server::new("bench-server", "0.1.0")
        .page_size(tools + 1)
        .tool(echo);
    for number in 1..tools {
        let about = format!("Tool number {number:04}, which gives tools/list a realistic payload.");
        server = server.tool(Tool::new(format!("tool_{number:04}"), search).about(about));
    }
    server
}

/// A target with a new server in this process.
fn target(tools: usize) -> Target {
    let (near, far) = duplex();
    tokio::spawn(server(tools).serve(far));
    near.into()
}

async fn host(servers: usize, tools: usize, audit: Option<Audit>) -> Host {
    let mut builder = Host::builder("bench-host", "0.1.0").policy(Rules::new().trust("*"));
    if let Some(audit) = audit {
        builder = builder.audit(audit);
    }
    for number in 0..servers {
        let spec = ServerSpec::from_fn(move || target(tools));
        builder = builder.server(format!("server-{number:02}"), spec);
    }
    let host = builder.open().await;
    host.ready().await;
    host
}

/// A server whose list changes in each round but keeps its length.
fn changing(tools: usize) -> Result<LiveServer, Box<dyn Error>> {
    let mut server = server(tools - 1).dynamic_tools();
    for name in EXTRA {
        server = server.tool(Tool::new(name, search).about("A tool that comes and goes."));
    }
    let server = server.build()?;
    server.catalog().disable_tool(EXTRA[0]);
    Ok(server)
}

/// A target with an existing server in this process.
fn target_of(server: &LiveServer) -> Target {
    let (near, far) = duplex();
    let server = server.clone();
    tokio::spawn(async move { server.serve(far).await });
    near.into()
}

async fn host_of(servers: &[LiveServer]) -> Host {
    let mut builder = Host::builder("bench-host", "0.1.0").policy(Rules::new().trust("*"));
    for (number, server) in servers.iter().enumerate() {
        let server = server.clone();
        let spec = ServerSpec::from_fn(move || target_of(&server));
        builder = builder.server(format!("server-{number:02}"), spec);
    }
    let host = builder.open().await;
    host.ready().await;
    host
}

/// Changes the lists, and waits until the listeners have reacted.
async fn change(servers: &[LiveServer], round: usize) -> Result<(), Box<dyn Error>> {
    for server in servers {
        let edit = server.catalog().edit();
        let edit = edit.disable_tool(EXTRA[(round + 1) % 2]);
        edit.enable_tool(EXTRA[round % 2]).apply()?;
    }
    // Only the CPU time that is used meanwhile counts.
    tokio::time::sleep(2 * BETWEEN_LISTS).await;
    Ok(())
}

/// The CPU time of this thread, in microseconds.
fn now() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let (seconds, nanoseconds) = (time.tv_sec, time.tv_nsec);
    #[expect(clippy::cast_precision_loss, reason = "a run takes minutes")]
    let microseconds = seconds as f64 * 1e6 + nanoseconds as f64 / 1e3;
    microseconds
}

async fn calls_of_client(server: &Connection) -> Result<f64, Box<dyn Error>> {
    let began = now();
    for _ in 0..CALLS {
        server.call("echo", json!({ "text": "x" })).await?;
    }
    Ok((now() - began) / f64::from(CALLS))
}

async fn calls_of_host(host: &Host) -> Result<f64, Box<dyn Error>> {
    let began = now();
    for _ in 0..CALLS {
        host.call("server-00__echo", json!({ "text": "x" })).await?;
    }
    Ok((now() - began) / f64::from(CALLS))
}

async fn list_of_client(server: &Connection) -> Result<f64, Box<dyn Error>> {
    let began = now();
    let tools = server.tools().fresh().await?;
    let count = tools.len();
    // Freeing the old lists is part of the cost, as it is for the host.
    drop(tools);
    let took = now() - began;
    if count == SERVERS * TOOLS {
        Ok(took)
    } else {
        Err(format!("the client listed {count} tools").into())
    }
}

/// Reads all lists again and merges them again.
async fn list_of_host(host: &Host) -> Result<f64, Box<dyn Error>> {
    tokio::time::sleep(BETWEEN_LISTS).await;
    let began = now();
    host.refresh().await;
    let mut took = now() - began;
    // Removing a server that is switched off changes no list, but the catalog is rebuilt.
    host.remove("off").await;
    host.add("off", ServerSpec::from_fn(|| target(1)).disabled())
        .await;
    let began = now();
    let catalog = host.catalog();
    took += now() - began;
    if catalog.tools().len() == SERVERS * TOOLS {
        Ok(took)
    } else {
        Err(format!("the host listed {} tools", catalog.tools().len()).into())
    }
}

async fn changed_list_of_client(
    connection: &Connection,
    server: &LiveServer,
    round: usize,
) -> Result<f64, Box<dyn Error>> {
    let began = now();
    change(std::slice::from_ref(server), round).await?;
    let tools = connection.tools().fresh().await?;
    let is_new = tools.iter().any(|tool| tool.name == EXTRA[round % 2]);
    let count = tools.len();
    drop(tools);
    let took = now() - began;
    if is_new && count == SERVERS * TOOLS {
        Ok(took)
    } else {
        Err(format!("the client listed {count} tools").into())
    }
}

/// The host reads each list again by itself, because its server has reported a change.
async fn changed_list_of_host(
    host: &Host,
    servers: &[LiveServer],
    round: usize,
) -> Result<f64, Box<dyn Error>> {
    let began = now();
    change(servers, round).await?;
    let catalog = host.catalog();
    let took = now() - began;
    let extra = EXTRA[round % 2];
    let tools = catalog.tools();
    let is_new = |tool: &&_| CatalogTool::tool(tool).name == extra;
    if tools.iter().map(|tool| &**tool).filter(is_new).count() == SERVERS
        && tools.len() == SERVERS * TOOLS
    {
        Ok(took)
    } else {
        Err(format!("the host listed {} tools", tools.len()).into())
    }
}

async fn run() -> Result<(), Box<dyn Error>> {
    let client = Client::new("bench-client", "0.1.0");
    let plain = client.connect(target(TOOLS)).await?;
    let quiet = host(SERVERS, TOOLS, None).await;
    let audited = host(2, TOOLS, Some(Audit::file("/dev/null")?)).await;
    for _ in 0..ROUNDS {
        println!("client call {}", calls_of_client(&plain).await?);
        println!("host call {}", calls_of_host(&quiet).await?);
        println!("audited call {}", calls_of_host(&audited).await?);
    }
    let large = client.connect(target(SERVERS * TOOLS)).await?;
    for _ in 0..ROUNDS {
        println!("client list {}", list_of_client(&large).await?);
        println!("host list {}", list_of_host(&quiet).await?);
    }
    let one = changing(SERVERS * TOOLS)?;
    let many: Vec<_> = (0..SERVERS)
        .map(|_| changing(TOOLS))
        .collect::<Result<_, _>>()?;
    let reader = client.connect(target_of(&one)).await?;
    let merging = host_of(&many).await;
    for round in 0..ROUNDS {
        let took = changed_list_of_client(&reader, &one, round).await?;
        println!("client changed list {took}");
        let took = changed_list_of_host(&merging, &many, round).await?;
        println!("host changed list {took}");
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(run())
}
