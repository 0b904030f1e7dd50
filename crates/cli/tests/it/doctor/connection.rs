//! Servers that cannot be reached: names, ports, proxies, TLS.

use tokio::net::TcpSocket;

use super::*;

/// A port at which nothing listens. No other process can get it while the socket is kept.
fn closed_port() -> (TcpSocket, u16) {
    let socket = TcpSocket::new_v4().expect("there are sockets");
    socket
        .bind("127.0.0.1:0".parse().expect("it is an address"))
        .expect("there is a port");
    let port = socket.local_addr().expect("it has one").port();
    (socket, port)
}

#[test]
fn a_name_without_an_address() {
    let diagnosis = doctor(&["--timeout", "20", "http://no-such-host.invalid/mcp"]);
    diagnosis.errors_are(3, &["connect.resolve"]);
    diagnosis.warns_of("connect.cleartext");
}

#[test]
fn a_port_at_which_nothing_listens() {
    let (_socket, port) = closed_port();
    let url = format!("http://127.0.0.1:{port}/mcp");
    let diagnosis = doctor(&[&url]);
    diagnosis.errors_are(3, &["connect.tcp"]);
}

#[test]
fn a_proxy_that_is_not_there() {
    let (_socket, port) = closed_port();
    let proxy = format!("http://me:sesame-open-up@127.0.0.1:{port}");
    let diagnosis = doctor(&["--proxy", &proxy, "https://example.invalid/mcp"]);
    diagnosis.errors_are(3, &["connect.proxy"]);
    assert!(!diagnosis.report.to_string().contains("sesame"));
}

/// A port that answers every connection with this text.
fn answering(said: &'static [u8]) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a port");
    let port = listener.local_addr().expect("it has one").port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let _ = stream.write_all(said);
            // Until the other side closes the connection.
            let _ = stream.read_to_end(&mut Vec::new());
        }
    });
    port
}

/// Something else listens at the port, and the report says what it is.
#[test]
fn a_port_that_speaks_no_http() {
    let port = answering(b"SSH-2.0-OpenSSH_9.6\r\n");
    let diagnosis = doctor(&[&format!("http://127.0.0.1:{port}/mcp")]);
    diagnosis.errors_are(4, &["http.not-http"]);
    diagnosis.has_seen("http.not-http", "SSH-2.0");
}

/// The report of a server at this URL, which a config file names.
fn configured(url: &str) -> Diagnosis {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let file = folder.path().join("mcp.json");
    let text = format!(r#"{{"mcpServers":{{"files":{{"type":"http","url":"{url}"}}}}}}"#);
    std::fs::write(&file, text).expect("it can be written");
    let file = file.to_str().expect("the path is UTF-8");
    doctor(&["--config", file, "files"])
}

/// The command line rejects such a URL at once, but a config file may contain it.
#[test]
fn a_url_with_an_impossible_port() {
    configured("http://127.0.0.1:99999/mcp").errors_are(3, &["connect.url"]);
}

/// Such a URL is rejected at once, also in a config file.
#[test]
fn a_url_with_a_password_in_it() {
    let diagnosis = configured("https://me:sesame@127.0.0.1/mcp");
    assert_eq!(diagnosis.code, 2, "{}", diagnosis.report);
    let said = diagnosis.report["error"]["message"].to_string();
    assert!(said.contains("has a user name or a password"), "{said}");
    assert!(!said.contains("sesame"), "{said}");
}

/// A certificate for a name that is valid between these days, counted from now, with its key.
fn certificate(folder: &Path, name: &str, from: i64, until: i64) -> (String, String) {
    let mut params =
        rcgen::CertificateParams::new(vec![name.to_owned()]).expect("the name can be written");
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
fn certificates_that_are_not_trusted() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let (certificate_file, key) = certificate(folder.path(), "127.0.0.1", -30, 300);
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
}

#[test]
fn certificates_that_are_too_old() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let (certificate_file, key) = certificate(folder.path(), "127.0.0.1", -30, -3);
    let site = Site::broken("none", &[&certificate_file, &key]);
    let diagnosis = site.at("https", "/mcp", &["--cacert", &certificate_file]);
    diagnosis.errors_are(3, &["tls.expired"]);

    let (certificate_file, key) = certificate(folder.path(), "127.0.0.1", -30, 5);
    let site = Site::broken("none", &[&certificate_file, &key]);
    let diagnosis = site.at("https", "/mcp", &["--cacert", &certificate_file]);
    diagnosis.warns_of("tls.expires-soon");
}

#[test]
fn a_certificate_for_another_name() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let (certificate_file, key) = certificate(folder.path(), "other.example", -30, 300);
    let site = Site::broken("none", &[&certificate_file, &key]);
    let diagnosis = site.at("https", "/mcp", &["--cacert", &certificate_file]);
    diagnosis.errors_are(3, &["tls.name"]);
}

/// The server requires something of TLS that the client does not support, and sends an alert.
#[test]
fn a_server_that_does_not_agree_on_tls() {
    // A fatal alert (2) in a record of alerts (21) of TLS 1.2: the handshake failed (40).
    let port = answering(&[21, 3, 3, 0, 2, 2, 40]);
    let diagnosis = doctor(&[&format!("https://127.0.0.1:{port}/mcp")]);
    diagnosis.errors_are(3, &["tls.handshake"]);
    diagnosis.has_seen("tls.handshake", "HandshakeFailure");
}

#[test]
fn a_plain_server_at_a_url_with_tls() {
    let site = Site::broken("none", &[]);
    let diagnosis = site.at("https", "/mcp", &["--timeout", "20"]);
    diagnosis.errors_are(3, &["tls.plain"]);
}
