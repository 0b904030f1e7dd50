//! TLS for Redis: the trusted authorities, and the client certificate.

use std::{fmt, sync::Once};

use ::redis::{Client, ClientTlsConfig, RedisError, TlsCertificates};
use tokio_rustls::rustls::crypto::{CryptoProvider, ring};

/// Certificates for a `rediss://` URL.
///
/// ```no_run
/// use turnbuckle_store::redis::{Redis, RedisTls};
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let tls = RedisTls::new().root(std::fs::read("redis-ca.pem")?);
/// let redis = Redis::open_with_tls("rediss://cache.internal:6380/", tls).await?;
/// # drop(redis); Ok(()) }
/// ```
#[derive(Clone, Default)]
pub struct RedisTls {
    roots: Vec<u8>,
    client: Option<ClientTlsConfig>,
}

impl RedisTls {
    /// Trusts the platform's root certificates, without a client certificate.
    pub fn new() -> Self {
        Self::default()
    }

    /// Trusts certificates signed by these roots, in PEM, instead of the platform's. It may be
    /// called several times.
    #[must_use]
    pub fn root(mut self, pem: impl AsRef<[u8]>) -> Self {
        self.roots.extend_from_slice(pem.as_ref());
        self.roots.push(b'\n');
        self
    }

    /// Sets the client certificate and its key, both in PEM.
    #[must_use]
    pub fn client_certificate(
        mut self,
        certificate: impl Into<Vec<u8>>,
        key: impl Into<Vec<u8>>,
    ) -> Self {
        self.client = Some(ClientTlsConfig {
            client_cert: certificate.into(),
            client_key: key.into(),
        });
        self
    }

    pub(super) fn client(self, url: &str) -> Result<Client, RedisError> {
        let certificates = TlsCertificates {
            client_tls: self.client,
            root_cert: (!self.roots.is_empty()).then_some(self.roots),
        };
        Client::build_with_tls(url, certificates)
    }
}

impl fmt::Debug for RedisTls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisTls").finish_non_exhaustive()
    }
}

/// The Redis client uses the process's default provider. It would panic in a program that has
/// chosen none and has two compiled in.
pub(super) fn choose_provider() {
    static CHOSEN: Once = Once::new();
    CHOSEN.call_once(|| {
        if CryptoProvider::get_default().is_none() {
            // Another thread may have installed one meanwhile, which is fine.
            let _ = ring::default_provider().install_default();
        }
    });
}
