//! The memory of an open stream, measured in this test binary, started again as a server.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};

use turnbuckle_transport::http::Settings;

use super::site::Site;

/// 15 MB for a thousand open streams: the two buffers of hyper are 8 KiB each, and everything else must
/// fit in the rest, including the overhead of the allocator.
const MOST_BYTES: usize = 15_000_000;
const STREAMS: usize = 1000;
/// Opened first, so that memory that is only needed once is not counted.
const FIRST_STREAMS: usize = 200;

#[test]
fn a_thousand_open_streams_fit_in_15_megabytes() {
    let mut server = Server::start();
    let mut streams = Vec::new();
    for _ in 0..FIRST_STREAMS {
        streams.push(server.open_stream());
    }
    let before = server.resident_bytes();
    for _ in 0..STREAMS {
        streams.push(server.open_stream());
    }
    let grown = server.resident_bytes() - before;
    println!("{grown} bytes for {STREAMS} streams");
    assert!(grown <= MOST_BYTES, "{grown} bytes for {STREAMS} streams");
}

struct Server {
    process: Child,
    address: SocketAddr,
}

impl Server {
    fn start() -> Self {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "http::memory::server_process"])
            .arg("--nocapture")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let address = lines
            .find_map(|line| line.unwrap().strip_prefix("address ")?.parse().ok())
            .unwrap();
        Self { process, address }
    }

    /// Requests a stream and waits until it is open.
    fn open_stream(&mut self) -> TcpStream {
        let mut client = TcpStream::connect(self.address).unwrap();
        client
            .write_all(
                b"GET /stream HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\n\r\n",
            )
            .unwrap();
        let mut head = [0; 12];
        client.read_exact(&mut head).unwrap();
        assert_eq!(&head, b"HTTP/1.1 200");
        client
    }

    fn resident_bytes(&self) -> usize {
        let path = format!("/proc/{}/statm", self.process.id());
        let sizes = std::fs::read_to_string(path).unwrap();
        let pages: usize = sizes.split(' ').nth(1).unwrap().parse().unwrap();
        pages * rustix::param::page_size()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

#[test]
#[ignore = "the server that the other test starts"]
fn server_process() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut site = Site::open(Settings::default()).await;
        println!("\naddress {}", site.address.unwrap());
        let mut senders = Vec::new();
        while let Some(sender) = site.streams.recv().await {
            senders.push(sender);
        }
    });
}
