//! The URLs in the server card and in the catalog work.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
};

use serde_json::Value;

use crate::{
    program::{HttpDemo, Place, stderr, stdout},
    up::Gateway,
};

/// The JSON at a URL of this machine.
fn get(url: &str) -> Value {
    let rest = url.strip_prefix("http://").expect("it is a URL");
    let (host, path) = rest.split_once('/').expect("it has a path");
    let mut stream = TcpStream::connect(host).expect("it listens");
    let head = format!("GET /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).expect("it is sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it is text");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
    assert!(head.starts_with("HTTP/1.1 200 "), "{url}: {answer}");
    serde_json::from_str(body).expect("it is JSON")
}

/// Reads the card at its own URL and through the catalog, and connects to the URL in it.
fn check(place: &Place, endpoint: &str, tool: &str) -> Value {
    let site = endpoint.strip_suffix("/mcp").expect("the endpoint");
    let card = get(&format!("{endpoint}/server-card"));
    let catalog = get(&format!("{site}/.well-known/ai-catalog.json"));
    let linked = get(catalog["entries"][0]["url"].as_str().expect("a URL"));
    for card in [&card, &linked, &get(&format!("{site}/server-card"))] {
        let url = card["remotes"][0]["url"].as_str().expect("a URL");
        assert_eq!(url, endpoint, "{card}");
        let output = place.run(&["call", url, tool, "text=hi"]);
        assert_eq!(stdout(&output), "hi\n", "{}", stderr(&output));
    }
    card
}

#[test]
fn the_card_of_the_demo_server_leads_to_it() {
    let place = Place::new();
    let demo = HttpDemo::start();
    check(&place, &demo.url, "echo");
    // A client that posts to the site gets the path of the endpoint.
    let site = demo.url.strip_suffix("/mcp").expect("the endpoint");
    let output = place.run(&["call", site, "echo", "text=hi"]);
    let said = stderr(&output);
    assert!(said.contains("the MCP endpoint is `/mcp`"), "{said}");
}

#[test]
fn an_unknown_path_leads_to_the_endpoint() {
    let place = Place::new();
    let page = Gateway::start(&place, &[]);
    let demo = HttpDemo::start();
    for url in [&page.url, &demo.url] {
        let site = url.strip_suffix("/mcp").expect("the endpoint");
        let output = place.run(&["list", &format!("{site}/foo")]);
        let said = stderr(&output);
        assert!(said.contains("the MCP endpoint is `/mcp`"), "{said}");
        assert!(!said.contains("validation"), "{said}");
    }
}

#[test]
fn the_card_of_the_gateway_leads_to_it() {
    let place = Place::with_lab();
    for words in [&["--names", "bare"][..], &["--names", "bare", "--no-page"]] {
        let gateway = Gateway::start(&place, words);
        let card = check(&place, &gateway.url, "echo");
        assert_eq!(
            card["description"],
            "All configured MCP servers at one endpoint."
        );
    }
}
