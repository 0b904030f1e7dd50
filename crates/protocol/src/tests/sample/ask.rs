//! Sampling, elicitation, roots.

use crate::{
    BooleanSchema, CreateMessageRequestParams, CreateMessageResult, ElicitAction,
    ElicitRequestFormParams, ElicitRequestUrlParams, ElicitResult, ElicitSchema, EnumItems,
    EnumOption, FormMode, IncludeContext, InputRequest, InputRequests, InputResponses,
    LegacyTitledEnumSchema, ListRootsResult, ModelHint, ModelPreferences, NumberKind, NumberSchema,
    PrimitiveSchema, RequestParams, Role, SamplingContent, SamplingMessage, StopReason,
    StringFormat, StringSchema, TitledEnumItems, TitledMultiSelectEnumSchema,
    TitledSingleSelectEnumSchema, ToolChoice, ToolChoiceMode, ToolResultContent, ToolUseContent,
    UntitledMultiSelectEnumSchema, UntitledSingleSelectEnumSchema,
};
use serde_json::{Number, json};

use super::{Fullness, array_tool, audio, content, image, object, root, task_metadata, text, tool};

pub(crate) fn tool_use(f: Fullness) -> ToolUseContent {
    ToolUseContent {
        id: "call-1".into(),
        name: "book".into(),
        input: object(json!({"row": 3})),
        meta: f.meta(),
        other: crate::OtherMembers::new(),
    }
}

pub(crate) fn tool_result(f: Fullness) -> ToolResultContent {
    ToolResultContent {
        tool_use_id: "call-1".into(),
        content: content(f),
        structured_content: f.opt(json!([1, 2])),
        is_error: f.opt(false),
        meta: f.meta(),
        other: crate::OtherMembers::new(),
    }
}

/// One block of each kind.
pub(crate) fn sampling_content(f: Fullness) -> Vec<SamplingContent> {
    vec![
        SamplingContent::Text(text(f)),
        SamplingContent::Image(image(f)),
        SamplingContent::Audio(audio(f)),
        SamplingContent::ToolUse(tool_use(f)),
        SamplingContent::ToolResult(tool_result(f)),
    ]
}

pub(crate) fn sampling_message(f: Fullness) -> SamplingMessage {
    SamplingMessage {
        role: Role::Assistant,
        content: sampling_content(f),
        meta: f.meta(),
    }
}

pub(crate) fn model_preferences(f: Fullness) -> ModelPreferences {
    ModelPreferences {
        hints: f.opt(vec![ModelHint {
            name: f.opt("large".into()),
            other: crate::OtherMembers::new(),
        }]),
        cost_priority: f.opt(0.0),
        speed_priority: f.opt(0.5),
        intelligence_priority: f.opt(1.0),
    }
}

pub(crate) fn create_message_params(f: Fullness) -> CreateMessageRequestParams {
    CreateMessageRequestParams {
        messages: vec![SamplingMessage::user("hi"), sampling_message(f)],
        model_preferences: f.opt(model_preferences(f)),
        system_prompt: f.opt("Be brief.".into()),
        include_context: f.opt(IncludeContext::ThisServer),
        temperature: f.opt(0.5),
        max_tokens: 100,
        stop_sequences: f.opt(vec!["END".into()]),
        metadata: f.opt(object(json!({"a": 1}))),
        tools: f.opt(vec![tool(f), array_tool(f)]),
        tool_choice: f.opt(ToolChoice {
            mode: f.opt(ToolChoiceMode::Auto),
        }),
        task: f.opt(task_metadata(f)),
        meta: f.message_meta(),
    }
}

pub(crate) fn create_message_result(f: Fullness) -> CreateMessageResult {
    CreateMessageResult {
        role: Role::Assistant,
        content: sampling_content(f),
        model: "large-1".into(),
        stop_reason: f.opt(StopReason::ToolUse),
        meta: f.message_meta(),
        other: crate::OtherMembers::new(),
    }
}

pub(crate) fn list_roots_result(f: Fullness) -> ListRootsResult {
    ListRootsResult {
        roots: vec![root(f)],
        meta: f.message_meta(),
        other: crate::OtherMembers::new(),
    }
}

fn options() -> Vec<EnumOption> {
    vec![EnumOption {
        value: "r".into(),
        title: "Red".into(),
    }]
}

fn title(f: Fullness) -> Option<String> {
    f.opt("Field".into())
}

fn about(f: Fullness) -> Option<String> {
    f.opt("A field".into())
}

/// A field of each kind that 2025-06-18 has, with the name of its definition.
pub(crate) fn single_fields(f: Fullness) -> Vec<(&'static str, PrimitiveSchema)> {
    let values = vec!["r".to_owned(), "g".to_owned()];
    vec![
        (
            "StringSchema",
            PrimitiveSchema::String(StringSchema {
                title: title(f),
                description: about(f),
                min_length: f.opt(1),
                max_length: f.opt(9),
                format: f.opt(StringFormat::Email),
                default: f.opt("a@b.example".into()),
            }),
        ),
        (
            "NumberSchema",
            PrimitiveSchema::Number(NumberSchema {
                kind: NumberKind::Integer,
                title: title(f),
                description: about(f),
                minimum: f.opt(Number::from(1)),
                maximum: f.opt(Number::from(9)),
                default: f.opt(Number::from(5)),
            }),
        ),
        (
            "BooleanSchema",
            PrimitiveSchema::Boolean(BooleanSchema {
                title: title(f),
                description: about(f),
                default: f.opt(true),
            }),
        ),
        (
            "UntitledSingleSelectEnumSchema",
            PrimitiveSchema::SingleSelect(UntitledSingleSelectEnumSchema {
                title: title(f),
                description: about(f),
                values: values.clone(),
                default: f.opt("r".into()),
            }),
        ),
        (
            "TitledSingleSelectEnumSchema",
            PrimitiveSchema::TitledSingleSelect(TitledSingleSelectEnumSchema {
                title: title(f),
                description: about(f),
                one_of: options(),
                default: f.opt("r".into()),
            }),
        ),
        (
            "LegacyTitledEnumSchema",
            PrimitiveSchema::LegacyTitled(LegacyTitledEnumSchema {
                title: title(f),
                description: about(f),
                values,
                // Without the display names it is an untitled choice, which is another type.
                enum_names: Some(vec!["Red".into(), "Green".into()]),
                default: f.opt("r".into()),
            }),
        ),
    ]
}

/// A field of each kind that takes several values.
pub(crate) fn multi_fields(f: Fullness) -> Vec<(&'static str, PrimitiveSchema)> {
    vec![
        (
            "UntitledMultiSelectEnumSchema",
            PrimitiveSchema::MultiSelect(UntitledMultiSelectEnumSchema {
                title: title(f),
                description: about(f),
                min_items: f.opt(1),
                max_items: f.opt(2),
                items: EnumItems {
                    values: vec!["r".into()],
                },
                default: f.opt(vec!["r".into()]),
            }),
        ),
        (
            "TitledMultiSelectEnumSchema",
            PrimitiveSchema::TitledMultiSelect(TitledMultiSelectEnumSchema {
                title: title(f),
                description: about(f),
                min_items: f.opt(1),
                max_items: f.opt(2),
                items: TitledEnumItems { any_of: options() },
                default: f.opt(vec!["r".into()]),
            }),
        ),
    ]
}

pub(crate) fn form(
    fields: Vec<(&'static str, PrimitiveSchema)>,
    f: Fullness,
) -> ElicitRequestFormParams {
    let required = fields.iter().map(|(name, _)| (*name).to_owned()).collect();
    ElicitRequestFormParams {
        mode: f.opt(FormMode::Form),
        message: "Which seat?".into(),
        requested_schema: ElicitSchema {
            schema: f.opt("https://json-schema.org/draft/2020-12/schema".into()),
            properties: fields
                .into_iter()
                .map(|(name, field)| (name.to_owned(), field))
                .collect(),
            required: f.opt(required),
        },
        task: f.opt(task_metadata(f)),
        meta: f.message_meta(),
    }
}

/// A visit. Its id is always set, because 2025-11-25 requires it.
pub(crate) fn visit(f: Fullness) -> ElicitRequestUrlParams {
    ElicitRequestUrlParams {
        message: "Sign in".into(),
        url: "https://example.com/sign-in".into(),
        elicitation_id: Some("visit-1".into()),
        task: f.opt(task_metadata(f)),
        meta: f.message_meta(),
    }
}

pub(crate) fn elicit_result(f: Fullness) -> ElicitResult {
    let content = [
        ("name".to_owned(), "Ada".into()),
        ("row".to_owned(), 3.into()),
        ("window".to_owned(), true.into()),
        (
            "meals".to_owned(),
            vec!["tea".to_owned(), "cake".to_owned()].into(),
        ),
    ];
    ElicitResult {
        action: ElicitAction::Accept,
        content: f.opt(content.into_iter().collect()),
        meta: f.message_meta(),
        other: crate::OtherMembers::new(),
    }
}

pub(crate) fn input_requests(f: Fullness) -> InputRequests {
    let mut fields = single_fields(f);
    fields.extend(multi_fields(f));
    InputRequests::from_iter([
        ("model".to_owned(), create_message_params(f).into()),
        (
            "roots".to_owned(),
            InputRequest::ListRoots(RequestParams {
                meta: f.meta(),
                other: crate::OtherMembers::new(),
            }),
        ),
        ("form".to_owned(), form(fields, f).into()),
        ("visit".to_owned(), visit(f).into()),
    ])
}

pub(crate) fn input_responses(f: Fullness) -> InputResponses {
    InputResponses::from_iter([
        ("model".to_owned(), create_message_result(f).into()),
        ("roots".to_owned(), list_roots_result(f).into()),
        ("form".to_owned(), elicit_result(f).into()),
    ])
}
