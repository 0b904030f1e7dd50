//! Rates of sampling and elicitation for one server.

use turnbuckle_transport::Rate;

/// Sampling: each completion costs money. With this rate a server out of control is stopped within a
/// second.
const SAMPLING: (u32, u32) = (100, 20);

/// Elicitation: more questions than a user can read.
const ELICITATION: (u32, u32) = (100, 20);

/// Progress of one answer: more reports than a progress bar can show.
const PROGRESS: (u32, u32) = (200, 50);

/// How often one server may use sampling and elicitation, and how often it gets progress reports of an
/// answer. A request beyond the rate is answered with an error, or fails the call during which it was
/// sent.
///
/// ```
/// use turnbuckle_client::{AskRates, Client, transport::Rate};
///
/// let rates = AskRates::default().with_sampling(Rate::new(5, 1));
/// let client = Client::new("my-app", "0.3.0").ask_rates(rates);
/// # let _ = client;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AskRates {
    /// The rate of `sampling/createMessage`. Defaults to 100 at once and 20 in a second.
    pub sampling: Rate,
    /// The rate of `elicitation/create`. Defaults to 100 at once and 20 in a second.
    pub elicitation: Rate,
    /// The rate of progress notifications about one answer. Defaults to 200 at once and 50 in a second.
    /// A report beyond the rate is sent a moment later, unless a newer report replaces it. The last
    /// report is always sent.
    pub progress: Rate,
}

impl Default for AskRates {
    fn default() -> Self {
        Self {
            sampling: Rate::new(SAMPLING.0, SAMPLING.1),
            elicitation: Rate::new(ELICITATION.0, ELICITATION.1),
            progress: Rate::new(PROGRESS.0, PROGRESS.1),
        }
    }
}

impl AskRates {
    /// Sets how often a server may use sampling.
    pub fn with_sampling(mut self, rate: Rate) -> Self {
        self.sampling = rate;
        self
    }

    /// Sets how often a server may ask the user (elicitation).
    pub fn with_elicitation(mut self, rate: Rate) -> Self {
        self.elicitation = rate;
        self
    }

    /// Sets how often a server gets progress reports of one answer.
    pub fn with_progress(mut self, rate: Rate) -> Self {
        self.progress = rate;
        self
    }
}
