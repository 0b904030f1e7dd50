//! A tool that asks while it works: two forms, and effects that must happen only once.
//!
//! ```text
//! cargo run -p examples --example booking                      # on stdio
//! cargo run -p examples --example booking -- 127.0.0.1:8080    # at http://127.0.0.1:8080/mcp
//! ```
//!
//! The code does not mention revisions. A client of 2025-06-18 or 2025-11-25 is asked while the
//! tool waits. A client of 2026-07-28 gets the question as the result and calls again. Its second call
//! may reach another process: processes with the same `BOOKING_SECRET` can continue each other's calls.
//!
//! The charge has an idempotency key: the number of the order, which is created before the first
//! question and kept in the call's state. One process accepts each round of answers only once. Two
//! processes without a shared store, or a process that died in the middle, may run the charge twice. The
//! key makes this harmless, because the payment service charges each order only once.

use std::{
    collections::{HashMap, hash_map::RandomState},
    hash::BuildHasher as _,
    sync::{Arc, Mutex, PoisonError},
    time::SystemTime,
};

use turnbuckle::{Http, prelude::*, stop_signal};

/// Where to sit.
#[derive(Form)]
struct Seat {
    /// Counted from the front.
    #[form(title = "Row", min = 1, max = 30)]
    row: u8,
    #[form(title = "Place", default = Place::Aisle)]
    place: Place,
}

#[derive(Choice, Debug)]
#[form(rename_all = "lowercase")]
enum Place {
    /// At the window
    Window,
    /// On the aisle
    Aisle,
}

/// Who flies.
#[derive(Form)]
struct Passenger {
    #[form(title = "Name", min_length = 2)]
    name: String,
    /// Where the ticket goes.
    #[form(title = "E-mail", format = "email")]
    mail: Option<String>,
}

/// The payment provider, in a real program. It charges once for each key.
#[derive(Default)]
struct Till(Mutex<HashMap<String, String>>);

impl Till {
    /// Charges for an order and returns the receipt. If the order was charged before, returns the same receipt.
    fn charge(&self, order: &str, price: u32) -> String {
        let mut receipts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let number = receipts.len() + 1;
        let receipt = receipts
            .entry(order.to_owned())
            .or_insert_with(|| format!("R-{price}-{number}"));
        receipt.clone()
    }
}

/// Books a seat on a flight.
#[tool(destructive)]
async fn book(
    Ask(ask): Ask,
    State(till): State<Arc<Till>>,
    /** The number of the flight. */
    flight: String,
) -> Result<String, ToolError> {
    // Code above a question may run again. Values that must stay the same are kept: the number of the order,
    // which is the idempotency key of the charge below, and the price.
    let order = ask
        .memo("order", async { Ok::<_, ToolError>(order_number()) })
        .await?;
    let price = ask.memo("price", async { quote() }).await?;
    let question = format!("{flight} costs {price} €. Where do you want to sit?");
    let seat = ask
        .form::<Seat>("seat", question)
        // Some clients do not support forms. They get a default seat.
        .or(Answer::Accepted(Seat {
            row: 30,
            place: Place::Aisle,
        }));
    let Answer::Accepted(seat) = seat.await? else {
        return Ok("Nothing was booked.".into());
    };
    let passenger = ask.form::<Passenger>("passenger", "Who flies?").await?;
    let passenger = passenger.accepted()?;
    // All questions are answered. The code below takes effect once for an order, however
    // often it runs.
    let receipt = till.charge(&order, price);
    let sent = passenger
        .mail
        .map(|mail| format!(" The ticket goes to {mail}."));
    Ok(format!(
        "{} sits in row {} ({:?}) on {flight}, for {price} €, receipt {receipt}.{}",
        passenger.name,
        seat.row,
        seat.place,
        sent.unwrap_or_default()
    ))
}

/// A price that changes all the time.
fn quote() -> Result<u32, ToolError> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
    Ok(80 + now.subsec_micros() % 1_000)
}

/// A unique order number.
fn order_number() -> String {
    let random = RandomState::new().hash_one(SystemTime::now());
    format!("{random:016x}")
}

#[tokio::main]
async fn main() -> Result<(), turnbuckle::ServeError> {
    let mut server = turnbuckle::server!()
        .state(Arc::new(Till::default()))
        .tool(book);
    if let Ok(secret) = std::env::var("BOOKING_SECRET") {
        server = server.secret(secret.as_bytes());
    }
    match std::env::args().nth(1) {
        None => server.serve(Stdio).await,
        Some(address) => {
            let http = Http::bind(address)
                .until(stop_signal())
                .announce(|address| {
                    if let Some(address) = address {
                        println!("listening on http://{address}/mcp");
                    }
                });
            server.serve(http).await
        }
    }
}
