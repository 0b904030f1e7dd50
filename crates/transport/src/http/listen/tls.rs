//! TLS with rustls, with the certificate and key as PEM.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{self, ServerConfig};
use turnbuckle_base::lock::RwLock;

/// In order of preference, with their ALPN names.
const PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// A certificate and its key, for TLS 1.3 and 1.2 with HTTP/2 and HTTP/1.1.
///
/// Clones share the certificate: keep one to [`renew`](Self::renew) it while the server runs.
#[derive(Clone)]
pub struct Tls {
    config: Arc<RwLock<Arc<ServerConfig>>>,
}

/// Why a certificate or its key cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// A file cannot be read.
    #[error("cannot read {}", path.display())]
    File {
        /// The path of the file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The text contains no certificate.
    #[error(
        "the PEM text contains no certificate; give the server's certificate first, then its chain"
    )]
    NoCertificate,
    /// A certificate in the text is damaged.
    #[error("a certificate cannot be read as PEM: {reason}")]
    Certificate {
        /// The error of the PEM parser.
        reason: String,
    },
    /// The text contains no key, or the key is damaged.
    #[error("the private key cannot be read as PEM (PKCS#8, PKCS#1 or SEC1): {reason}")]
    Key {
        /// The error of the PEM parser.
        reason: String,
    },
    /// The certificate and the key do not match, or are of a kind that is not supported.
    #[error("the certificate and the private key cannot be used together: {reason}")]
    Unusable {
        /// The error of rustls.
        reason: String,
    },
}

impl Tls {
    /// Reads the chain of certificates, the server's own first, and its key from PEM files.
    ///
    /// # Errors
    ///
    /// Fails if a file cannot be read or its content is invalid.
    pub fn open(certificates: impl AsRef<Path>, key: impl AsRef<Path>) -> Result<Self, TlsError> {
        Self::from_pem(&read(certificates.as_ref())?, &read(key.as_ref())?)
    }

    /// Parses the chain of certificates, the server's own first, and its key from PEM text.
    ///
    /// # Errors
    ///
    /// Fails if the text is invalid.
    pub fn from_pem(certificates: &[u8], key: &[u8]) -> Result<Self, TlsError> {
        let config = config(certificates, key)?;
        Ok(Self {
            config: Arc::new(RwLock::new(config)),
        })
    }

    /// Replaces the certificate and key for new connections.
    ///
    /// # Errors
    ///
    /// Fails if the text is invalid; the old certificate is then kept.
    pub fn renew(&self, certificates: &[u8], key: &[u8]) -> Result<(), TlsError> {
        let config = config(certificates, key)?;
        *self.config.write() = config;
        Ok(())
    }

    pub(in crate::http) fn acceptor(&self) -> TlsAcceptor {
        let config = self.config.read();
        TlsAcceptor::from(Arc::clone(&config))
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Keys must not appear in logs.
        f.debug_struct("Tls").finish_non_exhaustive()
    }
}

fn read(path: &Path) -> Result<Vec<u8>, TlsError> {
    std::fs::read(path).map_err(|source| TlsError::File {
        path: path.to_owned(),
        source,
    })
}

fn config(certificates: &[u8], key: &[u8]) -> Result<Arc<ServerConfig>, TlsError> {
    let chain = CertificateDer::pem_slice_iter(certificates)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| TlsError::Certificate {
            reason: error.to_string(),
        })?;
    if chain.is_empty() {
        return Err(TlsError::NoCertificate);
    }
    let key = PrivateKeyDer::from_pem_slice(key).map_err(|error| TlsError::Key {
        reason: error.to_string(),
    })?;
    let mut config = with_chain(chain, key).map_err(|error| TlsError::Unusable {
        reason: error.to_string(),
    })?;
    config.alpn_protocols = PROTOCOLS.map(<[u8]>::to_vec).to_vec();
    Ok(Arc::new(config))
}

fn with_chain(
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
) -> Result<ServerConfig, rustls::Error> {
    // Named explicitly, so that another provider in the program does not matter.
    ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key)
}
