//! Other clients that are connected while a server is measured: sessions, with or without a stream, and
//! listeners of the modern era.

use std::{net::SocketAddr, time::Duration};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    task::JoinSet,
    time::timeout,
};

use crate::{
    Result,
    load::{
        call::{self, FIRST_ID},
        http::{Connection, modern_headers, session_headers},
    },
};

/// How long a server may take to confirm one listener, under valgrind and on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(30);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Crowd {
    Nobody,
    /// Sessions that are open and silent.
    Sessions(usize),
    /// Sessions that hold a stream open.
    Streams(usize),
    /// `subscriptions/listen`, each on its own connection.
    Listeners(usize),
}

/// The connected clients, until this is dropped.
pub(crate) struct Gathered {
    _reading: JoinSet<()>,
}

pub(crate) async fn gather(crowd: Crowd, address: SocketAddr) -> Result<Gathered> {
    let mut reading = JoinSet::new();
    match crowd {
        Crowd::Nobody => {}
        Crowd::Sessions(count) => {
            let mut connection = Connection::open(address).await?;
            for _ in 0..count {
                connection.handshake().await?;
            }
        }
        Crowd::Streams(count) => {
            let mut opening = Connection::open(address).await?;
            for _ in 0..count {
                let session = opening.handshake().await?;
                reading.spawn_local(drain(stream(address, &session).await?));
            }
        }
        Crowd::Listeners(count) => {
            let filter = json!({"toolsListChanged": true});
            for _ in 0..count {
                let connection = listener(address, &filter).await?;
                reading.spawn_local(drain(connection));
            }
        }
    }
    Ok(Gathered { _reading: reading })
}

/// Reads everything that arrives, so that the server never waits for buffer space.
async fn drain(mut connection: Connection) {
    let mut buffer = [0; 1024];
    while let Ok(1..) = connection.stream.read(&mut buffer).await {}
}

/// The stream of a session for messages that belong to no request. Some servers send its head only with the first
/// event, so this does not wait for it.
async fn stream(address: SocketAddr, session: &str) -> Result<Connection> {
    let mut connection = Connection::open(address).await?;
    let headers = session_headers(session);
    let request = format!(
        "GET /mcp HTTP/1.1\r\nhost: {address}\r\naccept: text/event-stream\r\n{headers}\r\n"
    );
    connection.stream.write_all(request.as_bytes()).await?;
    Ok(connection)
}

/// A listener with this filter.
pub(crate) async fn listener(address: SocketAddr, filter: &Value) -> Result<Connection> {
    const METHOD: &str = "subscriptions/listen";
    let params = json!({"notifications": filter, "_meta": call::meta()});
    let body = call::request(METHOD, FIRST_ID, &params);
    let mut connection = Connection::open(address).await?;
    let request = connection.post(&modern_headers(METHOD, None), &body);
    connection.stream.write_all(&request).await?;
    timeout(TIMEOUT, confirmed(&mut connection))
        .await
        .map_err(|_| format!("no listener was confirmed within {TIMEOUT:?}"))??;
    Ok(connection)
}

async fn confirmed(connection: &mut Connection) -> Result<()> {
    let (mut heard, mut buffer) = (Vec::new(), [0; 1024]);
    while memchr::memmem::find(&heard, b"subscriptions/acknowledged").is_none() {
        match connection.stream.read(&mut buffer).await? {
            0 => return Err("the server closed the listener's connection".into()),
            read => heard.extend_from_slice(&buffer[..read]),
        }
        if !heard.starts_with(b"HTTP/1.1 200") {
            let said = String::from_utf8_lossy(&heard);
            return Err(format!("the server refused a listener: {said}").into());
        }
    }
    Ok(())
}
