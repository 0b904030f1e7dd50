//! A gateway that passes requests on to servers by their headers, over real sockets.

use std::net::SocketAddr;

use axum::{
    Router,
    body::{Body, to_bytes},
    extract::{Request, State},
    response::{IntoResponse, Response},
};
use http::StatusCode;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde_json::json;
use tokio::{net::TcpStream, sync::oneshot};
use turnbuckle_protocol::{
    Revision,
    http::{are_checked, header},
};
use turnbuckle_transport::http::{Listener, Settings, serve};

use super::{
    ask::{Ask, call},
    raw::Raw,
    site::Site,
};

/// The longest body that is passed on, in bytes.
const LONGEST: usize = 1024 * 1024;

/// Passes calls of `now` to the first server and all other requests to the second, by the header
/// alone.
async fn forward(State(servers): State<[SocketAddr; 2]>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let told = |name| head.headers.get(name).and_then(|it| it.to_str().ok());
    if !are_checked(told(header::PROTOCOL_VERSION)) {
        return StatusCode::BAD_REQUEST.into_response();
    }
    let server = servers[usize::from(told(header::NAME) != Some("now"))];
    let body = to_bytes(body, LONGEST).await.expect("a short body");
    let stream = TcpStream::connect(server)
        .await
        .expect("the server listens");
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream))
        .await
        .expect("it speaks HTTP");
    tokio::spawn(connection);
    // With every header of the request, known or not.
    let request = http::Request::from_parts(head, Body::from(body));
    let response = sender.send_request(request).await.expect("it answers");
    response.map(Body::new)
}

// streamable-http: an intermediary MUST forward `Mcp-Param` headers that it does not know, and
// SHOULD reject requests whose headers the server does not check.
// rule: X6
#[tokio::test]
async fn a_gateway_sends_on_every_argument_and_trusts_no_old_headers() {
    let sites = [Site::start().await, Site::start().await];
    let servers = [sites[0].address, sites[1].address];
    let listener = Listener::bind("127.0.0.1:0").await.expect("a listener");
    let gateway = listener.local_address().expect("an address");
    let router = Router::new().fallback(forward).with_state(servers);
    let (_stop, stopped) = oneshot::channel::<()>();
    tokio::spawn(serve(listener, router, Settings::default(), async {
        let _ = stopped.await;
    }));
    let ask = async |ask: Ask| Raw::connect(gateway).await.ask(ask).await;

    let now = ask(Ask::call("now", json!({}))).await;
    assert_eq!(now.json()["result"]["content"][0]["text"], "now");
    // The server rejects the call without the header, and ignores headers that none of its tools
    // uses.
    let arguments = || json!({ "region": "eu" });
    let with = Ask::call("mirrored", arguments()).with("mcp-param-region", "eu");
    assert_eq!(ask(with.clone()).await.status(), 200);
    let more = with.clone().with("mcp-param-of-another-tool", "x");
    assert_eq!(ask(more).await.status(), 200);
    let without = ask(Ask::call("mirrored", arguments())).await;
    assert_eq!((without.status(), without.code()), (400, -32020));
    // A header that leads to the wrong server is detected by that server.
    let astray = ask(with.with("mcp-name", "now")).await;
    assert_eq!((astray.status(), astray.code()), (400, -32020));

    for &revision in Revision::LEGACY {
        let old = Ask::post(call(1, "wait"))
            .with("mcp-protocol-version", revision.as_str())
            .with("mcp-name", "now");
        assert_eq!(ask(old).await.status(), 400, "{revision}");
    }
    let bare = Ask::post(call(1, "wait")).with("mcp-name", "now");
    assert_eq!(ask(bare).await.status(), 400);
    for site in &sites {
        assert_eq!(site.gate.count_arrived(), 0, "nothing old came through");
    }
}
