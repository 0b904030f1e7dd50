//! Our client against a server built on another SDK. Prints one line for each check, in the form
//! that `interop/run` reads.
//!
//! ```text
//! interop-client peer REVISION COMMAND [ARGUMENT…]
//! interop-client everything REVISION COMMAND [ARGUMENT…]
//! ```
//!
//! `peer` is the small server that `interop/typescript` and `interop/python` have in each SDK;
//! `everything` is `@modelcontextprotocol/server-everything`.

mod answers;
mod everything;
mod peer;
mod report;

use std::process::ExitCode;

use turnbuckle::{
    client::{Client, Connection},
    transport::Command,
};

use crate::report::{Checked, Report, same};

#[tokio::main]
async fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (Some(kind), Some(revision), Some(program)) =
        (arguments.next(), arguments.next(), arguments.next())
    else {
        eprintln!("usage: interop-client peer|everything REVISION COMMAND [ARGUMENT…]");
        return ExitCode::from(2);
    };
    let command = Command::new(program).args(arguments);
    let client = Client::new("interop", "1.0.0").answering(answers::answers());
    let mut report = Report::default();
    let connection = match client.connect(command).await {
        Ok(connection) => connection,
        Err(error) => {
            report
                .check("connect", async { Err(report::chain(&error)) })
                .await;
            return ExitCode::FAILURE;
        }
    };
    report
        .check("connect", connected(&connection, &revision))
        .await;
    match kind.as_str() {
        "peer" => peer::check(&mut report, &connection).await,
        _ => everything::check(&mut report, &connection).await,
    }
    report.check("close", closed(&connection)).await;
    report.done()
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
