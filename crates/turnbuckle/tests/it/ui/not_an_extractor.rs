#![allow(unused, reason = "the errors are what is compared")]

use turnbuckle::tool;

struct Seat(u32);

#[tool]
async fn book(Seat(row): Seat) -> String {
    row.to_string()
}

fn main() {}
