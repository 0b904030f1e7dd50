//! The two looks of a user that sampling wants.

use std::future::ready;

use futures_core::future::BoxFuture;
use turnbuckle_protocol::{CreateMessageRequestParams, CreateMessageResult};

/// Reviews what a server sends to a model and what the model answers, and may change or decline
/// both: by asking a user, or by a policy.
pub trait Review: Send + Sync {
    /// Before the model is asked: the request as it will be sent, perhaps edited. `None` declines.
    fn request<'a>(
        &'a self,
        server: &'a str,
        model: &'a str,
        params: CreateMessageRequestParams,
    ) -> BoxFuture<'a, Option<CreateMessageRequestParams>>;

    /// Before the server is answered: the answer, perhaps edited. `None` declines.
    fn answer<'a>(
        &'a self,
        server: &'a str,
        answer: CreateMessageResult,
    ) -> BoxFuture<'a, Option<CreateMessageResult>>;
}

/// Declines everything, because there is no user to ask.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoReview;

impl Review for NoReview {
    fn request<'a>(
        &'a self,
        _: &'a str,
        _: &'a str,
        _: CreateMessageRequestParams,
    ) -> BoxFuture<'a, Option<CreateMessageRequestParams>> {
        Box::pin(ready(None))
    }

    fn answer<'a>(
        &'a self,
        _: &'a str,
        _: CreateMessageResult,
    ) -> BoxFuture<'a, Option<CreateMessageResult>> {
        Box::pin(ready(None))
    }
}

/// Lets everything pass, for a host that has shown the request to the user before, and shows the
/// answer afterwards.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReviewedByHost;

impl Review for ReviewedByHost {
    fn request<'a>(
        &'a self,
        _: &'a str,
        _: &'a str,
        params: CreateMessageRequestParams,
    ) -> BoxFuture<'a, Option<CreateMessageRequestParams>> {
        Box::pin(ready(Some(params)))
    }

    fn answer<'a>(
        &'a self,
        _: &'a str,
        answer: CreateMessageResult,
    ) -> BoxFuture<'a, Option<CreateMessageResult>> {
        Box::pin(ready(Some(answer)))
    }
}
