//! What is answered to methods and things that do not exist.

use serde_json::{Value, json};
use turnbuckle::protocol::error::code;

use super::{
    check::Check,
    finding::Finding,
    table::{http, methods},
    talk::{Answer, Exchange, Road, Talk},
};

/// A name that nobody has: what is asked for by it does not run.
pub(crate) const NOBODY: &str = "turnbuckle-doctor-no-such-thing";

/// Looks at how nonsense is answered.
pub(crate) async fn look(talk: &mut Talk<'_>, capabilities: &Value) {
    talk.report.step("asking for things that do not exist");
    if !talk.is_modern() {
        ping(talk).await;
    }
    unknown_method(talk).await;
    text_id(talk).await;
    if capabilities["tools"].is_object() {
        let params = json!({ "name": NOBODY, "arguments": {} });
        let exchange = talk.ask("tools/call", params).await;
        refused(
            talk,
            &methods::UNKNOWN_TOOL,
            "a tool",
            &exchange,
            &[code::INVALID_PARAMS],
        );
    }
    if capabilities["prompts"].is_object() {
        let exchange = talk.ask("prompts/get", json!({ "name": NOBODY })).await;
        let right = [code::INVALID_PARAMS];
        refused(
            talk,
            &methods::UNKNOWN_PROMPT,
            "a prompt",
            &exchange,
            &right,
        );
    }
    if capabilities["resources"].is_object() {
        let uri = format!("{NOBODY}:///nothing");
        let exchange = talk.ask("resources/read", json!({ "uri": uri })).await;
        // Both are accepted where the other was right: it is a SHOULD of the older revisions.
        let right = if talk.is_modern() {
            vec![code::INVALID_PARAMS]
        } else {
            vec![code::RESOURCE_NOT_FOUND, code::INVALID_PARAMS]
        };
        refused(
            talk,
            &methods::UNKNOWN_RESOURCE,
            "a resource",
            &exchange,
            &right,
        );
    }
    notification(talk).await;
}

async fn ping(talk: &mut Talk<'_>) {
    let exchange = talk.ask("ping", json!({})).await;
    if exchange.result().is_some_and(Value::is_object) {
        talk.report.ok(&methods::PING, "ping is answered");
        return;
    }
    let said = format!("`ping` is answered with {}", exchange.came());
    let finding = Finding::of(&methods::PING, said);
    talk.report.add(finding.seen_all(exchange.evidence()));
}

async fn unknown_method(talk: &mut Talk<'_>) {
    let exchange = talk.ask("turnbuckle/no-such-method", json!({})).await;
    if exchange.is_silent() {
        let said = "an unknown method is not answered";
        let finding = Finding::of(&methods::UNANSWERED, said);
        talk.report.add(finding.seen_all(exchange.evidence()));
        return;
    }
    let is_named = exchange.code() == Some(code::METHOD_NOT_FOUND);
    if talk.is_modern() && talk.is_http() {
        if is_named && exchange.status() == Some(404) {
            let said = "unknown methods get 404 and -32601";
            talk.report.ok(&http::UNKNOWN_METHOD, said);
            return;
        }
        let said = format!("an unknown method is answered with {}", exchange.came());
        let finding = Finding::of(&http::UNKNOWN_METHOD, said);
        talk.report.add(finding.seen_all(exchange.evidence()));
        return;
    }
    if is_named {
        talk.report
            .ok(&methods::UNKNOWN, "unknown methods get -32601");
        return;
    }
    let said = format!("an unknown method is answered with {}", exchange.came());
    let finding = Finding::of(&methods::UNKNOWN, said);
    talk.report.add(finding.seen_all(exchange.evidence()));
}

/// An id that is a text comes back as a text; every other request here has a number.
async fn text_id(talk: &mut Talk<'_>) {
    let method = if talk.is_modern() {
        "server/discover"
    } else {
        "ping"
    };
    let id = json!("turnbuckle-doctor");
    let message = talk.speech.request(&id, method, json!({}));
    let patience = talk.patience.probe;
    let exchange = talk.send(message, patience).await;
    if exchange.is_silent() {
        let said = "a request whose id is a text is not answered";
        let finding = Finding::of(&methods::ID, said);
        talk.report.add(finding.seen_all(exchange.evidence()));
    } else {
        talk.report.ok_unless_found(&methods::ID, "ids come back");
    }
}

fn refused(talk: &Talk<'_>, check: &'static Check, what: &str, exchange: &Exchange, right: &[i64]) {
    if exchange.code().is_some_and(|code| right.contains(&code)) {
        let noun = what.rsplit(' ').next().unwrap_or_default();
        let code = exchange.code().unwrap_or_default();
        talk.report.ok(check, format!("unknown {noun}s get {code}"));
        return;
    }
    let came = match exchange.result() {
        Some(result) if result["isError"] == true => "an `isError` result".to_owned(),
        _ => exchange.came(),
    };
    let said = format!("{what} that does not exist is answered with {came}");
    let finding = Finding::of(check, said).seen_all(exchange.evidence());
    if exchange.is_silent() {
        let finding = Finding {
            check: &methods::UNANSWERED,
            severity: methods::UNANSWERED.severity,
            ..finding
        };
        talk.report.add(finding);
    } else {
        talk.report.add(finding);
    }
}

/// A notification that nobody knows gets no answer. HTTP has a status for it, looked at elsewhere.
async fn notification(talk: &mut Talk<'_>) {
    if talk.is_http() {
        return;
    }
    talk.notify("notifications/turnbuckle/unknown", json!({}))
        .await;
    let time = talk.patience.silence;
    let heard = match &mut talk.road {
        Road::Pipe(pipe) => pipe.listen(time).await,
        Road::Events(events) => events.listen(time).await,
        Road::Http(_) => return,
    };
    // What has an id is late, or comes twice, and is no answer to what had none.
    let is_answer = |message: &&Value| {
        message.get("method").is_none()
            && message["id"].is_null()
            && (message.get("error").is_some() || message.get("result").is_some())
    };
    match heard.iter().find(is_answer) {
        Some(answer) => {
            let said = "an unknown notification is answered";
            let finding = Finding::of(&methods::NOTIFICATION, said);
            talk.report.add(finding.seen(format!("← {answer}")));
        }
        None => talk
            .report
            .ok(&methods::NOTIFICATION, "notifications get no answer"),
    }
}

/// Sends a line that is no JSON, last of all: some servers end of it.
pub(crate) async fn garbage(talk: &mut Talk<'_>) {
    talk.report.step("sending a line that is no JSON");
    let patience = talk.patience.probe;
    let Road::Pipe(pipe) = &mut talk.road else {
        return;
    };
    if pipe.is_gone() {
        // It ended before, and that is what is told.
        talk.report.mute(true);
        return;
    }
    let _ = pipe.write_text("this is no JSON\n", patience).await;
    let time = talk.patience.silence;
    let _ = pipe.listen(time).await;
    if let Some(how) = pipe.how_gone() {
        let said = format!("after a line that is no JSON: {how}");
        let finding = Finding::of(&methods::GARBAGE, said);
        talk.report.add(finding.seen_all(pipe.last_words().await));
        return;
    }
    let method = if talk.is_modern() {
        "server/discover"
    } else {
        "ping"
    };
    let exchange = talk.ask(method, json!({})).await;
    if matches!(exchange.answer, Answer::Message(_)) {
        let said = "survives what is no JSON";
        talk.report.ok_unless_found(&methods::GARBAGE, said);
        return;
    }
    let said = format!("after a line that is no JSON: {}", exchange.came());
    let finding = Finding::of(&methods::GARBAGE, said);
    talk.report.add(finding.seen_all(exchange.evidence()));
}
