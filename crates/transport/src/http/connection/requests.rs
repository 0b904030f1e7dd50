//! Passes the requests of one connection to the service.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use http::{Request, Response};
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;
use pin_project_lite::pin_project;

use super::state::{ConnectionState, Running};
use crate::http::Peer;

/// The service for one connection: adds the peer to requests, and counts the requests.
pub(super) struct Requests<S> {
    service: TowerToHyperService<S>,
    peer: Peer,
    state: Arc<ConnectionState>,
}

impl<S> Requests<S> {
    pub(super) fn new(service: S, peer: Peer, state: Arc<ConnectionState>) -> Self {
        Self {
            service: TowerToHyperService::new(service),
            peer,
            state,
        }
    }
}

impl<S, B> Service<Request<Incoming>> for Requests<S>
where
    S: tower_service::Service<Request<Incoming>, Response = Response<B>> + Clone,
{
    type Response = Response<Answer<B>>;
    type Error = S::Error;
    type Future = Exchange<<TowerToHyperService<S> as Service<Request<Incoming>>>::Future>;

    fn call(&self, mut request: Request<Incoming>) -> Self::Future {
        let running = self.state.begin();
        request.extensions_mut().insert(self.peer);
        Exchange {
            future: self.service.call(request),
            running: Some(running),
        }
    }
}

pin_project! {
    /// A request that is being answered.
    pub(super) struct Exchange<F> {
        #[pin]
        future: F,
        running: Option<Running>,
    }
}

impl<F, B, E> Future for Exchange<F>
where
    F: Future<Output = Result<Response<B>, E>>,
{
    type Output = Result<Response<Answer<B>>, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let response = ready!(this.future.poll(cx))?;
        let running = this
            .running
            .take()
            .expect("a future is not polled after it is ready");
        Poll::Ready(Ok(response.map(|body| Answer { body, running })))
    }
}

pin_project! {
    /// The body of a response; its end is the end of the request.
    pub(super) struct Answer<B> {
        #[pin]
        body: B,
        running: Running,
    }
}

impl<B: Body> Body for Answer<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let this = self.project();
        this.running.asked();
        let next = ready!(this.body.poll_frame(cx));
        if next.is_some() {
            this.running.answered();
        }
        Poll::Ready(next)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
