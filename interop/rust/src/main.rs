//! Our client against a server built on another SDK. Prints one line for each check, in the form
//! that `interop/run` reads.
//!
//! ```text
//! interop-client KIND REVISION URL
//! interop-client KIND REVISION COMMAND [ARGUMENT…]
//! interop-client host any CONFIG
//! ```
//!
//! The revision is the one to end up with, or `only:` and the one to insist on.
//! `peer` is the small server that `interop/typescript` and `interop/python` have in each SDK, and
//! `one-way` the same where the server cannot ask or tell the client anything by itself;
//! `everything`, `filesystem` and `memory` are the reference servers of the npm packages
//! `@modelcontextprotocol/server-…`. `host` runs all servers of a config file at once.

mod answers;
mod claim;
mod everything;
mod files;
mod host;
mod live;
mod memory;
mod peer;
mod report;
mod tasks;

use std::process::ExitCode;

use turnbuckle::{
    client::{Client, Connection, Roots, Target},
    protocol::{Revision, Root},
    transport::Command,
};

use crate::{
    peer::Reach,
    report::{Checked, Report, same},
};

#[tokio::main]
async fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (Some(kind), Some(revision), Some(place)) =
        (arguments.next(), arguments.next(), arguments.next())
    else {
        eprintln!(
            "usage: interop-client peer|one-way|everything|filesystem|memory REVISION \
             URL|COMMAND [ARGUMENT…], or interop-client host any CONFIG"
        );
        return ExitCode::from(2);
    };
    if kind == "host" {
        return host::check(&place).await;
    }
    let target = target(place, arguments);
    let only = revision.strip_prefix("only:");
    let roots = Roots::from(vec![Root::new("file:///interop")]);
    let client = match client(only, roots.clone()) {
        Ok(client) => client,
        Err(reason) => {
            eprintln!("{reason}");
            return ExitCode::from(2);
        }
    };
    let mut report = Report::default();
    let connection = match client.connect(target).await {
        Ok(connection) => connection,
        Err(error) => {
            report
                .check("connect", async { Err(report::chain(&error)) })
                .await;
            return ExitCode::FAILURE;
        }
    };
    println!("revision\t{}", connection.server().revision());
    report
        .check("connect", connected(&connection, only.unwrap_or(&revision)))
        .await;
    match kind.as_str() {
        "peer" => peer::check(&mut report, &connection, Reach::BothWays).await,
        "one-way" => peer::check(&mut report, &connection, Reach::OneWay).await,
        "filesystem" => files::check(&mut report, &connection, &roots).await,
        "memory" => memory::check(&mut report, &connection).await,
        _ => everything::check(&mut report, &connection).await,
    }
    report.check("close", closed(&connection)).await;
    report.done()
}

fn target(place: String, arguments: impl Iterator<Item = String>) -> Target {
    if place.starts_with("http://") {
        Target::from(place)
    } else {
        Target::from(Command::new(place).args(arguments))
    }
}

/// Our client, which insists on a revision if it is told to.
fn client(only: Option<&str>, roots: Roots) -> Result<Client, String> {
    let client = Client::new("interop", "1.0.0").answering(answers::answers(roots));
    match only {
        None => Ok(client),
        Some(only) => match only.parse::<Revision>() {
            Ok(only) => Ok(client.only(only)),
            Err(error) => Err(error.to_string()),
        },
    }
}

async fn connected(connection: &Connection, revision: &str) -> Checked {
    same(
        &connection.server().revision().to_string().as_str(),
        &revision,
    )?;
    connection
        .ping()
        .await
        .map_err(|error| report::chain(&error))
}

/// Servers end by themselves when their input does; none has to be killed.
async fn closed(connection: &Connection) -> Checked {
    let start = std::time::Instant::now();
    let ending = connection.close().await;
    if start.elapsed().as_secs() >= 4 {
        return Err(format!("closing took {:?}{ending}", start.elapsed()));
    }
    Ok(())
}
