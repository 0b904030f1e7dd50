//! A relayed request: sent unchanged, with its events returned unchanged.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use turnbuckle_protocol::{Id, IdRef, Revision, envelope::RawText};
use turnbuckle_session::requests::Deadline;

use super::{Canceller, Link, request::OpenRequest};
use crate::{
    error::CallError,
    pending::{Refused, Slot, slot},
    relayed::{OpenRelay, RelayQueue},
};

/// The result or the error object of a relayed request, unchanged.
pub(crate) type RelayOutcome = Result<Result<Box<RawValue>, Box<RawValue>>, CallError>;

/// Which notifications of a relayed call the caller wants.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WantedNotifications {
    /// Progress, even if the params have no token.
    pub(crate) progress: bool,
    /// Log messages, including those that come after the answer.
    pub(crate) log: bool,
}

/// A relayed request that has an id and is serialised, but not sent yet. Dropping it cancels the
/// request.
pub(crate) struct RelayAttempt {
    entry: PendingPlace,
    method: Arc<str>,
    message: Vec<u8>,
    slot: Slot,
    /// The queue of its events. Over HTTP, it decides when the connection reads on.
    #[cfg(feature = "http")]
    queue: Arc<RelayQueue>,
    canceller: Canceller,
    modern: Option<Revision>,
    /// The subject of the request, for a header.
    #[cfg(feature = "http")]
    name: Option<Box<str>>,
    wants_log: bool,
}

/// The entry of a request in the table of pending requests. Dropping it removes the entry.
struct PendingPlace {
    link: Arc<Link>,
    id: Id,
}

impl PendingPlace {
    fn leave(&self) {
        self.link.pending.withdraw(&self.id.as_ref());
        self.link.relays.leave(&self.id);
    }
}

impl Drop for PendingPlace {
    fn drop(&mut self) {
        self.leave();
    }
}

impl RelayAttempt {
    /// Removes the entry of the request, which has been answered. Another attempt may follow.
    #[cfg(feature = "http")]
    pub(crate) fn leave(&self) {
        self.entry.leave();
    }

    /// Registers and serialises a request.
    pub(crate) fn new(
        link: Arc<Link>,
        method: &Arc<str>,
        params: Option<&RawText>,
        wanted: WantedNotifications,
        deadline: Deadline,
        queue: &Arc<RelayQueue>,
        canceller: &Canceller,
    ) -> Result<Self, CallError> {
        let (filler, slot) = slot();
        let entered = link.pending.enter(filler, deadline);
        let id = entered.map_err(|refused| match refused {
            Refused::Closed => link.closed(method),
            Refused::Full(limit) => CallError::Busy {
                server: link.server().clone(),
                limit,
            },
        })?;
        let modern = link.common_meta.read().revision;
        let entry = PendingPlace { link, id };
        let mut message = Vec::new();
        write(
            &mut message,
            &entry.id.as_ref(),
            method,
            params,
            wanted.progress,
        )
        .map_err(|source| CallError::unwritable(method, source))?;
        #[cfg(feature = "http")]
        let name = match (modern, params) {
            (Some(_), Some(params)) if entry.link.wire.is_http() => name_in(method, params),
            _ => None,
        };
        let task = match (&**method, params) {
            ("tasks/result", Some(params)) => task_of(params),
            _ => None,
        };
        let relay = OpenRelay::new(queue.clone(), method, task);
        entry.link.relays.enter(entry.id.clone(), relay);
        Ok(Self {
            entry,
            method: method.clone(),
            message,
            slot,
            #[cfg(feature = "http")]
            queue: queue.clone(),
            canceller: canceller.clone(),
            modern,
            #[cfg(feature = "http")]
            name,
            wants_log: wanted.log,
        })
    }

    /// The id of the request.
    pub(crate) fn id(&self) -> &Id {
        &self.entry.id
    }

    /// Whether the request is modern, and does not belong to a session.
    pub(crate) fn is_modern(&self) -> bool {
        self.modern.is_some()
    }

    /// Sends the request and waits for its result or its error object. It is sent once.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the request and tells the server.
    pub(crate) async fn run(&mut self) -> RelayOutcome {
        let mut request = self.request();
        let outcome = request.relay().await;
        drop(request);
        if self.wants_log && outcome.is_ok() {
            // The entry is kept until then, so that late log messages are attributed to this call.
            self.entry.link.await_late_log().await;
        }
        outcome
    }

    /// The same for a pipe. No log message comes late there, because all messages come in order.
    ///
    /// # Cancel safety
    /// The same as for [`run`](Self::run).
    pub(crate) async fn run_on_pipe(&mut self) -> RelayOutcome {
        self.request().relay_on_pipe().await
    }

    fn request(&mut self) -> OpenRequest<'_> {
        #[cfg_attr(
            not(feature = "http"),
            expect(unused_mut, reason = "only HTTP uses names and events")
        )]
        let mut request = OpenRequest::relayed(
            &self.entry.link,
            &self.method,
            self.entry.id.clone(),
            std::mem::take(&mut self.message),
            self.slot.clone(),
            self.canceller.clone(),
            self.modern,
        );
        #[cfg(feature = "http")]
        {
            request.name = self.name.as_deref();
            request.events = Some(&self.queue);
        }
        request
    }
}

/// Appends the whole message. The params are sent unchanged, except for the progress token, which must
/// be one of this connection.
fn write(
    out: &mut Vec<u8>,
    id: &IdRef<'_>,
    method: &str,
    params: Option<&RawText>,
    wants_progress: bool,
) -> Result<(), serde_json::Error> {
    let text = params.map_or("", |params| params.raw().get());
    out.reserve(text.len() + method.len() + 96);
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    id.write(out);
    out.extend_from_slice(br#","method":"#);
    serde_json::to_writer(&mut *out, method)?;
    if params.is_none() && !wants_progress {
        out.push(b'}');
        return Ok(());
    }
    out.extend_from_slice(br#","params":"#);
    match TokenPlace::find(text, wants_progress)? {
        TokenPlace::Nowhere => out.extend_from_slice(text.as_bytes()),
        TokenPlace::At {
            start,
            end,
            before,
            after,
        } => {
            out.extend_from_slice(&text.as_bytes()[..start]);
            out.extend_from_slice(before.as_bytes());
            id.write(out);
            out.extend_from_slice(after.as_bytes());
            out.extend_from_slice(&text.as_bytes()[end..]);
        }
    }
    out.push(b'}');
    Ok(())
}

/// Where in the text of the params the progress token goes.
#[derive(Debug, PartialEq, Eq)]
enum TokenPlace {
    /// The params have no token, and none is needed.
    Nowhere,
    /// In place of these bytes, with text before and after the token.
    At {
        start: usize,
        end: usize,
        before: &'static str,
        after: &'static str,
    },
}

impl TokenPlace {
    fn find(text: &str, is_wanted: bool) -> Result<Self, serde_json::Error> {
        #[derive(Deserialize)]
        struct MetaOf<'a> {
            #[serde(borrow, rename = "_meta")]
            meta: Option<&'a RawValue>,
        }

        #[derive(Deserialize)]
        struct TokenOf<'a> {
            #[serde(borrow, rename = "progressToken")]
            token: Option<&'a RawValue>,
        }

        if text.is_empty() {
            return Ok(Self::At {
                start: 0,
                end: 0,
                before: r#"{"_meta":{"progressToken":"#,
                after: "}}",
            });
        }
        if !text.starts_with('{') {
            return Err(serde::ser::Error::custom(
                "the params of a request are an object",
            ));
        }
        // Most requests want no progress, and are not parsed here. A name may be written with escapes.
        if !is_wanted && !text.contains("progressToken") && !text.contains('\\') {
            return Ok(Self::Nowhere);
        }
        let offset = |part: &str| part.as_ptr() as usize - text.as_ptr() as usize;
        let insert = |start, before, after| Self::At {
            start,
            end: start,
            before,
            after,
        };
        let found: MetaOf<'_> = serde_json::from_str(text)?;
        let Some(meta) = found
            .meta
            .map(RawValue::get)
            .filter(|it| it.starts_with('{'))
        else {
            let is_empty = text[1..].trim_start().starts_with('}');
            let after = if is_empty { "}" } else { "}," };
            return Ok(if is_wanted && found.meta.is_none() {
                insert(1, r#""_meta":{"progressToken":"#, after)
            } else {
                Self::Nowhere
            });
        };
        let token: TokenOf<'_> = serde_json::from_str(meta)?;
        Ok(match token.token.map(RawValue::get) {
            Some(token) => Self::At {
                start: offset(token),
                end: offset(token) + token.len(),
                before: "",
                after: "",
            },
            None if is_wanted => {
                let is_empty = meta[1..].trim_start().starts_with('}');
                let after = if is_empty { "" } else { "," };
                insert(offset(meta) + 1, r#""progressToken":"#, after)
            }
            None => Self::Nowhere,
        })
    }
}

/// The subject of a modern request, for a header. The search ends at that member, which is usually the
/// first: the caller has made sure that there is no second one ([`RelayRequest`](crate::RelayRequest)).
#[cfg(feature = "http")]
fn name_in(method: &str, params: &RawText) -> Option<Box<str>> {
    let member = turnbuckle_protocol::http::name_of(method)?;
    let name = params.raw().member(member)?;
    Some(turnbuckle_protocol::envelope::text_of(name)?.into())
}

fn task_of(params: &RawText) -> Option<Box<str>> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct TaskId {
        task_id: Box<str>,
    }

    let named: TaskId = params.raw().parse().ok()?;
    Some(named.task_id)
}

#[cfg(test)]
mod tests {
    use turnbuckle_protocol::envelope::Raw;

    use super::*;

    fn params_of(text: &str) -> RawText {
        let raw: &RawValue = serde_json::from_str(text).expect("JSON");
        Raw::from(raw).into()
    }

    fn written(params: Option<&str>, wants_progress: bool) -> String {
        let params = params.map(params_of);
        let mut out = Vec::new();
        write(
            &mut out,
            &IdRef::Int(7),
            "m",
            params.as_ref(),
            wants_progress,
        )
        .expect("params are an object");
        let text = String::from_utf8(out).expect("UTF-8");
        let _: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let head = r#"{"jsonrpc":"2.0","id":7,"method":"m""#;
        text.strip_prefix(head).expect("the head").to_owned()
    }

    #[test]
    fn params_are_sent_as_they_came() {
        assert_eq!(written(None, false), "}");
        for text in [
            r#"{ "b" : 1.0e2, "a":[1, 2 ],"_meta":{"x/y":"z"} }"#,
            r#"{"arguments":{"note":"a \"progressToken\" here"}}"#,
            "{}",
        ] {
            assert_eq!(written(Some(text), false), format!(r#","params":{text}}}"#));
        }
    }

    #[test]
    fn the_progress_token_is_the_id_and_nothing_else_changes() {
        for (params, expected) in [
            (
                r#"{"a":1, "_meta":{ "progressToken" : "abc", "k":1.50 },"z":2}"#,
                r#"{"a":1, "_meta":{ "progressToken" : 7, "k":1.50 },"z":2}"#,
            ),
            (
                r#"{"_meta":{"progress\u0054oken":3}}"#,
                r#"{"_meta":{"progress\u0054oken":7}}"#,
            ),
        ] {
            for wants_progress in [true, false] {
                let expected = format!(r#","params":{expected}}}"#);
                assert_eq!(written(Some(params), wants_progress), expected);
            }
        }
    }

    #[test]
    fn a_token_is_added_where_progress_is_wanted() {
        for (params, expected) in [
            (None, r#"{"_meta":{"progressToken":7}}"#),
            (Some("{ }"), r#"{"_meta":{"progressToken":7} }"#),
            (Some(r#"{"a":1}"#), r#"{"_meta":{"progressToken":7},"a":1}"#),
            (
                Some(r#"{"a":1,"_meta":{}}"#),
                r#"{"a":1,"_meta":{"progressToken":7}}"#,
            ),
            (
                Some(r#"{"a":1,"_meta":{"b":2}}"#),
                r#"{"a":1,"_meta":{"progressToken":7,"b":2}}"#,
            ),
        ] {
            assert_eq!(written(params, true), format!(r#","params":{expected}}}"#));
        }
    }

    #[test]
    fn params_that_are_no_object_are_refused() {
        for text in ["[1]", "\"x\"", "null"] {
            let params = params_of(text);
            let mut out = Vec::new();
            let written = write(&mut out, &IdRef::Int(1), "m", Some(&params), false);
            assert!(written.is_err(), "{text}");
        }
    }
}
