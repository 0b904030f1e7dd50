//! Config files that change while the host runs, and which of their settings have an effect.

use std::{fs, path::Path};

use serde_json::{Value, json};
use turnbuckle_host::{FailureKind, Host, HostError, Rules, ServerState};

use crate::program::{arguments, quick, trusting, until_ready, within};

fn entry(folder: &Path, name: &str) -> Value {
    let pid = folder.join(name);
    json!({"command": "python3", "args": arguments(&["--pid", pid.to_str().unwrap()])})
}

fn write(file: &Path, servers: &Value) {
    fs::write(file, json!({ "mcpServers": servers }).to_string()).unwrap();
}

fn ids(host: &Host) -> Vec<String> {
    let servers = host.servers();
    servers.iter().map(|server| server.id.to_string()).collect()
}

#[tokio::test]
async fn servers_that_did_not_change_keep_their_connections() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mcp.json");
    let pid = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    let one = |name: &str| entry(folder.path(), name);
    write(
        &file,
        &json!({"same": one("same"), "changed": one("changed"), "gone": one("gone")}),
    );
    let host = trusting().load(&file).unwrap().open().await;
    within("start", host.ready()).await;
    let (same, changed) = (pid("same"), pid("changed"));

    let mut other = one("changed");
    other["env"] = json!({"COLOUR": "blue"});
    write(
        &file,
        &json!({"new": one("new"), "same": one("same"), "changed": other}),
    );
    let reloaded = within("the reading", host.reload()).await.unwrap();
    let texts = |ids: &[turnbuckle_host::ServerId]| -> Vec<String> {
        ids.iter().map(ToString::to_string).collect()
    };
    assert_eq!(texts(&reloaded.added), ["new"]);
    assert_eq!(texts(&reloaded.removed), ["gone"]);
    assert_eq!(texts(&reloaded.changed), ["changed"]);
    assert_eq!(texts(&reloaded.unchanged), ["same"]);
    within("start", host.ready()).await;
    assert_eq!(ids(&host), ["new", "same", "changed"]);
    assert_eq!(pid("same"), same);
    assert_ne!(pid("changed"), changed);
    assert!(host.catalog().tool("gone__echo").is_none());
    assert!(host.catalog().tool("new__echo").is_some());

    // A malformed file changes nothing.
    fs::write(&file, "{").unwrap();
    assert!(within("the reading", host.reload()).await.is_err());
    assert_eq!(ids(&host), ["new", "same", "changed"]);
    let called = within("a call", host.call("same__echo", json!({"text": "x"}))).await;
    assert_eq!(called.unwrap().text(), "x");
    host.close().await;
}

#[tokio::test]
async fn names_stay_while_a_server_that_changed_is_ending() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mcp.json");
    // This server keeps running for a while after its input ends.
    let slow = |colour: &str| {
        let mut words = vec!["-c".to_owned(), "python3 \"$@\"; sleep 1".to_owned()];
        words.push("sh".to_owned());
        words.extend(arguments(&[]));
        json!({"command": "sh", "args": words, "env": {"COLOUR": colour}})
    };
    let same = entry(folder.path(), "same");
    write(&file, &json!({"same": same, "slow": slow("red")}));
    let host = trusting().load(&file).unwrap().open().await;
    within("start", host.ready()).await;

    write(&file, &json!({"same": same, "slow": slow("blue")}));
    let watched = host.clone();
    let watching = tokio::spawn(async move {
        let mut catalog = watched.catalog();
        loop {
            assert!(catalog.tool("same__echo").is_some(), "{catalog:?}");
            catalog = watched.catalog_after(&catalog).await;
        }
    });
    let reloaded = within("the reading", host.reload()).await.unwrap();
    assert_eq!(reloaded.changed.len(), 1);
    within("start", host.ready()).await;
    assert_eq!(ids(&host), ["same", "slow"]);
    assert!(host.catalog().tool("slow__echo").is_some());
    watching.abort();
    let ended = within("the watcher", watching).await;
    assert!(ended.unwrap_err().is_cancelled());
    host.close().await;
}

#[tokio::test]
async fn a_file_that_is_watched_is_read_when_it_changes() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mcp.json");
    write(&file, &json!({"first": entry(folder.path(), "first")}));
    let host = trusting().load(&file).unwrap().watch_files().open().await;
    until_ready(&host, "first").await;
    let mut catalog = host.catalog();
    // The host may check the file before it has taken the first stamp, so change the file until it
    // notices.
    within("the second server", async {
        let mut number = 0;
        while catalog.tool("second__echo").is_none() {
            number += 1;
            let mut second = entry(folder.path(), "second");
            second["description"] = json!("x".repeat(number));
            let first = entry(folder.path(), "first");
            write(&file, &json!({"first": first, "second": second}));
            let next = host.catalog_after(&catalog);
            if let Ok(next) = tokio::time::timeout(std::time::Duration::from_secs(3), next).await {
                catalog = next;
            }
        }
    })
    .await;
    host.close().await;
}

#[tokio::test]
async fn every_key_is_honoured_or_reported() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mcp.json");
    let mut good = entry(folder.path(), "good");
    good["disabledTools"] = json!(["d*"]);
    good["alwaysAllow"] = json!(["echo"]);
    good["timeout"] = json!(30);
    good["trust"] = json!(true);
    let unusable = json!({"command": "x", "env": {"KEY": "${NO_SUCH_VARIABLE_HERE}"}});
    let off = json!({"command": "x", "disabled": true});
    let mut unclear = entry(folder.path(), "unclear");
    unclear["enabled"] = json!("false");
    write(
        &file,
        &json!({"good": good, "unusable": unusable, "off": off, "unclear": unclear}),
    );
    let starting = Rules::new().allow(turnbuckle_host::ActionKind::Start, "*", "*");
    let host = Host::load(&file)
        .unwrap()
        .policy(starting.clone())
        .pacing(quick())
        .open()
        .await;
    within("start", host.ready()).await;
    let notes: Vec<String> = host.notes().iter().map(ToString::to_string).collect();
    for words in [
        "`trust` has no effect",
        "approves `echo`",
        "NO_SUCH_VARIABLE_HERE",
        "`enabled` must be true or false",
    ] {
        assert!(
            notes.iter().any(|note| note.contains(words)),
            "{words}: {notes:?}"
        );
    }
    assert_eq!(notes.len(), 4, "{notes:?}");
    assert!(host.state("good").unwrap().is_ready());
    assert!(matches!(host.state("off"), Some(ServerState::Disabled)));
    for server in ["unusable", "unclear"] {
        let state = host.state(server).unwrap();
        let kind = state.failure().unwrap().kind;
        assert_eq!(kind, FailureKind::Misconfigured, "{server}");
    }
    let catalog = host.catalog();
    assert!(catalog.tool("good__echo").is_some() && catalog.tool("good__die").is_none());
    // An entry in a file is not the user's consent.
    let called = within("a call", host.call("good__echo", ())).await;
    assert!(
        matches!(called, Err(HostError::Denied { .. })),
        "{called:?}"
    );
    host.close().await;

    let host = Host::load(&file)
        .unwrap()
        .policy(starting)
        .trust_approvals_of_files()
        .open()
        .await;
    within("start", host.ready()).await;
    within("a call", host.call("good__echo", ())).await.unwrap();
    let called = within("a call", host.call("good__grow", ())).await;
    assert!(
        matches!(called, Err(HostError::Denied { .. })),
        "{called:?}"
    );
    host.close().await;
}
