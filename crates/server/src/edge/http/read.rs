//! Reads request bodies, with limits on their size and time.

use std::{
    future::{Future as _, poll_fn},
    pin::{Pin, pin},
    task::{Context, Poll},
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use http::{Response, StatusCode};
use http_body::Body;
use tokio::time::Instant;

use super::{body::HttpBody, reply, site::Site};
use crate::{
    engine::budget::{Charge, OverBudget, SMALL_BYTES},
    quota::CallerKey,
};

/// The reason why a body could not be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum ReadError {
    #[error(
        "the body is longer than {0} bytes: send less at once, or raise `Limits::max_message_bytes`"
    )]
    TooLong(usize),
    #[error("the body came too slowly: send it faster, or raise `HttpSettings::body_timeout`")]
    TooSlow,
    #[error("the connection ended before the end of the body")]
    Broken,
    #[error(transparent)]
    OverBudget(#[from] OverBudget),
}

impl ReadError {
    pub(super) fn answer(&self) -> Response<HttpBody> {
        let status = match self {
            Self::TooLong(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::TooSlow => StatusCode::REQUEST_TIMEOUT,
            Self::Broken => StatusCode::BAD_REQUEST,
            Self::OverBudget(over) => return reply::over_budget(*over, None),
        };
        reply::refuse(status, &self.to_string())
    }
}

/// The minimum average speed of a body, in bytes per second. It is below the speed of any network
/// in use. Without it, a client that sends a single byte now and then would keep a connection open
/// forever.
const SLOWEST: u64 = 1024;

/// 1 MiB: the memory for an announced body of up to this length is reserved at once. For a longer
/// body, memory grows with the bytes that arrive, so that announcing a large body costs nothing.
const BELIEVED_BYTES: usize = 1024 * 1024;

/// How much memory is reserved for a body that has outgrown [`BELIEVED_BYTES`]. The C library of
/// most Linux systems returns blocks of more than 32 MiB to the system as soon as they are freed.
/// It keeps smaller blocks, and more of them the larger they are. Reserved memory that is not
/// written to costs nothing.
#[cfg(target_env = "gnu")]
const OWN_MAPPING_BYTES: usize = 32 * 1024 * 1024 + 64 * 1024;
#[cfg(not(target_env = "gnu"))]
const OWN_MAPPING_BYTES: usize = BELIEVED_BYTES;

/// 64 KiB: the charge for a body that arrives in parts grows by this much at a time.
const STEP_BYTES: usize = 64 * 1024;

/// Reads the whole body. A body that arrives in one part, as nearly all do, is not copied. If it is
/// also small, nothing has been charged for it yet.
///
/// A client may pause for `timeout`. In total it has that time once more, plus the time that the
/// slowest network would take.
pub(super) async fn whole<B>(
    body: B,
    site: &Site,
    caller: impl FnOnce() -> CallerKey,
) -> Result<(Bytes, Option<Charge>), ReadError>
where
    B: Body<Data = Bytes>,
{
    let limit = site.shared.settings.limits.max_message_bytes;
    let timeout = site.settings.body_timeout;
    let announced = body.size_hint().lower();
    if announced > limit as u64 {
        return Err(ReadError::TooLong(limit));
    }
    let announced = usize::try_from(announced).unwrap_or(limit);
    let mut body = pin!(body);
    let Some(first) = next(body.as_mut(), timeout).await? else {
        return Ok((Bytes::new(), None));
    };
    if first.len() > limit {
        return Err(ReadError::TooLong(limit));
    }
    if first.len() <= SMALL_BYTES && body.is_end_stream() {
        return Ok((first, None));
    }
    let mut charge = site.shared.allowances.budget.of_caller(caller());
    charge.check(announced)?;
    charge.grow_to(first.len())?;
    if body.is_end_stream() {
        return Ok((first, Some(charge)));
    }
    let start = Instant::now();
    let mut all = BytesMut::with_capacity(announced.min(BELIEVED_BYTES).max(first.len()));
    all.extend_from_slice(&first);
    loop {
        let allowed = timeout + Duration::from_secs(all.len() as u64 / SLOWEST);
        let left = allowed.saturating_sub(start.elapsed());
        let Some(more) = next(body.as_mut(), left.min(timeout)).await? else {
            return Ok((all.freeze(), Some(charge)));
        };
        if all.len() + more.len() > limit {
            return Err(ReadError::TooLong(limit));
        }
        charge.grow_to((all.len() + more.len()).next_multiple_of(STEP_BYTES))?;
        if all.len() + more.len() > BELIEVED_BYTES && all.capacity() < OWN_MAPPING_BYTES {
            let mut own = BytesMut::with_capacity(OWN_MAPPING_BYTES.max(announced));
            own.extend_from_slice(&all);
            all = own;
        }
        all.extend_from_slice(&more);
    }
}

/// Returns the next part. A timer is set only if there is nothing to read yet.
async fn next<B: Body<Data = Bytes>>(
    mut body: Pin<&mut B>,
    timeout: Duration,
) -> Result<Option<Bytes>, ReadError> {
    let at_once = poll_fn(|context| Poll::Ready(poll_data(body.as_mut(), context))).await;
    if let Poll::Ready(piece) = at_once {
        return piece;
    }
    let mut sleep = pin!(tokio::time::sleep(timeout));
    poll_fn(|context| {
        if let Poll::Ready(piece) = poll_data(body.as_mut(), context) {
            return Poll::Ready(piece);
        }
        sleep
            .as_mut()
            .poll(context)
            .map(|()| Err(ReadError::TooSlow))
    })
    .await
}

fn poll_data<B: Body<Data = Bytes>>(
    mut body: Pin<&mut B>,
    context: &mut Context<'_>,
) -> Poll<Result<Option<Bytes>, ReadError>> {
    loop {
        return match body.as_mut().poll_frame(context) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(None) => Poll::Ready(Ok(None)),
            Poll::Ready(Some(Err(_))) => Poll::Ready(Err(ReadError::Broken)),
            Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                Ok(data) if data.is_empty() => continue,
                Ok(data) => Poll::Ready(Ok(Some(data))),
                // Trailers are ignored.
                Err(_) => continue,
            },
        };
    }
}
