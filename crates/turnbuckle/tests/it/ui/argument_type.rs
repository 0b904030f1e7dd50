#![allow(unused, reason = "the errors are what is compared")]

use turnbuckle::{State, tool};

#[tool]
async fn text(text: &str) -> String {
    text.to_owned()
}

#[tool]
async fn bytes(bytes: &[u8], path: &std::path::Path) {}

#[tool]
async fn deep(name: Option<&'static str>) {}

#[tool]
async fn opaque(name: impl Into<String>) {}

#[tool]
async fn opaque_inside(names: Vec<impl Into<String>>) {}

#[tool]
async fn extractor(State(_app): &State<u8>) {}

fn main() {}
