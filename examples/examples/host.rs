//! A host: two servers, one catalog, and a user who is asked before a tool is called.
//!
//! ```text
//! cargo run -p examples --example host
//! ```
//!
//! The servers are in this process. `Host::load("mcp.json")` runs those of a config file instead.

use std::{future::ready, pin::Pin};

use serde_json::json;
use turnbuckle::{
    client::Target,
    host::{ActionKind, ConsentAnswer, ConsentQuestion, Host, Rules, Scope, ServerSpec},
    host::{Requester, UserInterface},
    prelude::*,
    transport::duplex,
};

/// Turns a text around.
#[tool(read_only)]
async fn reverse(text: String) -> String {
    text.chars().rev().collect()
}

/// Counts the words of a text.
#[tool(read_only)]
async fn count(text: String) -> String {
    text.split_whitespace().count().to_string()
}

/// A server that runs in this process, started again for each connection.
fn in_process(server: fn() -> Server) -> ServerSpec {
    ServerSpec::from_fn(move || {
        let (near, far) = duplex();
        tokio::spawn(server().serve(far));
        Target::from(near)
    })
}

/// A user who allows the tool that turns texts around, and refuses everything else.
struct Person;

impl UserInterface for Person {
    fn consent<'a>(
        &'a self,
        who: &'a Requester,
        question: &'a ConsentQuestion,
    ) -> Pin<Box<dyn Future<Output = ConsentAnswer> + Send + 'a>> {
        println!("may {} {} {}?", who.server, question.kind, question.subject);
        Box::pin(ready(if question.subject == "reverse" {
            ConsentAnswer::Allow(Scope::Conversation)
        } else {
            ConsentAnswer::Deny
        }))
    }
}

#[tokio::main]
async fn main() {
    let host = Host::builder("my-app", "1.0.0")
        .server("mirror", in_process(|| Server::new("a", "1").tool(reverse)))
        .server("words", in_process(|| Server::new("b", "1").tool(count)))
        .policy(Rules::new().allow(ActionKind::Start, "*", "*"))
        .user(Person)
        .open()
        .await;
    host.ready().await;
    for tool in host.catalog().tools() {
        println!("{} of {}", tool.name(), tool.server());
    }
    // A permission for a conversation is asked for once.
    let conversation = host.conversation();
    for text in ["turnbuckle", "again"] {
        let call = conversation.call("mirror__reverse", json!({ "text": text }));
        match call.await.and_then(|output| Ok(output.ok()?)) {
            Ok(output) => println!("{}", output.text()),
            Err(error) => println!("{error}"),
        }
    }
    if let Err(error) = conversation
        .call("words__count", json!({ "text": "a b" }))
        .await
    {
        println!("{error}");
    }
    host.close().await;
}
