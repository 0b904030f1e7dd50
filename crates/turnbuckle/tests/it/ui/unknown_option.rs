#![allow(unused, reason = "the errors are what is compared")]

use turnbuckle::{prompt, resource, tool};

#[tool(destructve)]
async fn near() {}

#[tool(title = "Far", colour = "red", read_only)]
async fn far() {}

#[prompt(read_only)]
async fn of_another_kind() -> String {
    String::new()
}

#[resource("seat://a", mimetype = "text/plain")]
async fn seat() -> String {
    String::new()
}

fn main() {}
