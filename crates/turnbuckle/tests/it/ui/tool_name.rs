#![allow(unused, reason = "the errors are what is compared")]

use turnbuckle::{prompt, tool};

#[tool(name = "book seat")]
async fn space() {}

#[tool(name = "")]
async fn empty() {}

#[tool]
async fn größe() {}

#[tool(name = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")]
async fn long() {}

#[prompt(name = "")]
async fn prompt() -> String {
    String::new()
}

fn main() {}
