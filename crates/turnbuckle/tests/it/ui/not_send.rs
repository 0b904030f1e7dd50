#![allow(unused, reason = "the errors are what is compared")]

use std::rc::Rc;

use turnbuckle::tool;

async fn wait() {}

#[tool]
async fn count() -> String {
    let number = Rc::new(1);
    wait().await;
    number.to_string()
}

fn main() {}
