//! The attempt to connect, as its caller sees it.

use std::{future::IntoFuture, sync::Arc};

use turnbuckle_session::{Verdict, probe::Aim};

use super::{Target, memory, search::Search, target::BoxFuture};
use crate::{ConnectError, Connection, client::Profile};

/// An attempt to connect, made when it is awaited.
///
/// # Cancel safety
/// Dropping the future ends the server's process, if one was started.
#[must_use = "nothing happens before it is awaited"]
#[derive(Debug)]
pub struct Connect {
    profile: Arc<Profile>,
    target: Target,
    name: Option<Arc<str>>,
    remembered: Option<Verdict>,
}

impl Connect {
    pub(crate) fn new(profile: Arc<Profile>, target: Target) -> Self {
        Self {
            profile,
            target,
            name: None,
            remembered: None,
        }
    }

    /// Calls the server by this name in errors and logs, instead of the one it gives itself.
    pub fn named(self, name: impl Into<Arc<str>>) -> Self {
        Self {
            name: Some(name.into()),
            ..self
        }
    }

    /// What this server was found to speak the last time, as [`Connection::verdict`] told it: it
    /// saves the probe. Where it is wrong, that is found out.
    ///
    /// Programs that this process has started before are remembered without this; it is for
    /// applications that keep verdicts between their runs.
    pub fn remember(self, verdict: Verdict) -> Self {
        Self {
            remembered: Some(verdict),
            ..self
        }
    }

    async fn connect(self) -> Result<Connection, ConnectError> {
        let Self {
            profile,
            mut target,
            name,
            remembered,
        } = self;
        let key = target.0.key();
        let remembered = remembered.or_else(|| key.as_deref().and_then(memory::recall));
        let settings = profile.settings.probe(remembered);
        let is_free = profile.settings.aim == Aim::Auto;
        let search = Search::start(&mut *target.0, name, profile, settings).await?;
        let connection = search.finish().await?;
        // What a pinned search found says little about what the server would rather speak.
        if let Some(key) = key.filter(|_| is_free) {
            memory::remember(key, connection.verdict());
        }
        Ok(connection)
    }
}

impl IntoFuture for Connect {
    type Output = Result<Connection, ConnectError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.connect())
    }
}
