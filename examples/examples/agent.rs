//! An agent: a model that works with the tools of all servers in a config file.
//!
//! ```text
//! cargo run -p examples --example agent -- mcp.json gpt-5 "What changed in this repository today?"
//! cargo run -p examples --example agent -- mcp.json scripted:demo.jsonl "What is in the demo?"
//! ```

use std::{env, error::Error, sync::Arc};

use turnbuckle::{
    host::{ActionKind, Host, Rules},
    models::agent::{Agent, Event, Stop},
    models::{ApiKey, ApiSettings, Delta, HostTools, Model, OpenAi, Scripted},
    protocol::SamplingMessage,
};

/// A model by its name: a script, or one of OpenAI with a key from the environment.
fn model(name: &str) -> Result<Arc<dyn Model>, Box<dyn Error>> {
    if let Some(file) = name.strip_prefix("scripted:") {
        return Ok(Arc::new(Scripted::open(file.as_ref())?));
    }
    let key = ApiKey::from_environment("OPENAI_API_KEY").ok_or("set OPENAI_API_KEY")?;
    Ok(Arc::new(OpenAi::new(name, key, ApiSettings::new())?))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [config, name, prompt] = &arguments[..] else {
        return Err("usage: agent CONFIG MODEL PROMPT".into());
    };
    // Nothing is asked here, so what the agent may do is said ahead: all but what writes.
    let rules = Rules::new()
        .allow(ActionKind::Start, "*", "*")
        .allow(ActionKind::Call, "*", "*")
        .deny(ActionKind::Call, "*", "*write*", "this agent only reads");
    let host = Host::load(config)?.policy(rules).open().await;
    host.ready().await;
    let tools = HostTools::new(Arc::new(host.conversation()));
    let agent = Agent::new(model(name)?, Arc::new(tools)).with_max_rounds(10);
    let mut messages = vec![SamplingMessage::user(prompt.as_str())];
    let mut report = |event: Event<'_>| match event {
        Event::Delta(Delta::Text(text)) => print!("{text}"),
        Event::Calling(call) => println!("[{}]", call.name),
        _ => {}
    };
    let ended = agent.run(&mut messages, &Stop::new(), &mut report).await;
    println!("\n{:?}", ended?);
    host.close().await;
    Ok(())
}
