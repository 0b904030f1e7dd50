//! A server without attributes such as `#[tool]`: the code that they generate, written by hand.
//!
//! ```text
//! cargo run -p examples --example by_hand
//! ```

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use turnbuckle::{RawArgs, prelude::*};

#[derive(Deserialize, JsonSchema)]
struct Celsius {
    /// The temperature.
    degrees: f64,
}

async fn fahrenheit(Args(Celsius { degrees }): Args<Celsius>) -> String {
    format!("{:.1}", degrees * 1.8 + 32.0)
}

/// The arguments as the client sent them, unchecked, for handlers that pass them on.
async fn forward(RawArgs(arguments): RawArgs) -> String {
    arguments.map_or_else(|| "nothing".to_owned(), |raw| raw.get().to_owned())
}

#[derive(Deserialize, JsonSchema)]
struct Place {
    city: String,
}

async fn climate(Args(place): Args<Place>) -> String {
    format!("mild in {}", place.city)
}

async fn packing(Args(place): Args<Place>) -> String {
    format!("What should I pack for {}?", place.city)
}

/// A schema that was not derived from a type.
fn any_numbers() -> Value {
    json!({ "type": "object", "additionalProperties": { "type": "number" } })
}

#[tokio::main]
async fn main() -> Result<(), turnbuckle::ServeError> {
    Server::new("by-hand", "1.0.0")
        .title("By hand")
        .instructions("Everything here was written without attributes.")
        .tool(
            Tool::new("fahrenheit", fahrenheit)
                .about("Converts a temperature.")
                .read_only(),
        )
        .tool(
            Tool::new("forward", forward)
                .about("Passes numbers on.")
                .input_schema(any_numbers()),
        )
        .tool(Tool::new("dice", async || 4).about("Rolls a die, by fair dice roll."))
        .resource(
            Resource::new("climate://{city}", climate)
                .name("climate")
                .mime_type("text/plain")
                .complete("city", ["Lima", "Lisbon", "London"]),
        )
        .prompt(Prompt::new("packing", packing).complete("city", ["Lima", "Lisbon", "London"]))
        .serve(Stdio)
        .await
}
