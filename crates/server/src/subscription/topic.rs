//! A subject that can change, and its listeners.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde_json::{json, value::RawValue};
use turnbuckle_protocol::{
    envelope::{Edit, Raw},
    meta::key,
};

use super::listener::Slot;
use crate::quota::CallerKey;
use turnbuckle_base::lock::{Mutex, MutexGuard};

/// Something that can change.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Subject {
    /// The list of tools.
    Tools,
    /// The list of prompts.
    Prompts,
    /// The lists of resources and templates.
    Resources,
    /// The resource at a URI.
    Resource(Arc<str>),
    /// An elicitation by URL, by its id. It changes once, when it ends.
    Visit(Arc<str>),
}

impl Subject {
    fn method(&self) -> &'static str {
        match self {
            Self::Tools => "notifications/tools/list_changed",
            Self::Prompts => "notifications/prompts/list_changed",
            Self::Resources => "notifications/resources/list_changed",
            Self::Resource(_) => "notifications/resources/updated",
            Self::Visit(_) => "notifications/elicitation/complete",
        }
    }

    pub(super) fn uri(&self) -> Option<&str> {
        match self {
            Self::Resource(uri) => Some(uri),
            _ => None,
        }
    }

    /// The member of the params that identifies the subject, and its value.
    fn named(&self) -> Option<(&'static str, &str)> {
        match self {
            Self::Resource(uri) => Some(("uri", uri)),
            Self::Visit(id) => Some(("elicitationId", id)),
            Self::Tools | Self::Prompts | Self::Resources => None,
        }
    }
}

/// The text before and after the id of a listen request.
const TAG: &str = r#""_meta":{"io.modelcontextprotocol/subscriptionId":"#;
const AFTER_ID: &[u8] = b"}}}";

/// A subject with listeners.
pub(super) struct Topic {
    pub(super) subject: Subject,
    /// The complete notification for a session.
    plain: Box<[u8]>,
    /// The notification for a listen request, up to its id.
    tagged: Box<[u8]>,
    members: Mutex<BTreeMap<u64, Arc<Slot>>>,
}

impl Topic {
    pub(super) fn new(subject: Subject) -> Self {
        let method = subject.method();
        let start = format!(r#"{{"jsonrpc":"2.0","method":"{method}""#);
        let (plain, tagged) = match subject.named() {
            None => (format!("{start}}}"), format!(r#"{start},"params":{{{TAG}"#)),
            Some((member, name)) => {
                let name = json!(name);
                (
                    format!(r#"{start},"params":{{"{member}":{name}}}}}"#),
                    format!(r#"{start},"params":{{"{member}":{name},{TAG}"#),
                )
            }
        };
        Self {
            subject,
            plain: plain.into_bytes().into(),
            tagged: tagged.into_bytes().into(),
            members: Mutex::default(),
        }
    }

    /// Appends the notification of an update with these params.
    pub(super) fn write_update(&self, id: Option<&[u8]>, params: &str, out: &mut Vec<u8>) {
        let Ok(raw) = serde_json::from_str::<&RawValue>(params) else {
            return self.write(id, out);
        };
        let mut edit = Edit::new(Raw::from(raw));
        if let Some(id) = id {
            let id = String::from_utf8_lossy(id);
            edit = edit.set(&["_meta", key::SUBSCRIPTION_ID], id);
        }
        // The id cannot be set if `_meta` is not an object.
        let Ok(params) = edit.finish() else {
            return self.write(id, out);
        };
        let method = self.subject.method();
        out.extend_from_slice(br#"{"jsonrpc":"2.0","method":""#);
        out.extend_from_slice(method.as_bytes());
        out.extend_from_slice(br#"","params":"#);
        out.extend_from_slice(params.raw().get().as_bytes());
        out.push(b'}');
    }

    /// Appends the notification for a listen request with this id, or for a session.
    pub(super) fn write(&self, id: Option<&[u8]>, out: &mut Vec<u8>) {
        match id {
            None => out.extend_from_slice(&self.plain),
            Some(id) => {
                out.reserve(self.tagged.len() + id.len() + AFTER_ID.len());
                out.extend_from_slice(&self.tagged);
                out.extend_from_slice(id);
                out.extend_from_slice(AFTER_ID);
            }
        }
    }

    pub(super) fn members(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Slot>>> {
        self.members.lock()
    }

    /// Notifies listeners of an update of the resource at this URI with these params, except those in
    /// `told`.
    pub(super) fn updated(
        self: &Arc<Self>,
        only: Option<CallerKey>,
        uri: &str,
        params: &Arc<str>,
        told: &mut BTreeSet<u64>,
    ) {
        for (number, slot) in self.listeners(only) {
            if !told.contains(&number) && slot.mark_update(self, uri, params) {
                told.insert(number);
            }
        }
    }

    /// All listeners, or those of one caller. They are copied, so that the lock is not held while a
    /// relay decides how they are notified.
    fn listeners(&self, only: Option<CallerKey>) -> Vec<(u64, Arc<Slot>)> {
        let members = self.members();
        let listeners = members
            .iter()
            .filter(|(_, slot)| only.is_none_or(|caller| slot.is_of(caller)));
        listeners
            .map(|(number, slot)| (*number, Arc::clone(slot)))
            .collect()
    }

    /// Notifies all listeners, or those of one caller, without waiting.
    pub(super) fn changed(self: &Arc<Self>, only: Option<CallerKey>) {
        for (_, slot) in self.listeners(only) {
            slot.mark(self);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn written(subject: Subject, id: Option<&[u8]>) -> Value {
        let mut message = Vec::new();
        Topic::new(subject).write(id, &mut message);
        serde_json::from_slice(&message).expect("a message")
    }

    #[test]
    fn notifications_are_tagged_for_listeners_and_plain_for_sessions() {
        const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";
        assert_eq!(
            written(Subject::Tools, None),
            json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" })
        );
        assert_eq!(
            written(Subject::Prompts, Some(b"\"a\"")),
            json!({
                "jsonrpc": "2.0",
                "method": "notifications/prompts/list_changed",
                "params": { "_meta": { SUBSCRIPTION: "a" } },
            })
        );
        assert_eq!(
            written(Subject::Visit("a".into()), None),
            json!({
                "jsonrpc": "2.0",
                "method": "notifications/elicitation/complete",
                "params": { "elicitationId": "a" },
            })
        );
        let mut message = Vec::new();
        let params = r#"{"uri":"a:b/c","n":1.0e2,"_meta":{"x":1},"title":"T"}"#;
        let topic = Topic::new(Subject::Resource("a:b".into()));
        topic.write_update(Some(b"7"), params, &mut message);
        let expected = r#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:b/c","n":1.0e2,"_meta":{"x":1,"io.modelcontextprotocol/subscriptionId":7},"title":"T"}}"#;
        assert_eq!(String::from_utf8_lossy(&message), expected);
        let odd = "x://\"\n\\";
        let subject = || Subject::Resource(odd.into());
        assert_eq!(written(subject(), None)["params"], json!({ "uri": odd }));
        assert_eq!(
            written(subject(), Some(b"7"))["params"],
            json!({ "uri": odd, "_meta": { SUBSCRIPTION: 7 } })
        );
    }
}
