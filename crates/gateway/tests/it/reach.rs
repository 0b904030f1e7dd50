//! A server at a URL that becomes unreachable is not reported as ready, and is found again when it
//! is back.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    task::JoinSet,
};
use turnbuckle_client::Era;
use turnbuckle_gateway::{Gateway, LiveGateway, UpstreamSettings};
use turnbuckle_host::ServerState;

use crate::{
    site::{Door, client, join, listen, remote},
    upstream,
};

/// The time limit for things that take only a moment.
const SOON: Duration = Duration::from_secs(30);

/// A socket in front of a server. Dropping it closes it with all its connections.
struct Socket {
    address: SocketAddr,
    _tasks: JoinSet<()>,
}

impl Socket {
    async fn open(at: &str, server: String) -> Self {
        let listener = TcpListener::bind(at).await.expect("a socket");
        let address = listener.local_addr().expect("an address");
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            // The connections end with the socket.
            let mut open = JoinSet::new();
            while let Ok((mut client, _)) = listener.accept().await {
                let server = server.clone();
                open.spawn(async move {
                    if let Ok(mut server) = TcpStream::connect(server).await {
                        let _ = copy_bidirectional(&mut client, &mut server).await;
                    }
                });
            }
        });
        Self {
            address,
            _tasks: tasks,
        }
    }
}

/// The address of a server that runs for as long as the test.
async fn served() -> String {
    let url = listen(upstream::server().build().expect("a server")).await;
    let address = url.strip_prefix("http://").expect("a URL");
    address.strip_suffix("/mcp").expect("a path").to_owned()
}

/// A gateway in front of a socket, and the states that it reported.
fn gateway(address: SocketAddr, era: Era) -> (LiveGateway, Arc<Mutex<Vec<ServerState>>>) {
    let states = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&states);
    let gateway = Gateway::new("gateway", "1.0.0")
        .server_with(
            "one",
            remote(&format!("http://{address}/mcp")),
            UpstreamSettings::new().era(era),
        )
        .on_state(move |_, state| told.lock().unwrap().push(state.clone()))
        .open()
        .expect("a gateway");
    (gateway, states)
}

async fn until(gateway: &LiveGateway, is_so: impl Fn(&ServerState) -> bool) -> ServerState {
    let looking = async {
        loop {
            let state = gateway.states()[0].1.clone();
            if is_so(&state) {
                return state;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let looked = tokio::time::timeout(SOON, looking).await;
    looked.unwrap_or_else(|_| panic!("it stays {:?}", gateway.states()[0].1))
}

#[tokio::test]
async fn a_server_at_a_url_that_is_gone_is_not_ready_and_comes_back() {
    for era in [Era::Legacy, Era::Modern] {
        let server = served().await;
        let socket = Socket::open("127.0.0.1:0", server.clone()).await;
        let address = socket.address;
        let (gateway, states) = gateway(address, era);
        until(&gateway, ServerState::is_ready).await;
        drop(socket);
        let gone = until(&gateway, |state| !state.is_ready()).await;
        let told = states.lock().unwrap().clone();
        let mut failures = told.iter().filter_map(ServerState::failure);
        let failure = failures.next().unwrap_or_else(|| panic!("{gone:?}"));
        assert!(failure.reason.contains("cannot be reached"), "{failure}");
        let _socket = Socket::open(&address.to_string(), server).await;
        until(&gateway, ServerState::is_ready).await;
        let client = join(&client(Era::Modern), &gateway, Door::Lines).await;
        let echoed = client.call("echo", serde_json::json!({ "text": "back" }));
        assert!(echoed.await.expect("a result").text().contains("back"));
        gateway.close().await;
    }
}

#[tokio::test]
async fn a_server_that_is_away_for_a_moment_keeps_its_session() {
    let server = served().await;
    let socket = Socket::open("127.0.0.1:0", server.clone()).await;
    let address = socket.address;
    let (gateway, states) = gateway(address, Era::Legacy);
    until(&gateway, ServerState::is_ready).await;
    let client = join(&client(Era::Modern), &gateway, Door::Lines).await;
    let before = states.lock().unwrap().len();
    drop(socket);
    let failed = client.call("echo", serde_json::json!({ "text": "away" }));
    let failed = failed.await;
    let _socket = Socket::open(&address.to_string(), server).await;
    assert!(failed.is_err(), "{failed:?}");
    // Longer than it takes to regard the server as gone.
    tokio::time::sleep(Duration::from_secs(4)).await;
    let told = states.lock().unwrap()[before..].to_vec();
    assert!(told.is_empty(), "{told:?}");
    let echoed = client.call("echo", serde_json::json!({ "text": "back" }));
    assert!(echoed.await.expect("a result").text().contains("back"));
    gateway.close().await;
}
