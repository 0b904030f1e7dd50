//! A server in a process of its own on stdio: this test binary, which the test starts again.

use std::process::Stdio as Piped;

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    net::{TcpListener, TcpStream},
    process::{ChildStdout, Command},
    time::{Duration, timeout},
};
use turnbuckle_server::{MemoryBudget, RawArgs, Server, Stdio, Tool, ToolError};
use turnbuckle_transport::Limits;

use crate::wire::TIMEOUT;

/// The address to which the tool `hold` connects to report that it runs. It ends when this
/// connection is closed.
const HOLDER: &str = "TURNBUCKLE_TEST_HOLDER";

/// More than a pipe and its buffers hold, and more than half of the memory.
const LARGE: usize = 600_000;

async fn hold(RawArgs(_): RawArgs) -> Result<&'static str, ToolError> {
    let address = std::env::var(HOLDER)?;
    let mut holder = TcpStream::connect(address).await?;
    holder.read_to_end(&mut Vec::new()).await?;
    Ok("held")
}

#[test]
#[ignore = "the server that the other test starts"]
fn server_process() {
    println!(); // Ends the line that the test harness may have begun.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let server = Server::new("s", "1")
        .tool(Tool::new("hold", hold))
        .limits(Limits::default().with_max_message_bytes(1_000_000))
        .memory_budget(MemoryBudget::default().with_per_caller(1_000_000));
    runtime.block_on(server.serve(Stdio)).unwrap();
}

fn call(id: u32) -> String {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let arguments = json!({ "text": "x".repeat(LARGE) });
    let params = json!({ "_meta": meta, "name": "hold", "arguments": arguments });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string()
        + "\n"
}

/// Returns the next message, without the output of the test harness.
async fn message(lines: &mut Lines<BufReader<ChildStdout>>) -> Value {
    let next = async {
        loop {
            let line = lines.next_line().await.unwrap().expect("it goes on");
            if let Ok(message) = serde_json::from_str(&line) {
                return message;
            }
        }
    };
    timeout(TIMEOUT, next).await.expect("it answers in time")
}

#[tokio::test]
async fn a_process_without_memory_for_more_stops_reading_and_refuses_nothing() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let holding = async || timeout(TIMEOUT, listener.accept()).await.expect("it runs");
    let args = [
        "--ignored",
        "--exact",
        "stdio_process::server_process",
        "--nocapture",
    ];
    let mut process = Command::new(std::env::current_exe().unwrap())
        .args(args)
        .env(HOLDER, listener.local_addr().unwrap().to_string())
        .stdin(Piped::piped())
        .stdout(Piped::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut input = process.stdin.take().unwrap();
    let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
    input.write_all(call(1).as_bytes()).await.unwrap();
    let (first, _) = holding().await.unwrap();
    let writing = tokio::spawn(async move {
        input.write_all(call(2).as_bytes()).await.unwrap();
        input
    });
    // Enough time for a server that reads on to read and reject it.
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(
        !writing.is_finished(),
        "it is read, and there is no memory for it"
    );
    drop(first);
    let answer = message(&mut lines).await;
    assert_eq!(
        (&answer["id"], &answer["result"]["content"][0]["text"]),
        (&json!(1), &json!("held"))
    );
    let (second, _) = holding().await.unwrap();
    let input = timeout(TIMEOUT, writing)
        .await
        .expect("it is read")
        .unwrap();
    drop(second);
    let answer = message(&mut lines).await;
    assert_eq!(
        (&answer["id"], &answer["result"]["content"][0]["text"]),
        (&json!(2), &json!("held"))
    );
    drop(input);
    let ended = timeout(TIMEOUT, process.wait()).await.expect("it ends");
    assert!(ended.unwrap().success());
}
