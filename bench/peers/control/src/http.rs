//! Serves HTTP with axum and hyper. Each GET gets a stream that stays open.

use std::{
    convert::Infallible,
    io,
    pin::Pin,
    task::{Context, Poll},
};

use axum::{Router, extract::DefaultBodyLimit, routing::any, serve::ListenerExt};
use bytes::Bytes;
use http::{
    HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, header::CONTENT_TYPE,
};
use http_body::{Body, Frame, SizeHint};
use tokio::net::TcpListener;

use crate::answer::{Kind, answer};

/// Larger than every body in the measurements.
const MAX_BODY: usize = 64 << 20;

/// Room for the parts of an answer around the text that it returns.
const AROUND: usize = 256;

pub(crate) async fn serve(port: u16) -> io::Result<()> {
    let endpoint = any(async |method: Method, _: HeaderMap, body: Bytes| {
        let response = if method == Method::GET {
            open()
        } else {
            reply(&body)
        };
        response.map(axum::body::Body::new)
    });
    let app = Router::new()
        .route("/mcp", endpoint)
        .layer(DefaultBodyLimit::max(MAX_BODY));
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    axum::serve(listener, app).await
}

fn reply(body: &[u8]) -> Response<Reply> {
    let mut out = Vec::with_capacity(body.len() + AROUND);
    let Ok(kind) = answer(body, &mut out) else {
        let mut refused = Response::new(Reply::Whole(None));
        *refused.status_mut() = StatusCode::BAD_REQUEST;
        return refused;
    };
    let mut response = Response::new(Reply::Whole(Some(out.into())));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    match kind {
        Kind::Plain => {}
        Kind::Opening => {
            let name = HeaderName::from_static("mcp-session-id");
            headers.insert(name, HeaderValue::from_static("0"));
        }
        Kind::Told => {
            *response.status_mut() = StatusCode::ACCEPTED;
            *response.body_mut() = Reply::Whole(None);
        }
    }
    response
}

fn open() -> Response<Reply> {
    let mut response = Response::new(Reply::Open);
    let events = HeaderValue::from_static("text/event-stream");
    response.headers_mut().insert(CONTENT_TYPE, events);
    response
}

/// Bytes, or a stream that stays open.
enum Reply {
    Whole(Option<Bytes>),
    Open,
}

impl Body for Reply {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut *self {
            Self::Whole(bytes) => Poll::Ready(bytes.take().map(|it| Ok(Frame::data(it)))),
            Self::Open => Poll::Pending,
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |it| it.len() as u64))
            }
            Self::Open => SizeHint::default(),
        }
    }
}
