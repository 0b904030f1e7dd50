//! Messages that only 2026-07-28 has.

use crate::{CallToolOutcome, GetPromptResult, InputRequest, Outcome, ReadResourceResult, method};
use serde_json::json;

use crate::tests::{
    generator::{Generator, written},
    sample,
};

pub(super) fn modern(g: &mut Generator) {
    let f = g.f;
    let response = "SubscriptionsListenResultResponse";
    let ended = sample::listen_result(f);
    let exact = "SubscriptionsListenResult";
    g.result::<method::SubscriptionsListen>(exact, response, &["Result"], ended);
    g.push(
        &["SubscriptionFilter"],
        &[],
        written(&sample::subscription_filter(f)),
    );
    asks(g);
    let call = g.lowered(sample::call_params(f, g.to));
    if let Some(responses) = call.get("inputResponses") {
        g.push(&[], &["InputResponses"], responses.clone());
    }
    meta_objects(g);
}

/// Requests of a server to the client, alone and in a result.
fn asks(g: &mut Generator) {
    for (name, request) in sample::input_requests(g.f) {
        let exact = match request {
            InputRequest::CreateMessage(_) => "CreateMessageRequest",
            InputRequest::ListRoots(_) => "ListRootsRequest",
            InputRequest::Elicit(_) => "ElicitRequest",
        };
        let lowered = request
            .lower_to(g.to)
            .expect("the newest revision can say everything");
        let json = written(&lowered);
        if exact == "CreateMessageRequest" {
            g.push(&["CreateMessageRequestParams"], &[], json["params"].clone());
        }
        g.push(&[], &["InputRequests"], json!({ name: json }));
        g.push(&[exact], &["InputRequest"], json);
    }
    let asked = sample::input_required_result(g.f);
    let call = g.lowered(CallToolOutcome::InputRequired(asked.clone()));
    let exact = "InputRequiredResult";
    g.result_json("tools/call", exact, "CallToolResultResponse", &[], call);
    let get = g.lowered(Outcome::<GetPromptResult>::InputRequired(asked.clone()));
    g.result_json("prompts/get", exact, "GetPromptResultResponse", &[], get);
    let read = g.lowered(Outcome::<ReadResourceResult>::InputRequired(asked));
    g.result_json(
        "resources/read",
        exact,
        "ReadResourceResultResponse",
        &[],
        read,
    );
}

fn meta_objects(g: &mut Generator) {
    let f = g.f;
    let request = f.request_meta(g.to).expect("a modern request has it");
    let any = ["RequestMetaObject", "MetaObject", "JSONObject", "JSONValue"];
    g.push(&[], &any, written(&request));
    let message = f.message_meta().unwrap_or_default();
    g.push(
        &[],
        &["NotificationMetaObject", "ResultMetaObject"],
        written(&message),
    );
    let listen = sample::listen_result(f).meta;
    g.push(
        &[],
        &["SubscriptionsListenResultMetaObject"],
        written(&listen),
    );
    // `null` is left out: the schema does not allow it, although the specification's prose does.
    g.push(&[], &["JSONArray"], json!([1, "a", true]));
}
