//! Connections that read the streams of a session.

use std::{
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{Response, StatusCode};
use turnbuckle_transport::{Held, Outbox};

use super::{
    body::{HttpBody, StreamBody},
    event_id::Carries,
    event_stream::{Begin, EventStream},
    keep_alive::KeepAlive,
    replay::AfterEvents,
    reply,
    session::HttpSession,
    site::Site,
    turn::Source,
};

/// One connection that reads a stream.
struct EventBody {
    site: Arc<Site>,
    session: Arc<HttpSession>,
    stream: Arc<EventStream>,
    reader: u64,
    /// The first events: the priming event, or the events that the client missed.
    start: Vec<u8>,
    then: AfterEvents,
    keep_alive: KeepAlive,
}

/// Sends the messages of an exchange as a resumable stream.
pub(super) fn open(
    site: &Arc<Site>,
    session: &Arc<HttpSession>,
    outbox: Outbox,
    carries: &Carries,
) -> Response<HttpBody> {
    let stream = of(site, session, outbox, carries);
    begin(site, session, stream, Vec::new())
}

/// Creates a stream for the messages of an exchange, before it is read.
pub(super) fn of(
    site: &Site,
    session: &HttpSession,
    outbox: Outbox,
    carries: &Carries,
) -> Arc<EventStream> {
    session.open_stream(Arc::new(Source::new(outbox)), carries, &site.settings)
}

/// Sends the messages that belong to no call as a resumable stream.
pub(super) fn open_standing(site: &Arc<Site>, session: &Arc<HttpSession>) -> Response<HttpBody> {
    if let Some(at) = &session.at {
        // `notifications/initialized` and later changes may have gone to another replica.
        let was_ready = session.lifecycle().is_ready();
        session.peer.initialized();
        if at.take_gap() || !was_ready {
            session.lifecycle().listener().announce_all();
        }
    }
    let standing = Arc::clone(&session.standing);
    let stream = session.open_stream(standing, &Carries::Standing, &site.settings);
    begin(site, session, stream, Vec::new())
}

/// Sends the events of a stream after this one.
pub(super) fn resume(
    site: &Arc<Site>,
    session: &Arc<HttpSession>,
    stream: Arc<EventStream>,
    event: u64,
) -> Response<HttpBody> {
    read(site, session, stream, Begin::After(event))
}

/// Returns a refusal if the client has too many open streams.
pub(super) fn check_count(site: &Site, session: &HttpSession) -> Option<Response<HttpBody>> {
    let max = site.settings.max_streams;
    if session.open_streams() < max {
        return None;
    }
    let message = format!(
        "{max} streams of this session are open: close some first, or raise \
         `HttpSettings::max_streams`"
    );
    Some(reply::refuse(StatusCode::TOO_MANY_REQUESTS, &message))
}

/// Starts to read a stream; `lines` were taken from its queue before.
pub(super) fn begin(
    site: &Arc<Site>,
    session: &Arc<HttpSession>,
    stream: Arc<EventStream>,
    lines: Vec<u8>,
) -> Response<HttpBody> {
    let begin = if session.primes() {
        Begin::Primed(lines)
    } else {
        Begin::With(lines)
    };
    read(site, session, stream, begin)
}

fn read(
    site: &Arc<Site>,
    session: &Arc<HttpSession>,
    stream: Arc<EventStream>,
    begin: Begin,
) -> Response<HttpBody> {
    let (reader, start, then) = stream.join(begin, &site.settings);
    reply::events(HttpBody::stream(EventBody {
        site: Arc::clone(site),
        session: Arc::clone(session),
        stream,
        reader,
        start,
        then,
        keep_alive: KeepAlive::new(site.settings.keep_alive),
    }))
}

impl StreamBody for EventBody {
    fn poll_bytes(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let mut events = std::mem::take(&mut self.start);
        let mut is_over = self.then == AfterEvents::Detach;
        let mut held = Held::default();
        if !is_over {
            let (reader, settings) = (self.reader, &self.site.settings);
            match self
                .stream
                .poll_events(reader, context, settings, &mut events, &mut held)
            {
                Some(then) => self.then = then,
                None => is_over = true,
            }
        }
        if events.is_empty() && (is_over || self.then == AfterEvents::Detach) {
            return Poll::Ready(None);
        }
        self.keep_alive.poll_piece(context, events, held)
    }
}

impl Drop for EventBody {
    fn drop(&mut self) {
        self.stream.leave(self.reader);
        self.stream.log_on(&self.site.settings);
        self.session.touch();
    }
}
