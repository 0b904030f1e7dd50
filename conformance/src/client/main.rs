//! The client that the official conformance suite runs, once for each scenario.
//!
//! The suite gives the URL as the last argument, and in the environment the scenario's name, the
//! revision to speak, and what else the scenario needs.
//!
//! With `--through-gateway`, a gateway is between this client and the suite's server. A revision after
//! it is what this client speaks; without one it speaks that of the server.

mod authorization;
mod scenario;
mod through;

use std::{env, error::Error, process::ExitCode};

use serde_json::Value;
use through::Between;
use turnbuckle::{
    Client, Connection,
    client::HttpTarget,
    protocol::{CreateMessageResult, ElicitResult, Revision, Root},
};

/// What the suite says about a run.
struct Order {
    scenario: String,
    revision: Revision,
    context: Value,
    url: String,
    /// The revision in front of a gateway, if there is to be one.
    front: Option<Revision>,
}

impl Order {
    fn read() -> Result<Self, Box<dyn Error>> {
        let context = match env::var("MCP_CONFORMANCE_CONTEXT") {
            Ok(context) => serde_json::from_str(&context)?,
            Err(_) => Value::Null,
        };
        let revision = env::var("MCP_CONFORMANCE_PROTOCOL_VERSION")?.parse()?;
        let mut words = env::args().skip_while(|word| word != through::WORD);
        let front = words.next().map(|_| {
            let after = words.next().and_then(|word| word.parse().ok());
            after.unwrap_or(revision)
        });
        Ok(Self {
            scenario: env::var("MCP_CONFORMANCE_SCENARIO")?,
            revision,
            context,
            url: env::args().next_back().ok_or("no URL")?,
            front,
        })
    }

    /// Connects to the server itself.
    async fn connect(&self) -> Result<Connection, Box<dyn Error>> {
        let client = client().only(self.revision);
        let mut target = HttpTarget::new(self.url.as_str());
        if self.scenario.starts_with("auth/") {
            target = target.authorize(authorization::oauth(self)?);
        }
        Ok(client.connect(target).await?)
    }

    /// Does what the scenario wants, over a gateway if there is to be one.
    async fn run(&self) -> Result<(), Box<dyn Error>> {
        let Some(front) = self.front else {
            return scenario::run(self, self.connect().await?).await;
        };
        let between = Between::start(self).await?;
        let connected = client().only(front).connect(between.url.as_str()).await;
        let ran = match connected {
            Ok(server) => scenario::run(self, server).await,
            Err(error) => Err(error.into()),
        };
        between.end().await?;
        ran
    }
}

/// A client that can be asked everything. Forms are left as they are found: with their defaults.
fn client() -> Client {
    Client::new("turnbuckle-conformance", env!("CARGO_PKG_VERSION"))
        .on_form(|form| async move { Ok(ElicitResult::accept(form.requested_schema.defaults())) })
        .on_sample(|_| async { Ok(CreateMessageResult::new("none", "Paris")) })
        .roots(vec![Root::new("file:///conformance")])
}

#[tokio::main]
async fn main() -> ExitCode {
    let run = async { Order::read()?.run().await };
    match run.await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("conformance-client: {error}");
            let mut source = error.source();
            while let Some(cause) = source {
                eprintln!("  because: {cause}");
                source = cause.source();
            }
            ExitCode::FAILURE
        }
    }
}
