//! Every request of the five revisions and the tasks extension.

use serde::{Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;

use crate::{
    Augmented, CallToolOutcome, CallToolRequestParams, CallToolResult, Complete,
    CompleteRequestParams, CompleteResult, CreateMessageRequestParams, CreateMessageResult,
    DetailedTask, DiscoverResult, ElicitRequestParams, ElicitResult, EmptyResult,
    GetPromptRequestParams, GetPromptResult, InitializeRequestParams, InitializeResult,
    LegacyListTasksResult, LegacyTask, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListRootsResult, ListToolsResult, Outcome, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResult, RequestParams, ResourceRequestParams,
    SetLevelRequestParams, SubscriptionsListenRequestParams, SubscriptionsListenResult,
    TaskRequestParams, UpdateTaskRequestParams,
};

/// A request: its name, its params and its result.
pub trait Method {
    /// The name on the wire.
    const NAME: &'static str;
    /// The params.
    type Params: Serialize + DeserializeOwned + Send + Sync + 'static;
    /// The result.
    type Result: Serialize + DeserializeOwned + Send + Sync + 'static;
    /// Everything that a response may contain: the result, a question, or a task.
    type Outcome: Serialize + DeserializeOwned + Send + Sync + 'static;
    /// The member of the params that `Mcp-Name` repeats over HTTP, if an extension requires it. For
    /// methods of the core, use [`name_of`](crate::http::name_of).
    const NAMED_BY: Option<&'static str> = None;
}

/// Declares the types of requests.
macro_rules! requests {
    ($($(#[$doc:meta])* $name:ident = $wire:literal: $params:ty => $result:ty as $outcome:ty;)+) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
            pub struct $name;

            impl Method for $name {
                const NAME: &'static str = $wire;
                type Params = $params;
                type Result = $result;
                type Outcome = $outcome;
            }
        )+

        /// The names of all requests declared here.
        #[cfg(test)]
        pub(super) const NAMES: &[&str] = &[$($wire),+];
    };
}

requests! {
    /// `tools/call`.
    ToolsCall = "tools/call": CallToolRequestParams => CallToolResult as CallToolOutcome;
    /// `tools/list`.
    ToolsList = "tools/list": PaginatedRequestParams => ListToolsResult as Complete<ListToolsResult>;
    /// `resources/list`.
    ResourcesList = "resources/list": PaginatedRequestParams => ListResourcesResult as Complete<ListResourcesResult>;
    /// `resources/templates/list`.
    ResourcesTemplatesList = "resources/templates/list": PaginatedRequestParams => ListResourceTemplatesResult as Complete<ListResourceTemplatesResult>;
    /// `resources/read`.
    ResourcesRead = "resources/read": ReadResourceRequestParams => ReadResourceResult as Outcome<ReadResourceResult>;
    /// `resources/subscribe`. Until 2025-11-25.
    ResourcesSubscribe = "resources/subscribe": ResourceRequestParams => EmptyResult as Complete<EmptyResult>;
    /// `resources/unsubscribe`. Until 2025-11-25.
    ResourcesUnsubscribe = "resources/unsubscribe": ResourceRequestParams => EmptyResult as Complete<EmptyResult>;
    /// `prompts/list`.
    PromptsList = "prompts/list": PaginatedRequestParams => ListPromptsResult as Complete<ListPromptsResult>;
    /// `prompts/get`.
    PromptsGet = "prompts/get": GetPromptRequestParams => GetPromptResult as Outcome<GetPromptResult>;
    /// `completion/complete`.
    CompletionComplete = "completion/complete": CompleteRequestParams => CompleteResult as Complete<CompleteResult>;
    /// `server/discover`. Since 2026-07-28.
    ServerDiscover = "server/discover": RequestParams => DiscoverResult as Complete<DiscoverResult>;
    /// `subscriptions/listen`. Since 2026-07-28.
    SubscriptionsListen = "subscriptions/listen": SubscriptionsListenRequestParams => SubscriptionsListenResult as Complete<SubscriptionsListenResult>;
    /// `initialize`. Until 2025-11-25.
    Initialize = "initialize": InitializeRequestParams => InitializeResult as InitializeResult;
    /// `ping`. Until 2025-11-25.
    Ping = "ping": RequestParams => EmptyResult as Complete<EmptyResult>;
    /// `logging/setLevel`. Until 2025-11-25.
    LoggingSetLevel = "logging/setLevel": SetLevelRequestParams => EmptyResult as Complete<EmptyResult>;
    /// `sampling/createMessage`, sent by servers. Until 2025-11-25; since then only in results.
    SamplingCreateMessage = "sampling/createMessage": CreateMessageRequestParams => CreateMessageResult as Augmented<CreateMessageResult>;
    /// `elicitation/create`, sent by servers. From 2025-06-18 to 2025-11-25; since then only in
    /// results.
    ElicitationCreate = "elicitation/create": ElicitRequestParams => ElicitResult as Augmented<ElicitResult>;
    /// `roots/list`, sent by servers. Until 2025-11-25; since then only in results.
    RootsList = "roots/list": RequestParams => ListRootsResult as ListRootsResult;
    /// `tasks/get` of the tasks extension.
    TasksGet = "tasks/get": TaskRequestParams => DetailedTask as Complete<DetailedTask>;
    /// `tasks/update` of the tasks extension.
    TasksUpdate = "tasks/update": UpdateTaskRequestParams => EmptyResult as Complete<EmptyResult>;
    /// `tasks/cancel` of the tasks extension.
    TasksCancel = "tasks/cancel": TaskRequestParams => EmptyResult as Complete<EmptyResult>;
    /// `tasks/get` of 2025-11-25.
    LegacyTasksGet = "tasks/get": TaskRequestParams => LegacyTask as LegacyTask;
    /// `tasks/cancel` of 2025-11-25.
    LegacyTasksCancel = "tasks/cancel": TaskRequestParams => LegacyTask as LegacyTask;
    /// `tasks/list`. Only in 2025-11-25.
    TasksList = "tasks/list": PaginatedRequestParams => LegacyListTasksResult as LegacyListTasksResult;
    /// `tasks/result`. Only in 2025-11-25. It returns the result that the task's request would have
    /// returned.
    TasksResult = "tasks/result": TaskRequestParams => Box<RawValue> as Box<RawValue>;
}
