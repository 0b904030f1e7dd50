//! The definitions of our types in the schemas.

/// The types whose definitions have other names or no name: the schemas define many objects and words
/// inside of other types. A path consists of a type and the fields that lead to the definition, with
/// `[]` for the items of an array and `{}` for the members of a map.
const DEFINITIONS: &[(&str, &[&str])] = &[
    (
        "Annotations",
        &[
            "Annotations",
            "Annotated.annotations",
            "EmbeddedResource.annotations",
            "ImageContent.annotations",
            "Resource.annotations",
            "ResourceTemplate.annotations",
            "TextContent.annotations",
        ],
    ),
    ("CacheScope", &["CacheableResult.cacheScope"]),
    ("ClientTaskRequests", &["ClientCapabilities.tasks.requests"]),
    ("ClientTasksCapability", &["ClientCapabilities.tasks"]),
    (
        "CompleteArgument",
        &[
            "CompleteRequestParams.argument",
            "CompleteRequest.params.argument",
        ],
    ),
    (
        "CompleteContext",
        &[
            "CompleteRequestParams.context",
            "CompleteRequest.params.context",
        ],
    ),
    ("Completion", &["CompleteResult.completion"]),
    ("ElicitAction", &["ElicitResult.action"]),
    (
        "ElicitRequestFormParams",
        &["ElicitRequestFormParams", "ElicitRequest.params"],
    ),
    ("ElicitRequestUrlParams", &["ElicitRequestURLParams"]),
    (
        "ElicitSchema",
        &[
            "ElicitRequestFormParams.requestedSchema",
            "ElicitRequest.params.requestedSchema",
        ],
    ),
    ("ElicitValue", &["ElicitResult.content{}"]),
    ("ElicitationCapability", &["ClientCapabilities.elicitation"]),
    (
        "ElicitationTasks",
        &["ClientCapabilities.tasks.requests.elicitation"],
    ),
    ("EmptyResult", &["Result"]),
    ("EnumItems", &["UntitledMultiSelectEnumSchema.items"]),
    (
        "EnumOption",
        &[
            "TitledSingleSelectEnumSchema.oneOf[]",
            "TitledMultiSelectEnumSchema.items.anyOf[]",
        ],
    ),
    ("ErrorObject", &["Error"]),
    ("FormMode", &["ElicitRequestFormParams.mode"]),
    ("IconTheme", &["Icon.theme"]),
    ("Id", &["RequestId"]),
    (
        "IncludeContext",
        &[
            "CreateMessageRequestParams.includeContext",
            "CreateMessageRequest.params.includeContext",
        ],
    ),
    ("LegacyCreateTaskResult", &["CreateTaskResult"]),
    ("LegacyListTasksResult", &["ListTasksResult"]),
    ("LegacyTask", &["Task"]),
    (
        "LegacyTitledEnumSchema",
        &["LegacyTitledEnumSchema", "EnumSchema"],
    ),
    (
        "MissingRequiredClientCapability",
        &["MissingRequiredClientCapabilityError.error.data"],
    ),
    ("NumberKind", &["NumberSchema.type"]),
    ("PrimitiveSchema", &["PrimitiveSchemaDefinition"]),
    ("PromptsCapability", &["ServerCapabilities.prompts"]),
    (
        "Reference",
        &["CompleteRequestParams.ref", "CompleteRequest.params.ref"],
    ),
    ("RelatedTask", &["RelatedTaskMetadata"]),
    (
        "ResourceContents",
        &["EmbeddedResource.resource", "ReadResourceResult.contents[]"],
    ),
    (
        "ResourceRequestParams",
        &[
            "ResourceRequestParams",
            "SubscribeRequestParams",
            "SubscribeRequest.params",
            "UnsubscribeRequestParams",
            "UnsubscribeRequest.params",
        ],
    ),
    (
        "ResourceTemplateReference",
        &["ResourceTemplateReference", "ResourceReference"],
    ),
    ("ResourcesCapability", &["ServerCapabilities.resources"]),
    ("RootsCapability", &["ClientCapabilities.roots"]),
    ("SamplingCapability", &["ClientCapabilities.sampling"]),
    ("SamplingContent", &["SamplingMessageContentBlock"]),
    (
        "SamplingTasks",
        &["ClientCapabilities.tasks.requests.sampling"],
    ),
    ("ServerTaskRequests", &["ServerCapabilities.tasks.requests"]),
    ("ServerTasksCapability", &["ServerCapabilities.tasks"]),
    ("StopReason", &["CreateMessageResult.stopReason"]),
    ("StringFormat", &["StringSchema.format"]),
    (
        "TaskRequestParams",
        &[
            "GetTaskRequest.params",
            "GetTaskPayloadRequest.params",
            "CancelTaskRequest.params",
        ],
    ),
    ("TaskSupport", &["ToolExecution.taskSupport"]),
    ("TitledEnumItems", &["TitledMultiSelectEnumSchema.items"]),
    ("ToolChoiceMode", &["ToolChoice.mode"]),
    ("ToolsCapability", &["ServerCapabilities.tools"]),
    ("ToolsTasks", &["ServerCapabilities.tasks.requests.tools"]),
    (
        "UnsupportedProtocolVersion",
        &["UnsupportedProtocolVersionError.error.data"],
    ),
    (
        "UrlElicitationRequired",
        &["URLElicitationRequiredError.error.data"],
    ),
];

/// The types that no schema describes, and their purpose.
pub(super) const OUTSIDE: &[(&str, &str)] = &[
    ("Augmented", "a result or a task"),
    ("BadExtensionId", "an error in Rust"),
    ("BadTraceParent", "an error in Rust"),
    ("CacheHint", "two fields of several results"),
    ("CallToolOutcome", "one of several results"),
    ("Complete", "a result with its type"),
    ("DetailedTask", "the tasks extension has no schema"),
    ("Meta", "an open map"),
    ("OtherContent", "content that the specification may add"),
    ("OtherMembers", "members that no schema names"),
    ("Outcome", "one of several results"),
    ("ReadWarning", "a warning in Rust"),
    ("Task", "the tasks extension has no schema"),
    ("TaskState", "the tasks extension has no schema"),
    ("TraceContext", "keys of `_meta` that the W3C describes"),
    ("TraceParent", "a key of `_meta` that the W3C describes"),
    (
        "UpdateTaskRequestParams",
        "the tasks extension has no schema",
    ),
];

/// Returns the paths of a type in the table.
pub(super) fn definitions(name: &str) -> Vec<String> {
    if let Some((_, paths)) = DEFINITIONS.iter().find(|(ours, _)| *ours == name) {
        return paths.iter().map(|path| (*path).to_owned()).collect();
    }
    let mut paths = vec![name.to_owned()];
    // Until 2025-06-18 the params of a message are defined inside of it.
    if let Some(message) = name.strip_suffix("Params") {
        paths.push(format!("{message}.params"));
    }
    paths
}
