#![allow(unused, reason = "the errors are what is compared")]

use turnbuckle::{Progress, tool};

#[tool]
async fn extractors(
    #[extract] _1: Progress,
    #[extract] _2: Progress,
    #[extract] _3: Progress,
    #[extract] _4: Progress,
    #[extract] _5: Progress,
    #[extract] _6: Progress,
    #[extract] _7: Progress,
    #[extract] _8: Progress,
    #[extract] _9: Progress,
    #[extract] _10: Progress,
    #[extract] _11: Progress,
    #[extract] _12: Progress,
    argument: u8,
) {
}

#[tool]
async fn parameters(
    a: u8,
    b: u8,
    c: u8,
    d: u8,
    e: u8,
    f: u8,
    g: u8,
    h: u8,
    i: u8,
    j: u8,
    k: u8,
    l: u8,
    m: u8,
    n: u8,
    o: u8,
    p: u8,
    q: u8,
) {
}

fn main() {}
