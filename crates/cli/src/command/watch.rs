//! `turnbuckle watch`: what changes at a server, and what it logs, as it happens.

use clap::Args;
use serde_json::json;
use turnbuckle::{Change, Listen, Missed, client::Logged, protocol::LoggingLevel};
use turnbuckle_command_line::{
    failure::{Code, Failed, Outcome},
    style::Style,
    target::ServerArguments,
};

use crate::{
    runtime::block_on,
    session::{self, Session},
    show::print,
};

/// Watch what changes at a server: its lists, resources that you name, and its log.
///
/// It goes on until it is interrupted, or until the server ends.
#[derive(Args)]
pub(crate) struct Watch {
    /// The server, and URIs of resources to subscribe to.
    #[arg(value_name = "SERVER URI")]
    words: Vec<String>,

    /// Print one object of JSON a line.
    #[arg(long)]
    json: bool,

    /// Ask for log messages of this severity and above: debug, info, notice, warning, error,
    /// critical, alert, emergency.
    #[arg(long, value_name = "LEVEL", default_value = "info", value_parser = level)]
    log: LoggingLevel,

    /// End after so many lines.
    #[arg(long, value_name = "N")]
    count: Option<usize>,

    #[command(flatten)]
    server: ServerArguments,
}

fn level(text: &str) -> Result<LoggingLevel, String> {
    serde_json::from_value(text.into()).map_err(|_| format!("`{text}` is no level"))
}

pub(crate) fn run(watch: &Watch) -> Outcome {
    let (server, uris) = watch.server.split(&watch.words)?;
    let work = async |session: Session| watch.on(&session, uris).await;
    block_on(session::open_ended(
        &watch.server.options,
        None,
        &server,
        work,
    ))
}

impl Watch {
    async fn on(&self, session: &Session, uris: &[String]) -> Outcome {
        let connection = &session.connection;
        let mut logs = connection.logs();
        // A server that keeps no log is watched all the same.
        let _ = connection.set_log_level(self.log).await;
        let wish = uris.iter().fold(Listen::lists(), Listen::resource);
        let mut changes = connection.listen(wish).await?;
        for uri in changes.refused().resource_subscriptions.unwrap_or_default() {
            eprintln!("the server does not tell of changes of `{uri}`");
        }
        let mut printed = 0;
        while self.count.is_none_or(|count| printed < count) {
            let line = tokio::select! {
                change = changes.next() => match change {
                    Some(change) => self.change(&change?),
                    None => return Err(Failed::new(Code::Connect, "the server ended")),
                },
                Some(log) = logs.next() => self.log(&log),
            };
            print(&line);
            printed += 1;
        }
        Ok(())
    }

    fn change(&self, change: &Change) -> String {
        let (text, value) = match change {
            Change::ToolsChanged => list("tools"),
            Change::PromptsChanged => list("prompts"),
            Change::ResourcesChanged => list("resources"),
            Change::ResourceUpdated { uri } => (
                format!("resource {uri} changed"),
                json!({"change": "resource", "uri": &**uri}),
            ),
            Change::Missed(Missed::Lagged(count)) => (
                format!("{count} changes were missed"),
                json!({"change": "missed", "count": count}),
            ),
            Change::Missed(_) => (
                "the server was not heard for a while; changes may have been missed".to_owned(),
                json!({"change": "missed"}),
            ),
            Change::Other { method, params } => (
                format!("{method} {}", params.get()),
                json!({"change": "other", "method": &**method, "params": &**params}),
            ),
            _ => ("something changed".to_owned(), json!({"change": "unknown"})),
        };
        if self.json { value.to_string() } else { text }
    }

    fn log(&self, log: &Logged) -> String {
        match log {
            Logged::Message(message) if self.json => json!({"log": **message}).to_string(),
            Logged::Message(message) => {
                let level = serde_json::to_value(message.level).unwrap_or_default();
                let level = Style::Dim.out(level.as_str().unwrap_or_default());
                let data = match &message.data {
                    serde_json::Value::String(text) => text.clone(),
                    other => other.to_string(),
                };
                let logger = message.logger.as_deref().unwrap_or("log");
                format!("{level} {logger}: {data}")
            }
            other if self.json => {
                json!({"log": "missed", "what": format!("{other:?}")}).to_string()
            }
            _ => "log messages were missed".to_owned(),
        }
    }
}

fn list(of: &str) -> (String, serde_json::Value) {
    (format!("list of {of} changed"), json!({"change": of}))
}
