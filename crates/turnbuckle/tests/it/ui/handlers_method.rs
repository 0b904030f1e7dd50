#![allow(unused, reason = "the errors are what is compared")]

use turnbuckle::{handlers, prompt, resource, tool};

struct App;

#[handlers]
impl App {
    #[tool]
    async fn exclusive(&mut self) {}

    #[tool]
    async fn consuming(self) {}

    #[tool]
    async fn generic<T>(&self) {}

    #[tool]
    #[prompt]
    async fn both(&self) {}

    #[tool(name = "same")]
    async fn first(&self) {}

    #[tool(name = "same")]
    async fn second(&self) {}

    #[resource]
    async fn no_template(&self) -> String {
        String::new()
    }

    #[prompt]
    async fn completed(&self, #[complete(Self::cities)] city: String) -> String {
        city
    }

    fn cities(&mut self, typed: String) -> Vec<String> {
        Vec::new()
    }

    #[tool = "name"]
    async fn name_value(&self) {}
}

fn main() {}
