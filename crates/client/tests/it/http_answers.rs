//! Answers to requests of the server that cannot be delivered.

use std::{future::IntoFuture, time::Duration};

use serde_json::{Value, json};
use turnbuckle_client::protocol::Revision;

use crate::{
    http_sessions::legacy,
    http_site::{Site, plain, text},
};

fn ask(id: usize) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "roots/list"})
}

/// A server that asks once, and responds to the answer with these bytes.
async fn asking_once(bytes: &'static str) -> Site {
    legacy(Revision::V2025_11_25, move |heard, answer| {
        Box::pin(async move {
            match heard.line().as_str() {
                "POST tools/call" => {
                    answer.events().await;
                    answer.event(&ask(0)).await;
                    // Longer than the pause before another attempt.
                    tokio::time::sleep(Duration::from_millis(800)).await;
                    answer.event(&heard.result(text("done"))).await;
                }
                "POST" => {
                    answer.raw(bytes.as_bytes()).await;
                    answer.hang_up();
                }
                _ => answer.status(405).await,
            }
        })
    })
    .await
}

#[tokio::test]
async fn an_answer_is_not_sent_again_if_that_cannot_help() {
    for bytes in [
        "SSH-2.0-OpenSSH_9.6\r\n",
        "HTTP/1.1 307 Moved\r\nlocation: http://127.0.0.2:9/mcp\r\ncontent-length: 0\r\n\r\n",
    ] {
        let site = asking_once(bytes).await;
        let server = plain().roots(Vec::new()).connect(site.url()).await.unwrap();
        assert_eq!(server.call("t", ()).await.unwrap().text(), "done");
        assert_eq!(site.count("POST"), 1, "{bytes}");
    }
}

/// How many questions the server asks: fewer than are answered at the same time, and more than twice
/// as many as are sent at the same time.
const QUESTIONS: usize = 40;

/// A server that asks many questions on the stream of a call, and accepts no answer.
async fn asking_in_vain() -> Site {
    legacy(Revision::V2025_11_25, |heard, answer| {
        Box::pin(async move {
            match heard.line().as_str() {
                "POST tools/call" => {
                    answer.events().await;
                    for id in 0..QUESTIONS {
                        answer.event(&ask(id)).await;
                    }
                    answer.hung_up().await;
                }
                "POST notifications/cancelled" => answer.status(202).await,
                "POST" => answer.hang_up(),
                "DELETE" => answer.status(200).await,
                _ => answer.status(405).await,
            }
        })
    })
    .await
}

#[tokio::test]
async fn answers_that_cannot_be_delivered_hold_up_neither_notifications_nor_the_end() {
    let site = asking_in_vain().await;
    let server = plain().roots(Vec::new()).connect(site.url()).await.unwrap();
    let call = server.call("t", ()).into_future();
    tokio::select! {
        output = call => panic!("the call is not answered: {output:?}"),
        () = site.wait_for("POST", 20) => {}
    }
    // The call was dropped, which cancels it. An answer is sent again for half a minute.
    let cancelled = site.wait_for("POST notifications/cancelled", 1);
    tokio::time::timeout(Duration::from_secs(15), cancelled)
        .await
        .expect("notifications are sent while answers cannot be delivered");
    tokio::time::timeout(Duration::from_secs(15), server.close())
        .await
        .expect("the connection closes while answers cannot be delivered");
    assert_eq!(site.count("DELETE"), 1);
}
