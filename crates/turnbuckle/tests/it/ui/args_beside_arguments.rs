#![allow(unused, reason = "the errors are what is compared")]

use turnbuckle::{Args, tool};

#[tool]
async fn mixed(Args(name): Args<String>, row: u32) -> String {
    format!("{name}{row}")
}

fn main() {}
