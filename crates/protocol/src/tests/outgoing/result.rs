//! Results of a server, and answers of a client.

use std::fmt::Debug;

use crate::{
    Complete, CreateMessageResult, EmptyResult, InputResponse, Revision, method, revision::Lower,
};

use crate::tests::{generator::Generator, sample};

pub(super) fn results(g: &mut Generator) {
    let (f, to) = (g.f, g.to);
    lists(g);
    let any = ["Result"];
    let opened = sample::initialize_result(f, to);
    g.result::<method::Initialize>("InitializeResult", "", &any, opened);
    let found = sample::discover_result(f);
    let cacheable = ["CacheableResult"];
    g.result::<method::ServerDiscover>(
        "DiscoverResult",
        "DiscoverResultResponse",
        &cacheable,
        found,
    );
    for result in [sample::call_result(f), sample::array_call_result(f)] {
        let response = "CallToolResultResponse";
        g.result::<method::ToolsCall>("CallToolResult", response, &any, result);
    }
    let response = "ReadResourceResultResponse";
    let read = sample::read_result(f);
    g.result::<method::ResourcesRead>("ReadResourceResult", response, &any, read);
    let response = "GetPromptResultResponse";
    let prompt = sample::get_prompt_result(f);
    g.result::<method::PromptsGet>("GetPromptResult", response, &any, prompt);
    let response = "CompleteResultResponse";
    let values = sample::complete_result(f);
    g.result::<method::CompletionComplete>("CompleteResult", response, &any, values);
    let empty = EmptyResult {
        meta: f.message_meta(),
        other: crate::OtherMembers::new(),
    };
    g.result::<method::Ping>("EmptyResult", "", &any, empty.clone());
    g.result::<method::LoggingSetLevel>("EmptyResult", "", &any, empty.clone());
    if to.is_modern() {
        let json = g.lowered(Complete(empty));
        g.push(&["EmptyResult"], &["Result", "ClientResult"], json);
    }
}

fn lists(g: &mut Generator) {
    let f = g.f;
    let list = ["PaginatedResult", "CacheableResult", "Result"];
    let response = "ListToolsResultResponse";
    let tools = sample::list_tools_result(f);
    g.result::<method::ToolsList>("ListToolsResult", response, &list, tools);
    let response = "ListResourcesResultResponse";
    let resources = sample::list_resources_result(f);
    g.result::<method::ResourcesList>("ListResourcesResult", response, &list, resources);
    let (exact, response) = (
        "ListResourceTemplatesResult",
        "ListResourceTemplatesResultResponse",
    );
    let templates = sample::list_templates_result(f);
    g.result::<method::ResourcesTemplatesList>(exact, response, &list, templates);
    let response = "ListPromptsResultResponse";
    let prompts = sample::list_prompts_result(f);
    g.result::<method::PromptsList>("ListPromptsResult", response, &list, prompts);
}

/// Answers of a client: each kind of content alone, and all together.
pub(super) fn answers(g: &mut Generator) {
    let f = g.f;
    let all = sample::create_message_result(f);
    for piece in sample::sampling_content(f) {
        let said = CreateMessageResult {
            content: vec![piece],
            ..all.clone()
        };
        answer::<method::SamplingCreateMessage>(g, "CreateMessageResult", said);
    }
    answer::<method::SamplingCreateMessage>(g, "CreateMessageResult", all);
    answer::<method::RootsList>(g, "ListRootsResult", sample::list_roots_result(f));
    if g.to >= Revision::V2025_06_18 {
        answer::<method::ElicitationCreate>(g, "ElicitResult", sample::elicit_result(f));
    }
}

/// In a session an answer is a result; since 2026-07-28 it is a part of a request.
fn answer<M: method::Method>(g: &mut Generator, exact: &'static str, result: M::Result)
where
    M::Result: Lower + Clone + PartialEq + Debug,
{
    if g.to.is_modern() {
        let json = g.lowered(result);
        assert!(!matches!(
            InputResponse::from(json.clone()),
            InputResponse::Unrecognised(_)
        ));
        g.push(&[exact], &["InputResponse"], json);
    } else {
        g.result::<M>(exact, "", &["Result"], result);
    }
}
