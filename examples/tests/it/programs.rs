//! Examples that are whole in themselves.

use std::process::Stdio;

use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    net::TcpStream,
    process::Command,
};
use turnbuckle::client::Client;

use crate::program::{example, printed};

#[tokio::test]
async fn in_process_serves_itself() {
    assert_eq!(printed("in_process", &[]).await, "elkcubnrut\n");
}

#[tokio::test]
async fn skills_are_found_loaded_and_verified() {
    let text = printed("skills", &[]).await;
    let lines: Vec<_> = text.lines().collect();
    assert!(lines[0].starts_with("code-review: How this team"), "{text}");
    assert_eq!(lines.last(), Some(&"1. Does it have a test?"));
}

#[tokio::test]
async fn traces_go_through_both_servers() {
    let text = printed("traces", &[]).await;
    let mut lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.remove(0), "we offer tea: 7 (part of a trace: true)");
    assert_eq!(lines.pop(), Some("1 trace"));
    lines.sort_unstable();
    assert_eq!(
        lines,
        [
            "Client tools/call offer",
            "Client tools/call price",
            "Server tools/call offer",
            "Server tools/call price",
        ]
    );
}

#[tokio::test]
async fn a_live_resource_is_heard_of() {
    let text = printed("live_resource", &[]).await;
    let lines: Vec<_> = text.lines().collect();
    assert!(lines[0].contains("door://count"), "{text}");
    assert!(lines[1].contains("\"1\""), "{text}");
    assert!(lines[2].contains("times"), "{text}");
    assert_eq!(lines[3], "true");
}

#[tokio::test]
async fn visibility_depends_on_the_caller() {
    let text = printed("visibility", &[]).await;
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(
        lines[..3],
        [
            "grace sees open, demolish",
            "grace: opened for grace",
            "grace: gone"
        ]
    );
    assert_eq!(lines[3..5], ["ada sees open", "ada: opened for ada"]);
    assert!(lines[5].contains("there is no tool `demolish`"), "{text}");
}

#[tokio::test]
async fn socket_serves_each_connection() {
    let mut program = Command::new(example("socket"))
        .arg("127.0.0.1:0")
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("the example starts");
    let mut lines = BufReader::new(program.stdout.take().expect("it is piped")).lines();
    let line = lines.next_line().await.expect("it prints").expect("a line");
    let address = line.strip_prefix("listening on ").expect("the address");
    for _ in 0..2 {
        let stream = TcpStream::connect(address).await.expect("it listens");
        let own = stream
            .local_addr()
            .expect("an open socket has an address")
            .to_string();
        let client = Client::new("test", "1.0.0");
        let server = client
            .connect(stream.into_split())
            .await
            .expect("it answers");
        let output = server.call("whoami", ()).await.expect("it is called");
        assert_eq!(output.text(), own);
    }
}

#[tokio::test]
async fn protected_lets_in_whoever_has_a_token() {
    let expected = "stranger: refused\nrobot\nrobot noted: buy milk\n";
    assert_eq!(printed("protected", &[]).await, expected);
}

#[tokio::test]
async fn authorization_server_says_where_it_is() {
    let mut program = Command::new(example("authorization_server"))
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("the example starts");
    let mut lines = BufReader::new(program.stdout.take().expect("it is piped")).lines();
    let line = lines.next_line().await.expect("it prints").expect("a line");
    let url = line.strip_prefix("listening at ").expect("the issuer");
    let address = url.strip_prefix("http://").expect("plain HTTP");
    TcpStream::connect(address).await.expect("it listens");
}
