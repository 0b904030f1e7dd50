//! Capabilities.

use crate::{
    ClientCapabilities, ClientTaskRequests, ClientTasksCapability, ElicitationCapability,
    ElicitationTasks, JsonObject, PromptsCapability, ResourcesCapability, RootsCapability,
    SamplingCapability, SamplingTasks, ServerCapabilities, ServerTaskRequests,
    ServerTasksCapability, ToolsCapability, ToolsTasks,
};
use serde_json::json;

use super::{Fullness, object};

fn settings(f: Fullness) -> Option<JsonObject> {
    f.opt(JsonObject::new())
}

fn none() -> JsonObject {
    JsonObject::new()
}

pub(crate) fn client_capabilities(f: Fullness) -> ClientCapabilities {
    ClientCapabilities {
        experimental: f.opt(object(json!({"holograms": {"colour": true}}))),
        roots: f.opt(RootsCapability {
            list_changed: f.opt(true),
            other: none(),
        }),
        sampling: f.opt(SamplingCapability {
            context: settings(f),
            tools: settings(f),
            other: none(),
        }),
        elicitation: f.opt(ElicitationCapability {
            form: settings(f),
            url: settings(f),
            other: none(),
        }),
        tasks: f.opt(ClientTasksCapability {
            list: settings(f),
            cancel: settings(f),
            requests: f.opt(ClientTaskRequests {
                sampling: f.opt(SamplingTasks {
                    create_message: settings(f),
                }),
                elicitation: f.opt(ElicitationTasks {
                    create: settings(f),
                }),
                other: none(),
            }),
            other: none(),
        }),
        extensions: f.opt(object(json!({"example.com/a": {}}))),
        other: none(),
    }
}

pub(crate) fn server_capabilities(f: Fullness) -> ServerCapabilities {
    ServerCapabilities {
        experimental: f.opt(object(json!({"holograms": {"colour": true}}))),
        logging: settings(f),
        completions: settings(f),
        prompts: f.opt(PromptsCapability {
            list_changed: f.opt(true),
            other: none(),
        }),
        resources: f.opt(ResourcesCapability {
            subscribe: f.opt(true),
            list_changed: f.opt(true),
            other: none(),
        }),
        tools: f.opt(ToolsCapability {
            list_changed: f.opt(true),
            other: none(),
        }),
        tasks: f.opt(ServerTasksCapability {
            list: settings(f),
            cancel: settings(f),
            requests: f.opt(ServerTaskRequests {
                tools: f.opt(ToolsTasks { call: settings(f) }),
                other: none(),
            }),
            other: none(),
        }),
        extensions: f.opt(object(json!({"example.com/a": {}}))),
        other: none(),
    }
}
