//! Converts neutral values to messages for a peer, with the definitions that each must satisfy.

use std::fmt::Debug;

use crate::{
    Complete, ErrorObject, Revision,
    envelope::{self, Frame, Message},
    method::{Direction, Method, NotificationMethod, available, extension},
    revision::Lower,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::tests::sample::Fullness;

/// A message or value for a peer, and its definitions in the schema.
pub(crate) struct Case {
    /// Definitions that describe all of it: it may have no other members.
    pub(crate) exact: Vec<&'static str>,
    /// Definitions that describe a part of it, or one of several alternatives.
    pub(crate) loose: Vec<&'static str>,
    /// The message or value.
    pub(crate) json: Value,
}

/// Collects the messages for one peer.
pub(crate) struct Generator {
    pub(crate) to: Revision,
    pub(crate) f: Fullness,
    pub(crate) cases: Vec<Case>,
}

impl Generator {
    pub(crate) fn new(to: Revision, f: Fullness) -> Self {
        Self {
            to,
            f,
            cases: Vec::new(),
        }
    }

    pub(crate) fn push(&mut self, exact: &[&'static str], loose: &[&'static str], json: Value) {
        self.cases.push(Case {
            exact: exact.to_vec(),
            loose: loose.to_vec(),
            json,
        });
    }

    /// Lowers a value and returns its JSON. Checks that it can be read back, that lowering it again
    /// changes nothing, and that it may be lowered in steps.
    pub(crate) fn lowered<T>(&self, mut value: T) -> Value
    where
        T: Lower + Serialize + DeserializeOwned + Clone + PartialEq + Debug,
    {
        let mut in_steps = value.clone();
        for revision in Revision::LEGACY
            .iter()
            .copied()
            .rev()
            .filter(|newer| *newer > self.to)
        {
            in_steps.lower(revision);
        }
        value.lower(self.to);
        in_steps.lower(self.to);
        assert_eq!(in_steps, value, "lowered in steps to {}", self.to);
        in_steps.lower(self.to);
        assert_eq!(in_steps, value, "lowered twice to {}", self.to);
        written(&value)
    }

    /// Adds a value that occurs in messages.
    pub(crate) fn value<T>(&mut self, exact: &[&'static str], loose: &[&'static str], value: T)
    where
        T: Lower + Serialize + DeserializeOwned + Clone + PartialEq + Debug,
    {
        let json = self.lowered(value);
        self.push(exact, loose, json);
    }

    /// Adds a request, if the revision has it.
    pub(crate) fn request<M>(
        &mut self,
        exact: &'static str,
        params_of: &[&'static str],
        params: M::Params,
    ) where
        M: Method,
        M::Params: Lower + Clone + PartialEq + Debug,
    {
        if self.has(M::NAME) {
            let params = self.lowered(params);
            through_the_envelope::<M>(&params);
            self.request_json(M::NAME, exact, params_of, &params);
        }
    }

    /// Adds a request whose params are already lowered.
    pub(crate) fn request_json(
        &mut self,
        method: &'static str,
        exact: &'static str,
        params_of: &[&'static str],
        params: &Value,
    ) {
        for (direction, union) in [
            (Direction::ToServer, "ClientRequest"),
            (Direction::ToClient, "ServerRequest"),
        ] {
            if available(method, self.to, direction) {
                self.push(
                    &[],
                    &[union],
                    self.bare(json!({"method": method, "params": params})),
                );
            }
        }
        let full = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        self.push(&[exact], &[], self.bare(full.clone()));
        self.push(&["JSONRPCRequest"], &["JSONRPCMessage", "Request"], full);
        let (exact, loose) = params_of.split_at(params_of.len().min(1));
        self.push(exact, loose, params.clone());
    }

    /// Adds a notification, if the revision has it.
    pub(crate) fn notification<N>(
        &mut self,
        exact: &'static str,
        params_of: &[&'static str],
        params: N::Params,
    ) where
        N: NotificationMethod,
        N::Params: Lower + Clone + PartialEq + Debug,
    {
        if !self.has(N::NAME) {
            return;
        }
        let params = self.lowered(params);
        for (direction, union) in [
            (Direction::ToServer, "ClientNotification"),
            (Direction::ToClient, "ServerNotification"),
        ] {
            if available(N::NAME, self.to, direction) {
                self.push(
                    &[],
                    &[union],
                    self.bare(json!({"method": N::NAME, "params": params})),
                );
            }
        }
        let full = json!({"jsonrpc": "2.0", "method": N::NAME, "params": params});
        self.push(&[exact], &[], self.bare(full.clone()));
        self.push(
            &["JSONRPCNotification"],
            &["JSONRPCMessage", "Notification"],
            full,
        );
        let (exact, loose) = params_of.split_at(params_of.len().min(1));
        self.push(exact, loose, params);
    }

    /// Adds the answer to a method, if the revision has it.
    pub(crate) fn result<M: Method>(
        &mut self,
        exact: &'static str,
        response: &'static str,
        loose: &[&'static str],
        result: M::Result,
    ) where
        M::Result: Lower + Clone + PartialEq + Debug,
    {
        if !self.has(M::NAME) {
            return;
        }
        let json = if self.to.is_modern() {
            self.lowered(Complete(result))
        } else {
            self.lowered(result)
        };
        self.result_json(M::NAME, exact, response, loose, json);
    }

    /// Adds an answer that is already lowered.
    pub(crate) fn result_json(
        &mut self,
        method: &'static str,
        exact: &'static str,
        response: &'static str,
        loose: &[&'static str],
        json: Value,
    ) {
        for (direction, union) in [
            (Direction::ToServer, "ServerResult"),
            (Direction::ToClient, "ClientResult"),
        ] {
            if available(method, self.to, direction) {
                self.push(&[], &[union], json.clone());
            }
        }
        let full = json!({"jsonrpc": "2.0", "id": "call-1", "result": json});
        self.push(&[exact], loose, json);
        let envelope = if self.to >= Revision::V2025_11_25 {
            "JSONRPCResultResponse"
        } else {
            "JSONRPCResponse"
        };
        self.push(
            &[envelope, response],
            &["JSONRPCMessage", "JSONRPCResponse"],
            full,
        );
    }

    /// Adds an error, alone and in its response.
    pub(crate) fn error(
        &mut self,
        alone: &[&'static str],
        response: &[&'static str],
        error: ErrorObject,
    ) {
        let json = self.lowered(error);
        let full = json!({"jsonrpc": "2.0", "id": 1, "error": json});
        self.push(alone, &["Error"], json);
        let mut loose = vec!["JSONRPCMessage"];
        let envelope = if self.to >= Revision::V2025_11_25 {
            loose.push("JSONRPCResponse");
            "JSONRPCErrorResponse"
        } else {
            "JSONRPCError"
        };
        self.push(&[&[envelope], response].concat(), &loose, full);
    }

    /// Returns whether the core schema of the revision has a method in any direction.
    pub(crate) fn has(&self, method: &str) -> bool {
        let known = [Direction::ToServer, Direction::ToClient]
            .into_iter()
            .any(|direction| available(method, self.to, direction));
        known && extension(method, self.to).is_none()
    }

    /// Until 2025-06-18 the schema describes a method without its envelope.
    fn bare(&self, mut json: Value) -> Value {
        let members = json.as_object_mut().expect("a message is an object");
        if self.to < Revision::V2025_11_25 {
            members.shift_remove("jsonrpc");
            members.shift_remove("id");
        } else {
            let is_notification = members["method"]
                .as_str()
                .unwrap()
                .starts_with("notifications/");
            members.insert("jsonrpc".into(), "2.0".into());
            if !is_notification {
                members.insert("id".into(), 1.into());
            }
        }
        json
    }
}

/// Checks that parsing the envelope does not change the params of a request.
fn through_the_envelope<M: Method>(params: &Value) {
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": M::NAME, "params": params});
    let text = request.to_string();
    let Ok(Frame::One(Message::Request(request))) = envelope::parse(text.as_bytes()) else {
        panic!("{text} is a request");
    };
    let read: M::Params = request
        .params
        .parse()
        .expect("the parameters of this method");
    assert_eq!(
        serde_json::to_value(&read).expect("it was written before"),
        *params
    );
}

/// Serialises a value, and checks that it is read back as the same value in any order of members.
pub(crate) fn written<T>(value: &T) -> Value
where
    T: Serialize + DeserializeOwned + PartialEq + Debug,
{
    let text = serde_json::to_string(value).expect("a value can be written");
    let read: T = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(read, *value, "{text}");
    let json: Value = serde_json::from_str(&text).expect("JSON");
    let reversed = reversed(json.clone());
    let read: T = serde_json::from_str(&reversed.to_string())
        .unwrap_or_else(|error| panic!("{error}: {reversed}"));
    assert_eq!(
        serde_json::to_value(&read).expect("a value can be written"),
        json,
        "{reversed}"
    );
    json
}

/// Reverses the members of every object.
fn reversed(json: Value) -> Value {
    match json {
        Value::Object(members) => Value::Object(
            members
                .into_iter()
                .rev()
                .map(|(name, value)| (name, reversed(value)))
                .collect(),
        ),
        Value::Array(items) => Value::Array(items.into_iter().map(reversed).collect()),
        other => other,
    }
}
