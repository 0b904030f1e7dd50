#![allow(unused, reason = "the errors are what is compared")]

use turnbuckle::{Uri, resource};

#[resource("seat://{flight}/{row}")]
async fn argument_missing(flight: String) -> String {
    flight
}

#[resource("seat://{flight}")]
async fn variable_missing(flight: String, row: u32) -> String {
    format!("{flight}{row}")
}

#[resource("seat://{flight}")]
async fn misspelt(fligth: String) -> String {
    fligth
}

#[resource("seat://{flight}")]
async fn with_uri(Uri(uri): Uri, row: u32) -> String {
    format!("{uri}{row}")
}

fn main() {}
