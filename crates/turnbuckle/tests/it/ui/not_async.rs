#![allow(unused)]

use turnbuckle::tool;

/// Adds.
#[tool]
fn add(/** One. */ left: u32, right: u32) -> u32 {
    left + right
}

fn main() {
    // The function is still there, so this line is no second mistake.
    let _: u32 = add(1, 2);
}
