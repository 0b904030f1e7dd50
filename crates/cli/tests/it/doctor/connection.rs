//! No way to a server: names, ports, proxies, TLS.

use super::*;

/// A port at which nothing listens.
fn closed_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a port");
    listener.local_addr().expect("it has one").port()
}

#[test]
fn a_name_without_an_address() {
    let diagnosis = doctor(&["--timeout", "20", "https://no-such-host.invalid/mcp"]);
    diagnosis.errors_are(3, &["connect.resolve"]);
}

#[test]
fn a_port_at_which_nothing_listens() {
    let url = format!("http://127.0.0.1:{}/mcp", closed_port());
    let diagnosis = doctor(&[&url]);
    diagnosis.errors_are(3, &["connect.tcp"]);
}

#[test]
fn a_proxy_that_is_not_there() {
    let proxy = format!("http://me:sesame-open-up@127.0.0.1:{}", closed_port());
    let diagnosis = doctor(&["--proxy", &proxy, "https://example.invalid/mcp"]);
    diagnosis.errors_are(3, &["connect.proxy"]);
    assert!(!diagnosis.report.to_string().contains("sesame"));
}

/// Something else listens there, and says what it is.
#[test]
fn a_port_that_speaks_no_http() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a port");
    let port = listener.local_addr().expect("it has one").port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let _ = stream.write_all(b"SSH-2.0-OpenSSH_9.6\r\n");
            // Until the other side goes.
            let _ = stream.read_to_end(&mut Vec::new());
        }
    });
    let diagnosis = doctor(&[&format!("http://127.0.0.1:{port}/mcp")]);
    diagnosis.errors_are(4, &["http.not-http"]);
    diagnosis.has_seen("http.not-http", "SSH-2.0");
}

/// A certificate for 127.0.0.1 that begins and ends so many days from now, with its key.
fn certificate(folder: &Path, from: i64, until: i64) -> (String, String) {
    let mut params = rcgen::CertificateParams::new(vec!["127.0.0.1".to_owned()])
        .expect("the name is an address");
    let now = rcgen::date_time_ymd(1970, 1, 1);
    let seconds = std::time::UNIX_EPOCH
        .elapsed()
        .expect("it is later")
        .as_secs();
    let today = now + Duration::from_secs(seconds);
    let at = |days: i64| {
        let time = Duration::from_secs(days.unsigned_abs() * 86_400);
        if days < 0 { today - time } else { today + time }
    };
    (params.not_before, params.not_after) = (at(from), at(until));
    let key = rcgen::KeyPair::generate().expect("a key can be made");
    let signed = params.self_signed(&key).expect("it can be signed");
    let write = |name: &str, text: String| {
        let path = folder.join(name);
        std::fs::write(&path, text).expect("it can be written");
        path.to_str().expect("the path is UTF-8").to_owned()
    };
    (
        write("certificate.pem", signed.pem()),
        write("key.pem", key.serialize_pem()),
    )
}

#[test]
fn certificates_that_are_not_trusted_or_too_old() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let (certificate_file, key) = certificate(folder.path(), -30, 300);
    let site = Site::broken("none", &[&certificate_file, &key]);
    let diagnosis = site.at("https", "/mcp", &[]);
    diagnosis.errors_are(3, &["tls.chain"]);
    let diagnosis = site.at("https", "/mcp", &["--cacert", &certificate_file]);
    assert!(
        diagnosis
            .wrong("error")
            .iter()
            .all(|id| !id.starts_with("tls"))
    );
    assert_eq!(diagnosis.report["revisions"][0], "2025-11-25");

    let diagnosis = site.doctor(&["--timeout", "20"]);
    diagnosis.errors_are(3, &["tls.unexpected"]);

    let (certificate_file, key) = certificate(folder.path(), -30, -3);
    let site = Site::broken("none", &[&certificate_file, &key]);
    let diagnosis = site.at("https", "/mcp", &["--cacert", &certificate_file]);
    diagnosis.errors_are(3, &["tls.expired"]);

    let (certificate_file, key) = certificate(folder.path(), -30, 5);
    let site = Site::broken("none", &[&certificate_file, &key]);
    let diagnosis = site.at("https", "/mcp", &["--cacert", &certificate_file]);
    diagnosis.warns_of("tls.expires-soon");
}

#[test]
fn a_plain_server_at_a_url_with_tls() {
    let site = Site::broken("none", &[]);
    let diagnosis = site.at("https", "/mcp", &["--timeout", "20"]);
    diagnosis.errors_are(3, &["tls.plain"]);
}
