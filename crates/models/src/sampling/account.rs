//! Tracks how much of its sampling budget each server has used.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use turnbuckle_base::lock::Mutex;

use super::error::SamplingError;

/// The window of the rate limit.
const MINUTE: Duration = Duration::from_mins(1);

/// The sampling budget of one server. Give it to [`Sampler::new`](super::Sampler::new), which
/// applies it to each server separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SamplingLimits {
    /// The most tokens of one answer; requests for more are reduced to this. Defaults to 4,096.
    pub max_tokens: u64,
    /// The most rounds of tool calls in one conversation. Defaults to 16.
    pub max_rounds: usize,
    /// The most requests per minute. Defaults to 20.
    pub requests_per_minute: u32,
    /// The most input and output tokens while the host runs. Defaults to 500,000.
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
    /// Makes the default limits: 4,096 tokens in one answer, 16 rounds of tool calls, 20 requests
    /// per minute, and 500,000 tokens in total.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the most tokens of one answer.
    pub fn with_max_tokens(mut self, max_tokens: u64) -> Self {
        self.max_tokens = max_tokens;
        self
    }

    /// Sets the most rounds of tool calls in one conversation.
    pub fn with_max_rounds(mut self, max_rounds: usize) -> Self {
        self.max_rounds = max_rounds;
        self
    }

    /// Sets the most requests per minute.
    pub fn with_requests_per_minute(mut self, requests: u32) -> Self {
        self.requests_per_minute = requests;
        self
    }

    /// Sets the most input and output tokens while the host runs.
    pub fn with_token_budget(mut self, tokens: u64) -> Self {
        self.token_budget = tokens;
        self
    }
}

#[derive(Default)]
struct Account {
    /// The times of the requests in the last minute.
    recent: VecDeque<Instant>,
    spent: u64,
    /// The tokens that are reserved for requests in progress.
    reserved: u64,
}

#[derive(Default)]
pub(super) struct Accounts(Mutex<BTreeMap<String, Account>>);

impl Accounts {
    /// Counts a request. Fails if there are too many.
    pub(super) fn count(
        &self,
        server: &str,
        limits: &SamplingLimits,
        now: Instant,
    ) -> Result<(), SamplingError> {
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
        account.recent.push_back(now);
        Ok(())
    }

    /// Reserves tokens for a request. Fails if not enough tokens are left.
    pub(super) fn reserve<'a>(
        &'a self,
        server: &str,
        limits: &SamplingLimits,
        tokens: u64,
    ) -> Result<Reserved<'a>, SamplingError> {
        let mut accounts = self.0.lock();
        let account = accounts.entry(server.to_owned()).or_default();
        let used = account.spent.saturating_add(account.reserved);
        if used.saturating_add(tokens) > limits.token_budget {
            let limit = limits.token_budget;
            return Err(SamplingError::OverBudget { limit });
        }
        account.reserved += tokens;
        Ok(Reserved {
            accounts: self,
            server: server.to_owned(),
            tokens,
            owed: 0,
        })
    }
}

/// Tokens that are reserved for a request in progress. Dropping this releases them.
pub(super) struct Reserved<'a> {
    accounts: &'a Accounts,
    server: String,
    tokens: u64,
    /// The tokens that are charged on drop.
    owed: u64,
}

impl Reserved<'_> {
    /// Marks that the model is being asked. If the server withdraws the request from now on, all
    /// reserved tokens are charged: otherwise a server that never waits for an answer could use a
    /// model without limit.
    pub(super) fn begin(&mut self) {
        self.owed = self.tokens;
    }

    /// Charges the tokens that the request really used.
    pub(super) fn charge(mut self, tokens: u64) {
        self.owed = tokens;
    }
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        if let Some(account) = self.accounts.0.lock().get_mut(&self.server) {
            account.reserved = account.reserved.saturating_sub(self.tokens);
            account.spent = account.spent.saturating_add(self.owed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // rule: Q5
    #[test]
    fn requests_are_counted_for_each_server() {
        let limits = SamplingLimits::new().with_requests_per_minute(2);
        let accounts = Accounts::default();
        let start = Instant::now();
        for _ in 0..2 {
            accounts.count("a", &limits, start).unwrap();
        }
        let later = start + Duration::from_secs(20);
        let error = accounts.count("a", &limits, later).unwrap_err();
        let said = "more than 2 sampling requests in a minute; try again in 41 s";
        assert_eq!(error.to_string(), said);
        assert!(accounts.count("a", &limits, start + MINUTE).is_ok());
        assert!(accounts.count("b", &limits, later).is_ok());
    }

    #[test]
    fn tokens_are_counted_for_each_server_also_those_of_requests_that_are_withdrawn() {
        let limits = SamplingLimits::new().with_token_budget(1000);
        let accounts = Accounts::default();
        accounts.reserve("a", &limits, 100).unwrap().charge(300);
        // Requests in progress are included: 300 tokens are spent and 600 reserved.
        let mut second = accounts.reserve("a", &limits, 600).unwrap();
        let Err(error) = accounts.reserve("a", &limits, 101) else {
            panic!("a request beyond the budget was admitted")
        };
        assert_eq!(
            error.to_string(),
            "the budget of 1000 tokens for sampling is used up"
        );
        // A request that is withdrawn before the model is asked costs nothing.
        drop(accounts.reserve("a", &limits, 100).unwrap());
        second.begin();
        drop(second);
        assert!(accounts.reserve("a", &limits, 101).is_err());
        assert!(accounts.reserve("a", &limits, 100).is_ok());
        assert!(accounts.reserve("b", &limits, 1000).is_ok());
    }
}
