#![allow(unused, reason = "the errors are what is compared")]

use turnbuckle::tool;

struct App;

impl App {
    #[tool]
    async fn add(&self, left: u32) -> u32 {
        left
    }
}

fn main() {
    drop(App.add(1));
}
