//! A tool that sends its user to a web page. Neither the client nor the model sees the data that the user
//! enters there.
//!
//! ```text
//! cargo run -p examples --example payment
//! ```

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
};

use turnbuckle::prelude::*;

/// Stands in for a payment service.
#[derive(Clone, Default)]
struct Till(Arc<Mutex<HashSet<u32>>>);

impl Till {
    /// Opens an order and returns its number.
    fn open(&self) -> u32 {
        let mut orders = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let order = 1 + u32::try_from(orders.len()).unwrap_or_default();
        orders.insert(order);
        order
    }

    /// Whether an order is paid. Here every order is; a real implementation asks the payment service.
    fn is_paid(&self, order: u32) -> bool {
        let orders = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        orders.contains(&order)
    }
}

/// Sells a book.
#[tool]
async fn buy(
    State(till): State<Till>,
    Ask(ask): Ask,
    /** Which book. */
    title: String,
) -> Result<String, ToolError> {
    // One order for each call, even if this code runs again.
    let order = ask
        .memo("order", async { Ok::<_, ToolError>(till.open()) })
        .await?;
    let page = format!("https://pay.example/orders/{order}");
    let visit = ask
        .url("pay", format!("Please pay for \"{title}\"."), &*page)
        // Before 2025-11-25 a server cannot send the user to a page; the model then passes the URL
        // on.
        .or(Answer::Cancelled);
    match visit.await? {
        // The user agreed to open the page. Whether the order is paid is known to the payment service.
        Answer::Accepted(()) if till.is_paid(order) => Ok(format!("Order {order} is paid.")),
        Answer::Declined => Ok(format!("Order {order} is cancelled.")),
        Answer::Accepted(()) | Answer::Cancelled => {
            Ok(format!("Order {order} can be paid at {page}"))
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), turnbuckle::ServeError> {
    let server = turnbuckle::server!().state(Till::default()).tool(buy);
    server.serve(Stdio).await
}
