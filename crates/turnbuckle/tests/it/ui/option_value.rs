#![allow(unused, reason = "the errors are what is compared")]

use turnbuckle::{resource, tool};

#[tool(read_only = true)]
async fn flag_with_value() {}

#[tool(title)]
async fn text_without_value() {}

#[tool(title = 3)]
async fn number_for_text() {}

#[tool("add")]
async fn bare_text() {}

#[tool(name = NAME)]
async fn name_not_literal() {}

#[resource("seat://a", size = "big")]
async fn text_for_number() -> String {
    String::new()
}

fn main() {}
