//! A load balancer that sends each request to the next replica, including further requests of one
//! connection.

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional},
    net::{TcpSocket, TcpStream},
    task::JoinHandle,
};

/// The longest head of a request, in bytes.
const MAX_HEAD: usize = 64 * 1024;

/// How many connections may wait to be accepted. All clients of a test reconnect at the same time
/// after a replica was killed.
const BACKLOG: u32 = 4096;

/// A load balancer, which stops when this is dropped.
pub struct Balancer {
    /// The URL of the endpoint.
    pub url: String,
    /// The address on which it listens.
    pub address: String,
    replicas: Arc<Mutex<Vec<String>>>,
    serving: JoinHandle<()>,
}

impl Balancer {
    /// Starts a load balancer in front of the replicas at these addresses. Unreachable replicas are
    /// skipped. It must be called within a runtime.
    pub fn start(replicas: Vec<String>) -> Self {
        let socket = TcpSocket::new_v4().expect("a socket");
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        socket.bind(any).expect("a port");
        let listener = socket.listen(BACKLOG).expect("it listens");
        let address = listener.local_addr().expect("an address").to_string();
        let (replicas, next) = (
            Arc::new(Mutex::new(replicas)),
            Arc::new(AtomicUsize::new(0)),
        );
        let kept = Arc::clone(&replicas);
        let serving = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (replicas, next) = (Arc::clone(&replicas), Arc::clone(&next));
                tokio::spawn(async move {
                    // A client or replica that goes away ends only this connection.
                    let _ = forward(client, &replicas, &next).await;
                });
            }
        });
        Self {
            url: format!("http://{address}/mcp"),
            address,
            replicas: kept,
            serving,
        }
    }

    /// Replaces one replica by another.
    pub fn replace(&self, number: usize, replica: String) {
        self.replicas.lock().expect("nothing panics")[number] = replica;
    }
}

impl Drop for Balancer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// Forwards one request and its response. Then the connection is closed, so that the next request
/// arrives on another one.
async fn forward(
    mut client: TcpStream,
    replicas: &Mutex<Vec<String>>,
    next: &AtomicUsize,
) -> std::io::Result<()> {
    let mut head = Vec::new();
    let end = loop {
        if let Some(end) = head.windows(4).position(|four| four == b"\r\n\r\n") {
            break end;
        }
        if client.read_buf(&mut head).await? == 0 || head.len() > MAX_HEAD {
            return Ok(());
        }
    };
    let lines = head[..end].split(|byte| *byte == b'\n');
    let mut request = Vec::new();
    for line in lines {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if !line.to_ascii_lowercase().starts_with(b"connection:") {
            request.extend_from_slice(line);
            request.extend_from_slice(b"\r\n");
        }
    }
    request.extend_from_slice(b"connection: close\r\n");
    request.extend_from_slice(&head[end + 2..]);
    let known = replicas.lock().expect("nothing panics").clone();
    let mut replica = connect(&known, next).await?;
    replica.write_all(&request).await?;
    copy_bidirectional(&mut client, &mut replica).await?;
    Ok(())
}

async fn connect(replicas: &[String], next: &AtomicUsize) -> std::io::Result<TcpStream> {
    let mut connected = Err(std::io::ErrorKind::NotFound.into());
    // Other connections change the counter meanwhile, so use a separate sequence: no replica may be
    // tried twice here.
    let first = next.fetch_add(1, Ordering::Relaxed);
    for number in (first..).take(replicas.len()) {
        connected = TcpStream::connect(&replicas[number % replicas.len()]).await;
        if connected.is_ok() {
            break;
        }
    }
    connected
}
