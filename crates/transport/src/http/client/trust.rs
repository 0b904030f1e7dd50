//! The certificate authorities that a client trusts.

use std::sync::Arc;

use tokio_rustls::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use tokio_rustls::rustls::crypto::{
    CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature,
};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::{
    ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};

use super::HttpError;

/// In order of preference, with their ALPN names.
const PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// Which server certificates are trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trust {
    /// The platform's roots, and the added ones.
    Roots,
    /// Every server, without checking its certificate.
    Any,
}

pub(super) fn config(trust: Trust, added: &[Vec<u8>]) -> Result<Arc<ClientConfig>, HttpError> {
    // Named explicitly, so that another provider in the program does not matter.
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| roots(error.to_string()))?;
    let mut config = match trust {
        Trust::Roots => builder
            .with_root_certificates(store(added)?)
            .with_no_client_auth(),
        Trust::Any => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(AcceptAnyCertificate(provider)))
            .with_no_client_auth(),
    };
    config.alpn_protocols = PROTOCOLS.map(<[u8]>::to_vec).to_vec();
    Ok(Arc::new(config))
}

fn store(added: &[Vec<u8>]) -> Result<RootCertStore, HttpError> {
    let mut store = RootCertStore::empty();
    let native = rustls_native_certs::load_native_certs();
    // Platforms include some certificates that no verifier can use; they are skipped.
    store.add_parsable_certificates(native.certs);
    for pem in added {
        let mut is_empty = true;
        for certificate in CertificateDer::pem_slice_iter(pem) {
            let certificate = certificate.map_err(|error| roots(error.to_string()))?;
            store
                .add(certificate)
                .map_err(|error| roots(error.to_string()))?;
            is_empty = false;
        }
        if is_empty {
            return Err(roots(
                "the added PEM text contains no certificate".to_owned(),
            ));
        }
    }
    if store.is_empty() {
        let errors = native.errors.iter().map(ToString::to_string);
        let reason = errors.collect::<Vec<_>>().join("; ");
        return Err(roots(format!(
            "the operating system has no root certificates ({reason}); install its CA certificates \
             or add one"
        )));
    }
    Ok(store)
}

fn roots(reason: String) -> HttpError {
    HttpError::Roots { reason }
}

/// Accepts every certificate, but checks that the server holds its key.
#[derive(Debug)]
struct AcceptAnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AcceptAnyCertificate {
    fn verify_server_cert(
        &self,
        _certificate: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
