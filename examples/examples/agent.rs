//! An agent: a model that works with the tools of all servers in a config file.
//!
//! ```text
//! cargo run -p examples --example agent -- mcp.json gpt-5 "What changed in this repository today?"
//! cargo run -p examples --example agent -- mcp.json scripted:demo.jsonl "What is in the demo?"
//! ```

use std::{env, error::Error};

use turnbuckle::{
    host::{ActionKind, Host, Rules},
    models::{self, Delta, HostTools, agent::Agent, agent::Event},
};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [config, model, prompt] = &arguments[..] else {
        return Err("usage: agent CONFIG MODEL PROMPT".into());
    };
    // This agent cannot ask a user, so its permissions are set in advance: everything except writing.
    let rules = Rules::new()
        .allow(ActionKind::Start, "*", "*")
        .allow(ActionKind::Call, "*", "*")
        .deny(ActionKind::Call, "*", "*write*", "this agent only reads");
    let host = Host::load(config)?.policy(rules).open().await;
    host.ready().await;
    let agent = Agent::new(models::open(model)?, HostTools::of(&host)).with_max_rounds(10);
    let report = |event: Event<'_>| match event {
        Event::Delta(Delta::Text(text)) => print!("{text}"),
        Event::Calling(call) => println!("[{}]", call.name),
        _ => {}
    };
    println!("\n{:?}", agent.ask(prompt, report).await?);
    host.close().await;
    Ok(())
}
