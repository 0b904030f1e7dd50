//! Arguments of every kind: required and optional, with defaults and limits, lists, structs, enums.
//!
//! The types become the input schema. If a model sends invalid arguments, the error explains the mistake.
//!
//! ```text
//! cargo run -p examples --example arguments
//! ```

use schemars::JsonSchema;
use serde::Deserialize;
use turnbuckle::prelude::*;

/// How a pizza is cut.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Cut {
    Whole,
    Halves,
    Slices,
}

/// Where an order goes: one of several shapes, distinguished by `to`.
#[derive(Deserialize, JsonSchema)]
#[serde(tag = "to", rename_all = "lowercase")]
enum Destination {
    /// A table in the restaurant.
    Table {
        /// Its number.
        number: u8,
    },
    /// A home address.
    Home {
        /// Street and number.
        street: String,
    },
}

/// Orders a pizza.
#[tool]
async fn order(
    /// What goes on it.
    toppings: Vec<String>,
    destination: Destination,
    /// In centimetres.
    #[arg(default = 32)]
    #[schemars(range(min = 20, max = 50))]
    diameter: u8,
    /// Slices unless said.
    cut: Option<Cut>,
) -> String {
    let place = match destination {
        Destination::Table { number } => format!("table {number}"),
        Destination::Home { street } => street,
    };
    let cut = match cut {
        Some(Cut::Whole) => "whole",
        Some(Cut::Halves) => "in halves",
        Some(Cut::Slices) | None => "in slices",
    };
    format!(
        "{diameter} cm with {}, {cut}, to {place}",
        toppings.join(" and ")
    )
}

#[tokio::main]
async fn main() -> Result<(), turnbuckle::ServeError> {
    turnbuckle::server!().tool(order).serve(Stdio).await
}
