//! Where a server can be reached: HTTP/2, TLS, unix sockets, below a prefix in an axum router.

use std::{convert::Infallible, sync::Arc};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::{Value, json};
use tokio::{net::TcpStream, sync::oneshot, time::timeout};
use tokio_rustls::{
    TlsConnector,
    rustls::{ClientConfig, RootCertStore, crypto::ring, pki_types::ServerName},
};
use turnbuckle_protocol::Revision;
use turnbuckle_server::{Http, LiveServer};
use turnbuckle_transport::http::{Listener, Settings, Tls, serve};

use super::{
    ask::{Ask, call, modern_message, notice, request},
    raw::Raw,
    site::Site,
};
use crate::{gate::Gate, wire::TIMEOUT};

type Http2 = http2::SendRequest<Full<Bytes>>;

async fn http2_over<I>(io: I) -> Http2
where
    I: hyper::rt::Read + hyper::rt::Write + Unpin + Send + 'static,
{
    let (sender, connection) = http2::handshake(TokioExecutor::new(), io)
        .await
        .expect("HTTP/2");
    tokio::spawn(connection);
    sender
}

fn modern(tool: &str) -> http::Request<Full<Bytes>> {
    let params = json!({
        "name": tool, "arguments": { "count": 1 }, "_meta": { "progressToken": "t" },
    });
    let message = modern_message(1, "tools/call", params);
    posted(&message)
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/call")
        .header("mcp-name", tool)
        .body(Full::from(message.to_string()))
        .expect("a request")
}

fn posted(_message: &Value) -> http::request::Builder {
    http::Request::post("http://localhost/mcp")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
}

async fn text(response: http::Response<hyper::body::Incoming>) -> String {
    let body = timeout(TIMEOUT, response.into_body().collect()).await;
    let bytes = body.expect("it ends in time").expect("a body").to_bytes();
    String::from_utf8(bytes.to_vec()).expect("text")
}

#[tokio::test]
async fn http2_with_prior_knowledge() {
    let site = Site::start().await;
    let socket = TcpStream::connect(site.address)
        .await
        .expect("a connection");
    let mut client = http2_over(TokioIo::new(socket)).await;
    let answer = client.send_request(modern("now")).await.expect("an answer");
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.version(), http::Version::HTTP_2);
    assert!(text(answer).await.contains("\"now\""));

    // A stream and a call at the same time on one connection.
    let stream = client
        .send_request(modern("steps"))
        .await
        .expect("an answer");
    assert_eq!(stream.headers()["content-type"], "text/event-stream");
    assert_eq!(
        client
            .send_request(modern("now"))
            .await
            .expect("an answer")
            .status(),
        200
    );
    site.gate.open(1);
    assert!(text(stream).await.contains("1 steps"));

    // Resetting a stream cancels its call, but nothing else.
    let waiting = client
        .send_request(modern("steps"))
        .await
        .expect("an answer");
    site.gate.arrived(2).await;
    drop(waiting);
    site.gate.dropped(1).await;
    assert_eq!(
        client
            .send_request(modern("now"))
            .await
            .expect("an answer")
            .status(),
        200
    );

    // A session.
    let message = json!({
        "jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "raw", "version": "1" },
        },
    });
    let ask = posted(&message)
        .body(Full::from(message.to_string()))
        .expect("a request");
    let opened = client.send_request(ask).await.expect("an answer");
    let id = opened.headers()["mcp-session-id"].clone();
    let message = call(1, "now");
    let ask = posted(&message).header("mcp-session-id", id);
    let ask = ask
        .body(Full::from(message.to_string()))
        .expect("a request");
    assert_eq!(
        client.send_request(ask).await.expect("an answer").status(),
        200
    );

    let mut stranger = modern("now");
    *stranger.uri_mut() = http::Uri::from_static("http://evil.example/mcp");
    assert_eq!(
        client
            .send_request(stranger)
            .await
            .expect("an answer")
            .status(),
        403
    );
}

#[tokio::test]
async fn tls_with_either_version_of_http() {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let (certificate, key) = (made.cert.pem(), made.signing_key.serialize_pem());
    let tls = Tls::from_pem(certificate.as_bytes(), key.as_bytes()).expect("a certificate");
    let site = Site::with(|http| http.tls(tls)).await;

    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).expect("a root");
    for protocol in ["http/1.1", "h2"] {
        let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_root_certificates(roots.clone())
            .with_no_client_auth();
        config.alpn_protocols = vec![protocol.into()];
        let name = ServerName::try_from("localhost").expect("a name");
        let socket = TcpStream::connect(site.address)
            .await
            .expect("a connection");
        let stream = TlsConnector::from(Arc::new(config))
            .connect(name, socket)
            .await
            .expect("TLS");
        if protocol == "h2" {
            let mut client = http2_over(TokioIo::new(stream)).await;
            let answer = client.send_request(modern("now")).await.expect("an answer");
            assert_eq!(answer.status(), 200);
        } else {
            let mut raw = Raw::over(stream);
            assert_eq!(raw.ask(Ask::call("now", json!({}))).await.status(), 200);
            let opened = raw.ask(Ask::initialize(Revision::V2025_06_18)).await;
            assert!(opened.head.get("mcp-session-id").is_some());
        }
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_unix_socket() {
    let folder = std::env::temp_dir().join(format!("turnbuckle-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join("mcp.sock");
    let live = Gate::new().live();
    let (announce, announced) = oneshot::channel();
    let http = Http::unix(&path)
        .settings(turnbuckle_server::HttpSettings::default())
        .announce(|address| {
            let _ = announce.send(address);
        });
    let serving = tokio::spawn(async move { live.serve(http).await });
    assert_eq!(announced.await, Ok(None));
    let socket = tokio::net::UnixStream::connect(&path)
        .await
        .expect("a connection");
    let mut raw = Raw::over(socket);
    // Clients of the socket may name any host; web pages still may not use it.
    let ask = || Ask::call("now", json!({})).with("host", "whatever");
    assert_eq!(raw.ask(ask()).await.status(), 200);
    assert_eq!(
        raw.ask(ask().with("origin", "https://evil.example"))
            .await
            .status(),
        403
    );
    serving.abort();
    let _ = serving.await;
    assert!(!path.exists(), "the file goes with the server");
    std::fs::remove_dir_all(folder).expect("an empty folder");
}

/// A router that serves the server below a prefix, and its address.
async fn nested(live: &LiveServer) -> (std::net::SocketAddr, oneshot::Sender<()>) {
    let service = live.http();
    let closing = service.clone();
    let router = axum::Router::new()
        .route("/", axum::routing::get(async || "the site"))
        .nest_service("/api/mcp", service);
    let listener = Listener::bind("127.0.0.1:0").await.expect("a listener");
    let address = listener.local_address().expect("an address");
    let (stop, stopped) = oneshot::channel::<()>();
    tokio::spawn(serve(listener, router, Settings::default(), async move {
        let _ = stopped.await;
        closing.begin_shutdown();
    }));
    (address, stop)
}

#[tokio::test]
async fn under_a_prefix_of_a_router() {
    let gate = Gate::new();
    let live = gate.live();
    let (address, stop) = nested(&live).await;
    let ask = async |ask: Ask| Raw::connect(address).await.ask(ask).await;
    assert_eq!(ask(Ask::new("GET", "/")).await.text(), "the site");
    for path in ["/api/mcp", "/api/mcp/"] {
        let answer = ask(Ask::call("now", json!({})).at(path)).await;
        assert_eq!(answer.status(), 200, "{path}");
    }
    let opened = ask(Ask::initialize(Revision::V2025_11_25).at("/api/mcp")).await;
    let id = opened
        .head
        .get("mcp-session-id")
        .expect("a session")
        .to_owned();
    let listen = Ask::get().at("/api/mcp").with("mcp-session-id", &id);
    let mut standing = Raw::streaming(address, listen).await;
    standing.event().await.expect("the priming event");

    // 2024-11-05: the URL to which the client posts is below the prefix, too.
    let sse = Ask::new("GET", "/api/mcp/sse").with("accept", "text/event-stream");
    let mut stream = Raw::streaming(address, sse).await;
    let place = stream.event().await.expect("the endpoint").data;
    assert!(
        !place.starts_with('/') && !place.contains(':'),
        "{place} is relative"
    );
    let params = json!({
        "protocolVersion": "2024-11-05", "capabilities": {},
        "clientInfo": { "name": "raw", "version": "1" },
    });
    for message in [
        request(0, "initialize", params),
        notice("notifications/initialized", json!({})),
        call(1, "now"),
    ] {
        let post = Ask::new("POST", &format!("/api/mcp/{place}"))
            .with("content-type", "application/json")
            .body(message.to_string());
        assert_eq!(ask(post).await.status(), 202);
    }
    assert_eq!(stream.message().await["id"], 0);
    assert_eq!(stream.message().await["id"], 1);
    let card = ask(Ask::new("GET", "/api/mcp/server-card")).await;
    assert_eq!(card.status(), 200);

    drop(stop);
    assert_eq!(standing.rest().await, []);
    assert_eq!(stream.rest().await, []);
}

#[tokio::test]
async fn at_a_path_of_its_own() {
    for (path, endpoint) in [("/", "/"), ("/deep/down/", "/deep/down"), ("x", "/x")] {
        let site = Site::with(|http| http.path(path)).await;
        let answer = site.ask(Ask::call("now", json!({})).at(endpoint)).await;
        assert_eq!(answer.status(), 200, "{path}");
        let nowhere = site.ask(Ask::call("now", json!({})).at("/else")).await;
        assert_eq!(nowhere.status(), 404);
        assert!(
            nowhere.text().contains(&format!("`{endpoint}`")),
            "{}",
            nowhere.text()
        );
        let sse = Ask::new("GET", "/sse").with("accept", "text/event-stream");
        Raw::streaming(site.address, sse)
            .await
            .event()
            .await
            .expect("the endpoint");
    }
}

/// The service fulfils the requirements of tower and axum.
#[test]
fn the_service_is_a_tower_service() {
    fn is_service<S>(_: &S)
    where
        S: tower_service::Service<http::Request<Full<Bytes>>, Error = Infallible>,
        S: Clone + Send + Sync + 'static,
    {
    }
    is_service(&Gate::new().live().http());
}
