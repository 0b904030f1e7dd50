//! Notes of sessions within one process.

use std::{collections::HashMap, future::ready, sync::Arc, time::Duration};

use turnbuckle_base::lock::Mutex;

use super::{MAX_RESOURCES, Note, SessionNotes, Sessions};
use crate::{BoxFuture, StoreError};

/// Notes of sessions for several servers in one process, which tests use. Clones share them, and
/// nothing is forgotten before the last clone is dropped.
#[derive(Clone, Debug, Default)]
pub struct MemorySessions(Arc<Mutex<Kept>>);

#[derive(Debug, Default)]
struct Kept {
    notes: HashMap<String, SessionNotes>,
    handshakes: HashMap<String, Vec<u8>>,
}

impl Sessions for MemorySessions {
    fn read<'a>(&'a self, session: &'a str) -> BoxFuture<'a, Result<SessionNotes, StoreError>> {
        let notes = self.0.lock().notes.get(session).cloned();
        Box::pin(ready(Ok(notes.unwrap_or_default())))
    }

    fn write<'a>(
        &'a self,
        session: &'a str,
        note: Note,
        _keep: Duration,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        let mut kept = self.0.lock();
        let notes = kept.notes.entry(session.to_owned()).or_default();
        Box::pin(ready(Ok(notes.apply(note))))
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

impl SessionNotes {
    fn apply(&mut self, note: Note) -> bool {
        if self.is_ended {
            return false;
        }
        match note {
            Note::LogLevel(level) => self.log_level = Some(level),
            Note::Subscribe(uri) => {
                if self.resources.len() >= MAX_RESOURCES && !self.resources.contains(&uri) {
                    return false;
                }
                self.resources.insert(uri);
            }
            Note::Unsubscribe(uri) => {
                self.resources.remove(&uri);
            }
            Note::End => {
                *self = Self {
                    is_ended: true,
                    ..Self::default()
                }
            }
        }
        true
    }
}
