#![allow(unused, reason = "the errors are what is compared")]

use std::collections::HashMap;

use turnbuckle::{Choice, Form};

#[derive(Form)]
struct Nested {
    address: Address,
}

struct Address;

#[derive(Form)]
struct Mapped {
    tags: HashMap<String, String>,
}

#[derive(Form)]
struct Listed {
    names: Vec<String>,
}

#[derive(Form)]
enum NotAStruct {
    One,
}

#[derive(Form)]
struct Tuple(u8);

#[derive(Form)]
struct Generic<T> {
    value: T,
}

#[derive(Form)]
struct Flat {
    #[serde(flatten)]
    more: Tuple,
}

#[derive(Form)]
struct Twice {
    row: u8,
    #[serde(rename = "row")]
    seat: u8,
}

fn main() {}
