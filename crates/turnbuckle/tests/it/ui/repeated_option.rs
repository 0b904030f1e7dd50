#![allow(unused, reason = "the errors are what is compared")]

use turnbuckle::tool;

#[tool(title = "One", read_only, title = "Two")]
async fn twice() {}

#[tool(read_only, read_only)]
async fn flag_twice() {}

fn main() {}
