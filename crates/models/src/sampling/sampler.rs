//! Answers `sampling/createMessage` with a model.

use std::time::Instant;

use turnbuckle_protocol::{CreateMessageRequestParams, CreateMessageResult, Role, SamplingContent};

use super::account::{Accounts, SamplingLimits};
use super::balance;
use super::error::SamplingError;
use super::review::Review;
use crate::choice::ModelList;
use crate::error::ModelError;
use crate::format::{AnswerError, is_unreadable};
use crate::model::Delta;

/// Answers the sampling requests of servers with the models of a host.
///
/// A request is checked, counted and shown to a user before it is sent to the model that its hints
/// and priorities choose. The answer is shown to the user before it is sent to the server. If the
/// server's request contains tools, the server calls them itself: the answer names the calls, and
/// the next request contains the results.
pub struct Sampler {
    models: ModelList,
    limits: SamplingLimits,
    accounts: Accounts,
}

impl Sampler {
    /// Makes a sampler with these models. The limits apply to each server separately.
    pub fn new(models: ModelList, limits: SamplingLimits) -> Self {
        Self {
            models,
            limits,
            accounts: Accounts::default(),
        }
    }

    /// Counts a request of a server and checks whether it can be accepted, before a user is asked
    /// about it. [`sample`](Self::sample) does this itself. A host that shows requests to a user
    /// calls this first, and then [`sample_admitted`](Self::sample_admitted).
    ///
    /// # Errors
    /// [`SamplingError`] if a limit is reached, or the messages break a rule of the protocol.
    pub fn admit(
        &self,
        server: &str,
        params: &CreateMessageRequestParams,
    ) -> Result<(), SamplingError> {
        self.check(params)?;
        let tokens = self.most_tokens(params);
        drop(self.accounts.reserve(server, &self.limits, tokens)?);
        self.accounts.count(server, &self.limits, Instant::now())
    }

    /// Answers one request of a server, which is identified by its id in the host.
    ///
    /// # Errors
    /// [`SamplingError`] if the user declines, a limit is reached, the messages break a rule of the
    /// protocol, or the model fails.
    ///
    /// # Cancel safety
    /// Dropping the future stops the model. If it is dropped after the model was asked, the request
    /// is charged with all tokens that it could have used.
    pub async fn sample(
        &self,
        server: &str,
        params: CreateMessageRequestParams,
        review: &dyn Review,
        report: &mut (dyn FnMut(Delta<'_>) + Send),
    ) -> Result<CreateMessageResult, SamplingError> {
        self.admit(server, &params)?;
        self.sample_admitted(server, params, review, report).await
    }

    /// Answers a request that was already [admitted](Self::admit).
    ///
    /// # Errors
    /// The errors of [`sample`](Self::sample).
    ///
    /// # Cancel safety
    /// As for [`sample`](Self::sample).
    pub async fn sample_admitted(
        &self,
        server: &str,
        params: CreateMessageRequestParams,
        review: &dyn Review,
        report: &mut (dyn FnMut(Delta<'_>) + Send),
    ) -> Result<CreateMessageResult, SamplingError> {
        let model = self.models.choose(params.model_preferences.as_ref());
        let tokens = self.most_tokens(&params);
        let mut params = params;
        params.max_tokens = tokens;
        let mut reserved = self.accounts.reserve(server, &self.limits, tokens)?;
        let shown = review.request(server, model.name(), params).await;
        let mut params = shown.ok_or(SamplingError::Declined)?;
        self.check(&params)?;
        params.max_tokens = params.max_tokens.clamp(1, tokens);
        reserved.begin();
        let answer = match model.answer(&params, report).await {
            Ok(answer) => answer,
            Err(error) => {
                reserved.charge(0);
                return Err(error.into());
            }
        };
        reserved.charge(answer.charged_usage(&params).total());
        if answer.calls().any(is_unreadable) {
            return Err(unreadable(model.name()).into());
        }
        let mut result = answer.result;
        result.role = Role::Assistant;
        if result.content.is_empty() {
            result.content.push(SamplingContent::text(""));
        }
        let shown = review.answer(server, result).await;
        shown.ok_or(SamplingError::Declined)
    }

    /// The most tokens that the answer may have.
    fn most_tokens(&self, params: &CreateMessageRequestParams) -> u64 {
        params.max_tokens.clamp(1, self.limits.max_tokens.max(1))
    }

    fn check(&self, params: &CreateMessageRequestParams) -> Result<(), SamplingError> {
        if params.messages.is_empty() {
            let reason = "`messages` is empty".to_owned();
            return Err(SamplingError::Invalid { reason });
        }
        let rounds = balance::rounds(&params.messages)
            .map_err(|reason| SamplingError::Invalid { reason })?;
        let limit = self.limits.max_rounds;
        if rounds > limit {
            return Err(SamplingError::TooManyRounds { limit });
        }
        Ok(())
    }
}

fn unreadable(model: &str) -> ModelError {
    ModelError::Answer {
        api: format!("model `{model}`"),
        source: AnswerError::Shape {
            what: "JSON object of arguments",
            at: "/tool call".to_owned(),
        },
    }
}
