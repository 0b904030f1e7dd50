//! A server on a socket of this machine, and sessions with it.

use std::{net::SocketAddr, time::Duration};

use serde_json::{Value, json};
use tokio::{sync::oneshot, task::JoinHandle, time::timeout};
use turnbuckle_protocol::Revision;
use turnbuckle_server::{
    Args, Detach, Http, HttpSettings, LiveServer, Progress, RawArgs, ServeError, Server, State,
    Tool,
};

use super::{
    ask::{Ask, notice},
    raw::{Answer, Raw},
};
use crate::{gate::Gate, wire::TIMEOUT};

/// A server that listens on a socket.
pub(crate) struct Site {
    pub(crate) address: SocketAddr,
    pub(crate) live: LiveServer,
    pub(crate) gate: Gate,
    stop: Option<oneshot::Sender<()>>,
    serving: JoinHandle<Result<(), ServeError>>,
}

impl Site {
    /// Starts the sample server with default settings.
    pub(crate) async fn start() -> Self {
        Self::with(|http| http).await
    }

    /// Starts the sample server with these settings for HTTP.
    pub(crate) async fn set(change: impl FnOnce(&mut HttpSettings)) -> Self {
        let mut settings = HttpSettings::default();
        change(&mut settings);
        Self::with(|http| http.settings(settings)).await
    }

    /// Starts the sample server with this change to its listener.
    pub(crate) async fn with(listen: impl FnOnce(Http) -> Http) -> Self {
        let gate = Gate::new();
        let server = sample(&gate);
        Self::serving(server, gate, listen).await
    }

    /// Starts a server of the test.
    pub(crate) async fn serving(
        server: Server,
        gate: Gate,
        listen: impl FnOnce(Http) -> Http,
    ) -> Self {
        let live = server.build().expect("a server");
        let (announce, announced) = oneshot::channel();
        let (stop, stopped) = oneshot::channel();
        let http = listen(Http::bind("127.0.0.1:0"))
            .announce(move |address| {
                let _ = announce.send(address);
            })
            .until(async {
                // The site stops when it is dropped, too.
                let _ = stopped.await;
            });
        let serving = tokio::spawn({
            let live = live.clone();
            async move { live.serve(http).await }
        });
        let address = timeout(TIMEOUT, announced)
            .await
            .expect("it listens in time");
        Self {
            address: address.expect("it listens").expect("at TCP"),
            live,
            gate,
            stop: Some(stop),
            serving,
        }
    }

    /// Sends a request on a connection of its own.
    pub(crate) async fn ask(&self, ask: Ask) -> Answer {
        Raw::connect(self.address).await.ask(ask).await
    }

    /// Sends a request until the answer has this status, because events on other connections take
    /// time.
    pub(crate) async fn until_status(&self, ask: Ask, status: u16) -> Answer {
        let asking = async {
            loop {
                let answer = self.ask(ask.clone()).await;
                if answer.status() == status {
                    return answer;
                }
            }
        };
        timeout(TIMEOUT, asking).await.expect("it comes to that")
    }

    /// Tells the server to stop.
    pub(crate) fn stop(&mut self) {
        drop(self.stop.take());
    }

    /// Waits until the server has stopped.
    pub(crate) async fn stopped(self) -> Result<(), ServeError> {
        let served = timeout(TIMEOUT, self.serving).await;
        served
            .expect("it stops in time")
            .expect("it does not panic")
    }
}

/// A session of 2025-03-26 to 2025-11-25.
#[derive(Clone)]
pub(crate) struct Session {
    pub(crate) id: String,
    pub(crate) address: SocketAddr,
    pub(crate) revision: Revision,
}

impl Session {
    /// Opens a session and sends `notifications/initialized`.
    pub(crate) async fn open(site: &Site, revision: Revision) -> Self {
        Self::open_with(site, revision, json!({})).await
    }

    /// Opens a session for a client with these capabilities.
    pub(crate) async fn open_with(site: &Site, revision: Revision, capabilities: Value) -> Self {
        let answer = site.ask(Ask::initialize_with(revision, capabilities)).await;
        assert_eq!(answer.status(), 200, "{}", answer.text());
        let version = &answer.json()["result"]["protocolVersion"];
        assert_eq!(version, revision.as_str());
        let id = answer.head.get("mcp-session-id").expect("a session");
        let session = Self {
            id: id.to_owned(),
            address: site.address,
            revision,
        };
        let ready = session
            .post(notice("notifications/initialized", json!({})))
            .await;
        assert_eq!((ready.status(), ready.body.len()), (202, 0));
        session
    }

    /// Adds the headers of the session to a request.
    pub(crate) fn own(&self, ask: Ask) -> Ask {
        let ask = ask.with("mcp-session-id", &self.id);
        // transports: clients send the version since 2025-06-18.
        if self.revision >= Revision::V2025_06_18 {
            return ask.with("mcp-protocol-version", self.revision.as_str());
        }
        ask
    }

    pub(crate) async fn ask(&self, ask: Ask) -> Answer {
        Raw::connect(self.address).await.ask(self.own(ask)).await
    }

    /// Posts a message and reads the whole answer.
    pub(crate) async fn post(&self, message: Value) -> Answer {
        self.ask(Ask::post(message)).await
    }

    /// Posts a message that is answered with a stream.
    pub(crate) async fn stream(&self, message: Value) -> Raw {
        Raw::streaming(self.address, self.own(Ask::post(message))).await
    }

    /// Posts a message without waiting for the answer.
    pub(crate) async fn send(&self, message: Value) -> Raw {
        Raw::asking(self.address, self.own(Ask::post(message))).await
    }

    /// Opens a standing stream.
    pub(crate) async fn listen(&self) -> Raw {
        Raw::streaming(self.address, self.own(Ask::get())).await
    }

    /// Resumes a stream.
    pub(crate) async fn resume(&self, last: &str) -> Raw {
        Raw::streaming(
            self.address,
            self.own(Ask::get().with("last-event-id", last)),
        )
        .await
    }
}

/// Every session revision of Streamable HTTP.
pub(crate) const SESSIONS: [Revision; 3] = [
    Revision::V2025_03_26,
    Revision::V2025_06_18,
    Revision::V2025_11_25,
];

/// A call with a progress token.
pub(crate) fn watched(id: impl Into<Value>, tool: &str, arguments: Value) -> Value {
    super::ask::request(
        id,
        "tools/call",
        json!({ "name": tool, "arguments": arguments, "_meta": { "progressToken": "t" } }),
    )
}

/// Short enough for tests to wait for it.
pub(crate) const SOON: Duration = Duration::from_millis(50);

/// Long enough to open a session on a busy machine, and short enough to wait for its end.
pub(crate) const IDLE: Duration = Duration::from_secs(1);

#[derive(serde::Deserialize, schemars::JsonSchema)]
pub(crate) struct Count {
    count: u32,
}

/// Reports this many steps, waits at the gate, and reports one more.
pub(crate) async fn steps(
    progress: Progress,
    State(gate): State<Gate>,
    Args(all): Args<Count>,
) -> String {
    for step in 1..=all.count {
        progress.at(f64::from(step)).await;
    }
    gate.pass().await;
    progress.at(f64::from(all.count) + 1.0).await;
    format!("{} steps", all.count)
}

/// Reports a step and ends at once.
async fn step(progress: Progress) -> &'static str {
    progress.at(1.0).await;
    "stepped"
}

/// Lets the client disconnect, then waits at the gate.
async fn leave(progress: Progress, detach: Detach, State(gate): State<Gate>) -> String {
    progress.at(1.0).await;
    detach.now().await;
    gate.pass().await;
    progress.at(2.0).await;
    format!("left: {}", detach.is_possible())
}

/// Returns a text of this many letters.
async fn letters(Args(all): Args<Count>) -> String {
    "x".repeat(all.count as usize)
}

async fn echo(RawArgs(arguments): RawArgs) -> String {
    arguments.map_or_else(String::new, |raw| raw.get().to_owned())
}

fn sample(gate: &Gate) -> Server {
    let mirrored = json!({
        "type": "object",
        "properties": {
            "region": { "type": "string", "x-mcp-header": "Region" },
            "row": { "type": "integer", "x-mcp-header": "Row" },
            "window": { "type": "boolean", "x-mcp-header": "Window" },
        },
    });
    gate.server()
        .tool(Tool::new("steps", steps))
        .tool(Tool::new("step", step))
        .tool(Tool::new("leave", leave))
        .tool(Tool::new("letters", letters))
        .tool(Tool::new("mirrored", echo).input_schema(mirrored))
}
