//! The client that the official conformance suite runs, once for each scenario.
//!
//! The suite gives the URL as the last argument, and in the environment the scenario's name, the
//! revision to speak, and what else the scenario needs.

mod authorization;
mod scenario;

use std::{env, error::Error, process::ExitCode};

use serde_json::Value;
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
}

impl Order {
    fn read() -> Result<Self, Box<dyn Error>> {
        let context = match env::var("MCP_CONFORMANCE_CONTEXT") {
            Ok(context) => serde_json::from_str(&context)?,
            Err(_) => Value::Null,
        };
        Ok(Self {
            scenario: env::var("MCP_CONFORMANCE_SCENARIO")?,
            revision: env::var("MCP_CONFORMANCE_PROTOCOL_VERSION")?.parse()?,
            context,
            url: env::args().next_back().ok_or("no URL")?,
        })
    }

    async fn connect(&self) -> Result<Connection, Box<dyn Error>> {
        let client = client().only(self.revision);
        let mut target = HttpTarget::new(self.url.as_str());
        if self.scenario.starts_with("auth/") {
            target = target.authorize(authorization::oauth(self)?);
        }
        Ok(client.connect(target).await?)
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
    let run = async {
        let order = Order::read()?;
        scenario::run(&order).await
    };
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
