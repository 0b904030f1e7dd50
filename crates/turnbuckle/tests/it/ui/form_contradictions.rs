#![allow(unused, reason = "the errors are what is compared")]

use turnbuckle::{Choice, Form};

#[derive(Form)]
struct Range {
    #[form(min = 3, max = 2)]
    row: u8,
}

#[derive(Form)]
struct TooMuch {
    #[form(max = 10, default = 11)]
    row: u8,
}

#[derive(Form)]
struct TooLong {
    #[form(max_length = 2, default = "äöü")]
    name: String,
}

#[derive(Choice)]
enum Place {
    Window,
    Aisle,
}

#[derive(Form)]
struct TooFew {
    #[form(min_items = 2, default = [Place::Window])]
    places: Vec<Place>,
}

fn main() {}
