//! The server under test, and the behaviour of its requests.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::sync::{Notify, Semaphore, mpsc, oneshot};
use tokio::task::JoinHandle;
use turnbuckle_transport::http::{Listener, Peer, ServeError, Settings, serve};

use super::raw::Raw;
use crate::recorder::TIMEOUT;

/// A running server.
pub(super) struct Site {
    pub(super) address: Option<SocketAddr>,
    pub(super) state: Arc<State>,
    /// The senders of the requested streams.
    pub(super) streams: mpsc::Receiver<mpsc::Sender<Bytes>>,
    stop: oneshot::Sender<()>,
    served: JoinHandle<Result<(), ServeError>>,
}

/// The state that a test observes and controls.
pub(super) struct State {
    /// One permit for each request to `/slow` and `/hang` that has begun.
    pub(super) begun: Semaphore,
    /// Lets a request to `/slow` be answered.
    pub(super) gate: Notify,
    /// One permit for each request that was dropped before its end.
    pub(super) dropped: Semaphore,
    open_stream: mpsc::Sender<mpsc::Sender<Bytes>>,
}

impl Site {
    pub(super) async fn open(settings: Settings) -> Self {
        Self::at(Listener::bind("127.0.0.1:0").await.unwrap(), settings)
    }

    pub(super) fn at(listener: Listener, settings: Settings) -> Self {
        let (open_stream, streams) = mpsc::channel(16);
        let state = Arc::new(State {
            begun: Semaphore::new(0),
            gate: Notify::new(),
            dropped: Semaphore::new(0),
            open_stream,
        });
        let (stop, stopped) = oneshot::channel();
        let address = listener.local_address();
        let service = Service(Arc::clone(&state));
        let served = tokio::spawn(serve(listener, service, settings, async {
            let _ = stopped.await;
        }));
        Self {
            address,
            state,
            streams,
            stop,
            served,
        }
    }

    pub(super) async fn connect(&self) -> Raw {
        Raw::connect(self.address.unwrap()).await
    }

    /// Waits until requests to `/slow` or `/hang` have begun.
    pub(super) async fn wait_for_begun(&self, requests: u32) {
        wait(&self.state.begun, requests).await;
    }

    /// Waits until requests have been dropped.
    pub(super) async fn wait_for_dropped(&self, requests: u32) {
        wait(&self.state.dropped, requests).await;
    }

    /// Returns the sender of the next requested stream.
    pub(super) async fn stream(&mut self) -> mpsc::Sender<Bytes> {
        let stream = tokio::time::timeout(TIMEOUT, self.streams.recv()).await;
        stream.expect("a stream is asked for").unwrap()
    }

    /// Tells the server to stop. The returned task ends with the server.
    pub(super) fn stop(self) -> JoinHandle<Result<(), ServeError>> {
        self.stop.send(()).unwrap();
        self.served
    }

    /// Drops the server's future at once.
    pub(super) async fn abort(self) {
        self.served.abort();
        assert!(self.served.await.unwrap_err().is_cancelled());
    }
}

async fn wait(semaphore: &Semaphore, permits: u32) {
    let permits = tokio::time::timeout(TIMEOUT, semaphore.acquire_many(permits)).await;
    permits.expect("it happens in time").unwrap().forget();
}

#[derive(Clone)]
struct Service(Arc<State>);

impl tower_service::Service<Request<Incoming>> for Service {
    type Response = Response<TestBody>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<TestBody>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Incoming>) -> Self::Future {
        let state = Arc::clone(&self.0);
        Box::pin(async move { Ok(Response::new(answer(&state, request).await)) })
    }
}

async fn answer(state: &Arc<State>, request: Request<Incoming>) -> TestBody {
    match request.uri().path() {
        "/echo" => match request.into_body().collect().await {
            Ok(body) => TestBody::Whole(Some(body.to_bytes())),
            Err(error) => TestBody::text(&format!("body: {error}")),
        },
        "/peer" => {
            let peer = request.extensions().get::<Peer>().unwrap();
            TestBody::text(&format!("{peer:?}"))
        }
        "/slow" => {
            let _guard = Guard::begin(state);
            state.gate.notified().await;
            TestBody::text("at last")
        }
        "/hang" => {
            let _guard = Guard::begin(state);
            std::future::pending().await
        }
        "/panic" => panic!("a panic of the service's own"),
        "/stream" => {
            let (sender, receiver) = mpsc::channel(1);
            state.open_stream.send(sender).await.unwrap();
            TestBody::Stream(receiver)
        }
        _ => TestBody::text("hello"),
    }
}

/// Tells the test when a request begins and when it is dropped.
struct Guard(Arc<State>);

impl Guard {
    fn begin(state: &Arc<State>) -> Self {
        state.begun.add_permits(1);
        Self(Arc::clone(state))
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.dropped.add_permits(1);
    }
}

pub(super) enum TestBody {
    Whole(Option<Bytes>),
    Stream(mpsc::Receiver<Bytes>),
}

impl TestBody {
    fn text(text: &str) -> Self {
        Self::Whole(Some(Bytes::copy_from_slice(text.as_bytes())))
    }
}

impl Body for TestBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let next = match self.get_mut() {
            Self::Whole(bytes) => Poll::Ready(bytes.take()),
            Self::Stream(receiver) => receiver.poll_recv(cx),
        };
        next.map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(Some(bytes)) => SizeHint::with_exact(bytes.len() as u64),
            Self::Whole(None) => SizeHint::with_exact(0),
            Self::Stream(_) => SizeHint::default(),
        }
    }
}
