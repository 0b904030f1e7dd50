#![allow(unused)]

use turnbuckle::{prompt, tool};

#[tool]
#[prompt]
async fn both() -> String {
    String::new()
}

fn main() {}
