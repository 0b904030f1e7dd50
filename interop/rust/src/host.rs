//! Our host with the reference servers of others, all at once: `everything`, `filesystem` and
//! `memory` from npm, `git` and `time` from PyPI.
//!
//! The config file names them; its folder has a Git repository `repository` and a folder `shared`.

use std::{future::ready, path::Path, pin::Pin, process::ExitCode, time::Duration};

use serde_json::{Value, json};
use turnbuckle::{
    host::{
        ActionKind, FormAnswer, Host, HostError, Requester, Rules, SamplingError, SamplingRequest,
        UserInterface,
    },
    protocol::{CreateMessageResult, ElicitRequestFormParams, Root},
};

use crate::{
    claim::holds,
    report::{Checked, Report, chain, same},
};

/// The servers that the file must have.
const SERVERS: [&str; 5] = ["everything", "filesystem", "memory", "git", "time"];

pub(crate) async fn check(config: &str) -> ExitCode {
    let mut report = Report::default();
    let folder = Path::new(config).parent().unwrap_or(Path::new("."));
    let rules = Rules::new().trust("*").deny(
        ActionKind::Call,
        "git",
        "git_commit",
        "nothing is committed",
    );
    let builder = match Host::load(config) {
        Ok(builder) => builder,
        Err(error) => {
            eprintln!("{}", chain(&error));
            return ExitCode::from(2);
        }
    };
    let host = builder.policy(rules).user(Person).model(model).open().await;
    report.check("connect", connected(&host)).await;
    report.check("tools/list", async { catalog(&host) }).await;
    report.check("tools/call", calls(&host, folder)).await;
    report.check("many calls at once", many(&host)).await;
    report
        .check("roots of one server", roots(&host, folder))
        .await;
    report.check("elicitation", elicitation(&host)).await;
    report.check("sampling", sampling(&host)).await;
    report.check("resources/read", resources(&host)).await;
    report.check("reload", reload(&host)).await;
    host.close().await;
    report.done()
}

/// A person who declines every form.
struct Person;

impl UserInterface for Person {
    fn form<'a>(
        &'a self,
        _: &'a Requester,
        _: &'a ElicitRequestFormParams,
    ) -> Pin<Box<dyn Future<Output = FormAnswer> + Send + 'a>> {
        Box::pin(ready(FormAnswer::Decline))
    }
}

async fn model(request: SamplingRequest) -> Result<CreateMessageResult, SamplingError> {
    let text = format!("a word for {}", request.server);
    Ok(CreateMessageResult::new("interop-model", text))
}

#[expect(clippy::needless_pass_by_value, reason = "it is given to `map_err`")]
fn text(error: HostError) -> String {
    chain(&error)
}

async fn said(host: &Host, name: &str, arguments: Value) -> Result<String, String> {
    let output = host.call(name, arguments).await.map_err(text)?;
    Ok(output.text())
}

async fn connected(host: &Host) -> Checked {
    host.ready().await;
    for server in host.servers() {
        if let Some(failure) = server.state.failure() {
            return Err(format!("{}: {failure}", server.id));
        }
    }
    let notes: Vec<String> = host.notes().iter().map(ToString::to_string).collect();
    same(&notes, &Vec::new())?;
    let ids: Vec<String> = host.servers().iter().map(|it| it.id.to_string()).collect();
    same(&ids, &SERVERS.map(str::to_owned).to_vec())
}

fn catalog(host: &Host) -> Checked {
    let catalog = host.catalog();
    for name in [
        "everything__echo",
        "filesystem__read_text_file",
        "memory__read_graph",
        "git__git_status",
        "time__get_current_time",
    ] {
        holds(catalog.tool(name).is_some(), &format!("no `{name}`"))?;
    }
    let problems: Vec<String> = catalog.problems().iter().map(ToString::to_string).collect();
    same(&problems, &Vec::new())?;
    holds(
        catalog.tool("git__git_commit").is_none(),
        "a denied tool is listed",
    )
}

async fn calls(host: &Host, folder: &Path) -> Checked {
    let repository = folder.join("repository").display().to_string();
    let echo = said(host, "everything__echo", json!({ "message": "hi" })).await?;
    holds(echo.contains("hi"), &echo)?;
    let time = said(host, "time__get_current_time", json!({ "timezone": "UTC" })).await?;
    holds(time.contains("UTC"), &time)?;
    let status = said(host, "git__git_status", json!({ "repo_path": repository })).await?;
    holds(status.contains("branch"), &status)?;
    let entity = json!({ "name": "Ada", "entityType": "person", "observations": [] });
    said(
        host,
        "memory__create_entities",
        json!({ "entities": [entity] }),
    )
    .await?;
    let graph = said(host, "memory__read_graph", json!({})).await?;
    holds(graph.contains("Ada"), &graph)?;
    let denied = host.call("git__git_commit", json!({})).await;
    holds(denied.is_err(), "a denied tool was called")
}

async fn many(host: &Host) -> Checked {
    let calls: Vec<_> = (0..40)
        .map(|number| {
            let host = host.clone();
            tokio::spawn(async move {
                if number % 2 == 0 {
                    let message = format!("number {number}");
                    let text = said(&host, "everything__echo", json!({ "message": message }));
                    holds(text.await?.contains(&message), "another call's answer")
                } else {
                    let zone = json!({ "timezone": "UTC" });
                    said(&host, "time__get_current_time", zone).await.map(drop)
                }
            })
        })
        .collect();
    for call in calls {
        call.await.map_err(|error| error.to_string())??;
    }
    Ok(())
}

/// The file system server is told of no folder: the host gives it one, and no other server.
async fn roots(host: &Host, folder: &Path) -> Checked {
    let shared = folder.join("shared");
    std::fs::write(shared.join("a.txt"), "in the folder").map_err(|error| error.to_string())?;
    let root = Root::new(format!("file://{}", shared.display()));
    host.share_root("filesystem", root).await.map_err(text)?;
    let path = shared.join("a.txt").display().to_string();
    // The server asks for the roots when it hears that they changed.
    let mut read = String::new();
    for _ in 0..100 {
        let call = host.call("filesystem__read_text_file", json!({ "path": path }));
        read = call.await.map_err(text)?.text();
        if read.contains("in the folder") {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    holds(read.contains("in the folder"), &read)?;
    let others = said(host, "everything__get-roots-list", json!({})).await;
    holds(
        others.is_err() || !others.is_ok_and(|roots| roots.contains("shared")),
        "another server saw the root",
    )
}

async fn elicitation(host: &Host) -> Checked {
    let name = "everything__trigger-elicitation-request";
    let answer = said(host, name, json!({})).await?;
    holds(answer.to_lowercase().contains("decline"), &answer)
}

async fn sampling(host: &Host) -> Checked {
    let name = "everything__trigger-sampling-request";
    let asked = json!({ "prompt": "Say a word.", "maxTokens": 20 });
    let answer = said(host, name, asked).await?;
    holds(answer.contains("a word for everything"), &answer)
}

async fn resources(host: &Host) -> Checked {
    let catalog = host.catalog();
    let first = catalog
        .resources()
        .first()
        .ok_or("there are no resources")?;
    let uri = first.resource().uri.clone();
    let read = host.read(&uri).await.map_err(text)?;
    holds(!read.contents.is_empty(), "nothing is in it")
}

async fn reload(host: &Host) -> Checked {
    let reloaded = host.reload().await.map_err(|error| chain(&error))?;
    same(&reloaded.unchanged.len(), &SERVERS.len())
}
