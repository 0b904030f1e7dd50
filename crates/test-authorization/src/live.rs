//! The running server.

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

/// A running authorization server. It stops when this is dropped.
pub struct LiveAuthorizationServer {
    site: Arc<Site>,
    serving: JoinHandle<()>,
}

impl AuthorizationServer {
    /// Starts the server. It stops when the returned value is dropped. It must be called within a runtime.
    ///
    /// # Errors
    /// [`StartError`] if the server cannot listen at its address, or no key could be made.
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
            // It ends by being dropped, and therefore without an error.
            let _ = serve(listener, service, Settings::default(), until).await;
        });
        Self { site, serving }
    }

    /// The issuer URL, which guards trust and clients look for.
    pub fn url(&self) -> &str {
        &self.site.issuer
    }

    /// The URL without the issuer's path.
    pub fn origin(&self) -> &str {
        &self.site.origin
    }

    /// Makes this mistake from now on.
    pub fn order(&self, fault: Fault) {
        self.site.state().orders.add(fault, Lasting::Always);
    }

    /// Makes this mistake once, the next time.
    pub fn order_once(&self, fault: Fault) {
        self.site.state().orders.add(fault, Lasting::Once);
    }

    /// Makes no mistakes any more.
    pub fn clear(&self) {
        self.site.state().orders.clear();
    }

    /// Makes a token for this user, without any flow.
    pub fn token(&self, subject: &str) -> Minting<'_> {
        Minting::new(&self.site, subject)
    }

    /// Revokes a token: from now on it is not active, and cannot be exchanged.
    pub fn revoke(&self, token: &str) {
        self.site.state().revoke(token);
    }

    /// Signs with a new key from now on. The previous key is still published.
    ///
    /// # Errors
    /// [`KeyError`] if the operating system returns no random bytes.
    pub fn rotate_keys(&self) -> Result<(), KeyError> {
        self.site.state().rotate()
    }

    /// The published keys.
    pub fn keys(&self) -> JwkSet {
        self.site.state().public_keys()
    }

    /// The requests so far, as methods and paths, the newest last.
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
