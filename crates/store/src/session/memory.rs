//! Session states in the memory of one process.

use std::{collections::HashMap, future::ready, sync::Arc, time::Duration};

use turnbuckle_base::lock::Mutex;

use super::{MAX_RESOURCES, SessionChange, SessionState, Sessions};
use crate::{BoxFuture, StoreError};

/// Session data for several servers in one process, as used in tests. Clones share the data, and
/// nothing is forgotten before the last clone is dropped.
#[derive(Clone, Debug, Default)]
pub struct MemorySessions(Arc<Mutex<Kept>>);

#[derive(Debug, Default)]
struct Kept {
    state: HashMap<String, SessionState>,
    handshakes: HashMap<String, Vec<u8>>,
}

impl Sessions for MemorySessions {
    fn read<'a>(&'a self, session: &'a str) -> BoxFuture<'a, Result<SessionState, StoreError>> {
        let state = self.0.lock().state.get(session).cloned();
        Box::pin(ready(Ok(state.unwrap_or_default())))
    }

    fn write<'a>(
        &'a self,
        session: &'a str,
        change: SessionChange,
        _keep: Duration,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        let mut kept = self.0.lock();
        let state = kept.state.entry(session.to_owned()).or_default();
        Box::pin(ready(Ok(state.apply(change))))
    }

    fn keep_handshake<'a>(
        &'a self,
        session: &'a str,
        part: Vec<u8>,
        _keep: Duration,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        self.0.lock().handshakes.insert(session.to_owned(), part);
        Box::pin(ready(Ok(())))
    }

    fn handshake<'a>(
        &'a self,
        session: &'a str,
    ) -> BoxFuture<'a, Result<Option<Vec<u8>>, StoreError>> {
        let part = self.0.lock().handshakes.get(session).cloned();
        Box::pin(ready(Ok(part)))
    }
}

impl SessionState {
    fn apply(&mut self, change: SessionChange) -> bool {
        if self.is_ended {
            return false;
        }
        match change {
            SessionChange::LogLevel(level) => self.log_level = Some(level),
            SessionChange::Subscribe(uri) => {
                if self.resources.len() >= MAX_RESOURCES && !self.resources.contains(&uri) {
                    return false;
                }
                self.resources.insert(uri);
            }
            SessionChange::Unsubscribe(uri) => {
                self.resources.remove(&uri);
            }
            SessionChange::End => {
                *self = Self {
                    is_ended: true,
                    ..Self::default()
                }
            }
        }
        true
    }
}
