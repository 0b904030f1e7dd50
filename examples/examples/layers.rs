//! Layers (middleware) around every call, or around one tool. A layer sees the call, may refuse it, and may pass
//! a value to the handler.
//!
//! ```text
//! cargo run -p examples --example layers
//! ```

use std::time::{Duration, Instant};

use turnbuckle::{Call, Extract, Failure, Next, Reject, Reply, prelude::*};

/// Wraps all calls: logs how long each took.
async fn timed(call: Call<'static>, next: Next) -> Result<Reply, Failure> {
    let name = call.name().to_owned();
    let start = Instant::now();
    let reply = next.run(call).await;
    eprintln!("{name} took {:?}", start.elapsed());
    reply
}

/// Wraps one tool: looks up the caller's account, which may take a while, and passes it to the handler.
async fn with_account(mut call: Call<'static>, next: Next) -> Result<Reply, Failure> {
    tokio::time::sleep(Duration::from_millis(1)).await;
    call.insert(Account {
        owner: "Ada",
        credit: 3,
    });
    next.run(call).await
}

#[derive(Clone)]
struct Account {
    owner: &'static str,
    credit: u32,
}

impl Extract for Account {
    fn extract(call: &Call<'_>) -> Result<Self, Failure> {
        call.get()
            .cloned()
            .ok_or_else(|| Reject::invalid_request("open an account first").into())
    }
}

async fn spend(account: Account) -> String {
    format!("{} has {} left", account.owner, account.credit - 1)
}

#[tokio::main]
async fn main() -> Result<(), turnbuckle::ServeError> {
    turnbuckle::server!()
        .layer(timed)
        .tool(Tool::new("spend", spend).layer(with_account))
        .tool(Tool::new("spend_without_account", spend))
        .serve(Stdio)
        .await
}
