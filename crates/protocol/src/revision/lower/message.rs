//! The messages between client and server: params, results, notifications.

use super::{Lower, Revision, lower_meta, retired, steps, v2025_03_26, v2025_06_18, v2026_07_28};
use crate::{
    CallToolOutcome, CallToolRequestParams, CallToolResult, CancelledNotificationParams, Complete,
    CompleteRequestParams, CompleteResult, DiscoverResult, ElicitationCompleteNotificationParams,
    EmptyResult, GetPromptRequestParams, GetPromptResult, InitializeRequestParams,
    InitializeResult, InputResponses, LegacyCreateTaskResult, LegacyListTasksResult, LegacyTask,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListRootsResult,
    ListToolsResult, LoggingMessageNotificationParams, NotificationParams, Outcome,
    PaginatedRequestParams, ProgressNotificationParams, ReadResourceRequestParams,
    ReadResourceResult, RequestParams, ResourceRequestParams, ResourceUpdatedNotificationParams,
    SetLevelRequestParams, SubscriptionsAcknowledgedNotificationParams,
    SubscriptionsListenRequestParams, SubscriptionsListenResult, Task, TaskRequestParams,
};

/// Messages that only differ in `_meta`.
macro_rules! only_meta {
    ($($message:ty),+ $(,)?) => {$(
        impl Lower for $message {
            fn lower(&mut self, to: Revision) {
                lower_meta(&mut self.meta, to);
            }
        }
    )+};
}

only_meta!(
    CancelledNotificationParams,
    CompleteResult,
    ElicitationCompleteNotificationParams,
    EmptyResult,
    LegacyCreateTaskResult,
    LegacyListTasksResult,
    LegacyTask,
    LoggingMessageNotificationParams,
    NotificationParams,
    PaginatedRequestParams,
    RequestParams,
    ResourceRequestParams,
    ResourceUpdatedNotificationParams,
    SetLevelRequestParams,
    SubscriptionsAcknowledgedNotificationParams,
    SubscriptionsListenRequestParams,
    Task,
    TaskRequestParams,
);

/// Results with cache hints, which only modern peers read.
macro_rules! cacheable {
    ($($result:ty: $items:ident),+ $(,)?) => {$(
        impl Lower for $result {
            fn lower(&mut self, to: Revision) {
                lower_meta(&mut self.meta, to);
                self.$items.lower(to);
                if !to.is_modern() {
                    self.ttl_ms = None;
                    self.cache_scope = None;
                }
            }
        }
    )+};
}

cacheable!(
    DiscoverResult: capabilities,
    ListPromptsResult: prompts,
    ListResourceTemplatesResult: resource_templates,
    ListResourcesResult: resources,
    ListToolsResult: tools,
    ReadResourceResult: contents,
);

impl Lower for InitializeRequestParams {
    fn lower(&mut self, to: Revision) {
        lower_meta(&mut self.meta, to);
        self.capabilities.lower(to);
        self.client_info.lower(to);
    }
}

impl Lower for InitializeResult {
    fn lower(&mut self, to: Revision) {
        lower_meta(&mut self.meta, to);
        self.capabilities.lower(to);
        self.server_info.lower(to);
    }
}

/// Lowers the answers and the state of a retried request, which only modern peers have.
fn lower_round(responses: &mut Option<InputResponses>, state: &mut Option<String>, to: Revision) {
    if to.is_modern() {
        let responses = responses
            .iter_mut()
            .flat_map(|responses| responses.values_mut());
        responses.for_each(|response| response.lower(to));
    } else {
        *responses = None;
        *state = None;
    }
}

impl Lower for CallToolRequestParams {
    fn lower(&mut self, to: Revision) {
        lower_meta(&mut self.meta, to);
        if !to.rules().task_fields {
            self.task = None;
        }
        lower_round(&mut self.input_responses, &mut self.request_state, to);
    }
}

impl Lower for ReadResourceRequestParams {
    fn lower(&mut self, to: Revision) {
        lower_meta(&mut self.meta, to);
        lower_round(&mut self.input_responses, &mut self.request_state, to);
    }
}

impl Lower for GetPromptRequestParams {
    fn lower(&mut self, to: Revision) {
        lower_meta(&mut self.meta, to);
        lower_round(&mut self.input_responses, &mut self.request_state, to);
    }
}

impl Lower for CallToolResult {
    fn lower(&mut self, to: Revision) {
        lower_meta(&mut self.meta, to);
        self.content.lower(to);
        steps!(self, to, call_tool_result: v2026_07_28 v2025_06_18);
    }
}

impl Lower for GetPromptResult {
    fn lower(&mut self, to: Revision) {
        lower_meta(&mut self.meta, to);
        self.messages.lower(to);
    }
}

impl Lower for CompleteRequestParams {
    fn lower(&mut self, to: Revision) {
        lower_meta(&mut self.meta, to);
        steps!(self, to, complete_params: v2025_06_18);
    }
}

impl Lower for ProgressNotificationParams {
    fn lower(&mut self, to: Revision) {
        lower_meta(&mut self.meta, to);
        steps!(self, to, progress_params: v2025_03_26);
    }
}

impl Lower for ListRootsResult {
    fn lower(&mut self, to: Revision) {
        lower_meta(&mut self.meta, to);
        self.roots.lower(to);
        steps!(self, to, list_roots_result: retired);
    }
}

impl<T: Lower> Lower for Complete<T> {
    fn lower(&mut self, to: Revision) {
        self.0.lower(to);
    }
}

impl<T: Lower> Lower for Outcome<T> {
    fn lower(&mut self, to: Revision) {
        match self {
            Self::Complete(result) => result.lower(to),
            Self::InputRequired(result) => result.lower(to),
        }
    }
}

impl Lower for CallToolOutcome {
    /// A task keeps its modern form; for 2025-11-25 convert it to a [`LegacyCreateTaskResult`].
    fn lower(&mut self, to: Revision) {
        match self {
            Self::Complete(result) => result.lower(to),
            Self::InputRequired(result) => result.lower(to),
            Self::Task(task) => task.lower(to),
        }
    }
}

impl Lower for SubscriptionsListenResult {
    /// There is no older form: sessions unsubscribe instead.
    fn lower(&mut self, to: Revision) {
        steps!(&mut self.meta, to, meta: retired);
    }
}
