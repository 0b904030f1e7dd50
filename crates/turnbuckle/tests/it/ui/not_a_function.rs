#![allow(unused)]

use turnbuckle::{handlers, tool};

#[tool]
struct Book;

#[handlers]
struct App;

fn main() {
    let _ = (Book, App);
}
