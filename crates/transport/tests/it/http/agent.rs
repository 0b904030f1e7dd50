//! An agent over plain HTTP/1.1, with servers that send exactly the bytes of the test.

use std::fmt::Write as _;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use turnbuckle_transport::http::client::{Address, Agent, AgentSettings, HeaderMap, HttpError};

const LIMIT: usize = 16 * 1024 * 1024;

struct Server {
    listener: TcpListener,
    address: Address,
}

impl Server {
    async fn start() -> (Self, Agent) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        let address = Address::parse(&format!("http://{at}/mcp?key=1")).unwrap();
        let agent = AgentSettings::new().agent(&address).unwrap();
        (Self { listener, address }, agent)
    }

    async fn accept(&self) -> TcpStream {
        self.listener.accept().await.unwrap().0
    }
}

/// Reads a request with the body `{}`.
async fn request(connection: &mut TcpStream) -> String {
    let mut read = Vec::new();
    while !read.ends_with(b"{}") {
        assert!(connection.read_buf(&mut read).await.unwrap() > 0);
    }
    String::from_utf8(read).unwrap()
}

async fn answer(connection: &mut TcpStream, answer: &str) {
    connection.write_all(answer.as_bytes()).await.unwrap();
}

async fn post(agent: &Agent, address: &Address) -> Result<Vec<u8>, HttpError> {
    let reply = agent.post(address, HeaderMap::new(), "{}".into()).await?;
    Ok(reply.bytes(LIMIT).await?.to_vec())
}

fn with_length(body: &str) -> String {
    format!(
        "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

#[tokio::test]
async fn a_request_names_the_path_and_the_host() {
    let (server, agent) = Server::start().await;
    let posting = post(&agent, &server.address);
    let serving = async {
        let mut connection = server.accept().await;
        let heard = request(&mut connection).await;
        answer(&mut connection, &with_length("yes")).await;
        heard
    };
    let (posted, heard) = tokio::join!(posting, serving);
    assert_eq!(posted.unwrap(), b"yes");
    assert!(heard.starts_with("POST /mcp?key=1 HTTP/1.1\r\n"), "{heard}");
    let at = server.listener.local_addr().unwrap();
    assert!(heard.contains(&format!("host: {at}\r\n")), "{heard}");
    assert!(heard.contains("content-length: 2\r\n"), "{heard}");
}

#[tokio::test]
async fn a_connection_is_used_again_however_its_answers_end() {
    let (server, agent) = Server::start().await;
    let chunked =
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3;x\r\nyes\r\n0\r\nT: t\r\n\r\n";
    let answers = [
        with_length("yes"),
        chunked.to_owned(),
        "HTTP/1.1 103 Early Hints\r\n\r\n".to_owned() + &with_length("yes"),
        with_length("yes"),
    ];
    let count = answers.len();
    let address = server.address.clone();
    let serving = async {
        let mut connection = server.accept().await;
        for text in &answers {
            request(&mut connection).await;
            answer(&mut connection, text).await;
        }
    };
    let posting = async {
        for _ in 0..count {
            assert_eq!(post(&agent, &address).await.unwrap(), b"yes");
        }
    };
    tokio::join!(posting, serving);
}

#[tokio::test]
async fn a_body_that_nobody_reads_does_not_cost_the_connection() {
    let (server, agent) = Server::start().await;
    let answers = [
        "HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 404 No\r\ncontent-length: 4\r\n\r\ngone",
        &with_length("yes"),
    ];
    let address = server.address.clone();
    let serving = async {
        let mut connection = server.accept().await;
        for text in answers {
            request(&mut connection).await;
            answer(&mut connection, text).await;
        }
    };
    let posting = async {
        for status in [202, 404] {
            let reply = agent.post(&address, HeaderMap::new(), "{}".into()).await;
            assert_eq!(reply.unwrap().status(), status);
        }
        assert_eq!(post(&agent, &address).await.unwrap(), b"yes");
    };
    tokio::join!(posting, serving);
}

#[tokio::test]
async fn a_connection_that_must_not_be_used_again_is_not() {
    let (server, agent) = Server::start().await;
    let answers = [
        "HTTP/1.1 200 OK\r\nconnection: x, Close\r\ncontent-length: 3\r\n\r\nyes",
        "HTTP/1.0 200 OK\r\ncontent-length: 3\r\n\r\nyes",
        // An unrequested answer arrives with it.
        "HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nyesHTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nyes\r\n0\r\n\r\nno",
        "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n",
    ];
    for text in answers {
        let serving = async {
            let mut connection = server.accept().await;
            request(&mut connection).await;
            answer(&mut connection, text).await;
            // The agent closes it, and sends nothing more on it.
            let mut rest = Vec::new();
            let read = connection.read_to_end(&mut rest).await;
            assert!(read.is_err() || rest.is_empty(), "{text}: {rest:?}");
        };
        let posting = async {
            let _ = post(&agent, &server.address).await;
        };
        tokio::join!(posting, serving);
    }
}

#[tokio::test]
async fn a_connection_that_the_server_closed_is_replaced() {
    let (server, agent) = Server::start().await;
    for _ in 0..5 {
        let serving = async {
            let mut connection = server.accept().await;
            request(&mut connection).await;
            answer(&mut connection, &with_length("yes")).await;
        };
        let (posted, ()) = tokio::join!(post(&agent, &server.address), serving);
        assert_eq!(posted.unwrap(), b"yes");
        // Let the runtime notice that it was closed.
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_unused_connection_is_closed_after_a_while() {
    let (server, agent) = Server::start().await;
    let serving = async {
        let mut connection = server.accept().await;
        request(&mut connection).await;
        answer(&mut connection, &with_length("yes")).await;
        connection
    };
    let (posted, mut connection) = tokio::join!(post(&agent, &server.address), serving);
    assert_eq!(posted.unwrap(), b"yes");
    // The paused clock advances by itself, and no request is made.
    assert_eq!(connection.read(&mut [0; 8]).await.unwrap(), 0);
    drop(agent);
}

#[tokio::test]
async fn an_answer_may_come_before_the_request_is_read() {
    let (server, agent) = Server::start().await;
    // More than the sockets can buffer.
    let large = vec![b'x'; 12 * 1024 * 1024];
    let posting = async {
        let reply = agent.post(&server.address, HeaderMap::new(), large.into());
        let reply = reply.await.unwrap();
        assert_eq!(reply.status(), 413);
        assert_eq!(&*reply.bytes(LIMIT).await.unwrap(), b"too much");
    };
    let serving = async {
        let mut connection = server.accept().await;
        connection.read_exact(&mut [0; 1000]).await.unwrap();
        let text = "HTTP/1.1 413 Too Much\r\ncontent-length: 8\r\n\r\ntoo much";
        answer(&mut connection, text).await;
        connection
    };
    tokio::join!(posting, serving);
}

#[tokio::test]
async fn large_bodies_arrive_whole() {
    let (server, agent) = Server::start().await;
    let mut body = String::new();
    for number in 0..400_000 {
        write!(body, "{number:07} ").unwrap();
    }
    let mut chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".to_owned();
    for piece in body.as_bytes().chunks(77_777) {
        let text = std::str::from_utf8(piece).unwrap();
        write!(chunked, "{:x}\r\n{text}\r\n", piece.len()).unwrap();
    }
    chunked += "0\r\n\r\n";
    let answers = [
        with_length(&body),
        chunked,
        format!("HTTP/1.1 200 OK\r\n\r\n{body}"),
    ];
    let address = server.address.clone();
    let serving = async {
        let mut connection = server.accept().await;
        for text in &answers {
            request(&mut connection).await;
            answer(&mut connection, text).await;
        }
    };
    let posting = async {
        for _ in 0..answers.len() {
            let posted = post(&agent, &address).await.unwrap();
            assert!(posted == body.as_bytes(), "{} bytes", posted.len());
        }
    };
    tokio::join!(posting, serving);
}

/// RFC 9110 (8.6) lets a server repeat the length, and by RFC 9112 (6.3) a coding overrides it.
#[tokio::test]
async fn an_answer_above_the_limit_is_refused_however_it_says_its_length() {
    let long = LIMIT + 1;
    for (headers, is_refused) in [
        (format!("content-length: {long}"), true),
        (format!("content-length: {long}, {long}"), true),
        (
            format!("content-length: {long}\r\ncontent-length: {long}"),
            true,
        ),
        (
            format!("content-length: {long}\r\ntransfer-encoding: chunked"),
            false,
        ),
    ] {
        let (server, agent) = Server::start().await;
        let posting = post(&agent, &server.address);
        let serving = async {
            let mut connection = server.accept().await;
            request(&mut connection).await;
            let head = format!("HTTP/1.1 200 OK\r\n{headers}\r\n\r\n3\r\nyes\r\n0\r\n\r\n");
            answer(&mut connection, &head).await;
            connection
        };
        let (posted, _connection) = tokio::join!(posting, serving);
        let is_too_large = matches!(posted, Err(HttpError::TooLarge { .. }));
        assert_eq!(is_too_large, is_refused, "{headers}: {posted:?}");
    }
}

#[tokio::test]
async fn an_answer_that_is_cut_off_is_an_error() {
    let (server, agent) = Server::start().await;
    for text in [
        "HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\nhalf",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n8\r\nhalf",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nno chunk",
    ] {
        let serving = async {
            let mut connection = server.accept().await;
            request(&mut connection).await;
            answer(&mut connection, text).await;
        };
        let (posted, ()) = tokio::join!(post(&agent, &server.address), serving);
        let error = posted.unwrap_err();
        assert!(matches!(error, HttpError::Broken { .. }), "{text}: {error}");
    }
    // A response that is not HTTP is reported as such.
    let serving = async {
        let mut connection = server.accept().await;
        request(&mut connection).await;
        answer(&mut connection, "220 mail.example ESMTP\r\n\r\n").await;
    };
    let (posted, ()) = tokio::join!(post(&agent, &server.address), serving);
    let error = posted.unwrap_err();
    assert!(matches!(error, HttpError::Unreadable { .. }), "{error}");
    assert!(!error.is_unsent());
    // A missing response is reported as such.
    let serving = async {
        let mut connection = server.accept().await;
        request(&mut connection).await;
    };
    let (posted, ()) = tokio::join!(post(&agent, &server.address), serving);
    let error = posted.unwrap_err();
    assert!(error.is_unanswered(), "{error}");
}

#[tokio::test]
async fn dropping_a_reply_closes_its_stream() {
    let (server, agent) = Server::start().await;
    let mut connection = {
        let posting = agent.post(&server.address, HeaderMap::new(), "{}".into());
        let serving = async {
            let mut connection = server.accept().await;
            request(&mut connection).await;
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n";
            let text = format!("{head}transfer-encoding: chunked\r\n\r\n9\r\ndata: 1\n\n\r\n");
            answer(&mut connection, &text).await;
            connection
        };
        let (reply, connection) = tokio::join!(posting, serving);
        let mut events = reply.unwrap().events(LIMIT);
        assert_eq!(events.next().await.unwrap().unwrap().data, "1");
        connection
    };
    assert_eq!(connection.read(&mut [0; 8]).await.unwrap(), 0);
}
