//! `turnbuckle watch`: shows changes at a server and its log messages as they arrive.

use clap::Args;
use serde::Deserialize as _;
use serde_json::json;
use turnbuckle::{
    CallError, Change, Connection, Listen, Missed,
    client::{ChangeStream, Logged},
    protocol::{LoggingLevel, ResourceUpdatedNotificationParams},
};
use turnbuckle_command_line::{
    control::tell,
    failure::{Code, Failed, Outcome},
    style::Style,
    target::{Options, ServerArguments},
};

use crate::{
    runtime::block_on,
    session::{self, Session},
    show::{all_printed, print},
};

/// Watch what changes at a server: its lists, resources that you name, and its log.
///
/// It runs until it is interrupted, until the server ends, or for the time of `--timeout`. It also
/// prints log messages of `info` and above; `--log` sets another level.
#[derive(Args)]
pub(crate) struct Watch {
    /// The server, and URIs of resources to subscribe to.
    #[arg(value_name = "SERVER URI")]
    words: Vec<String>,

    /// Print one object of JSON a line.
    #[arg(long)]
    pub(crate) json: bool,

    /// End after this many lines.
    #[arg(long, value_name = "N")]
    count: Option<usize>,

    #[command(flatten)]
    server: ServerArguments,
}

pub(crate) fn run(watch: &Watch) -> Outcome {
    let (server, uris) = watch.server.split(&watch.words)?;
    // Log messages are part of the printed data.
    let options = Options {
        log: None,
        ..watch.server.options.clone()
    };
    let work = async |session: Session| {
        let watching = watch.on(&session, uris);
        match options.timeout {
            // The user has set how long to watch.
            Some(time) => tokio::time::timeout(time, watching).await.unwrap_or(Ok(())),
            None => watching.await,
        }
    };
    block_on(session::open_ended(&options, None, &server, work))
}

impl Watch {
    async fn on(&self, session: &Session, uris: &[String]) -> Outcome {
        let connection = &session.connection;
        let mut logs = connection.logs();
        // A server without logging can be watched all the same.
        let level = self.server.options.log.unwrap_or(LoggingLevel::Info);
        let _ = connection.set_log_level(level).await;
        let wish = uris.iter().fold(Listen::lists(), Listen::resource);
        let mut changes = match connection.listen(wish).await {
            Ok(changes) => Some(changes),
            // A server that does not report changes may still send log messages.
            Err(CallError::NotOffered { .. }) if uris.is_empty() && keeps_log(connection) => None,
            Err(CallError::NotOffered { .. }) => {
                let said = "the server sends no updates and no log messages";
                return Err(Failed::new(Code::Protocol, said));
            }
            Err(error) => return Err(error.into()),
        };
        let refused = changes.as_ref().map(ChangeStream::refused);
        let refused = refused.and_then(|it| it.resource_subscriptions);
        let refused = refused.unwrap_or_default();
        if !uris.is_empty() && uris.iter().all(|uri| refused.contains(uri)) {
            let said = format!(
                "the server does not send updates for `{}`",
                uris.join("`, `")
            );
            return Err(Failed::new(Code::Protocol, said));
        }
        for uri in refused {
            tell(&format!("the server does not send updates for `{uri}`"));
        }
        let mut printed = 0;
        while self.count.is_none_or(|count| printed < count) {
            let line = tokio::select! {
                change = next(&mut changes) => match change {
                    Some(change) => self.change(&change?),
                    None => return Err(Failed::new(Code::Connect, "the connection to the server ended")),
                },
                log = logs.next() => match log {
                    // Some servers send messages below the requested level.
                    Some(Logged::Message(message)) if message.level < level => continue,
                    Some(log) => self.log(&log),
                    None => return Err(Failed::new(Code::Connect, "the connection to the server ended")),
                },
            };
            print(&line);
            // Stops printing when the reader has closed stdout.
            all_printed()?;
            printed += 1;
        }
        Ok(())
    }

    fn change(&self, change: &Change) -> String {
        let (text, value) = match change {
            Change::ToolsChanged => list("tools"),
            Change::PromptsChanged => list("prompts"),
            Change::ResourcesChanged => list("resources"),
            Change::ResourceUpdated { uri, params, .. } => {
                let mut value = json!({"change": "resource", "uri": &**uri});
                // Some servers add members, such as a title.
                if let Ok(said) = ResourceUpdatedNotificationParams::deserialize(&**params)
                    && !said.other.is_empty()
                {
                    value["params"] = json!(&**params);
                }
                (format!("resource {uri} changed"), value)
            }
            Change::Missed(Missed::Lagged(count)) => (
                format!("{count} changes were missed"),
                json!({"change": "missed", "count": count}),
            ),
            Change::Missed(_) => (
                "the connection was interrupted; changes may have been missed".to_owned(),
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

/// Whether the server declares the logging capability.
fn keeps_log(connection: &Connection) -> bool {
    let capabilities = connection.server().capabilities();
    capabilities.is_some_and(|it| it.logging.is_some())
}

/// The next change. Never ready if the server does not report changes.
async fn next(changes: &mut Option<ChangeStream>) -> Option<Result<Change, CallError>> {
    match changes {
        Some(changes) => changes.next().await,
        None => std::future::pending().await,
    }
}

fn list(of: &str) -> (String, serde_json::Value) {
    (format!("list of {of} changed"), json!({"change": of}))
}
