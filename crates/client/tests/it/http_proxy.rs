//! Proxies before plain servers.

use turnbuckle_client::HttpTarget;

use crate::http_site::{modern, plain, text};

#[tokio::test]
async fn a_proxy_is_told_the_whole_address_and_its_own_credentials() {
    let proxy = modern(|heard, answer| {
        Box::pin(async move { answer.json(200, &heard.result(text("hello"))).await })
    })
    .await;
    let target = HttpTarget::new("http://nowhere.invalid:81/mcp")
        .proxy(format!("http://me:secret@{}", proxy.address));
    let server = plain().connect(target).await.unwrap();
    assert_eq!(server.call("t", ()).await.unwrap().text(), "hello");
    for heard in proxy.heard() {
        assert_eq!(heard.path, "http://nowhere.invalid:81/mcp");
        assert_eq!(heard.header("host"), Some("nowhere.invalid:81"));
        assert_eq!(
            heard.header("proxy-authorization"),
            Some("Basic bWU6c2VjcmV0")
        );
    }
}

#[tokio::test]
async fn what_is_excepted_is_reached_without_the_proxy() {
    let site = modern(|heard, answer| {
        Box::pin(async move { answer.json(200, &heard.result(text("straight"))).await })
    })
    .await;
    let proxy = modern(|heard, answer| {
        Box::pin(async move { answer.json(200, &heard.result(text("by proxy"))).await })
    })
    .await;
    for (except, reached) in [
        ("127.0.0.1", "straight"),
        ("intern.example, 127.0.0.0/8", "straight"),
        ("intern.example", "by proxy"),
        ("", "by proxy"),
    ] {
        let proxy = format!("http://{}", proxy.address);
        let target = HttpTarget::new(site.url()).proxy_except(proxy, except);
        let server = plain().connect(target).await.unwrap();
        assert_eq!(
            server.call("t", ()).await.unwrap().text(),
            reached,
            "{except}"
        );
    }
    // An invalid URL of a proxy is reported, even with exceptions.
    let target = HttpTarget::new(site.url()).proxy_except("::", "a.example");
    plain().connect(target).await.unwrap_err();
}
