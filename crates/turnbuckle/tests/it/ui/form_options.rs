#![allow(unused, reason = "the errors are what is compared")]

use turnbuckle::{Choice, Form};

#[derive(Form)]
struct Unknown {
    #[form(defualt = 3)]
    row: u8,
    #[form(colour = 3)]
    seat: u8,
    #[form(min)]
    least: u8,
    #[form(title = "a", title = "b")]
    titled: u8,
    #[form(format = "postcode")]
    code: String,
}

#[derive(Form)]
#[form(rename_all = "kebabcase")]
struct Named {
    row: u8,
}

#[derive(Form)]
struct LengthOfNumber {
    #[form(min_length = 3)]
    row: u8,
}

#[derive(Form)]
struct RangeOfText {
    #[form(min = 3)]
    name: String,
}

#[derive(Form)]
struct ItemsOfText {
    #[form(max_items = 3)]
    name: Option<String>,
}

#[derive(Form)]
struct DefaultOfAnotherType {
    #[form(default = "three")]
    row: u8,
}

fn main() {}
