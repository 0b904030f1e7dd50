//! Processes that have left the process group of their server, as daemons do.

use std::path::Path;

use turnbuckle_host::{Host, ServerSpec};

use crate::{
    program::{arguments, trusting, until_ready, within},
    supervision::{is_running, until_gone},
};

/// Starts a daemon that writes its id to a file, and then the server.
const SCRIPT: &str = r#"
file=$1; shift
rm -f "$file"
setsid sh -c 'echo $$ >"$1"; sleep 1000; :' daemon "$file" &
while [ ! -s "$file" ]; do sleep 0.02; done
exec python3 "$@"
"#;

async fn with_daemon(folder: &Path) -> (Host, String) {
    let file = folder.join("daemon");
    let file = file.to_str().unwrap();
    let fixed = ["-c", SCRIPT, "sh", file].map(str::to_owned);
    let spec = ServerSpec::command("sh", fixed.into_iter().chain(arguments(&[])));
    let host = trusting().server("summoner", spec).open().await;
    until_ready(&host, "summoner").await;
    let pid = std::fs::read_to_string(file).unwrap().trim().to_owned();
    (host, pid)
}

#[tokio::test]
async fn no_daemon_of_a_server_outlives_it() {
    let folder = tempfile::tempdir().unwrap();
    let (host, pid) = with_daemon(folder.path()).await;
    assert!(is_running(&pid));
    assert!(within("the removal", host.remove("summoner")).await);
    until_gone(&pid).await;

    let (host, pid) = with_daemon(folder.path()).await;
    within("the end", host.close()).await;
    until_gone(&pid).await;

    let (host, pid) = with_daemon(folder.path()).await;
    drop(host);
    until_gone(&pid).await;

    let (host, pid) = with_daemon(folder.path()).await;
    within("the call", host.call("die", ())).await.unwrap_err();
    until_gone(&pid).await;
    host.close().await;
}
