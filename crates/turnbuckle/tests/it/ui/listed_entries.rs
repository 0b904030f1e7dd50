#![allow(unused, reason = "the errors are what is compared")]

use turnbuckle::{Server, Tool, protocol};

// Entries of lists have the names of what a server offers, and are not taken for it.
fn offer(tool: protocol::Tool, prompt: protocol::Prompt, resource: protocol::Resource) {
    let _ = Server::new("booking", "1.0.0").tool(tool);
    let _ = Server::new("booking", "1.0.0").prompt(prompt);
    let _ = Server::new("booking", "1.0.0").resource(resource);
}

fn show(tool: &Tool) {}

fn list(tools: Vec<protocol::Tool>) {
    show(&tools[0]);
}

fn main() {}
