#![allow(unused, reason = "the errors are what is compared")]

use turnbuckle::tool;

#[tool]
async fn by_arg(row: u32, #[arg(rename = "row")] second: u32) {}

#[tool]
async fn by_serde(row: u32, #[serde(rename = "row")] second: u32) {}

#[tool]
async fn keyword(r#type: u32, #[arg(rename = "type")] kind: u32) {}

#[tool]
async fn headers(#[arg(header = "Region")] one: String, #[arg(header = "region")] two: String) {}

fn main() {}
