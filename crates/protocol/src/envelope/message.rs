//! The kinds of messages: requests, notifications, responses.

use std::borrow::Cow;

use super::{IdRef, Malformed, Members, Raw};

/// The content of one frame of a transport.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "the large one is the usual one, and short-lived"
)]
pub enum Frame<'a> {
    /// One message.
    One(Message<'a>),
    /// A batch, which only 2025-03-26 allows. Each element is parsed separately.
    Batch(Vec<Result<Message<'a>, Malformed<'a>>>),
}

/// One message.
#[derive(Debug)]
pub enum Message<'a> {
    /// Expects a response.
    Request(Request<'a>),
    /// Expects no response.
    Notification(Notification<'a>),
    /// The response to a request.
    Response(Response<'a>),
}

/// A request.
#[derive(Debug)]
#[non_exhaustive]
pub struct Request<'a> {
    /// The id of the request, which the response repeats.
    pub id: IdRef<'a>,
    /// The method.
    pub method: Cow<'a, str>,
    /// The members of `params`, unparsed; empty if there are no `params`.
    pub params: Members<'a>,
}

/// A notification.
#[derive(Debug)]
#[non_exhaustive]
pub struct Notification<'a> {
    /// The method.
    pub method: Cow<'a, str>,
    /// The members of `params`, unparsed; empty if there are no `params`.
    pub params: Members<'a>,
}

/// A response.
#[derive(Debug)]
#[non_exhaustive]
pub struct Response<'a> {
    /// The id of the request; `None` if the peer could not read it.
    pub id: Option<IdRef<'a>>,
    /// `result`, or else `error`, unparsed.
    pub outcome: Result<Raw<'a>, Raw<'a>>,
}

impl<'a> Request<'a> {
    /// Creates a request.
    pub fn new(id: IdRef<'a>, method: impl Into<Cow<'a, str>>, params: Members<'a>) -> Self {
        Self {
            id,
            method: method.into(),
            params,
        }
    }
}

impl<'a> Notification<'a> {
    /// Creates a notification.
    pub fn new(method: impl Into<Cow<'a, str>>, params: Members<'a>) -> Self {
        Self {
            method: method.into(),
            params,
        }
    }
}

impl<'a> Response<'a> {
    /// Creates a response to the request with this id; `None` if the id could not be read.
    pub fn new(id: Option<IdRef<'a>>, outcome: Result<Raw<'a>, Raw<'a>>) -> Self {
        Self { id, outcome }
    }
}
