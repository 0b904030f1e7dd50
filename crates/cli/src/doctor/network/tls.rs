//! TLS by hand: what the server shows, whether or not it is believed. Whether it is believed is
//! seen with the first request, which is made as every client makes it.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant, SystemTime},
};

use tokio::{net::TcpStream, time::timeout};
use tokio_rustls::{
    TlsConnector,
    rustls::{
        ClientConfig, DigitallySignedStruct, Error, SignatureScheme,
        client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
        crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature},
        pki_types::{CertificateDer, ServerName, UnixTime},
    },
};

use super::certificate::{Validity, validity};
use crate::{
    doctor::{finding::Finding, patience::Patience, report::Report, table::tls},
    show::elapsed,
};

/// Two weeks: less, and a renewal has failed already, for they are made a month ahead.
const SOON: Duration = Duration::from_hours(24 * 14);

const DAY: u64 = 86_400;

/// Makes a TLS connection and looks at the certificate. `None` if there can be none.
pub(super) async fn look(
    report: &Report,
    host: &str,
    stream: TcpStream,
    patience: Patience,
) -> Option<()> {
    report.step("making a TLS connection");
    let shown = Arc::new(Shown::default());
    let connector = TlsConnector::from(config(shown.clone())?);
    let name = ServerName::try_from(host.trim_matches(['[', ']']).to_owned()).ok()?;
    let began = Instant::now();
    let handshake = timeout(patience.probe, connector.connect(name, stream)).await;
    let said = match handshake {
        Ok(Ok(connection)) => {
            let version = connection.get_ref().1.protocol_version();
            let version = version.map_or_else(String::new, |version| format!("{version:?}, "));
            let version = version.replace("TLSv1_", "TLS 1.");
            report.ok(
                &tls::HANDSHAKE,
                format!("{version}{}", elapsed(began.elapsed())),
            );
            look_at_dates(report, shown.validity());
            return Some(());
        }
        Ok(Err(error)) => error.to_string(),
        Err(_) => "no answer in time".to_owned(),
    };
    // A plain HTTP server answers the first message of TLS with text.
    let finding = if said.contains("InvalidContentType") || said.contains("corrupt message") {
        Finding::of(&tls::PLAIN, "the port does not speak TLS")
    } else {
        Finding::of(&tls::HANDSHAKE, format!("no TLS connection: {said}"))
    };
    report.add(finding.seen(said));
    None
}

/// Whether TLS is spoken, by whomever.
pub(super) async fn is_spoken(host: &str, stream: TcpStream, patience: Patience) -> bool {
    let (Some(config), Ok(name)) = (
        config(Arc::default()),
        ServerName::try_from(host.to_owned()),
    ) else {
        return false;
    };
    let handshake = TlsConnector::from(config).connect(name, stream);
    matches!(timeout(patience.probe, handshake).await, Ok(Ok(_)))
}

fn look_at_dates(report: &Report, validity: Option<Validity>) {
    let Some(validity) = validity else { return };
    let now = SystemTime::now();
    if validity.from > now {
        report.add(Finding::of(
            &tls::EXPIRED,
            "the certificate is not valid yet",
        ));
        return;
    }
    match validity.until.duration_since(now) {
        Err(past) => {
            let days = past.duration().as_secs() / DAY;
            let said = format!("the certificate has expired {days} days ago");
            report.add(Finding::of(&tls::EXPIRED, said));
        }
        Ok(left) => {
            let said = format!("the certificate expires in {} days", left.as_secs() / DAY);
            if left < SOON {
                report.add(Finding::of(&tls::EXPIRES_SOON, said));
            } else {
                report.ok(&tls::EXPIRES_SOON, said);
            }
        }
    }
}

fn config(shown: Arc<Shown>) -> Option<Arc<ClientConfig>> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .ok()?;
    let witness = Arc::new(Witness { provider, shown });
    let config = builder
        .dangerous()
        .with_custom_certificate_verifier(witness)
        .with_no_client_auth();
    Some(Arc::new(config))
}

/// The certificate that a server showed.
#[derive(Debug, Default)]
struct Shown(Mutex<Option<Vec<u8>>>);

impl Shown {
    fn validity(&self) -> Option<Validity> {
        let shown = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        validity(shown.as_deref()?)
    }
}

/// Looks at certificates and believes them all: nothing is sent over such a connection.
#[derive(Debug)]
struct Witness {
    provider: Arc<CryptoProvider>,
    shown: Arc<Shown>,
}

impl ServerCertVerifier for Witness {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let mut shown = self.shown.0.lock().unwrap_or_else(PoisonError::into_inner);
        *shown = Some(certificate.as_ref().to_vec());
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        let algorithms = &self.provider.signature_verification_algorithms;
        algorithms.supported_schemes()
    }
}

/// What is wrong with a certificate, told by the error of a request that was refused because of it.
pub(crate) fn distrust(said: &str) -> Option<Finding> {
    let lower = said.to_ascii_lowercase();
    let has = |word: &str| lower.contains(word);
    if !has("certificate") && !has("unknownissuer") {
        return None;
    }
    let (check, message) = if has("expired") || has("not valid yet") || has("notvalidyet") {
        (&tls::EXPIRED, "the certificate is not valid today")
    } else if has("not valid for name") || has("notvalidforname") {
        (&tls::NAME, "the certificate is for another host")
    } else {
        (&tls::CHAIN, "the certificate is not trusted here")
    };
    Some(Finding::of(check, message).seen(said))
}
