//! Policies: what callers see, what they may call, and when the user is asked first.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::json;
use turnbuckle_client::{CallError, Change, ChangeStream, Client, Connection, Era, Listen};
use turnbuckle_gateway::{
    Gateway, LiveGateway, ToolSettings, UpstreamSettings,
    operation::{Operation, Policy, PolicyRule, Rate},
};
use turnbuckle_protocol::{ElicitResult, Revision, error::code};
use turnbuckle_server::{LiveServer, RawArgs, Server, Tool};
use turnbuckle_store::MemoryReplicas;

use crate::{
    by_hand::{as_caller, call, keys, request, retry, send, text},
    site::{self, Door, join, join_as, listen, remote},
    upstream,
};

/// A gateway with one server of this era and this policy rule.
async fn gateway(rule: PolicyRule, era: Era) -> LiveGateway {
    let operation = Operation::new().policy(Policy::new().rule(rule));
    let url = listen(upstream::server().build().expect("a server")).await;
    let settings = UpstreamSettings::new().era(era);
    let gateway = Gateway::new("gateway", "1")
        .operation(Arc::new(operation))
        .server_with("one", remote(&url), settings)
        .open()
        .expect("a gateway");
    gateway.settled().await;
    gateway
}

type Questions = Arc<Mutex<Vec<String>>>;

/// A client whose user answers the gateway's question with this, and accepts every other form.
fn asked(revision: Revision, allow: Option<bool>) -> (Client, Questions) {
    let heard = Questions::default();
    let questions = Arc::clone(&heard);
    let client = Client::new("front", "1")
        .only(revision)
        .on_form(move |ask| {
            let message = ask.message.clone();
            questions.lock().expect("no panic").push(message.clone());
            async move {
                Ok(match allow {
                    _ if !message.starts_with("Allow ") => ElicitResult::accept::<&str, &str>([]),
                    Some(allow) => ElicitResult::accept([("allow", allow)]),
                    None => ElicitResult::decline(),
                })
            }
        });
    (client, heard)
}

const ASKABLE: [Revision; 3] = [
    Revision::V2025_06_18,
    Revision::V2025_11_25,
    Revision::V2026_07_28,
];

fn rejected(error: &CallError) -> i64 {
    error.rejection().map_or(0, |error| error.code)
}

async fn names(client: &Connection) -> Vec<String> {
    let tools = client.tools().await.expect("a list");
    tools.iter().map(|tool| tool.name.clone()).collect()
}

/// The names on each page of a list, and the page's cache scope.
async fn pages(tools: &[&str], revision: Revision) -> Vec<(Vec<String>, Option<String>)> {
    let mut server = Server::new("one", "1").page_size(1);
    for tool in tools {
        server = server.tool(Tool::new(*tool, async || "done"));
    }
    let url = listen(server.build().expect("a server")).await;
    let policy = Policy::new().rule(PolicyRule::for_all().deny(["secret*"]));
    let gateway = Gateway::new("gateway", "1")
        .operation(Arc::new(Operation::new().policy(policy)))
        .server("one", remote(&url))
        .open()
        .expect("a gateway");
    gateway.settled().await;
    let client = Client::new("front", "1").only(revision);
    let client = join(&client, &gateway, Door::Http).await;
    let (mut pages, mut cursor) = (Vec::new(), None);
    loop {
        // A modern request contains the client's information in its params.
        let mut params = if revision.is_modern() {
            call("", &json!({}))
        } else {
            json!({})
        };
        let members = params.as_object_mut().expect("params");
        members.remove("name");
        members.extend(cursor.map(|cursor| ("cursor".to_owned(), cursor)));
        let page = request(&client, "tools/list", &params)
            .await
            .expect("a page");
        let tools = page["tools"].as_array().expect("tools").iter();
        let names = tools.map(|tool| tool["name"].as_str().expect("a name").to_owned());
        let scope = page["cacheScope"].as_str().map(str::to_owned);
        pages.push((names.collect(), scope));
        match page.get("nextCursor") {
            Some(next) => cursor = Some(next.clone()),
            None => return pages,
        }
    }
}

#[tokio::test]
async fn pages_do_not_tell_whether_an_entry_was_left_out() {
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let with = pages(&["a", "secret_one", "b", "secret_two"], revision).await;
        assert_eq!(with, pages(&["a", "b"], revision).await, "{revision}");
        let names: Vec<_> = with.iter().flat_map(|(names, _)| names).collect();
        assert_eq!(names, ["a", "b"], "{revision}");
        assert!(
            with.iter()
                .all(|(_, scope)| scope.as_deref() != Some("public"))
        );
    }
}

/// Whether a client is notified of changed tools within this time.
async fn hears_of_tools(changes: &mut ChangeStream, within: Duration) -> bool {
    let told = async {
        while let Some(change) = changes.next().await {
            if matches!(change, Ok(Change::ToolsChanged)) {
                return true;
            }
        }
        false
    };
    tokio::time::timeout(within, told).await.unwrap_or(false)
}

#[tokio::test]
async fn clients_are_told_when_another_policy_changes_their_lists() {
    let url = listen(upstream::server().build().expect("a server")).await;
    let operation = Arc::new(Operation::new());
    let gateway = Gateway::new("gateway", "1")
        .operation(Arc::clone(&operation))
        .server("one", remote(&url))
        .open()
        .expect("a gateway");
    gateway.settled().await;
    for era in [Era::Legacy, Era::Modern] {
        let client = join(&site::client(era), &gateway, Door::Http).await;
        assert!(names(&client).await.contains(&"echo".to_owned()));
        let mut changes = client.listen(Listen::lists()).await.expect("a stream");
        // By then, changes since the gateway opened have been reported.
        hears_of_tools(&mut changes, Duration::from_secs(1)).await;
        for (denied, is_listed) in [(&["echo"][..], false), (&[][..], true)] {
            operation.set_policy(Policy::new().rule(PolicyRule::for_all().deny(denied)));
            assert!(hears_of_tools(&mut changes, Duration::from_secs(30)).await);
            let found = names(&client).await.contains(&"echo".to_owned());
            assert_eq!(found, is_listed, "{era:?}");
        }
        // A rule that hides nothing changes no list.
        let slow = PolicyRule::for_all().rate(Rate::per_second(100));
        operation.set_policy(Policy::new().rule(slow));
        assert!(!hears_of_tools(&mut changes, Duration::from_secs(1)).await);
        operation.set_policy(Policy::new());
    }
    gateway.close().await;
}

#[tokio::test]
async fn the_user_is_asked_before_a_call_and_once_for_it() {
    for era in [Era::Legacy, Era::Modern] {
        let gateway = gateway(PolicyRule::for_all().ask(["echo", "twice"]), era).await;
        for revision in ASKABLE {
            let (client, heard) = asked(revision, Some(true));
            let client = join(&client, &gateway, Door::Http).await;
            let echoed = client.call("echo", json!({ "a": 1 })).await;
            let echoed = echoed.unwrap_or_else(|error| panic!("{era:?} {revision}: {error}"));
            assert_eq!(echoed.text(), r#"{"a":1}"#, "{era:?} {revision}");
            let questions = std::mem::take(&mut *heard.lock().expect("no panic"));
            assert_eq!(questions.len(), 1, "{era:?} {revision}: {questions:?}");
            let question = &questions[0];
            assert!(
                question.contains("tool `echo` of server `one`") && question.contains("\"a\": 1"),
                "{question}"
            );
            // The server asks twice too, and before that the gateway asks once.
            let twice = client.call("twice", json!({})).await;
            let twice = twice.unwrap_or_else(|error| panic!("{era:?} {revision}: {error}"));
            assert_eq!(twice.text(), "accepted and accepted", "{era:?} {revision}");
            let questions = std::mem::take(&mut *heard.lock().expect("no panic"));
            assert_eq!(questions.len(), 3, "{era:?} {revision}: {questions:?}");
            assert!(
                questions[0].starts_with("Allow tool `twice`"),
                "{questions:?}"
            );
            // The user is not asked about calls that no rule asks about.
            client.call("steps", json!({})).await.expect("a result");
            assert!(heard.lock().expect("no panic").is_empty());
            assert!(names(&client).await.contains(&"echo".to_owned()));
        }
        gateway.close().await;
    }
}

#[tokio::test]
async fn a_user_who_says_no_and_a_client_that_cannot_ask_are_refused() {
    let gateway = gateway(PolicyRule::for_all().ask(["echo"]), Era::Modern).await;
    for revision in ASKABLE {
        for answer in [Some(false), None] {
            let (client, heard) = asked(revision, answer);
            let client = join(&client, &gateway, Door::Http).await;
            let error = client.call("echo", json!({})).await.expect_err("refused");
            assert_eq!(rejected(&error), code::FORBIDDEN, "{revision}: {error}");
            assert_eq!(heard.lock().expect("no panic").len(), 1);
        }
    }
    for revision in Revision::NEWEST_FIRST.iter().copied() {
        let client = Client::new("plain", "1").only(revision);
        let client = join(&client, &gateway, Door::Http).await;
        let error = client.call("echo", json!({})).await.expect_err("refused");
        let expected = if revision.is_modern() {
            code::MISSING_REQUIRED_CLIENT_CAPABILITY
        } else {
            code::FORBIDDEN
        };
        assert_eq!(rejected(&error), expected, "{revision}: {error}");
        assert!(error.to_string().contains("consent"), "{error}");
    }
    gateway.close().await;
}

/// The call again, with the user's consent.
fn allowed(call: &serde_json::Value, asked: &serde_json::Value) -> serde_json::Value {
    let mut retry = call.clone();
    retry["requestState"] = asked["requestState"].clone();
    retry["inputResponses"] = json!({
        "turnbuckle.confirm": { "action": "accept", "content": { "allow": true } }
    });
    retry
}

/// A state is valid only for the caller and the arguments that the user was asked about.
#[tokio::test]
async fn consent_is_for_one_caller_and_one_call() {
    let gateway = gateway(PolicyRule::for_all().ask(["echo"]), Era::Modern).await;
    let ada = as_caller(&gateway, "ada").await;
    let eve = as_caller(&gateway, "eve").await;
    let first = call("echo", &json!({ "arguments": { "a": 1 } }));
    let asked = send(&ada, &first).await.expect("a question");
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let retry = allowed(&first, &asked);
    let mut altered = retry.clone();
    altered["arguments"] = json!({ "a": 2 });
    for (caller, params) in [(&ada, &altered), (&eve, &retry)] {
        let answer = send(caller, params).await;
        let answer = answer.unwrap_or_default();
        assert_ne!(answer["resultType"], "complete", "{answer}");
    }
    let answer = send(&ada, &retry).await.expect("a result");
    assert_eq!(text(&answer), r#"{"a":1}"#, "{answer}");
    gateway.close().await;
}

/// Otherwise a client could choose what the user sees.
#[tokio::test]
async fn the_user_sees_the_arguments_that_the_server_gets() {
    let operation =
        Operation::new().policy(Policy::new().rule(PolicyRule::for_all().ask(["echo"])));
    let url = listen(upstream::server().build().expect("a server")).await;
    let echo = ToolSettings::new().fixed("a", json!(5));
    let gateway = Gateway::new("gateway", "1")
        .operation(Arc::new(operation))
        .server_with(
            "one",
            remote(&url),
            UpstreamSettings::new().tool("echo", echo),
        )
        .open()
        .expect("a gateway");
    gateway.settled().await;
    let ada = as_caller(&gateway, "ada").await;
    for (more, shown) in [
        (
            json!({ "arguments": { "a": 1, "b": 2 } }),
            json!({ "a": 5, "b": 2 }),
        ),
        (json!({}), json!({ "a": 5 })),
    ] {
        let first = call("echo", &more);
        let asked = send(&ada, &first).await.expect("a question");
        let question = &asked["inputRequests"]["turnbuckle.confirm"]["params"]["message"];
        let question = question.as_str().expect("a text");
        let (_, arguments) = question.split_once("Arguments:").expect("they are shown");
        let arguments: serde_json::Value = serde_json::from_str(arguments).expect("JSON");
        assert_eq!(arguments, shown);
        let answer = send(&ada, &allowed(&first, &asked))
            .await
            .expect("a result");
        let got: serde_json::Value = serde_json::from_str(text(&answer)).expect("JSON");
        assert_eq!(got, shown);
    }
    gateway.close().await;
}

/// A server whose tool counts its runs.
fn counting() -> (LiveServer, Arc<AtomicUsize>) {
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&runs);
    let tool = Tool::new("count", move || {
        let run = counted.fetch_add(1, Ordering::SeqCst) + 1;
        async move {
            tokio::time::sleep(Duration::from_millis(50)).await;
            run.to_string()
        }
    });
    let server = Server::new("counter", "1").tool(tool).build();
    (server.expect("a server"), runs)
}

/// A gateway in front of the server at this URL that asks before its tool is called.
fn careful(url: &str) -> Gateway {
    let rule = PolicyRule::for_all().ask(["count"]);
    let operation = Operation::new().policy(Policy::new().rule(rule));
    Gateway::new("gateway", "1")
        .operation(Arc::new(operation))
        .server("one", remote(url))
}

/// If a client that lost the answer repeats its retry, the tool does not run again.
#[tokio::test]
async fn a_consent_counts_once() {
    let (server, runs) = counting();
    let gateway = careful(&listen(server).await).open().expect("a gateway");
    gateway.settled().await;
    let ada = as_caller(&gateway, "ada").await;
    let first = call("count", &json!({}));
    let question = send(&ada, &first).await.expect("a question");
    let retry = allowed(&first, &question);
    let (one, other) = tokio::join!(send(&ada, &retry), send(&ada, &retry));
    let late = send(&ada, &retry).await;
    for answer in [one, other, late] {
        assert_eq!(text(&answer.expect("a result")), "1");
    }
    assert_eq!(runs.load(Ordering::SeqCst), 1);
    // A second question needs a second consent.
    let question = send(&ada, &first).await.expect("a question");
    let answer = send(&ada, &allowed(&first, &question)).await;
    assert_eq!(text(&answer.expect("a result")), "2");
    gateway.close().await;
}

/// All rounds of a tool that itself asks use a single consent, too.
#[tokio::test]
async fn a_consent_counts_once_for_a_tool_that_asks() {
    for era in [Era::Legacy, Era::Modern] {
        let gateway = gateway(PolicyRule::for_all().ask(["form"]), era).await;
        let ada = as_caller(&gateway, "ada").await;
        let first = call("form", &json!({}));
        let question = send(&ada, &first).await.expect("a question");
        let form = send(&ada, &allowed(&first, &question)).await;
        let form = form.expect("a question of the tool");
        assert_eq!(form["resultType"], "input_required", "{form}");
        let retry = retry("form", &form, &keys(&form));
        let answer = send(&ada, &retry).await.expect("a result");
        assert_eq!(text(&answer), "accepted", "{answer}");
        let again = send(&ada, &retry).await.expect("the same");
        assert_eq!(answer, again);
        gateway.close().await;
    }
}

#[tokio::test]
async fn a_consent_counts_once_at_all_replicas() {
    const SECRET: [u8; 32] = [9; 32];
    let (server, runs) = counting();
    let url = listen(server).await;
    let stores = MemoryReplicas::default();
    let open = || {
        let stores = stores.clone();
        let front = move |server: Server| server.replicas(stores).secret(&SECRET);
        let gateway = careful(&url).secret(&SECRET).configure_server(front);
        gateway.open().expect("a gateway")
    };
    let (here, there) = (open(), open());
    for gateway in [&here, &there] {
        listen(gateway.server().clone()).await;
        gateway.settled().await;
    }
    let (ada, ada_there) = (
        as_caller(&here, "ada").await,
        as_caller(&there, "ada").await,
    );
    let first = call("count", &json!({}));
    let question = send(&ada, &first).await.expect("a question");
    let retry = allowed(&first, &question);
    for connection in [&ada_there, &ada, &ada_there] {
        let answer = send(connection, &retry).await.expect("a result");
        assert_eq!(text(&answer), "1");
    }
    assert_eq!(runs.load(Ordering::SeqCst), 1);
    // The replica that asked has ended, and its outcome is lost: the user is asked again.
    let question = send(&ada, &first).await.expect("a question");
    here.server().shutdown().await;
    here.close().await;
    let answer = send(&ada_there, &allowed(&first, &question)).await;
    let answer = answer.expect("a question");
    assert_eq!(answer["resultType"], "input_required", "{answer}");
    assert_eq!(runs.load(Ordering::SeqCst), 1);
    there.close().await;
}

#[cfg(feature = "cel")]
#[tokio::test]
async fn expressions_decide_about_lists_and_calls() {
    let rule = PolicyRule::for_all()
        .deny_if(r#"caller.id == "guest" && !annotations.readOnlyHint"#)
        .and_then(|rule| rule.deny_if(r#"tool == "echo" && has(arguments.secret)"#))
        .and_then(|rule| rule.ask_if(r#"tool == "echo" && has(arguments.careful)"#))
        .expect("sound expressions");
    let gateway = gateway(rule, Era::Modern).await;
    for revision in ASKABLE {
        let (client, heard) = asked(revision, Some(true));
        let guest = join_as(&client, &gateway, "guest").await;
        assert_eq!(names(&guest).await, ["echo"], "{revision}");
        assert!(guest.call("steps", json!({})).await.is_err());
        let ada = join_as(&client, &gateway, "ada").await;
        assert!(names(&ada).await.len() > 5);
        assert!(ada.call("steps", json!({})).await.is_ok());
        assert!(ada.call("echo", json!({ "open": 1 })).await.is_ok());
        let error = ada.call("echo", json!({ "secret": 1 })).await;
        let error = error.expect_err("denied");
        assert!(error.to_string().contains("unknown tool"), "{error}");
        // Rules must not judge other arguments than the server gets.
        let deep = (0..200).fold(json!([]), |inner, _| json!([inner]));
        let error = ada.call("echo", json!({ "secret": 1, "deep": deep })).await;
        let error = error.expect_err("the arguments cannot be judged");
        assert!(error.to_string().contains("cannot judge"), "{error}");
        assert!(heard.lock().expect("no panic").is_empty());
        assert!(ada.call("echo", json!({ "careful": 1 })).await.is_ok());
        assert_eq!(heard.lock().expect("no panic").len(), 1);
    }
    gateway.close().await;
}

#[cfg(feature = "cel")]
#[tokio::test]
async fn a_rule_knows_the_server_of_a_call_that_waits_for_its_start() {
    use turnbuckle_gateway::Naming;

    use crate::child;

    for naming in [Naming::Prefixed, Naming::Auto] {
        let rule = PolicyRule::for_all().deny_if("server == 'one' && tool == 'touch'");
        let policy = Policy::new().rule(rule.expect("a condition"));
        let gateway = Gateway::new("gateway", "1")
            .naming(naming)
            .operation(Arc::new(Operation::new().policy(policy)))
            .server("one", child::spec())
            .open()
            .expect("a gateway");
        let plain = site::client(turnbuckle_client::Era::Modern);
        let ada = site::join_as(&plain, &gateway, "ada").await;
        let tool = match naming {
            Naming::Prefixed => "one__touch",
            _ => "touch",
        };
        // The server is still starting.
        let denied = ada.call(tool, serde_json::json!({})).await;
        assert!(denied.is_err(), "{naming:?}: {denied:?}");
        gateway.close().await;
    }
}

/// Calls a tool without the header that repeats its argument. Returns the status and the error.
async fn post_call(url: &str, version: &str, tool: &str) -> (String, serde_json::Value) {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    let address = url.trim_start_matches("http://").trim_end_matches("/mcp");
    let params = json!({
        "name": tool,
        "arguments": { "region": "north" },
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let body = body.to_string();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\
         content-type: application/json\r\naccept: application/json, text/event-stream\r\n\
         mcp-protocol-version: {version}\r\nmcp-method: tools/call\r\nmcp-name: {tool}\r\n\
         content-length: {}\r\n\r\n",
        body.len()
    );
    let mut stream = tokio::net::TcpStream::connect(address)
        .await
        .expect("it listens");
    stream.write_all(head.as_bytes()).await.expect("it reads");
    stream.write_all(body.as_bytes()).await.expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("UTF-8");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
    let status = head.split(' ').nth(1).expect("a status").to_owned();
    let start = body.find('{').expect("JSON");
    let end = body.rfind('}').expect("JSON");
    let body: serde_json::Value = serde_json::from_str(&body[start..=end]).expect("JSON");
    (status, body["error"].clone())
}

#[tokio::test]
async fn a_tool_that_is_denied_cannot_be_told_from_one_that_does_not_exist() {
    let schema = json!({
        "type": "object",
        "properties": { "region": { "type": "string", "x-mcp-header": "Region" } },
        "required": ["region"],
    });
    let tool = |name: &'static str| {
        Tool::new(name, async |RawArgs(_): RawArgs| "done").input_schema(schema.clone())
    };
    let server = || {
        Server::new("s", "1")
            .tool(tool("secret"))
            .tool(tool("open"))
    };
    for servers in [vec!["one"], vec!["one", "two"]] {
        let prefix = if servers.len() == 1 { "" } else { "one__" };
        let rule = PolicyRule::for_all().deny([format!("{prefix}secret")]);
        let policy = Policy::new().rule(rule);
        let mut gateway =
            Gateway::new("gateway", "1").operation(Arc::new(Operation::new().policy(policy)));
        for name in servers {
            let url = listen(server().build().expect("a server")).await;
            gateway = gateway.server(name, remote(&url));
        }
        let gateway = gateway.open().expect("a gateway");
        gateway.settled().await;
        let url = listen(gateway.server().clone()).await;
        let post =
            async |name: &str| post_call(&url, "2026-07-28", &format!("{prefix}{name}")).await;
        let (status, open) = post("open").await;
        assert_eq!((&*status, &open["code"]), ("400", &json!(-32020)), "{open}");
        // An unsupported version is reported before missing headers.
        let (_, unspoken) = post_call(&url, "2099-01-01", &format!("{prefix}open")).await;
        assert_eq!(unspoken["code"], -32022, "{unspoken}");
        let (denied, absent) = (post("secret").await, post("absent").await);
        let alike = absent.1.to_string().replace("absent", "secret");
        assert_eq!((&denied.0, denied.1.to_string()), (&absent.0, alike));
        // In a session, too.
        let client = Client::new("front", "1").only(Revision::V2025_06_18);
        let client = join(&client, &gateway, Door::Http).await;
        let said = async |name: &str| {
            let called = client.call(format!("{prefix}{name}"), json!({ "region": "north" }));
            let error = called.await.expect_err("it is refused");
            let error = error.rejection().expect("an error of JSON-RPC");
            (error.code, error.message.replace("absent", "secret"))
        };
        assert_eq!(said("secret").await, said("absent").await);
        gateway.close().await;
    }
}
