//! How soon `turnbuckle up` answers, whatever its servers do.

use std::{net::SocketAddr, process::Stdio, time::Duration};

use tokio::{
    net::{TcpListener, TcpStream},
    process::Command,
    time::{Instant, sleep, timeout},
};

use crate::{
    Result,
    load::http::Connection,
    peers::{Peer, own, target},
    process::reserve,
    speed::Extent,
};

/// How long the first answer may take before this counts as a failure.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The longest allowed time to the first answer, in milliseconds.
pub(crate) const MOST: f64 = 300.0;

/// Milliseconds to the first answer, for different servers behind the gateway.
pub(crate) async fn measure(extent: Extent) -> Result<Vec<(String, Vec<f64>)>> {
    let times = match extent {
        Extent::Quick => 3,
        Extent::Full => 11,
    };
    // A server that accepts connections and never answers.
    let silent = TcpListener::bind("127.0.0.1:0").await?;
    let silent_at = silent.local_addr()?;
    let holding = tokio::task::spawn_local(async move {
        let mut held = Vec::new();
        while let Ok((connection, _)) = silent.accept().await {
            held.push(connection);
        }
    });
    let mut all = Vec::new();
    for (name, config) in configs(silent_at)? {
        eprintln!("starting: {name}");
        let file = target().join("tmp/bench.up.json");
        std::fs::create_dir_all(target().join("tmp"))?;
        std::fs::write(&file, config.to_string())?;
        let mut took = Vec::new();
        for _ in 0..times {
            took.push(first_answer(&file.to_string_lossy()).await?);
        }
        std::fs::remove_file(file)?;
        all.push((name.to_owned(), took));
    }
    holding.abort();
    Ok(all)
}

fn configs(silent: SocketAddr) -> Result<[(&'static str, serde_json::Value); 2]> {
    let server = Peer::Turnbuckle.stdio();
    let good = serde_json::json!({"command": server[0], "args": server[1..]});
    let refused = format!("http://{}/mcp", reserve()?);
    let mut bad = serde_json::json!({
        "good": good,
        "ends-at-once": {"command": "false"},
        "does-not-exist": {"command": "no-such-program-of-anyone"},
        "refuses": {"url": refused},
    });
    for number in 0..8 {
        bad[format!("hangs-{number}")] = serde_json::json!({"command": "sleep", "args": ["60"]});
        let url = format!("http://{silent}/mcp");
        bad[format!("silent-{number}")] = serde_json::json!({"url": url});
    }
    Ok([
        (
            "one server that is well",
            serde_json::json!({"mcpServers": {"good": good}}),
        ),
        (
            "20 servers: one is well, 16 never answer, three fail",
            serde_json::json!({"mcpServers": bad}),
        ),
    ])
}

/// The time from the start of the process to the answer to `initialize`.
async fn first_answer(file: &str) -> Result<f64> {
    let address = reserve()?;
    let began = Instant::now();
    let mut child = Command::new(own("turnbuckle"))
        .args(["up", file, "--listen", &address.to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()?;
    let answered = timeout(TIMEOUT, async {
        while TcpStream::connect(address).await.is_err() {
            sleep(Duration::from_millis(1)).await;
        }
        Connection::open(address).await?.greet().await
    });
    let answered = answered.await;
    let took = began.elapsed().as_secs_f64() * 1e3;
    if let Some(pid) = child.id() {
        crate::process::signal("-TERM", pid)?;
    }
    if timeout(TIMEOUT, child.wait()).await.is_err() {
        child.kill().await?;
    }
    answered.map_err(|_| format!("`turnbuckle up` did not answer within {TIMEOUT:?}"))??;
    Ok(took)
}
