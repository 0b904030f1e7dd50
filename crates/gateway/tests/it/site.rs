//! Connects clients, gateways and servers in every way.

use turnbuckle_client::{Client, Connection, Era};
use turnbuckle_gateway::{Gateway, LiveGateway, UpstreamSettings};
use turnbuckle_host::{
    ServerSpec,
    config::{Launch, Remote, Wire},
};
use turnbuckle_protocol::{CreateMessageResult, ElicitResult, Root};
use turnbuckle_server::{Caller, Http, LiveServer};

use crate::{child, upstream};

/// How the gateway connects to its server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Http,
    Sse,
    Stdio,
}

/// How a client connects to the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Door {
    Http,
    Sse,
    Lines,
}

/// A combination: the client's era, the server's era, and how they are connected.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell {
    pub(crate) front: Era,
    pub(crate) door: Door,
    pub(crate) upstream: Era,
    pub(crate) way: Way,
}

/// All combinations.
pub(crate) fn cells() -> Vec<Cell> {
    let mut cells = Vec::new();
    for front in [Era::Legacy, Era::Modern] {
        for upstream in [Era::Legacy, Era::Modern] {
            for way in [Way::Http, Way::Sse, Way::Stdio] {
                for door in [Door::Http, Door::Sse, Door::Lines] {
                    let is_old = upstream == Era::Legacy || way != Way::Sse;
                    if !is_old || (door == Door::Sse && front == Era::Modern) {
                        continue;
                    }
                    cells.push(Cell {
                        front,
                        door,
                        upstream,
                        way,
                    });
                }
            }
        }
    }
    cells
}

/// Serves a server at any free port of loopback. Returns its URL.
pub(crate) async fn listen(server: LiveServer) -> String {
    let (told, address) = tokio::sync::oneshot::channel();
    tokio::spawn(async move {
        let http = Http::bind("127.0.0.1:0").announce(|address| {
            let _ = told.send(address);
        });
        server.serve(http).await
    });
    let address = address.await.expect("announced").expect("a TCP address");
    format!("http://{address}/mcp")
}

/// A server at a URL.
pub(crate) fn remote(url: &str) -> ServerSpec {
    ServerSpec::from(Launch::Remote(Remote {
        url: url.to_owned(),
        headers: Vec::new(),
        wire: Wire::Any,
    }))
}

/// A gateway with one server, which is ready.
pub(crate) async fn gateway(way: Way, era: Era) -> LiveGateway {
    gateway_with(way, UpstreamSettings::new().era(era)).await
}

/// The same with other settings.
pub(crate) async fn gateway_with(way: Way, settings: UpstreamSettings) -> LiveGateway {
    let spec = match way {
        Way::Stdio => child::spec(),
        Way::Http => remote(&listen(upstream::server().build().expect("a server")).await),
        Way::Sse => {
            let url = listen(upstream::server().build().expect("a server")).await;
            remote(&url.replace("/mcp", "/sse"))
        }
    };
    let gateway = Gateway::new("gateway", "1.0.0")
        .server_with("one", spec, settings)
        .open()
        .expect("a gateway");
    gateway.settled().await;
    assert!(
        gateway.states()[0].1.is_ready(),
        "{:?}",
        gateway.states()[0].1
    );
    gateway
}

/// A client that supports all questions and answers yes.
pub(crate) fn client(era: Era) -> Client {
    Client::new("front", "1.0.0")
        .only_era(era)
        .on_form(|_| async { Ok(ElicitResult::accept::<&str, &str>([])) })
        .on_url(|_| async { Ok(ElicitResult::accept_visit()) })
        .on_sample(|_| async { Ok(CreateMessageResult::new("model", "Paris")) })
        .roots(vec![Root::new("file:///home/ada")])
}

/// Connects a client to a gateway.
pub(crate) async fn join(client: &Client, gateway: &LiveGateway, door: Door) -> Connection {
    let connected = match door {
        Door::Lines => client.connect(gateway.server().connect()).await,
        Door::Http => {
            let url = listen(gateway.server().clone()).await;
            client.connect(url.as_str()).await
        }
        Door::Sse => {
            let url = listen(gateway.server().clone()).await;
            client.connect(url.replace("/mcp", "/sse")).await
        }
    };
    connected.expect("the gateway answers")
}

/// Connects a client to a gateway as this caller.
pub(crate) async fn join_as(client: &Client, gateway: &LiveGateway, caller: &str) -> Connection {
    let end = gateway.server().connect_as(Caller::new(caller));
    client.connect(end).await.expect("the gateway answers")
}

impl Cell {
    /// A client that supports all questions, connected to a gateway with one server.
    pub(crate) async fn open(self) -> (Connection, LiveGateway) {
        let gateway = gateway(self.way, self.upstream).await;
        let connection = join(&client(self.front), &gateway, self.door).await;
        assert_eq!(
            connection.server().revision().is_modern(),
            self.front == Era::Modern
        );
        (connection, gateway)
    }
}
