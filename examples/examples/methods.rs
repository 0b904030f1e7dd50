//! Methods of one type as tools, prompts and resources.
//!
//! ```text
//! cargo run -p examples --example methods
//! ```

use std::sync::atomic::{AtomicI64, Ordering};

use turnbuckle::prelude::*;

#[derive(Default)]
struct Account {
    balance: AtomicI64,
}

#[handlers]
impl Account {
    /// Pays money in.
    #[tool]
    async fn deposit(&self, #[schemars(range(min = 1))] amount: i64) -> i64 {
        self.balance.fetch_add(amount, Ordering::Relaxed) + amount
    }

    /// What is in the account.
    #[resource("account://balance", mime_type = "text/plain")]
    fn balance(&self) -> String {
        self.current().to_string()
    }

    /// Asks for advice on the account.
    #[prompt]
    fn advise(&self) -> String {
        format!(
            "I have {} coins. What should I do with them?",
            self.current()
        )
    }

    // No attribute: an ordinary method.
    fn current(&self) -> i64 {
        self.balance.load(Ordering::Relaxed)
    }
}

#[tokio::main]
async fn main() -> Result<(), turnbuckle::ServeError> {
    turnbuckle::server!()
        .handlers(Account::default())
        .serve(Stdio)
        .await
}
