#![allow(unused, reason = "the errors are what is compared")]

use turnbuckle::tool;

struct Seat;

#[tool]
async fn try_book() -> Result<Seat, turnbuckle::ToolError> {
    Ok(Seat)
}

fn main() {}
