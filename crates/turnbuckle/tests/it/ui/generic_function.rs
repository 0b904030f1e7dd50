#![allow(unused, reason = "the errors are what is compared")]

use turnbuckle::tool;

#[tool]
async fn show<T: ToString>(value: T) -> String {
    value.to_string()
}

#[tool]
async fn clause(value: String) -> String
where
    String: Clone,
{
    value
}

#[tool]
async unsafe fn danger() {}

#[tool]
async extern "C" fn foreign() {}

fn main() {}
