//! Servers and proxies that misbehave.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
    time::Instant,
};
use turnbuckle_client::{
    CallError, HttpTarget, ServerNotification,
    protocol::{ContentBlock, Revision},
};

use crate::http_site::{Site, chain, discovered, initialized, modern, plain, text};

/// A list with one tool that may run twice and one that may not.
fn tools() -> Value {
    let safe = json!({"name": "safe", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}});
    let harmful = json!({"name": "harmful", "inputSchema": {"type": "object"}});
    json!({"resultType": "complete", "tools": [safe, harmful], "ttlMs": 0, "cacheScope": "private"})
}

/// A modern server that answers calls with the bytes that `bytes` makes from the body of the answer.
async fn raw(bytes: fn(&Value) -> Vec<u8>) -> Site {
    modern(move |heard, answer| {
        Box::pin(async move {
            let message = heard.result(text("hello"));
            answer.raw(&bytes(&message)).await;
            answer.hang_up();
        })
    })
    .await
}

#[tokio::test]
async fn a_kept_connection_that_closes_without_a_word_costs_what_is_safe_nothing() {
    let has_hung_up = Arc::new(AtomicBool::new(false));
    let hung_up = has_hung_up.clone();
    let site = modern(move |heard, answer| {
        let hung_up = hung_up.clone();
        Box::pin(async move {
            match heard.method() {
                "tools/call" if !hung_up.swap(true, Ordering::Relaxed) => answer.hang_up(),
                "tools/call" => answer.json(200, &heard.result(text("hello"))).await,
                _ => answer.json(200, &heard.result(tools())).await,
            }
        })
    })
    .await;
    let server = plain().connect(site.url()).await.unwrap();
    server.tools().await.unwrap();
    assert_eq!(server.call("safe", ()).await.unwrap().text(), "hello");
    assert_eq!(site.count("POST tools/call"), 2);
    has_hung_up.store(false, Ordering::Relaxed);
    let error = server.call("harmful", ()).await.unwrap_err();
    assert!(matches!(error, CallError::Lost { .. }), "{error:?}");
    assert!(chain(&error).contains("without an answer"), "{error:?}");
    assert_eq!(site.count("POST tools/call"), 3);
    // The connection still works.
    assert_eq!(server.call("harmful", ()).await.unwrap().text(), "hello");
}

#[tokio::test]
async fn an_answer_too_many_costs_one_call() {
    // From its second call on, the first connection is one answer behind.
    let late = Arc::new(Mutex::new(None));
    let site = modern(move |heard, answer| {
        let late = late.clone();
        Box::pin(async move {
            let own = heard.result(text(&heard.body["params"]["arguments"]["n"].to_string()));
            let sent = match &mut *late.lock().unwrap() {
                Some((connection, _)) if *connection != heard.connection => own,
                Some((_, late)) => std::mem::replace(late, own),
                none => {
                    *none = Some((heard.connection, own.clone()));
                    own
                }
            };
            answer.json(200, &sent).await;
        })
    })
    .await;
    let server = plain().connect(site.url()).await.unwrap();
    let mut failed = Vec::new();
    for n in 0..6 {
        match server.call("harmful", json!({"n": n})).await {
            Ok(output) => assert_eq!(output.text(), n.to_string()),
            Err(error) => failed.push((n, error)),
        }
    }
    assert!(matches!(failed[..], [(1, _)]), "{failed:?}");
}

#[tokio::test]
async fn a_server_that_never_answers_is_asked_twice_at_the_most() {
    let site = modern(|heard, answer| {
        Box::pin(async move {
            if heard.method() == "tools/list" {
                answer.json(200, &heard.result(tools())).await;
            } else {
                answer.hang_up();
            }
        })
    })
    .await;
    let server = plain().connect(site.url()).await.unwrap();
    server.tools().await.unwrap();
    let error = server.call("safe", ()).await.unwrap_err();
    assert!(matches!(error, CallError::Lost { .. }), "{error:?}");
    assert_eq!(site.count("POST tools/call"), 2);
}

#[tokio::test]
async fn what_is_cut_off_is_lost_and_not_repeated() {
    let answers: [fn(&Value) -> Vec<u8>; 5] = [
        |_| {
            b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{\"json".to_vec()
        },
        |_| {
            b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{\"js".to_vec()
        },
        |_| {
            b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n".to_vec()
        },
        |_| {
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n8\r\ndata: {\"\r\n".to_vec()
        },
        |_| {
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n: hello\n\nid: 1\ndata: \n\n".to_vec()
        },
    ];
    for (index, bytes) in answers.into_iter().enumerate() {
        let site = raw(bytes).await;
        let server = plain().connect(site.url()).await.unwrap();
        let error = server.call("t", ()).await.unwrap_err();
        assert!(
            matches!(error, CallError::Lost { .. }),
            "{index}: {error:?}"
        );
        assert_eq!(site.count("POST tools/call"), 1, "{index}");
    }
}

#[tokio::test]
async fn a_response_that_is_not_http_is_an_error() {
    let answers: [fn(&Value) -> Vec<u8>; 5] = [
        |_| b"SSH-2.0-OpenSSH_9.6\r\n".to_vec(),
        |_| b"HTTP/1.1 OK\r\n\r\n".to_vec(),
        |_| b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n{}".to_vec(),
        |_| {
            let mut head = b"HTTP/1.1 200 OK\r\n".to_vec();
            for number in 0..10_000 {
                head.extend_from_slice(format!("x-{number}: y\r\n").as_bytes());
            }
            head
        },
        |_| [b"HTTP/1.1 200 OK\r\nx: ".to_vec(), vec![b'y'; 2 << 20]].concat(),
    ];
    for (index, bytes) in answers.into_iter().enumerate() {
        let site = raw(bytes).await;
        let server = plain().connect(site.url()).await.unwrap();
        let error = server.call("t", ()).await.unwrap_err();
        assert!(
            matches!(error, CallError::Lost { .. }),
            "{index}: {error:?}"
        );
    }
}

#[tokio::test]
async fn unusual_answers_are_read_all_the_same() {
    let answers: [fn(&Value) -> Vec<u8>; 6] = [
        // The body ends when an old server closes the connection.
        |body| format!("HTTP/1.0 200 OK\r\ncontent-type: application/json\r\n\r\n{body}").into(),
        // Informational responses first.
        |body| {
            let hint =
                "HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n";
            let length = body.to_string().len();
            format!("{hint}HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n{body}").into()
        },
        // Chunks with extensions, and trailers.
        |body| {
            let body = body.to_string();
            let length = body.len();
            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json; charset=utf-8\r\ntransfer-encoding: chunked\r\n";
            format!("{head}trailer: x\r\n\r\n{length:X};a=b\r\n{body}\r\n0\r\nx: y\r\n\r\n").into()
        },
        // With a wrong content type.
        |body| format!("HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n{body}").into(),
        // A stream with every kind of field, and the answer in two lines.
        |body| {
            let body = body.to_string().replacen(':', ":\rdata:", 1);
            let head = "HTTP/1.1 200 OK\r\nContent-Type: Text/Event-Stream;charset=UTF-8\r\n\r\n";
            format!("{head}\u{feff}:ok\r\n\r\nretry: x\rid: \u{e4}\r\revent: ping\ndata: {{}}\n\nevent: message\rdata: {body}\r\r").into()
        },
        // A batch of one answer, which 2025-03-26 allows.
        |body| format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n[{body}]").into(),
    ];
    for (index, bytes) in answers.into_iter().enumerate() {
        let site = raw(bytes).await;
        let server = plain().connect(site.url()).await.unwrap();
        let answer = server.call("t", ()).await;
        assert_eq!(
            answer.map(|it| it.text()).map_err(|e| chain(&e)),
            Ok("hello".into()),
            "{index}"
        );
    }
}

#[tokio::test]
async fn a_compressed_answer_is_named_as_such() {
    let site = raw(|_| {
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\n\r\n\x1f\x8b"
            .to_vec()
    })
    .await;
    let server = plain().connect(site.url()).await.unwrap();
    let error = server.call("t", ()).await.unwrap_err();
    assert!(chain(&error).contains("`gzip`"), "{}", chain(&error));
}

#[tokio::test]
async fn content_of_a_kind_to_come_does_not_hide_the_rest() {
    let site = modern(|heard, answer| {
        Box::pin(async move {
            let mut result = text("hello");
            let video = json!({"type": "video", "data": "AA=="});
            result["content"].as_array_mut().unwrap().push(video);
            answer.json(200, &heard.result(result)).await;
        })
    })
    .await;
    let server = plain().connect(site.url()).await.unwrap();
    let output = server.call("t", ()).await.unwrap();
    assert_eq!(output.text(), "hello");
    let ContentBlock::Other(other) = &output.content[1] else {
        panic!("{:?}", output.content)
    };
    assert_eq!(other.kind, "video");
}

#[tokio::test]
async fn a_server_that_stops_in_the_middle_does_not_outlast_the_deadline() {
    let parts: [&[u8]; 4] = [
        b"",
        b"HTTP/1.1 200 OK\r\ncontent-",
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{",
        b"HTTP/1.1 500 No\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{",
    ];
    for part in parts {
        let site = modern(move |_, answer| {
            Box::pin(async move {
                answer.raw(part).await;
                answer.hung_up().await;
            })
        })
        .await;
        let server = plain().connect(site.url()).await.unwrap();
        let call = server.call("t", ()).deadline(Duration::from_millis(100));
        let error = call.await.unwrap_err();
        assert!(matches!(error, CallError::Deadline { .. }), "{error:?}");
    }
}

#[tokio::test]
async fn an_answer_to_something_else_ends_the_call() {
    for wrong in [json!(999_999), json!("1"), Value::Null] {
        let site = modern(move |heard, answer| {
            let wrong = wrong.clone();
            Box::pin(async move {
                let mut message = heard.result(text("hello"));
                message["id"] = wrong;
                answer.json(200, &message).await;
            })
        })
        .await;
        let server = plain().connect(site.url()).await.unwrap();
        let error = server.call("t", ()).await.unwrap_err();
        assert!(matches!(error, CallError::Malformed { .. }), "{error:?}");
    }
}

#[tokio::test]
async fn an_error_under_a_made_up_id_is_this_calls() {
    for id in [json!("server-error"), json!(0), json!(-1), Value::Null] {
        for status in [200, 400] {
            let id = id.clone();
            let site = modern(move |heard, answer| {
                let id = id.clone();
                Box::pin(async move {
                    let mut message = heard.error(-32600, "no such thing");
                    message["id"] = id;
                    answer.json(status, &message).await;
                })
            })
            .await;
            let server = plain().connect(site.url()).await.unwrap();
            let error = server.call("t", ()).await.unwrap_err();
            assert_eq!(
                error.rejection().map(|it| it.code),
                Some(-32600),
                "{error:?}"
            );
        }
    }
}

#[tokio::test]
async fn an_error_for_another_call_does_not_end_this_one() {
    let other = Arc::new(std::sync::Mutex::new(Value::Null));
    let site = modern(move |heard, answer| {
        let other = other.clone();
        Box::pin(async move {
            if heard.body["params"]["name"] == "waits" {
                *other.lock().unwrap() = heard.body["id"].clone();
                answer.events().await;
                return answer.hung_up().await;
            }
            answer.events().await;
            let mut error = heard.error(-32000, "not for you");
            error["id"] = other.lock().unwrap().clone();
            answer.event(&error).await;
            answer.event(&heard.result(text("hello"))).await;
        })
    })
    .await;
    let server = plain().connect(site.url()).await.unwrap();
    let waits = async { server.call("waits", ()).await };
    let goes = async {
        site.wait_for("POST tools/call", 1).await;
        server.call("goes", ()).await
    };
    let (waits, goes) = tokio::join!(waits, goes);
    assert_eq!(goes.unwrap().text(), "hello");
    assert_eq!(
        waits.unwrap_err().rejection().map(|it| it.code),
        Some(-32000)
    );
}

#[tokio::test]
async fn what_follows_an_answer_on_its_stream_is_not_lost() {
    let site = modern(|heard, answer| {
        Box::pin(async move {
            answer.events().await;
            answer.event(&heard.result(text("hello"))).await;
            let changed = json!({"jsonrpc": "2.0", "method": "notifications/prompts/list_changed"});
            answer.event(&changed).await;
        })
    })
    .await;
    let server = plain().connect(site.url()).await.unwrap();
    let mut news = server.notifications();
    server.call("t", ()).await.unwrap();
    assert!(matches!(
        news.next().await,
        Some(ServerNotification::PromptsChanged)
    ));
}

#[tokio::test]
async fn streams_that_stay_open_after_their_answers_do_not_block_others() {
    let site = Site::start(|heard, answer| {
        Box::pin(async move {
            match heard.line().as_str() {
                "POST initialize" => {
                    let result = initialized(Revision::V2025_06_18);
                    answer.json(200, &heard.result(result)).await;
                }
                "POST tools/call" => {
                    answer.events().await;
                    answer.event(&heard.result(text("hello"))).await;
                    answer.hung_up().await;
                }
                "POST resources/read" => answer.hung_up().await,
                "POST server/discover" => answer.status(404).await,
                "GET" => answer.status(405).await,
                _ => answer.status(202).await,
            }
        })
    })
    .await;
    let server = plain().connect(site.url()).await.unwrap();
    for _ in 0..100 {
        assert_eq!(server.call("t", ()).await.unwrap().text(), "hello");
    }
    let begun = Instant::now();
    let read = server.read("a:b").deadline(Duration::from_millis(10));
    read.await.unwrap_err();
    site.wait_for("POST notifications/cancelled", 1).await;
    assert!(
        begun.elapsed() < Duration::from_millis(700),
        "{:?}",
        begun.elapsed()
    );
}

#[tokio::test]
async fn an_address_may_be_of_ipv6_with_a_query_and_in_capitals() {
    let Ok(listener) = TcpListener::bind("[::1]:0").await else {
        // This machine has no IPv6.
        return;
    };
    let address = listener.local_addr().unwrap();
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = vec![0; 16 * 1024];
        let length = stream.read(&mut request).await.unwrap();
        let request = String::from_utf8(request[..length].to_vec()).unwrap();
        let body = json!({"jsonrpc": "2.0", "id": 1, "result": discovered()}).to_string();
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
        stream
            .write_all(format!("{head}{body}").as_bytes())
            .await
            .unwrap();
        request
    });
    let url = format!("HTTP://{address}/mcp?profile=a%20b&key=sesame#part");
    let connected = plain().connect(HttpTarget::new(url).no_proxy()).await;
    let request = server.await.unwrap();
    assert!(
        request.starts_with("POST /mcp?profile=a%20b&key=sesame HTTP/1.1\r\n"),
        "{request}"
    );
    assert!(
        request.contains(&format!("host: {address}\r\n")),
        "{request}"
    );
    if let Err(error) = connected {
        // The id of the answer was guessed.
        assert!(!chain(&error).contains("sesame"), "{}", chain(&error));
    }
}

// rule: J15
#[tokio::test]
async fn a_broken_answer_ends_its_call_at_once_as_a_body_and_on_a_stream() {
    let broken = [
        r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[],"x":NaN}}"#,
        r#"{"jsonrpc":"2.0","id":ID,"result":{},"error":{"code":1,"message":"m"}}"#,
        r#"{"id":ID,"result":{"content":[]}}"#,
        r#"{"jsonrpc":"2.0","id":ID}"#,
    ];
    for text in broken {
        for is_stream in [true, false] {
            let site = modern(move |heard, answer| {
                Box::pin(async move {
                    let text = text.replace("ID", &heard.body["id"].to_string());
                    if is_stream {
                        answer.events().await;
                        answer.chunk("data: a line of a log\n\n").await;
                        answer.chunk(&format!("data: {text}\n\n")).await;
                        // The stream stays open.
                        answer.hung_up().await;
                    } else {
                        let kind = [("content-type", "application/json")];
                        answer.full(200, &kind, &text).await;
                    }
                })
            })
            .await;
            let server = plain().connect(site.url()).await.unwrap();
            let called = tokio::time::timeout(Duration::from_secs(20), async {
                server.call("t", ()).await
            });
            let error = called.await.expect("it ends").expect_err("it is broken");
            assert!(
                matches!(error, CallError::Malformed { .. }),
                "{text}: {error:?}"
            );
        }
    }
}
