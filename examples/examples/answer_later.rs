//! Answers a server's question later, in another process.
//!
//! The first run starts a server, calls a tool and writes the question of the tool to a file. The second
//! run reads the file, starts another server process and sends the answer to it.
//!
//! ```text
//! cargo run -p examples --example answer_later -- ask /tmp/pending.json
//! cargo run -p examples --example answer_later -- answer /tmp/pending.json Ada
//! ```

use std::{error::Error, fs};

use turnbuckle::{Pending, ToolOutput, prelude::*, protocol::ElicitResult};

#[derive(Form)]
struct Name {
    /// What you are called.
    name: String,
}

/// Greets the person whose name the user enters.
#[tool]
async fn greet(Ask(ask): Ask) -> Result<String, ToolError> {
    let who: Name = ask.form("who", "Who are you?").await?.accepted()?;
    Ok(format!("Hello, {}!", who.name))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        // Servers that continue each other's calls share a secret. A real secret is not in the code.
        ["serve"] => {
            let server = turnbuckle::server!().secret(b"thirty-two bytes that are random");
            Ok(server.tool(greet).serve(Stdio).await?)
        }
        ["ask", file] => ask(file).await,
        ["answer", file, name] => answer(file, name).await,
        _ => Err("usage: answer_later ask FILE | answer FILE NAME".into()),
    }
}

async fn ask(file: &str) -> Result<(), Box<dyn Error>> {
    let server = connect().await?;
    match server.by_hand(server.call("greet", ())).await? {
        Round::Done(output) => println!("{}", output.ok()?.text()),
        Round::Asked(pending) => {
            println!("{} asks {:?}", pending.subject(), pending.asks().keys());
            fs::write(file, serde_json::to_string(&pending)?)?;
        }
    }
    Ok(())
}

async fn answer(file: &str, name: &str) -> Result<(), Box<dyn Error>> {
    let pending: Pending<ToolOutput> = serde_json::from_str(&fs::read_to_string(file)?)?;
    let filled = ElicitResult::accept([("name", name)]);
    let keys = pending.asks().keys().cloned();
    let answers = keys.map(|key| (key, filled.clone().into())).collect();
    let server = connect().await?;
    match server.resume(pending, answers).await? {
        Round::Done(output) => println!("{}", output.ok()?.text()),
        Round::Asked(pending) => println!("it asks once more: {pending:?}"),
    }
    Ok(())
}

async fn connect() -> Result<Connection, Box<dyn Error>> {
    let client = Client::new("later", "1.0.0").answering(Answers::new().forms_by_hand());
    let program = std::env::current_exe()?;
    Ok(client.connect(Command::new(program).arg("serve")).await?)
}
