//! Params and results.

use crate::{
    CacheScope, CallToolRequestParams, CallToolResult, CancelledNotificationParams,
    CompleteArgument, CompleteContext, CompleteRequestParams, CompleteResult, Completion, Cursor,
    DiscoverResult, GetPromptRequestParams, GetPromptResult, Id, InitializeRequestParams,
    InitializeResult, InputRequiredResult, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, LoggingLevel, LoggingMessageNotificationParams, Meta,
    PaginatedRequestParams, ProgressNotificationParams, PromptReference, ReadResourceRequestParams,
    ReadResourceResult, Reference, ResourceTemplateReference, Revision,
    SubscriptionsAcknowledgedNotificationParams, SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
};
use serde_json::{json, value::to_raw_value};

use super::{
    Fullness, array_tool, client_capabilities, content, contents, implementation, input_requests,
    input_responses, prompt, prompt_messages, resource, resource_template, server_capabilities,
    subscription_filter, task_metadata, tool,
};

fn cursor(f: Fullness) -> Option<Cursor> {
    f.opt("next".into())
}

/// The cache hints that a modern peer requires in six results; they are never sent to others.
fn cache() -> (Option<u64>, Option<CacheScope>) {
    (Some(60_000), Some(CacheScope::Public))
}

pub(crate) fn initialize_params(f: Fullness, to: Revision) -> InitializeRequestParams {
    InitializeRequestParams {
        protocol_version: to.to_string(),
        capabilities: client_capabilities(f),
        client_info: implementation(f),
        meta: f.message_meta(),
    }
}

pub(crate) fn initialize_result(f: Fullness, to: Revision) -> InitializeResult {
    InitializeResult {
        protocol_version: to.to_string(),
        capabilities: server_capabilities(f),
        server_info: implementation(f),
        instructions: f.opt("Book early.".into()),
        meta: f.message_meta(),
        other: crate::OtherMembers::new(),
    }
}

pub(crate) fn discover_result(f: Fullness) -> DiscoverResult {
    let (ttl_ms, cache_scope) = cache();
    DiscoverResult {
        supported_versions: vec![Revision::LATEST.to_string()],
        capabilities: server_capabilities(f),
        instructions: f.opt("Book early.".into()),
        ttl_ms,
        cache_scope,
        meta: f.message_meta(),
        other: crate::OtherMembers::new(),
    }
}

pub(crate) fn page_params(f: Fullness, to: Revision) -> PaginatedRequestParams {
    PaginatedRequestParams {
        cursor: cursor(f),
        meta: f.request_meta(to),
    }
}

pub(crate) fn call_params(f: Fullness, to: Revision) -> CallToolRequestParams {
    CallToolRequestParams {
        name: "book".into(),
        arguments: f.opt(to_raw_value(&json!({"row": 3})).unwrap()),
        input_responses: f.opt(input_responses(f)),
        request_state: f.opt("sealed".into()),
        task: f.opt(task_metadata(f)),
        meta: f.request_meta(to),
    }
}

/// Structured content that every revision since 2025-06-18 supports.
pub(crate) fn call_result(f: Fullness) -> CallToolResult {
    CallToolResult {
        content: f.list(content(f)),
        structured_content: f.opt(to_raw_value(&json!({"ticket": "A3"})).unwrap()),
        is_error: f.opt(false),
        meta: f.message_meta(),
        other: crate::OtherMembers::new(),
    }
}

/// Structured content that only the newest revision supports.
pub(crate) fn array_call_result(f: Fullness) -> CallToolResult {
    CallToolResult {
        structured_content: f.opt(to_raw_value(&json!(["A3", null])).unwrap()),
        ..call_result(f)
    }
}

pub(crate) fn list_tools_result(f: Fullness) -> ListToolsResult {
    let (ttl_ms, cache_scope) = cache();
    let tools = vec![tool(f), array_tool(f)];
    ListToolsResult {
        tools,
        next_cursor: cursor(f),
        ttl_ms,
        cache_scope,
        meta: f.message_meta(),
        other: crate::OtherMembers::new(),
    }
}

pub(crate) fn list_resources_result(f: Fullness) -> ListResourcesResult {
    let (ttl_ms, cache_scope) = cache();
    ListResourcesResult {
        resources: vec![resource(f)],
        next_cursor: cursor(f),
        ttl_ms,
        cache_scope,
        meta: f.message_meta(),
        other: crate::OtherMembers::new(),
    }
}

pub(crate) fn list_templates_result(f: Fullness) -> ListResourceTemplatesResult {
    let (ttl_ms, cache_scope) = cache();
    ListResourceTemplatesResult {
        resource_templates: vec![resource_template(f)],
        next_cursor: cursor(f),
        ttl_ms,
        cache_scope,
        meta: f.message_meta(),
        other: crate::OtherMembers::new(),
    }
}

pub(crate) fn list_prompts_result(f: Fullness) -> ListPromptsResult {
    let (ttl_ms, cache_scope) = cache();
    ListPromptsResult {
        prompts: vec![prompt(f)],
        next_cursor: cursor(f),
        ttl_ms,
        cache_scope,
        meta: f.message_meta(),
        other: crate::OtherMembers::new(),
    }
}

pub(crate) fn read_params(f: Fullness, to: Revision) -> ReadResourceRequestParams {
    ReadResourceRequestParams {
        uri: "file:///a.txt".into(),
        input_responses: f.opt(input_responses(f)),
        request_state: f.opt("sealed".into()),
        meta: f.request_meta(to),
    }
}

pub(crate) fn read_result(f: Fullness) -> ReadResourceResult {
    let (ttl_ms, cache_scope) = cache();
    ReadResourceResult {
        contents: f.list(contents(f)),
        ttl_ms,
        cache_scope,
        meta: f.message_meta(),
        other: crate::OtherMembers::new(),
    }
}

pub(crate) fn get_prompt_params(f: Fullness, to: Revision) -> GetPromptRequestParams {
    GetPromptRequestParams {
        name: "review".into(),
        arguments: f.opt(
            [("code".to_owned(), "x = 1".to_owned())]
                .into_iter()
                .collect(),
        ),
        input_responses: f.opt(input_responses(f)),
        request_state: f.opt("sealed".into()),
        meta: f.request_meta(to),
    }
}

pub(crate) fn get_prompt_result(f: Fullness) -> GetPromptResult {
    GetPromptResult {
        description: f.opt("Reviews code".into()),
        messages: f.list(prompt_messages(f)),
        meta: f.message_meta(),
        other: crate::OtherMembers::new(),
    }
}

pub(crate) fn input_required_result(f: Fullness) -> InputRequiredResult {
    InputRequiredResult {
        input_requests: f.opt(input_requests(f)),
        request_state: Some("sealed".into()),
        meta: f.message_meta(),
        other: crate::OtherMembers::new(),
    }
}

pub(crate) fn references(f: Fullness) -> [Reference; 2] {
    [
        Reference::Prompt(PromptReference {
            name: "review".into(),
            title: f.opt("Review".into()),
        }),
        Reference::Resource(ResourceTemplateReference {
            uri: "file:///{path}".into(),
        }),
    ]
}

pub(crate) fn complete_params(
    f: Fullness,
    to: Revision,
    reference: Reference,
) -> CompleteRequestParams {
    let known = [("language".to_owned(), "rust".to_owned())]
        .into_iter()
        .collect();
    CompleteRequestParams {
        reference,
        argument: CompleteArgument {
            name: "code".into(),
            value: "fn".into(),
        },
        context: f.opt(CompleteContext {
            arguments: f.opt(known),
        }),
        meta: f.request_meta(to),
    }
}

pub(crate) fn complete_result(f: Fullness) -> CompleteResult {
    CompleteResult {
        completion: Completion {
            values: f.list(vec!["fn main".into()]),
            total: f.opt(12),
            has_more: f.opt(true),
        },
        meta: f.message_meta(),
        other: crate::OtherMembers::new(),
    }
}

pub(crate) fn progress_params(f: Fullness) -> ProgressNotificationParams {
    ProgressNotificationParams {
        progress_token: "token-1".into(),
        progress: 0.5,
        total: f.opt(1.0),
        message: f.opt("half done".into()),
        meta: f.message_meta(),
    }
}

/// Every schema except that of 2025-11-25 requires the id.
pub(crate) fn cancelled_params(f: Fullness, to: Revision) -> CancelledNotificationParams {
    CancelledNotificationParams {
        request_id: f
            .opt(Id::from("call-1"))
            .or((to != Revision::V2025_11_25).then(|| 7.into())),
        reason: f.opt("no longer wanted".into()),
        meta: f.message_meta(),
    }
}

pub(crate) fn log_params(f: Fullness) -> LoggingMessageNotificationParams {
    LoggingMessageNotificationParams {
        level: LoggingLevel::Warning,
        logger: f.opt("seats".into()),
        data: json!({"free": 0}),
        meta: f.message_meta(),
    }
}

pub(crate) fn listen_params(f: Fullness, to: Revision) -> SubscriptionsListenRequestParams {
    SubscriptionsListenRequestParams {
        notifications: subscription_filter(f),
        meta: f.request_meta(to),
    }
}

pub(crate) fn acknowledged_params(f: Fullness) -> SubscriptionsAcknowledgedNotificationParams {
    SubscriptionsAcknowledgedNotificationParams {
        notifications: subscription_filter(f),
        meta: f.message_meta(),
    }
}

pub(crate) fn listen_result(f: Fullness) -> SubscriptionsListenResult {
    let meta = f
        .meta()
        .unwrap_or_default()
        .with_subscription_id(&Id::from("listen-1"));
    SubscriptionsListenResult {
        meta: Meta(meta.0),
        other: crate::OtherMembers::new(),
    }
}
