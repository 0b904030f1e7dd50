//! The TLS handshake of a server, for diagnosis.

use std::io;
use std::sync::Arc;

use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

use super::trust::{self, Trust};

/// The version and the certificate of a TLS handshake, whether or not the certificate is valid.
///
/// ```no_run
/// use turnbuckle_transport::http::client::TlsHandshake;
///
/// # async fn example() -> std::io::Result<()> {
/// let stream = tokio::net::TcpStream::connect("example.com:443").await?;
/// let shown = TlsHandshake::by("example.com", stream).await?;
/// println!("{}, {} bytes of certificate", shown.version, shown.certificate.len());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TlsHandshake {
    /// The negotiated version of TLS, such as `TLS 1.3`.
    pub version: String,
    /// The certificate of the server itself, in DER; empty if it sent none.
    pub certificate: Vec<u8>,
}

impl TlsHandshake {
    /// Performs a handshake with the other end without checking its certificate, and closes the
    /// connection without sending anything over it.
    ///
    /// # Errors
    /// Fails if the host is not a name that a certificate can have, or if the handshake fails.
    ///
    /// # Cancel safety
    /// Dropping the future closes the connection. It has no deadline of its own.
    pub async fn by(host: &str, stream: TcpStream) -> io::Result<Self> {
        let config = trust::config(Trust::Any, &[]).map_err(io::Error::other)?;
        let name = host.trim_matches(['[', ']']).to_owned();
        let name = ServerName::try_from(name).map_err(io::Error::other)?;
        let connection = TlsConnector::from(Arc::clone(&config))
            .connect(name, stream)
            .await?;
        let (_, session) = connection.get_ref();
        let version = session.protocol_version();
        let version = version.map_or_else(String::new, |version| format!("{version:?}"));
        let certificates = session.peer_certificates().unwrap_or_default();
        Ok(Self {
            version: version.replace("TLSv1_", "TLS 1."),
            certificate: certificates
                .first()
                .map(|certificate| certificate.to_vec())
                .unwrap_or_default(),
        })
    }
}
