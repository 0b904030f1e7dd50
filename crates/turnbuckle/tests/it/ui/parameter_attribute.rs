#![allow(unused, reason = "the errors are what is compared")]

use turnbuckle::{State, prompt, tool};

#[tool]
async fn unknown(#[default(3)] row: u32) {}

#[tool]
async fn condition(#[cfg(unix)] row: u32) {}

#[tool]
async fn on_extractor(#[arg(default)] State(_app): State<u32>) {}

#[tool]
async fn completed(#[complete(["a", "b"])] row: String) {}

#[prompt]
async fn no_completer(#[complete] row: String) -> String {
    row
}

fn main() {}
