//! The targets that a client can connect to.

use std::{future::IntoFuture, io};

use serde_json::json;
use tokio::sync::mpsc;
use turnbuckle_client::{
    ConnectError, Dial, DialError, Pipe, Target, protocol::Revision, transport::Duplex,
};

use crate::script::{Server, plain};

// rule: N8
#[tokio::test(start_paused = true)]
async fn any_pair_of_streams_will_do() {
    let (mut server, Duplex { reader, writer }) = Server::new();
    let client = plain();
    let (connection, ()) = tokio::join!(
        client.connect((reader, writer)).into_future(),
        server.open(Revision::LATEST)
    );
    assert_eq!(connection.unwrap().server().name(), "script");
}

// A server in this process that closes the connection on the probe is opened again, like any other.
#[tokio::test(start_paused = true)]
async fn a_server_on_demand_is_reached_twice_if_need_be() {
    let (ends, mut servers) = mpsc::unbounded_channel();
    let target = Target::on_demand("built-in", move || {
        let (server, end) = Server::new();
        ends.send(server).unwrap();
        end
    });
    let client = plain();
    let (connection, ()) = tokio::join!(client.connect(target).into_future(), async {
        let mut first = servers.recv().await.unwrap();
        first.expect(json!({"method": "server/discover"})).await;
        drop(first);
        let mut second = servers.recv().await.unwrap();
        second
            .play(
                r#"
                >> {"method": "initialize"}
                << {"jsonrpc": "2.0", "id": "$id", "result": {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "s", "version": "2"}}}
                >> {"method": "notifications/initialized"}
                "#,
            )
            .await;
    });
    assert_eq!(
        connection.unwrap().server().revision(),
        Revision::V2025_06_18
    );
}

struct Nowhere;

impl Dial for Nowhere {
    fn dial(
        &mut self,
    ) -> std::pin::Pin<Box<dyn Future<Output = Result<Pipe, DialError>> + Send + '_>> {
        Box::pin(async { Err(io::Error::from(io::ErrorKind::ConnectionRefused).into()) })
    }

    fn label(&self) -> String {
        "nowhere".to_owned()
    }
}

#[tokio::test(start_paused = true)]
async fn a_way_that_cannot_be_opened_is_an_error_that_names_the_server() {
    let error = plain().connect(Target::new(Nowhere)).await.unwrap_err();
    assert!(
        matches!(error, ConnectError::Unreachable { .. }),
        "{error:?}"
    );
    assert_eq!(error.to_string(), "server `nowhere` could not be reached");
    let error = plain()
        .connect(Target::new(Nowhere))
        .named("git")
        .await
        .unwrap_err();
    assert_eq!(error.to_string(), "server `git` could not be reached");
}

// One client serves many servers at once.
#[tokio::test(start_paused = true)]
async fn a_client_connects_as_often_as_there_are_servers() {
    let client = plain();
    let (mut first, near) = Server::new();
    let (mut second, far) = Server::new();
    let (one, other, (), ()) = tokio::join!(
        client.connect(near).named("one").into_future(),
        client.connect(far).into_future(),
        first.open(Revision::V2024_11_05),
        second.open(Revision::LATEST),
    );
    let (one, other) = (one.unwrap(), other.unwrap());
    assert_eq!(one.server().revision(), Revision::V2024_11_05);
    assert_eq!(other.server().revision(), Revision::LATEST);
    drop(first);
    let error = one.ping().await.unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("the connection to server `one` ended"),
        "{error}"
    );
    assert!(!other.is_closed());
}
