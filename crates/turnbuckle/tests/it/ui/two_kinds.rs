#![allow(unused, reason = "the errors are what is compared")]

use turnbuckle::{prompt, tool};

#[tool]
#[prompt]
async fn both() -> String {
    String::new()
}

fn main() {}
