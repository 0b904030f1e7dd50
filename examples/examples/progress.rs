//! Progress, and what happens when a call is cancelled.
//!
//! An async handler is dropped at its `await` and needs no code for cancellation. Work on a blocking thread
//! cannot be stopped by a drop, so it checks `Cancelled`.
//!
//! ```text
//! cargo run -p examples --example progress
//! ```

use std::time::Duration;

use turnbuckle::prelude::*;

/// Boils eggs, and says how far they are.
#[tool]
async fn boil(#[extract] progress: Progress, eggs: u32) -> String {
    for egg in 1..=eggs {
        tokio::time::sleep(Duration::from_millis(20)).await;
        progress
            .of(egg, eggs)
            .say(format!("egg {egg} is done"))
            .await;
    }
    format!("{eggs} eggs are done")
}

/// Counts the primes below a limit, on a thread for blocking work.
#[tool(read_only)]
async fn primes(#[extract] cancelled: Cancelled, below: u64) -> Result<String, ToolError> {
    let counted = tokio::task::spawn_blocking(move || {
        let mut count = 0;
        for number in 2..below {
            if cancelled.is_cancelled() {
                break;
            }
            let mut divisors = (2..number).take_while(|divisor| divisor * divisor <= number);
            if !divisors.any(|divisor| number.is_multiple_of(divisor)) {
                count += 1;
            }
        }
        count
    });
    Ok(format!("{} primes", counted.await?))
}

#[tokio::main]
async fn main() -> Result<(), turnbuckle::ServeError> {
    turnbuckle::server!()
        .tool(boil)
        .tool(primes)
        .serve(Stdio)
        .await
}
