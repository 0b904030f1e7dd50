#![allow(unused, reason = "the errors are what is compared")]

use turnbuckle::{Progress, State, tool};

#[tool]
async fn progress(progress: Progress) {
    progress.at(1.0).await;
}

#[tool]
async fn state(state: State<u32>) -> u32 {
    state.0
}

fn main() {}
