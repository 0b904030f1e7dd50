//! The token of a caller, to be exchanged for tokens of other servers.

use std::{fmt, sync::Arc};

use turnbuckle_base::lock::Mutex;

use crate::Secret;

/// The token of a verified caller, to be exchanged at an authorization server for a token of another
/// server (RFC 8693).
///
/// A guard that was told to [keep it](crate::server::Guard::keep_subject_tokens) gives it to handlers as
/// an attribute of the `Caller`. Nothing can be done with it but
/// [to exchange it](crate::client::OAuth::exchange): a token that was issued for one server must not be
/// sent to another.
#[derive(Clone)]
pub struct SubjectToken(Arc<Mutex<Secret>>);

impl SubjectToken {
    pub(crate) fn new(token: &str) -> Self {
        Self(Arc::new(Mutex::new(Secret::new(token))))
    }

    pub(crate) fn secret(&self) -> Secret {
        self.0.lock().clone()
    }

    /// The same token, which can be renewed by itself.
    pub fn apart(&self) -> Self {
        Self(Arc::new(Mutex::new(self.secret())))
    }

    /// Takes the place of an older token of the same caller, in all clones.
    pub fn renew(&self, newer: &Self) {
        if !Arc::ptr_eq(&self.0, &newer.0) {
            let newer = newer.secret();
            *self.0.lock() = newer;
        }
    }
}

impl fmt::Debug for SubjectToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SubjectToken")
    }
}
