//! Lists that could not be read are read again.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    time::Instant,
};
use turnbuckle_host::ServerSpec;
use turnbuckle_transport::{Duplex, duplex};

use crate::program::trusting;

/// A server that fails to list its tools this many times, and never reports a change of the list.
async fn failing(far: Duplex, mut failures: usize) {
    let (mut lines, mut writer) = (BufReader::new(far.reader).lines(), far.writer);
    while let Ok(Some(line)) = lines.next_line().await {
        let message: Value = serde_json::from_str(&line).expect("a message");
        let Some(id) = message.get("id") else {
            continue;
        };
        let unknown = json!({ "code": -32601, "message": "unknown" });
        let answer = match message["method"].as_str().expect("a request") {
            "initialize" => Ok(json!({
                "protocolVersion": "2025-06-18",
                "capabilities": { "tools": {} },
                "serverInfo": { "name": "failing", "version": "1" },
            })),
            "tools/list" if failures > 0 => {
                failures -= 1;
                Err(json!({ "code": -32603, "message": "not now" }))
            }
            "tools/list" => Ok(json!({
                "tools": [{ "name": "late", "inputSchema": { "type": "object" } }],
            })),
            _ => Err(unknown),
        };
        let answer = match answer {
            Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            Err(error) => json!({ "jsonrpc": "2.0", "id": id, "error": error }),
        };
        let sent = writer.write_all(format!("{answer}\n").as_bytes()).await;
        if sent.is_err() {
            return;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_list_that_could_not_be_read_is_read_again() {
    let spec = ServerSpec::from_fn(|| {
        let (near, far) = duplex();
        tokio::spawn(failing(far, 3));
        near.into()
    });
    let host = trusting().server("failing", spec).open().await;
    host.ready().await;
    let began = Instant::now();
    let mut catalog = host.catalog();
    assert!(catalog.tools().is_empty(), "it could not be read");
    while catalog.tools().is_empty() {
        catalog = host.catalog_after(&catalog).await;
    }
    let took = began.elapsed();
    // The attempts come after 5 s, 10 s and 20 s.
    assert!(took >= Duration::from_secs(34), "{took:?}");
    assert!(took < Duration::from_mins(1), "{took:?}");
    host.close().await;
}
