//! TLS with a certificate made by the test.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use turnbuckle_transport::http::{Listener, Settings, Tls, TlsError};

use super::http2;
use super::raw::Raw;
use super::site::Site;

struct Identity {
    certificate: CertificateDer<'static>,
    certificate_pem: String,
    key_pem: String,
}

impl Identity {
    fn new() -> Self {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        Self {
            certificate: made.cert.der().clone(),
            certificate_pem: made.cert.pem(),
            key_pem: made.signing_key.serialize_pem(),
        }
    }

    fn tls(&self) -> Tls {
        Tls::from_pem(self.certificate_pem.as_bytes(), self.key_pem.as_bytes()).unwrap()
    }

    async fn connect(
        &self,
        site: &Site,
        protocols: &[&str],
    ) -> std::io::Result<TlsStream<TcpStream>> {
        let mut roots = RootCertStore::empty();
        roots.add(self.certificate.clone()).unwrap();
        let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = protocols
            .iter()
            .map(|name| name.as_bytes().to_vec())
            .collect();
        let stream = TcpStream::connect(site.address.unwrap()).await?;
        let name = ServerName::try_from("localhost").unwrap();
        TlsConnector::from(Arc::new(config))
            .connect(name, stream)
            .await
    }
}

async fn open(tls: Tls, settings: Settings) -> Site {
    let listener = Listener::bind("127.0.0.1:0").await.unwrap().with_tls(tls);
    Site::at(listener, settings)
}

#[tokio::test]
async fn both_protocols_are_spoken_as_the_client_likes() {
    let identity = Identity::new();
    let site = open(identity.tls(), Settings::default()).await;
    for protocols in [&["http/1.1"][..], &[]] {
        let mut client = Raw::over(identity.connect(&site, protocols).await.unwrap());
        assert_eq!(client.ask("/").await, (200, "hello".to_owned()));
        let (_, peer) = client.ask("/peer").await;
        assert!(peer.contains("is_encrypted: true"), "{peer}");
    }
    let stream = identity.connect(&site, &["http/1.1", "h2"]).await.unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
    let mut client = http2::client_over(stream).await.unwrap();
    assert_eq!(
        http2::ask(&mut client, "/echo", "abc").await,
        (200, "abc".to_owned())
    );
    assert!(identity.connect(&site, &["ftp"]).await.is_err());
}

#[tokio::test]
async fn a_stream_flushes_each_piece() {
    let identity = Identity::new();
    let mut site = open(identity.tls(), Settings::default()).await;
    let mut client = Raw::over(identity.connect(&site, &[]).await.unwrap());
    client.get("/stream").await;
    let stream = site.stream().await;
    for number in 0..10 {
        let text = format!("piece {number};");
        stream.send(text.clone().into()).await.unwrap();
        client.until(&text).await;
    }
}

#[tokio::test]
async fn a_renewed_certificate_is_shown_to_whom_comes_next() {
    let (old, new) = (Identity::new(), Identity::new());
    let tls = old.tls();
    let site = open(tls.clone(), Settings::default()).await;
    let mut client = Raw::over(old.connect(&site, &[]).await.unwrap());
    tls.renew(new.certificate_pem.as_bytes(), new.key_pem.as_bytes())
        .unwrap();
    assert!(old.connect(&site, &[]).await.is_err());
    assert!(new.connect(&site, &[]).await.is_ok());
    assert_eq!(client.ask("/").await.0, 200, "who is here stays");
}

#[tokio::test]
async fn a_handshake_that_takes_too_long_is_cut_off() {
    let settings = Settings::default().with_header_timeout(Duration::from_millis(300));
    let site = open(Identity::new().tls(), settings).await;
    let start = Instant::now();
    let mut client = site.connect().await;
    client.send("\u{16}\u{3}\u{1}").await;
    assert_eq!(client.rest().await, "");
    assert!(start.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn a_client_without_tls_is_not_answered() {
    let site = open(Identity::new().tls(), Settings::default()).await;
    let mut client = site.connect().await;
    client.get("/").await;
    assert!(!client.rest().await.contains("HTTP"));
}

#[tokio::test]
async fn a_connection_too_many_is_told_so() {
    let identity = Identity::new();
    let site = open(identity.tls(), Settings::default().with_max_connections(1)).await;
    let mut one = Raw::over(identity.connect(&site, &[]).await.unwrap());
    assert_eq!(one.ask("/").await.0, 200);
    let mut two = Raw::over(identity.connect(&site, &[]).await.unwrap());
    assert_eq!(two.ask("/").await.0, 503);
}

#[test]
fn what_cannot_be_used_is_named() {
    let (one, two) = (Identity::new(), Identity::new());
    let pem = |identity: &Identity| identity.certificate_pem.clone().into_bytes();
    let key = |identity: &Identity| identity.key_pem.clone().into_bytes();
    let error = Tls::from_pem(b"", &key(&one)).unwrap_err();
    assert!(matches!(error, TlsError::NoCertificate), "{error}");
    let error = Tls::from_pem(&pem(&one), b"").unwrap_err();
    assert!(matches!(error, TlsError::Key { .. }), "{error}");
    let error = Tls::from_pem(&pem(&one), &key(&two)).unwrap_err();
    assert!(matches!(error, TlsError::Unusable { .. }), "{error}");
    let broken = "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n";
    let error = Tls::from_pem(broken.as_bytes(), &key(&one)).unwrap_err();
    assert!(matches!(error, TlsError::Certificate { .. }), "{error}");
    let error = Tls::open("/nonexistent.pem", "/nonexistent.key").unwrap_err();
    assert!(error.to_string().contains("/nonexistent.pem"));
    assert!(!format!("{:?}", one.tls()).contains("key"));
}
