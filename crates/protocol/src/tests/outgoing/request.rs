//! Requests in both directions, except for elicitation.

use crate::{
    LoggingLevel, Reference, RequestParams, ResourceRequestParams, SetLevelRequestParams, method,
    revision::Lower,
};
use serde_json::json;

use crate::tests::{
    generator::{Generator, written},
    sample,
};

pub(super) fn client_requests(g: &mut Generator) {
    let (f, to) = (g.f, g.to);
    lists(g);
    let empty = RequestParams {
        meta: f.request_meta(to),
        other: crate::OtherMembers::new(),
    };
    let opening = sample::initialize_params(f, to);
    g.request::<method::Initialize>("InitializeRequest", &["InitializeRequestParams"], opening);
    g.request::<method::Ping>("PingRequest", &["RequestParams"], empty.clone());
    g.request::<method::ServerDiscover>("DiscoverRequest", &["RequestParams"], empty);
    g.request::<method::ToolsCall>(
        "CallToolRequest",
        &[
            "CallToolRequestParams",
            "TaskAugmentedRequestParams",
            "InputResponseRequestParams",
        ],
        sample::call_params(f, to),
    );
    g.request::<method::ResourcesRead>(
        "ReadResourceRequest",
        &["ReadResourceRequestParams", "ResourceRequestParams"],
        sample::read_params(f, to),
    );
    let prompt = sample::get_prompt_params(f, to);
    g.request::<method::PromptsGet>("GetPromptRequest", &["GetPromptRequestParams"], prompt);
    for reference in sample::references(f) {
        complete(g, reference);
    }
    let uri = ResourceRequestParams {
        uri: "file:///a.txt".into(),
        meta: f.request_meta(to),
    };
    let of = ["SubscribeRequestParams"];
    g.request::<method::ResourcesSubscribe>("SubscribeRequest", &of, uri.clone());
    let of = ["UnsubscribeRequestParams"];
    g.request::<method::ResourcesUnsubscribe>("UnsubscribeRequest", &of, uri);
    let level = SetLevelRequestParams {
        level: LoggingLevel::Info,
        meta: f.request_meta(to),
    };
    g.request::<method::LoggingSetLevel>("SetLevelRequest", &["SetLevelRequestParams"], level);
    let of = ["SubscriptionsListenRequestParams"];
    let listen = sample::listen_params(f, to);
    g.request::<method::SubscriptionsListen>("SubscriptionsListenRequest", &of, listen);
}

fn lists(g: &mut Generator) {
    let page = sample::page_params(g.f, g.to);
    let of = ["PaginatedRequestParams", "RequestParams"];
    g.request::<method::ToolsList>("ListToolsRequest", &of, page.clone());
    g.request::<method::ResourcesList>("ListResourcesRequest", &of, page.clone());
    let exact = "ListResourceTemplatesRequest";
    g.request::<method::ResourcesTemplatesList>(exact, &of, page.clone());
    g.request::<method::PromptsList>("ListPromptsRequest", &of, page.clone());
    let params = g.lowered(page);
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "prompts/list", "params": params});
    g.push(&[], &["PaginatedRequest"], request);
}

fn complete(g: &mut Generator, reference: Reference) {
    let mut params = sample::complete_params(g.f, g.to, reference);
    params.lower(g.to);
    let exact: &[&str] = match params.reference {
        Reference::Prompt(_) => &["PromptReference"],
        Reference::Resource(_) => &["ResourceReference", "ResourceTemplateReference"],
    };
    g.push(exact, &[], written(&params.reference));
    g.request::<method::CompletionComplete>("CompleteRequest", &["CompleteRequestParams"], params);
}

pub(super) fn server_requests(g: &mut Generator) {
    let (f, to) = (g.f, g.to);
    let of = ["CreateMessageRequestParams"];
    let mut params = sample::create_message_params(f);
    g.request::<method::SamplingCreateMessage>("CreateMessageRequest", &of, params.clone());
    params.lower(to);
    for message in params.messages {
        g.push(&["SamplingMessage"], &[], written(&message));
    }
    let empty = RequestParams {
        meta: f.request_meta(to),
        other: crate::OtherMembers::new(),
    };
    g.request::<method::RootsList>("ListRootsRequest", &["RequestParams"], empty);
}
