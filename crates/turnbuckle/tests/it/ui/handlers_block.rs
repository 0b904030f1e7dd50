#![allow(unused, reason = "the errors are what is compared")]

use turnbuckle::{handlers, tool};

struct Generic<T>(T);

#[handlers]
impl<T> Generic<T> {
    #[tool]
    async fn one(&self) {}
}

struct App;

trait Shop {
    async fn sell(&self);
}

#[handlers]
impl Shop for App {
    #[tool]
    async fn sell(&self) {}
}

struct Empty;

#[handlers]
impl Empty {
    fn one(&self) {}
}

struct Options;

#[handlers(name = "options")]
impl Options {
    #[tool]
    async fn one(&self) {}
}

fn main() {}
