#![allow(unused, reason = "the errors are what is compared")]

use turnbuckle::{Ask, ToolError, tool};

struct Seat {
    row: u8,
}

#[tool]
async fn book(Ask(ask): Ask) -> Result<String, ToolError> {
    let seat = ask.form::<Seat>("seat", "Which seat?").await?.accepted()?;
    Ok(seat.row.to_string())
}

fn main() {}
