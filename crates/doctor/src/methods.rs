//! The answers to unknown methods, tools, prompts and resources.

use serde_json::{Value, json};
use turnbuckle::protocol::error::code;

use super::{
    check::Check,
    connection::{Answer, Connection, Exchange, Transport},
    finding::Finding,
    table::{http, methods},
};

/// A name that no tool, prompt or resource has, so that nothing runs when it is called.
pub(crate) const NO_SUCH_NAME: &str = "turnbuckle-doctor-no-such-thing";

/// Checks the answers to requests that make no sense.
pub(crate) async fn look(connection: &mut Connection<'_>, capabilities: &Value) {
    connection
        .report
        .step("asking for things that do not exist");
    if !connection.is_modern() {
        ping(connection).await;
    }
    unknown_method(connection).await;
    text_id(connection).await;
    if capabilities["tools"].is_object() {
        let params = json!({ "name": NO_SUCH_NAME, "arguments": {} });
        let exchange = connection.ask("tools/call", params).await;
        refused(
            connection,
            &methods::UNKNOWN_TOOL,
            "a tool",
            &exchange,
            &[code::INVALID_PARAMS],
        );
    }
    if capabilities["prompts"].is_object() {
        let exchange = connection
            .ask("prompts/get", json!({ "name": NO_SUCH_NAME }))
            .await;
        let right = [code::INVALID_PARAMS];
        refused(
            connection,
            &methods::UNKNOWN_PROMPT,
            "a prompt",
            &exchange,
            &right,
        );
    }
    if capabilities["resources"].is_object() {
        let uri = format!("{NO_SUCH_NAME}:///nothing");
        let exchange = connection
            .ask("resources/read", json!({ "uri": uri }))
            .await;
        // The code of the other era is accepted too: in the older revisions the code is a SHOULD.
        let right = if connection.is_modern() {
            vec![code::INVALID_PARAMS]
        } else {
            vec![code::RESOURCE_NOT_FOUND, code::INVALID_PARAMS]
        };
        refused(
            connection,
            &methods::UNKNOWN_RESOURCE,
            "a resource",
            &exchange,
            &right,
        );
    }
    notification(connection).await;
}

async fn ping(connection: &mut Connection<'_>) {
    let exchange = connection.ask("ping", json!({})).await;
    if exchange.result().is_some_and(Value::is_object) {
        connection.report.ok(&methods::PING, "ping is answered");
        return;
    }
    connection
        .report
        .add(exchange.unexpected(&methods::PING, "`ping`"));
}

async fn unknown_method(connection: &mut Connection<'_>) {
    let exchange = connection.ask("turnbuckle/no-such-method", json!({})).await;
    if exchange.is_silent() {
        let said = "an unknown method is not answered";
        connection
            .report
            .add(exchange.finding(&methods::UNANSWERED, said));
        return;
    }
    let is_named = exchange.code() == Some(code::METHOD_NOT_FOUND);
    if connection.is_modern() && connection.is_http() {
        if is_named && exchange.status() == Some(404) {
            let said = "unknown methods get 404 and -32601";
            connection.report.ok(&http::UNKNOWN_METHOD, said);
            return;
        }
        connection
            .report
            .add(exchange.unexpected(&http::UNKNOWN_METHOD, "an unknown method"));
        return;
    }
    if is_named {
        connection
            .report
            .ok(&methods::UNKNOWN, "unknown methods get -32601");
        return;
    }
    connection
        .report
        .add(exchange.unexpected(&methods::UNKNOWN, "an unknown method"));
}

/// Checks that an id that is a string comes back as a string; all other requests here have numbers.
async fn text_id(connection: &mut Connection<'_>) {
    let method = if connection.is_modern() {
        "server/discover"
    } else {
        "ping"
    };
    let id = json!("turnbuckle-doctor");
    let message = connection.spoken.request(&id, method, json!({}));
    let limit = connection.limits.probe;
    let exchange = connection.send(message, limit).await;
    if exchange.is_silent() {
        let said = "a request whose id is a string is not answered";
        connection.report.add(exchange.finding(&methods::ID, said));
    } else {
        connection
            .report
            .ok_unless_found(&methods::ID, "ids come back");
    }
}

fn refused(
    connection: &Connection<'_>,
    check: &'static Check,
    what: &str,
    exchange: &Exchange,
    right: &[i64],
) {
    if exchange.code().is_some_and(|code| right.contains(&code)) {
        let noun = what.rsplit(' ').next().unwrap_or_default();
        let code = exchange.code().unwrap_or_default();
        connection
            .report
            .ok(check, format!("unknown {noun}s get {code}"));
        return;
    }
    let came = match exchange.result() {
        Some(result) if result["isError"] == true => "an `isError` result".to_owned(),
        _ => exchange.came(),
    };
    let said = format!("{what} that does not exist is answered with {came}");
    let finding = exchange.finding(check, said);
    if exchange.is_silent() {
        let finding = Finding {
            check: &methods::UNANSWERED,
            severity: methods::UNANSWERED.severity,
            ..finding
        };
        connection.report.add(finding);
    } else {
        connection.report.add(finding);
    }
}

/// Checks that an unknown notification gets no answer. Over HTTP it gets a status, which is checked
/// elsewhere.
async fn notification(connection: &mut Connection<'_>) {
    if connection.is_http() {
        return;
    }
    connection
        .notify("notifications/turnbuckle/unknown", json!({}))
        .await;
    let time = connection.limits.silence;
    let heard = match &mut connection.transport {
        Transport::Stdio(stdio) => stdio.listen(time).await,
        Transport::Events(events) => events.listen(time).await,
        Transport::Http(_) => return,
    };
    // A message with an id is late or repeated; it does not answer a notification, which has no id.
    let is_answer = |message: &&Value| {
        message.get("method").is_none()
            && message["id"].is_null()
            && (message.get("error").is_some() || message.get("result").is_some())
    };
    match heard.iter().find(is_answer) {
        Some(answer) => {
            let said = "an unknown notification is answered";
            let finding = Finding::of(&methods::NOTIFICATION, said);
            connection.report.add(finding.seen(format!("← {answer}")));
        }
        None => connection
            .report
            .ok(&methods::NOTIFICATION, "notifications get no answer"),
    }
}

/// Sends a line that is not JSON. This is the last check, because some servers exit then.
pub(crate) async fn garbage(connection: &mut Connection<'_>) {
    connection.report.step("sending a line that is not JSON");
    let limit = connection.limits.probe;
    let Transport::Stdio(stdio) = &mut connection.transport else {
        return;
    };
    if stdio.is_gone() {
        // The program has ended before, which was reported.
        connection.report.mute(true);
        return;
    }
    let _ = stdio.write_text("this is not JSON\n", limit).await;
    let time = connection.limits.silence;
    let _ = stdio.listen(time).await;
    if let Some(how) = stdio.how_gone() {
        let said = format!("after a line that is not JSON: {how}");
        let finding = Finding::of(&methods::GARBAGE, said);
        connection
            .report
            .add(finding.seen_all(stdio.last_words().await));
        return;
    }
    let method = if connection.is_modern() {
        "server/discover"
    } else {
        "ping"
    };
    let exchange = connection.ask(method, json!({})).await;
    if matches!(exchange.answer, Answer::Message(_)) {
        let said = "survives a line that is not JSON";
        connection.report.ok_unless_found(&methods::GARBAGE, said);
        return;
    }
    let said = format!("after a line that is not JSON: {}", exchange.came());
    connection
        .report
        .add(exchange.finding(&methods::GARBAGE, said));
}
