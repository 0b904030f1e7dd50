//! API keys of the gateway's callers.

use std::{collections::HashMap, sync::Arc};

use http::{StatusCode, header, request::Parts};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use turnbuckle::{AuthDecision, Authorized, Caller, HttpRefusal, Protect};
use turnbuckle_command_line::failure::{Failed, Outcome};

use crate::command::caller_tokens::KeyDigests;

/// `[[gateway.keys]]`: a caller, and the environment variable with the caller's key.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table, such as `{ name = \"ada\", env = \"ADA_KEY\" }`"
)]
pub(super) struct KeyEntry {
    /// The caller's name in policies and logs.
    name: String,
    env: String,
}

impl KeyEntry {
    /// The environment variable with the key.
    pub(super) fn variable(&self) -> &str {
        &self.env
    }
}

/// The shortest key that is accepted: 16 characters, too many to guess.
const MIN_KEY: usize = 16;

/// The keys of callers. Only digests are kept, and a lookup by digest reveals nothing about a key through the
/// time that it takes.
#[derive(Clone)]
pub(super) struct CallerKeys {
    callers: Arc<HashMap<[u8; 32], Caller>>,
    /// A key for the page of this gateway.
    own: Arc<str>,
}

impl CallerKeys {
    /// Reads the keys from the environment; `None` if the config file names no keys.
    pub(super) fn read(entries: &[KeyEntry]) -> Outcome<Option<Self>> {
        let mut callers = HashMap::new();
        let mut own = None;
        for entry in entries {
            let key = std::env::var(&entry.env).unwrap_or_default();
            if key.len() < MIN_KEY {
                let said = format!(
                    "environment variable `{}` must hold a key of at least {MIN_KEY} characters (for `{}`)",
                    entry.env, entry.name
                );
                return Err(Failed::usage(said));
            }
            own.get_or_insert_with(|| Arc::from(key.as_str()));
            if callers
                .insert(digest(key.as_bytes()), &*entry.name)
                .is_some()
            {
                let said = format!("`{}` has the same key as another caller", entry.name);
                return Err(Failed::usage(said));
            }
        }
        // One caller may have several keys.
        let mut keys: HashMap<&str, Vec<[u8; 32]>> = HashMap::new();
        for (digest, name) in &callers {
            keys.entry(name).or_default().push(*digest);
        }
        // Sorted, so that the order is the same after each start: the keys are compared with recorded ones.
        for digests in keys.values_mut() {
            digests.sort_unstable();
        }
        let with_keys = |name: &str| {
            let keys = keys.get(name).cloned().unwrap_or_default();
            Caller::new(name).with(KeyDigests(keys))
        };
        let known: HashMap<&str, Caller> =
            keys.keys().map(|name| (*name, with_keys(name))).collect();
        let callers = callers.iter().filter_map(|(digest, name)| {
            let caller = known.get(name)?;
            Some((*digest, caller.clone()))
        });
        Ok(own.map(|own| Self {
            callers: Arc::new(callers.collect()),
            own,
        }))
    }

    /// A key that the guard accepts.
    pub(super) fn own(&self) -> &str {
        &self.own
    }
}

impl Protect for CallerKeys {
    fn admit(&self, request: &Parts) -> AuthDecision {
        let bearer = request.headers.get(header::AUTHORIZATION);
        let bearer = bearer.and_then(|value| value.as_bytes().strip_prefix(b"Bearer "));
        let given = bearer.or_else(|| Some(request.headers.get("x-api-key")?.as_bytes()));
        let caller = given.and_then(|key| self.callers.get(&digest(key)));
        AuthDecision::Now(match caller {
            Some(caller) => Ok(Authorized::new(caller.clone())),
            None => Err(HttpRefusal::new(
                StatusCode::UNAUTHORIZED,
                "send a key of this gateway in `Authorization: Bearer …` or `X-Api-Key`",
            )),
        })
    }
}

fn digest(key: &[u8]) -> [u8; 32] {
    Sha256::digest(key).into()
}
