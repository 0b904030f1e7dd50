#![allow(unused, reason = "the errors are what is compared")]

use turnbuckle::resource;

#[resource]
async fn missing() -> String {
    String::new()
}

#[resource(title = "Seats")]
async fn missing_too() -> String {
    String::new()
}

#[resource("seat://{flight")]
async fn open(flight: String) -> String {
    flight
}

#[resource("seat://flight}")]
async fn closed() -> String {
    String::new()
}

#[resource("seat://{}")]
async fn empty() -> String {
    String::new()
}

#[resource("seat://{a-b}")]
async fn name() -> String {
    String::new()
}

#[resource("seats/{row}")]
async fn no_scheme(row: u32) -> String {
    row.to_string()
}

#[resource("seat://a b")]
async fn space() -> String {
    String::new()
}

#[resource("seat://{row}", size = 10)]
async fn size(row: u32) -> String {
    row.to_string()
}

fn main() {}
