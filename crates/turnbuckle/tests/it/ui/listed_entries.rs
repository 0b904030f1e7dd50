#![allow(unused, reason = "the errors are what is compared")]

use turnbuckle::{Server, Tool, protocol};

// Entries of lists have the same type names as the builders of a server, and are not accepted in their place.
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
