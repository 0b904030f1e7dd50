//! The server as it runs.

use std::{fmt, net::SocketAddr, sync::Arc};

use tokio::task::JoinHandle;
use turnbuckle_auth::jose::{JwkSet, KeyError, SigningKey};
use turnbuckle_transport::http::{Listener, Settings, serve};

use super::{
    fault::{Fault, Lasting},
    mint::Minting,
    service::AuthorizationService,
    settings::{AuthorizationServer, StartError},
    state::Site,
};

/// An authorization server that listens. It stops when this is dropped.
pub struct LiveAuthorizationServer {
    site: Arc<Site>,
    serving: JoinHandle<()>,
}

impl AuthorizationServer {
    /// Listens. It stops when what this returns is dropped. Must be called inside a runtime.
    ///
    /// # Errors
    /// If the address cannot be listened at.
    pub async fn start(mut self) -> Result<LiveAuthorizationServer, StartError> {
        let listener = Listener::bind(self.address.clone()).await?;
        let address: SocketAddr = listener.local_address().ok_or(StartError::NoAddress)?;
        let key = match self.key.take() {
            Some(key) => key,
            None => SigningKey::generate()?,
        };
        Ok(LiveAuthorizationServer::serve(self, listener, address, key))
    }
}

impl LiveAuthorizationServer {
    pub(super) fn serve(
        settings: AuthorizationServer,
        listener: Listener,
        address: SocketAddr,
        key: SigningKey,
    ) -> Self {
        let site = Arc::new(Site::new(format!("http://{address}"), settings, key));
        let service = AuthorizationService(Arc::clone(&site));
        let serving = tokio::spawn(async move {
            let until = std::future::pending();
            // It ends by being dropped, and so without an error.
            let _ = serve(listener, service, Settings::default(), until).await;
        });
        Self { site, serving }
    }

    /// The issuer: what guards trust and clients look for.
    pub fn url(&self) -> &str {
        &self.site.issuer
    }

    /// Where it listens, without the issuer's path.
    pub fn origin(&self) -> &str {
        &self.site.origin
    }

    /// Gets something wrong from now on.
    pub fn order(&self, fault: Fault) {
        self.site.state().orders.add(fault, Lasting::Always);
    }

    /// Gets something wrong the next time.
    pub fn order_once(&self, fault: Fault) {
        self.site.state().orders.add(fault, Lasting::Once);
    }

    /// Does everything right again.
    pub fn clear(&self) {
        self.site.state().orders.clear();
    }

    /// A token for this person, without any flow.
    pub fn token(&self, subject: &str) -> Minting<'_> {
        Minting::new(&self.site, subject)
    }

    /// Takes a token back: from now on it is not active, and is not exchanged.
    pub fn revoke(&self, token: &str) {
        self.site.state().revoke(token);
    }

    /// Signs with a new key from now on. The one before is still published.
    ///
    /// # Errors
    /// If the machine has no randomness.
    pub fn rotate_keys(&self) -> Result<(), KeyError> {
        self.site.state().rotate()
    }

    /// The keys that it publishes.
    pub fn keys(&self) -> JwkSet {
        self.site.state().public_keys()
    }

    /// What it was asked so far: methods and paths, the newest last.
    pub fn requests(&self) -> Vec<String> {
        self.site.state().requests.iter().cloned().collect()
    }
}

impl Drop for LiveAuthorizationServer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl fmt::Debug for LiveAuthorizationServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveAuthorizationServer")
            .field("url", &self.url())
            .finish_non_exhaustive()
    }
}
