#![allow(unused, reason = "the errors are what is compared")]

use turnbuckle::{Server, prompt};

async fn plain(row: u32) -> String {
    row.to_string()
}

#[prompt]
async fn plan() -> String {
    String::new()
}

fn main() {
    let _ = Server::new("booking", "1.0.0").tool(plain);
    let _ = Server::new("booking", "1.0.0").tool(plan);
}
