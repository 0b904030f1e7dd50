//! What each server has used of its share.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use turnbuckle_base::lock::Mutex;

use super::error::SamplingError;

/// The window of the rate.
const MINUTE: Duration = Duration::from_mins(1);

/// What one server may use of the host's models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SamplingLimits {
    /// The most tokens that one answer may have; a request for more is lowered. 4,096 by default.
    pub max_tokens: u64,
    /// The most rounds of tool calls in one conversation. 16 by default.
    pub max_rounds: usize,
    /// The most requests in a minute. 20 by default.
    pub requests_per_minute: u32,
    /// The most tokens, read and written, as long as the host runs. 500,000 by default.
    pub token_budget: u64,
}

impl Default for SamplingLimits {
    fn default() -> Self {
        Self {
            max_tokens: 4096,
            max_rounds: 16,
            requests_per_minute: 20,
            token_budget: 500_000,
        }
    }
}

impl SamplingLimits {
    /// The default limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the most tokens that one answer may have.
    pub fn with_max_tokens(mut self, max_tokens: u64) -> Self {
        self.max_tokens = max_tokens;
        self
    }

    /// Sets the most rounds of tool calls in one conversation.
    pub fn with_max_rounds(mut self, max_rounds: usize) -> Self {
        self.max_rounds = max_rounds;
        self
    }

    /// Sets the most requests in a minute.
    pub fn with_requests_per_minute(mut self, requests: u32) -> Self {
        self.requests_per_minute = requests;
        self
    }

    /// Sets the most tokens, read and written, as long as the host runs.
    pub fn with_token_budget(mut self, tokens: u64) -> Self {
        self.token_budget = tokens;
        self
    }
}

#[derive(Default)]
struct Account {
    /// When requests of the last minute came.
    recent: VecDeque<Instant>,
    spent: u64,
    /// What requests that are under way may still spend.
    reserved: u64,
}

#[derive(Default)]
pub(super) struct Accounts(Mutex<BTreeMap<String, Account>>);

impl Accounts {
    /// Admits a request that may write so many tokens, or says which limit is reached.
    pub(super) fn admit<'a>(
        &'a self,
        server: &str,
        limits: &SamplingLimits,
        tokens: u64,
        now: Instant,
    ) -> Result<Reserved<'a>, SamplingError> {
        let mut accounts = self.0.lock();
        let account = accounts.entry(server.to_owned()).or_default();
        while account
            .recent
            .front()
            .is_some_and(|first| now.saturating_duration_since(*first) >= MINUTE)
        {
            account.recent.pop_front();
        }
        let limit = limits.requests_per_minute;
        if account.recent.len() >= limit as usize {
            let oldest = account.recent.front().copied().unwrap_or(now);
            let wait = MINUTE.saturating_sub(now.saturating_duration_since(oldest));
            return Err(SamplingError::TooOften { limit, wait });
        }
        let used = account.spent.saturating_add(account.reserved);
        if used.saturating_add(tokens) > limits.token_budget {
            let limit = limits.token_budget;
            return Err(SamplingError::OverBudget { limit });
        }
        account.recent.push_back(now);
        account.reserved += tokens;
        Ok(Reserved {
            accounts: self,
            server: server.to_owned(),
            tokens,
        })
    }
}

/// Tokens set aside for a request that is under way; given back when it is dropped.
pub(super) struct Reserved<'a> {
    accounts: &'a Accounts,
    server: String,
    tokens: u64,
}

impl Reserved<'_> {
    /// Charges what the request really used.
    pub(super) fn charge(self, tokens: u64) {
        if let Some(account) = self.accounts.0.lock().get_mut(&self.server) {
            account.spent = account.spent.saturating_add(tokens);
        }
    }
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        if let Some(account) = self.accounts.0.lock().get_mut(&self.server) {
            account.reserved = account.reserved.saturating_sub(self.tokens);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_and_budget_are_counted_for_each_server() {
        let limits = SamplingLimits::new()
            .with_requests_per_minute(2)
            .with_token_budget(1000);
        let accounts = Accounts::default();
        let start = Instant::now();
        accounts
            .admit("a", &limits, 100, start)
            .unwrap()
            .charge(300);
        let second = accounts.admit("a", &limits, 700, start).unwrap();
        let later = start + Duration::from_secs(20);
        let Err(error) = accounts.admit("a", &limits, 1, later) else {
            panic!("a third request in a minute was admitted")
        };
        let said = "more than 2 sampling requests in a minute; try again in 41 s";
        assert_eq!(error.to_string(), said);
        let later = start + MINUTE;
        // What is under way counts: 300 spent, 700 set aside.
        let Err(error) = accounts.admit("a", &limits, 1, later) else {
            panic!("a request beyond the budget was admitted")
        };
        assert_eq!(
            error.to_string(),
            "the budget of 1000 tokens for sampling is used up"
        );
        drop(second);
        assert!(accounts.admit("a", &limits, 700, later).is_ok());
        assert!(accounts.admit("b", &limits, 1000, start).is_ok());
    }
}
