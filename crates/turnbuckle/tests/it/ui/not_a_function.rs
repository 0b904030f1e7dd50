#![allow(unused, reason = "the errors are what is compared")]

use turnbuckle::{handlers, tool};

#[tool]
struct Book;

#[handlers]
struct App;

fn main() {
    let _ = (Book, App);
}
