//! Policies for resources: URIs that servers could read as another path.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use serde_json::{Value, json};
use turnbuckle_client::Era;
use turnbuckle_gateway::{
    Gateway, LiveGateway,
    operation::{Operation, Policy, PolicyRule},
};
#[cfg(feature = "cel")]
use turnbuckle_host::ServerSpec;
use turnbuckle_protocol::Revision;
use turnbuckle_server::{Resource, Server};

use crate::{
    by_hand::{as_caller, call, request},
    site::{client, join_as, listen, remote},
};

/// The params of a request of a modern client about a resource.
fn about(members: &Value) -> Value {
    let mut params = call("", members);
    let all = params.as_object_mut().expect("params");
    all.remove("name");
    all.remove("arguments");
    params
}

/// A gateway with one server that answers for every path, and the count of what it has read.
async fn files(rule: PolicyRule) -> (LiveGateway, Arc<AtomicUsize>) {
    let reads = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&reads);
    let any = Resource::new("file:///{+path}", move || {
        counted.fetch_add(1, Ordering::SeqCst);
        async { "a file" }
    });
    let server = Server::new("files", "1").resource(any.allow_any_path());
    let url = listen(server.build().expect("a server")).await;
    let policy = Policy::new().rule(rule);
    let gateway = Gateway::new("gateway", "1")
        .operation(Arc::new(Operation::new().policy(policy)))
        .server("files", remote(&url))
        .open()
        .expect("a gateway");
    gateway.settled().await;
    (gateway, reads)
}

const OUTSIDE: [&str; 6] = [
    "file:///pub/../etc/secret",
    "file:///pub/%2e%2E/etc/secret",
    "file:///pub/%252e%252e/etc/secret",
    "file:///pub/..%2fetc/secret",
    "file:///pub/..\\etc\\secret",
    "file:///pub/a/./b",
];

#[tokio::test]
async fn a_uri_that_leads_out_of_an_allowed_folder_is_denied() {
    for rule in [
        PolicyRule::for_all().allow(["resource:file:///pub/*"]),
        PolicyRule::for_all().deny(["resource:file:///etc/*"]),
    ] {
        let (gateway, reads) = files(rule).await;
        let ada = as_caller(&gateway, "ada").await;
        let read =
            async |uri: &str| request(&ada, "resources/read", &about(&json!({ "uri": uri }))).await;
        let denied = read("file:///etc/secret").await.expect_err("it is denied");
        for uri in OUTSIDE {
            let error = read(uri).await.expect_err(uri);
            let alike = error.to_string().replace(
                json!(uri).to_string().trim_matches('"'),
                "file:///etc/secret",
            );
            assert_eq!(error["code"], denied["code"], "{uri}: {error}");
            assert_eq!(alike, denied.to_string(), "{uri}");
            let reference = json!({ "type": "ref/resource", "uri": uri });
            let argument = json!({ "name": "path", "value": "" });
            let params = about(&json!({ "ref": reference, "argument": argument }));
            let error = request(&ada, "completion/complete", &params).await;
            assert!(error.is_err(), "{uri}: {error:?}");
        }
        assert_eq!(reads.load(Ordering::SeqCst), 0);
        let plain = read("file:///pub/a").await.expect("it is allowed");
        assert_eq!(plain["contents"][0]["text"], "a file");
        let legacy = client(Era::Legacy).only(Revision::LATEST_LEGACY);
        let legacy = join_as(&legacy, &gateway, "ada").await;
        for uri in OUTSIDE {
            let subscribed = request(&legacy, "resources/subscribe", &json!({ "uri": uri })).await;
            let error = subscribed.expect_err(uri);
            assert!(error.to_string().contains("not found"), "{uri}: {error}");
        }
        gateway.close().await;
    }
}

#[tokio::test]
async fn rules_for_tools_restrict_no_uri() {
    let (gateway, reads) = files(PolicyRule::for_all().deny(["secret*"])).await;
    let ada = as_caller(&gateway, "ada").await;
    let params = about(&json!({ "uri": OUTSIDE[0] }));
    request(&ada, "resources/read", &params)
        .await
        .expect("no rule is about resources");
    assert_eq!(reads.load(Ordering::SeqCst), 1);
    gateway.close().await;
}

/// The only server of a gateway gets every URI, whether it lists the URI or not.
#[cfg(feature = "cel")]
#[tokio::test]
async fn a_rule_about_a_server_is_for_all_uris_that_the_server_gets() {
    let folder = tempfile::tempdir().expect("a folder");
    let served = folder.path().join("served");
    let command = format!("SERVED='{}'\n{}", served.display(), crate::unnamed::LENIENT);
    let rule = PolicyRule::for_all().deny_if("server == 'one' && kind == 'resource'");
    let policy = Policy::new().rule(rule.expect("a condition"));
    let gateway = Gateway::new("gateway", "1")
        .operation(Arc::new(Operation::new().policy(policy)))
        .server("one", ServerSpec::command("sh", ["-c", &command]))
        .open()
        .expect("a gateway");
    gateway.settled().await;
    let ada = as_caller(&gateway, "ada").await;
    for uri in ["file:///a", "FILE:///a", "other:a", "file:///{+path}"] {
        let read = request(&ada, "resources/read", &about(&json!({ "uri": uri }))).await;
        assert_eq!(read.expect_err(uri)["code"], -32602, "{uri}");
        let reference = json!({ "type": "ref/resource", "uri": uri });
        let argument = json!({ "name": "path", "value": "" });
        let params = about(&json!({ "ref": reference, "argument": argument }));
        let completed = request(&ada, "completion/complete", &params).await;
        assert_eq!(completed.expect_err(uri)["code"], -32602, "{uri}");
    }
    assert!(!served.exists());
    gateway.close().await;
}
