//! One request on a connection, and the head of its answer.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use http::header::HOST;
use http::uri::{Authority, PathAndQuery, Scheme};
use http::{HeaderValue, Request, Response, Uri};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use tower_service::Service;

use super::super::BoxError;
use super::super::connector::Connector;
use super::super::stream::ClientStream;
use super::body::{Body, Driven};
use super::pool::Pool;
use super::unsent::Unsent;
use super::watched::{Progress, Watched};

/// hyper's side of a connection.
pub(super) type Http1Connection = http1::Connection<Watched, Unsent>;

/// Sends requests over connections that it opens and keeps. Clones share them.
#[derive(Clone)]
pub(in super::super) struct Exchange {
    connector: Connector,
    pool: Arc<Pool>,
}

/// Why a request got no answer.
#[derive(Debug)]
pub(in super::super) enum SendError {
    /// Nothing was sent.
    Unsent(BoxError),
    /// It may have been sent.
    Sent(BoxError),
}

impl Exchange {
    /// Keeps up to `limit` unused connections, each for `patience`.
    pub(in super::super) fn new(connector: Connector, limit: usize, patience: Duration) -> Self {
        let pool = Pool::new(limit, patience);
        Self { connector, pool }
    }

    /// Sends a request and waits for the head of its answer.
    ///
    /// # Cancel safety
    /// Dropping the future closes the connection.
    pub(in super::super) async fn send(
        &self,
        request: Request<Bytes>,
    ) -> Result<Response<Body>, SendError> {
        let (mut head, body) = request.into_parts();
        let to = head.uri.authority().cloned();
        let to = to.ok_or_else(|| SendError::Unsent("the address has no host".into()))?;
        let address = std::mem::take(&mut head.uri);
        let headers = &mut head.headers;
        let host = host_of(&address, &to).map_err(|error| SendError::Unsent(error.into()))?;
        headers.entry(HOST).or_insert(host);
        let path = address.path_and_query().cloned();
        head.uri = path
            .unwrap_or_else(|| PathAndQuery::from_static("/"))
            .into();
        let progress = Arc::<Progress>::default();
        let body = Unsent::new(body, Arc::clone(&progress));
        let mut request = Request::from_parts(head, body);
        while let Some(stream) = self.pool.take(&to) {
            match send_over(stream, request, &progress).await {
                Ok((response, connection)) => {
                    return Ok(self.separate(response, connection, &progress, to));
                }
                // The server closed the connection before anything was sent.
                Err(Failure::Returned(unsent, _)) => request = *unsent,
                Err(failure) => return Err(failure.into()),
            }
        }
        let stream = self.connect(address).await?;
        let (response, connection) = send_over(stream, request, &progress).await?;
        Ok(self.separate(response, connection, &progress, to))
    }

    async fn connect(&self, address: Uri) -> Result<ClientStream, SendError> {
        let connected = self.connector.clone().call(address).await;
        let io = connected.map_err(SendError::Unsent)?;
        Ok(io.into_inner())
    }

    /// Takes the connection apart, so that the body is read without hyper.
    fn separate(
        &self,
        response: Response<Incoming>,
        connection: Box<Http1Connection>,
        progress: &Progress,
        to: Authority,
    ) -> Response<Body> {
        let (head, incoming) = response.into_parts();
        let body = if progress.is_sent() {
            let (stream, read) = connection.into_parts().io.into_parts();
            Body::of(&head, &incoming, stream, read, (&self.pool, to))
        } else {
            // The server answers before it has all of the request, which hyper goes on sending.
            progress.let_through();
            Body::Driven(Box::new(Driven::new(incoming, connection)))
        };
        Response::from_parts(head, body)
    }
}

/// Why hyper could not send a request or read the head of its answer.
enum Failure {
    /// Nothing was sent, and here is the request.
    Returned(Box<Request<Unsent>>, BoxError),
    Lost(SendError),
}

impl From<Failure> for SendError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Returned(_, error) => Self::Unsent(error),
            Failure::Lost(error) => error,
        }
    }
}

/// Has hyper send a request and read the head of the answer.
async fn send_over(
    stream: ClientStream,
    request: Request<Unsent>,
    progress: &Arc<Progress>,
) -> Result<(Response<Incoming>, Box<Http1Connection>), Failure> {
    progress.begin();
    let watched = Watched::new(stream, Arc::clone(progress));
    let handshake = http1::Builder::new().handshake(watched).await;
    let (mut sender, connection) =
        handshake.map_err(|error| Failure::Lost(SendError::Unsent(error.into())))?;
    // It is handed on, and large.
    let mut connection = Box::new(connection);
    let mut answer = pin!(sender.try_send_request(request));
    let mut is_over = false;
    let outcome = poll_fn(|cx| {
        is_over = is_over || Pin::new(&mut *connection).poll(cx).is_ready();
        // Nothing has come yet. Polling for the answer now would have hyper wake this task from within
        // itself, so that everything around it is polled twice.
        if !is_over && !progress.has_heard() {
            return Poll::Pending;
        }
        match answer.as_mut().poll(cx) {
            Poll::Ready(outcome) => Poll::Ready(Some(outcome)),
            // hyper gets nothing after what ends a head.
            Poll::Pending if is_over || progress.is_head_read() => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    })
    .await;
    match outcome {
        Some(Ok(response)) => Ok((response, connection)),
        Some(Err(mut failed)) => {
            let unsent = failed.take_message();
            let error = failed.into_error().into();
            Err(match unsent {
                Some(request) => Failure::Returned(Box::new(request), error),
                None => Failure::Lost(SendError::Sent(error)),
            })
        }
        None => Err(Failure::Lost(SendError::Sent(
            "the head of the answer cannot be read".into(),
        ))),
    }
}

/// The host and, unless it is the usual one, the port.
fn host_of(address: &Uri, to: &Authority) -> Result<HeaderValue, http::header::InvalidHeaderValue> {
    let usual = if address.scheme() == Some(&Scheme::HTTPS) {
        443
    } else {
        80
    };
    match to.port_u16() {
        Some(port) if port != usual => HeaderValue::from_str(to.as_str()),
        _ => HeaderValue::from_str(to.host()),
    }
}
