#![allow(unused, reason = "the errors are what is compared")]

use turnbuckle::tool;

#[tool(read_only, destructive)]
async fn reads() {}

#[tool(additive, destructive)]
async fn adds() {}

#[tool(closed_world, open_world)]
async fn worlds() {}

fn main() {}
