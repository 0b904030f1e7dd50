//! The two reviews by the user that sampling requires.

use std::future::ready;

use futures_core::future::BoxFuture;
use turnbuckle_protocol::{CreateMessageRequestParams, CreateMessageResult};

/// Reviews the request that a server sends to a model, and the model's answer. It may change or
/// decline both, by asking a user or by a policy.
pub trait Review: Send + Sync {
    /// Reviews the request before the model gets it. Returns the request to send, possibly edited,
    /// or `None` to decline.
    fn request<'a>(
        &'a self,
        server: &'a str,
        model: &'a str,
        params: CreateMessageRequestParams,
    ) -> BoxFuture<'a, Option<CreateMessageRequestParams>>;

    /// Reviews the answer before the server gets it. Returns the answer to send, possibly edited,
    /// or `None` to decline.
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

/// Accepts everything. Use it in a host that shows the request to the user before, and the answer
/// afterwards.
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
