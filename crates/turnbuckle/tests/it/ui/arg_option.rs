#![allow(unused, reason = "the errors are what is compared")]

use turnbuckle::{prompt, tool};

#[tool]
async fn unknown(#[arg(defualt = 3)] row: u32) {}

#[tool]
async fn header_name(#[arg(header = "my region")] region: String) {}

#[tool]
async fn header_type(#[arg(header = "Weight")] weight: Option<f64>) {}

#[prompt]
async fn header_of_prompt(#[arg(header = "City")] city: String) -> String {
    city
}

fn main() {}
