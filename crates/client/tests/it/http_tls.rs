//! Servers at `https` URLs, with certificates of a private authority, and through a tunnel.

use std::{
    convert::Infallible,
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll},
};

use http_body_util::{BodyExt, Full};
use hyper::{
    Request, Response, Version,
    body::{Bytes, Incoming},
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};
use turnbuckle_client::{
    CallError, ConnectError, HttpTarget,
    transport::http::{Listener, Settings, Tls, serve},
};

use crate::http_site::{chain, discovered, plain, text};

type Versions = Arc<Mutex<Vec<Version>>>;

/// A modern server with TLS, and its certificate authority.
struct Secured {
    port: u16,
    certificate: String,
    versions: Versions,
    _tasks: JoinSet<()>,
}

impl Secured {
    async fn start() -> Self {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let certificate = made.cert.pem();
        let key = made.signing_key.serialize_pem();
        let tls = Tls::from_pem(certificate.as_bytes(), key.as_bytes()).unwrap();
        let listener = Listener::bind("127.0.0.1:0").await.unwrap().with_tls(tls);
        let port = listener.local_address().unwrap().port();
        let versions = Versions::default();
        let service = Modern(versions.clone());
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let never = std::future::pending::<()>();
            serve(listener, service, Settings::default(), never)
                .await
                .unwrap();
        });
        Self {
            port,
            certificate,
            versions,
            _tasks: tasks,
        }
    }

    fn target(&self) -> HttpTarget {
        HttpTarget::new(format!("https://localhost:{}/mcp", self.port)).no_proxy()
    }
}

/// Answers requests, and records the version of HTTP.
#[derive(Clone)]
struct Modern(Versions);

impl tower_service::Service<Request<Incoming>> for Modern {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Incoming>) -> Self::Future {
        self.0.lock().unwrap().push(request.version());
        Box::pin(async move {
            let body = request.into_body().collect().await.ok();
            let message = body.and_then(|body| serde_json::from_slice(&body.to_bytes()).ok());
            let Some(message): Option<Value> = message else {
                // A request that was cut off, or a GET for the stream of an older revision.
                let refusal = Response::builder().status(400);
                return Ok(refusal.body(Full::default()).unwrap());
            };
            let result = if message["method"] == "server/discover" {
                discovered()
            } else {
                text("hello")
            };
            let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
            let response = Response::builder().header("content-type", "application/json");
            Ok(response.body(Full::new(answer.to_string().into())).unwrap())
        })
    }
}

#[tokio::test]
async fn a_private_authority_is_believed_once_it_is_added_and_http2_is_spoken() {
    let site = Secured::start().await;
    let error = plain().connect(site.target()).await.unwrap_err();
    assert!(
        matches!(error, ConnectError::Unreachable { .. }),
        "{error:?}"
    );
    assert!(chain(&error).contains("certificate"), "{}", chain(&error));
    let target = site.target().root_certificate(site.certificate.clone());
    let server = plain().connect(target).await.unwrap();
    let (one, two) = tokio::join!(async { server.call("t", ()).await }, async {
        server.call("t", ()).await
    },);
    assert_eq!(one.unwrap().text(), "hello");
    assert_eq!(two.unwrap().text(), "hello");
    assert_eq!(*site.versions.lock().unwrap(), [Version::HTTP_2; 3]);
}

#[tokio::test]
async fn an_unreadable_certificate_is_reported() {
    let site = Secured::start().await;
    let target = site.target().root_certificate("no certificate");
    let error = plain().connect(target).await.unwrap_err();
    assert!(
        matches!(error, ConnectError::Misconfigured { .. }),
        "{error:?}"
    );
}

#[tokio::test]
async fn anybody_is_believed_only_if_that_was_asked_for() {
    let site = Secured::start().await;
    let target = site.target().danger_accept_invalid_certs();
    let server = plain().connect(target).await.unwrap();
    assert_eq!(server.call("t", ()).await.unwrap().text(), "hello");
}

/// A proxy that opens tunnels, or refuses them.
async fn proxy(answer: &'static str) -> (String, Arc<Mutex<Vec<String>>>, JoinSet<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let heads = Arc::new(Mutex::new(Vec::new()));
    let log = heads.clone();
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let mut tunnels = JoinSet::new();
        loop {
            let (client, _) = listener.accept().await.unwrap();
            tunnels.spawn(tunnel(client, answer, log.clone()));
        }
    });
    (address, heads, tasks)
}

async fn tunnel(mut client: TcpStream, answer: &'static str, log: Arc<Mutex<Vec<String>>>) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(client.read_u8().await.unwrap());
    }
    let head = String::from_utf8(head).unwrap();
    let to = head.split(' ').nth(1).unwrap().to_owned();
    log.lock().unwrap().push(head);
    client.write_all(answer.as_bytes()).await.unwrap();
    if answer.contains("200") {
        let mut server = TcpStream::connect(to).await.unwrap();
        let _ = copy_bidirectional(&mut client, &mut server).await;
    }
}

#[tokio::test]
async fn a_proxy_makes_a_tunnel_to_an_https_server() {
    let site = Secured::start().await;
    let (address, heads, _tasks) = proxy("HTTP/1.1 200 OK\r\n\r\n").await;
    let target = site
        .target()
        .root_certificate(site.certificate.clone())
        .header("x-key", "sesame")
        .proxy(format!("http://me:secret@{address}"));
    let server = plain().connect(target).await.unwrap();
    assert_eq!(server.call("t", ()).await.unwrap().text(), "hello");
    let head = heads.lock().unwrap()[0].to_ascii_lowercase();
    assert!(
        head.starts_with(&format!("connect localhost:{} ", site.port)),
        "{head}"
    );
    assert!(
        head.contains("proxy-authorization: basic bwu6c2vjcmv0"),
        "{head}"
    );
    // Headers for the server are not sent to the proxy.
    assert!(!head.contains("sesame"), "{head}");
}

#[tokio::test]
async fn a_proxy_that_refuses_is_told() {
    let site = Secured::start().await;
    let refusal = "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n";
    let (address, _heads, _tasks) = proxy(refusal).await;
    let target = site.target().proxy(format!("http://{address}"));
    let error = plain().connect(target).await.unwrap_err();
    assert!(
        matches!(error, ConnectError::Unreachable { .. }),
        "{error:?}"
    );
    assert!(chain(&error).contains("proxy"), "{}", chain(&error));
}

/// A port that forwards to another, and closes each connection after this many bytes of the server.
async fn cut_after(port: u16, bytes: u64) -> (u16, JoinSet<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let near = listener.local_addr().unwrap().port();
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            tokio::spawn(async move {
                let server = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
                let (mut from_client, mut to_client) = client.into_split();
                let (from_server, mut to_server) = server.into_split();
                let asking = tokio::spawn(async move {
                    // Both directions end when one connection ends.
                    let _ = tokio::io::copy(&mut from_client, &mut to_server).await;
                });
                let _ = tokio::io::copy(&mut from_server.take(bytes), &mut to_client).await;
                asking.abort();
            });
        }
    });
    (near, tasks)
}

#[tokio::test]
async fn tls_that_ends_early_is_an_error_wherever_it_ends() {
    let site = Secured::start().await;
    let (mut refused, mut lost, mut answered) = (0, 0, 0);
    for bytes in (0..6000).step_by(120) {
        let (port, _tasks) = cut_after(site.port, bytes).await;
        let target = HttpTarget::new(format!("https://localhost:{port}/mcp"))
            .no_proxy()
            .root_certificate(site.certificate.clone());
        let work = async {
            let server = match plain().connect(target).await {
                Ok(server) => server,
                Err(
                    ConnectError::Unreachable { .. }
                    | ConnectError::Refused { .. }
                    | ConnectError::Ended { .. },
                ) => return refused += 1,
                Err(error) => panic!("after {bytes} bytes: {error:?}"),
            };
            match server.call("t", ()).await {
                Ok(output) => {
                    assert_eq!(output.text(), "hello");
                    answered += 1;
                }
                // An answer that was cut off is not taken for an answer.
                Err(
                    error @ (CallError::Malformed { .. }
                    | CallError::Rejected { .. }
                    | CallError::Deadline { .. }),
                ) => panic!("after {bytes} bytes: {error:?}"),
                Err(_) => lost += 1,
            }
        };
        let ended = tokio::time::timeout(std::time::Duration::from_mins(1), work).await;
        assert!(
            ended.is_ok(),
            "after {bytes} bytes nothing happens any more"
        );
    }
    assert!(
        refused > 0 && lost > 0 && answered > 0,
        "{refused} {lost} {answered}"
    );
}
