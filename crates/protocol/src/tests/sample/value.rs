//! Tools, resources, prompts, content.

use crate::{
    Annotations, AudioContent, BlobResourceContents, ContentBlock, EmbeddedResource, Icon,
    IconTheme, ImageContent, Implementation, JsonObject, Prompt, PromptArgument, PromptMessage,
    Resource, ResourceContents, ResourceLink, ResourceTemplate, Role, Root, TaskSupport,
    TextContent, TextResourceContents, Tool, ToolAnnotations, ToolExecution,
};
use serde_json::{Value, json};

use super::Fullness;

pub(crate) fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(object) => object,
        other => panic!("{other} is not an object"),
    }
}

pub(crate) fn icon(f: Fullness) -> Icon {
    Icon {
        src: "https://example.com/icon.png".into(),
        mime_type: f.opt("image/png".into()),
        sizes: f.opt(vec!["48x48".into(), "any".into()]),
        theme: f.opt(IconTheme::Dark),
    }
}

pub(crate) fn implementation(f: Fullness) -> Implementation {
    Implementation {
        name: "example".into(),
        title: f.opt("Example".into()),
        version: "1.0.0".into(),
        description: f.opt("An example".into()),
        website_url: f.opt("https://example.com".into()),
        icons: f.opt(vec![icon(f), icon(Fullness::Bare)]),
    }
}

pub(crate) fn annotations(f: Fullness) -> Annotations {
    Annotations {
        audience: f.opt(vec![Role::User, Role::Assistant]),
        priority: f.opt(1.0),
        last_modified: f.opt("2025-01-12T15:00:58Z".into()),
    }
}

pub(crate) fn tool_annotations(f: Fullness) -> ToolAnnotations {
    ToolAnnotations {
        title: f.opt("Book".into()),
        read_only_hint: f.opt(false),
        destructive_hint: f.opt(true),
        idempotent_hint: f.opt(false),
        open_world_hint: f.opt(true),
    }
}

/// A tool whose result is an object.
pub(crate) fn tool(f: Fullness) -> Tool {
    Tool {
        name: "book".into(),
        title: f.opt("Book a seat".into()),
        description: f.opt("Books a seat.".into()),
        input_schema: object(json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {
                "row": {"type": "integer", "x-mcp-header": "Row"},
                "anything": true,
                "nothing": false,
            },
            "required": ["row"],
            "additionalProperties": false,
        })),
        output_schema: f.opt(json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object", "properties": {"ticket": true}, "required": ["ticket"],
        })),
        annotations: f.opt(tool_annotations(f)),
        execution: f.opt(ToolExecution {
            task_support: f.opt(TaskSupport::Optional),
        }),
        icons: f.opt(vec![icon(f)]),
        meta: f.meta(),
    }
}

/// A tool whose result is an array, which only the newest revision supports.
pub(crate) fn array_tool(f: Fullness) -> Tool {
    Tool {
        output_schema: f.opt(json!({"type": "array", "items": true})),
        ..tool(f)
    }
}

pub(crate) fn resource(f: Fullness) -> Resource {
    Resource {
        uri: "file:///a.txt".into(),
        name: "a.txt".into(),
        title: f.opt("A".into()),
        description: f.opt("The first file".into()),
        mime_type: f.opt("text/plain".into()),
        size: f.opt(5),
        icons: f.opt(vec![icon(f)]),
        annotations: f.opt(annotations(f)),
        meta: f.meta(),
        other: crate::OtherMembers::new(),
    }
}

pub(crate) fn resource_template(f: Fullness) -> ResourceTemplate {
    ResourceTemplate {
        uri_template: "file:///{path}".into(),
        name: "files".into(),
        title: f.opt("Files".into()),
        description: f.opt("Every file".into()),
        mime_type: f.opt("text/plain".into()),
        icons: f.opt(vec![icon(f)]),
        annotations: f.opt(annotations(f)),
        meta: f.meta(),
    }
}

pub(crate) fn text_contents(f: Fullness) -> TextResourceContents {
    TextResourceContents {
        uri: "file:///a.txt".into(),
        mime_type: f.opt("text/plain".into()),
        text: "hello".into(),
        meta: f.meta(),
        other: crate::OtherMembers::new(),
    }
}

pub(crate) fn blob_contents(f: Fullness) -> BlobResourceContents {
    BlobResourceContents {
        uri: "file:///a.bin".into(),
        mime_type: f.opt("application/octet-stream".into()),
        blob: "aGVsbG8=".into(),
        meta: f.meta(),
        other: crate::OtherMembers::new(),
    }
}

pub(crate) fn contents(f: Fullness) -> Vec<ResourceContents> {
    vec![text_contents(f).into(), blob_contents(f).into()]
}

pub(crate) fn text(f: Fullness) -> TextContent {
    TextContent {
        text: "hello".into(),
        annotations: f.opt(annotations(f)),
        meta: f.meta(),
        other: crate::OtherMembers::new(),
    }
}

pub(crate) fn image(f: Fullness) -> ImageContent {
    ImageContent {
        data: "aGVsbG8=".into(),
        mime_type: "image/png".into(),
        annotations: f.opt(annotations(f)),
        meta: f.meta(),
        other: crate::OtherMembers::new(),
    }
}

pub(crate) fn audio(f: Fullness) -> AudioContent {
    AudioContent {
        data: "aGVsbG8=".into(),
        mime_type: "audio/wav".into(),
        annotations: f.opt(annotations(f)),
        meta: f.meta(),
        other: crate::OtherMembers::new(),
    }
}

pub(crate) fn embedded(contents: ResourceContents, f: Fullness) -> EmbeddedResource {
    EmbeddedResource {
        resource: contents,
        annotations: f.opt(annotations(f)),
        meta: f.meta(),
        other: crate::OtherMembers::new(),
    }
}

/// One block of each kind.
pub(crate) fn content(f: Fullness) -> Vec<ContentBlock> {
    vec![
        ContentBlock::Text(text(f)),
        ContentBlock::Image(image(f)),
        ContentBlock::Audio(audio(f)),
        ContentBlock::ResourceLink(Box::new(ResourceLink {
            resource: resource(f),
        })),
        ContentBlock::Resource(Box::new(embedded(text_contents(f).into(), f))),
        ContentBlock::Resource(Box::new(embedded(blob_contents(f).into(), f))),
    ]
}

pub(crate) fn prompt_argument(f: Fullness) -> PromptArgument {
    PromptArgument {
        name: "code".into(),
        title: f.opt("Code".into()),
        description: f.opt("What to review".into()),
        required: f.opt(true),
    }
}

pub(crate) fn prompt(f: Fullness) -> Prompt {
    Prompt {
        name: "review".into(),
        title: f.opt("Review".into()),
        description: f.opt("Reviews code".into()),
        arguments: f.opt(vec![prompt_argument(f)]),
        icons: f.opt(vec![icon(f)]),
        meta: f.meta(),
    }
}

pub(crate) fn prompt_messages(f: Fullness) -> Vec<PromptMessage> {
    content(f)
        .into_iter()
        .map(|content| PromptMessage {
            role: Role::User,
            content,
        })
        .collect()
}

pub(crate) fn root(f: Fullness) -> Root {
    Root {
        uri: "file:///home".into(),
        name: f.opt("Home".into()),
        meta: f.meta(),
    }
}
