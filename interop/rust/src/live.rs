//! What a server tells beside its answers: its log, resources and lists that change.

use serde_json::json;
use turnbuckle::{
    client::{CallError, Change, ChangeStream, Connection, Listen, LogStream, Logged},
    protocol::{LoggingLevel, SubscriptionFilter},
};

use crate::report::{Checked, Report, chain, same};

pub(crate) async fn check(report: &mut Report, server: &Connection, tools: &[String]) {
    let has = |name: &str| tools.iter().any(|tool| tool == name);
    report.check("list_changed", list_changed(server)).await;
    if has("log") {
        report.check("logging", logging(server)).await;
    }
    if has("touch") {
        report.check("resources/subscribe", subscribe(server)).await;
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is given to `map_err`")]
fn text(error: CallError) -> String {
    chain(&error)
}

async fn list_changed(server: &Connection) -> Checked {
    let mut changes = listening(server, Listen::new().tools()).await?;
    server.call("grow", json!({})).await.map_err(text)?;
    heard(&mut changes, |change| {
        matches!(change, Change::ToolsChanged)
    })
    .await
}

async fn subscribe(server: &Connection) -> Checked {
    let mut changes = listening(server, Listen::new().resource("peer://readme")).await?;
    server.call("touch", json!({})).await.map_err(text)?;
    heard(
        &mut changes,
        |change| matches!(change, Change::ResourceUpdated { uri, .. } if &**uri == "peer://readme"),
    )
    .await
}

/// A stream of changes, if the server promises all of them.
pub(crate) async fn listening(server: &Connection, listen: Listen) -> Result<ChangeStream, String> {
    let changes = server.listen(listen).await.map_err(text)?;
    let refused = changes.refused();
    if refused == SubscriptionFilter::default() {
        return Ok(changes);
    }
    Err(format!("the server does not offer {refused:?}"))
}

pub(crate) async fn heard(changes: &mut ChangeStream, is_it: impl Fn(&Change) -> bool) -> Checked {
    while let Some(change) = changes.next().await {
        if is_it(&change.map_err(text)?) {
            return Ok(());
        }
    }
    Err("the connection ended".to_owned())
}

async fn logging(server: &Connection) -> Checked {
    let mut logs = server.logs();
    server
        .set_log_level(LoggingLevel::Warning)
        .await
        .map_err(text)?;
    server.call("log", json!({})).await.map_err(text)?;
    let message = logged(&mut logs).await?;
    same(
        &(message.0.as_str(), message.1.as_str()),
        &("peer", "\"careful\""),
    )
}

/// Who said the first message, and what.
pub(crate) async fn logged(logs: &mut LogStream) -> Result<(String, String), String> {
    while let Some(logged) = logs.next().await {
        if let Logged::Message(message) = logged {
            let logger = message.logger.clone().unwrap_or_default();
            return Ok((logger, message.data.to_string()));
        }
    }
    Err("the connection ended".to_owned())
}
