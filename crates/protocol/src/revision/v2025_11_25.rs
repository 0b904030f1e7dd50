//! The changes of 2025-11-25, and how they are removed from messages to an older peer.

use super::{
    Inexpressible, Revision,
    rules::{ArgumentErrors, Rules},
    v2025_06_18,
};
use crate::{
    ClientCapabilities, CreateMessageRequestParams, CreateMessageResult, ElicitRequestFormParams,
    ElicitRequestParams, ElicitResult, ElicitValue, ErrorObject, Implementation,
    LegacyTitledEnumSchema, Meta, PrimitiveSchema, Prompt, Resource, ResourceTemplate,
    SamplingContent, SamplingMessage, ServerCapabilities, Tool, envelope::UnreadableId,
    error::code, extension, meta::key,
};

pub(super) const RULES: Rules = Rules {
    unreadable_id: UnreadableId::Omitted,
    argument_errors: ArgumentErrors::Result,
    priming_events: true,
    sampling_tools: true,
    sampling_context: true,
    elicitation_ids: true,
    visits_first: true,
    task_fields: true,
    ..v2025_06_18::RULES
};

pub(super) fn applies(to: Revision) -> bool {
    to < Revision::V2025_11_25
}

pub(super) fn meta(meta: &mut Meta) {
    meta.remove(&key::TASK);
}

pub(super) fn implementation(implementation: &mut Implementation) {
    implementation.icons = None;
    implementation.description = None;
    implementation.website_url = None;
}

pub(super) fn tool(tool: &mut Tool) {
    tool.icons = None;
    tool.execution = None;
}

pub(super) fn resource(resource: &mut Resource) {
    resource.icons = None;
}

pub(super) fn resource_template(template: &mut ResourceTemplate) {
    template.icons = None;
}

pub(super) fn prompt(prompt: &mut Prompt) {
    prompt.icons = None;
}

/// Sampling and elicitation have no settings yet; elicitation means form mode.
pub(super) fn client_capabilities(capabilities: &mut ClientCapabilities) {
    capabilities.tasks = None;
    extension::move_to_experimental(&mut capabilities.extensions, &mut capabilities.experimental);
    if let Some(sampling) = &mut capabilities.sampling {
        sampling.context = None;
        sampling.tools = None;
    }
    capabilities
        .elicitation
        .take_if(|elicitation| !elicitation.has_form());
    if let Some(elicitation) = &mut capabilities.elicitation {
        elicitation.form = None;
        elicitation.url = None;
    }
}

pub(super) fn server_capabilities(capabilities: &mut ServerCapabilities) {
    capabilities.tasks = None;
    extension::move_to_experimental(&mut capabilities.extensions, &mut capabilities.experimental);
}

/// A message has one content block, so a message with several is split. Tool calls and their results
/// cannot be expressed.
pub(super) fn create_message_params(params: &mut CreateMessageRequestParams) {
    params.task = None;
    params.tools = None;
    params.tool_choice = None;
    params.messages = std::mem::take(&mut params.messages)
        .into_iter()
        .flat_map(|message| {
            let role = message.role;
            let said = message.content.into_iter().filter(is_said);
            said.map(move |content| SamplingMessage {
                role: role.clone(),
                content: vec![content],
                meta: None,
            })
        })
        .collect();
}

/// A result has one content block: all text of the message, or else its first block.
pub(super) fn create_message_result(result: &mut CreateMessageResult) {
    if result.content.len() == 1 && result.content.iter().all(is_said) {
        return;
    }
    let texts: Vec<_> = result
        .content
        .iter()
        .filter_map(SamplingContent::as_text)
        .collect();
    let one = if texts.is_empty() {
        result.content.drain(..).find(is_said)
    } else {
        Some(SamplingContent::text(texts.join("\n")))
    };
    result.content = vec![one.unwrap_or_else(|| SamplingContent::text(""))];
}

fn is_said(content: &SamplingContent) -> bool {
    !matches!(
        content,
        SamplingContent::ToolUse(_) | SamplingContent::ToolResult(_)
    )
}

pub(super) fn elicit_params(
    params: &mut ElicitRequestParams,
    to: Revision,
) -> Result<(), Inexpressible> {
    match params {
        ElicitRequestParams::Form(form) => elicit_form(form, to),
        ElicitRequestParams::Url(_) => Err(Inexpressible::UrlElicitation(to)),
    }
}

fn elicit_form(form: &mut ElicitRequestFormParams, to: Revision) -> Result<(), Inexpressible> {
    form.mode = None;
    form.task = None;
    form.requested_schema.schema = None;
    for (name, field) in &mut form.requested_schema.properties {
        if !elicit_field(field) {
            return Err(Inexpressible::MultiSelect {
                field: name.clone(),
                revision: to,
            });
        }
    }
    Ok(())
}

/// Only boolean fields have a default yet. Returns false if the field cannot be expressed.
fn elicit_field(field: &mut PrimitiveSchema) -> bool {
    match field {
        PrimitiveSchema::Boolean(_) => {}
        PrimitiveSchema::String(field) => field.default = None,
        PrimitiveSchema::Number(field) => field.default = None,
        PrimitiveSchema::SingleSelect(field) => field.default = None,
        PrimitiveSchema::LegacyTitled(field) => field.default = None,
        PrimitiveSchema::TitledSingleSelect(titled) => {
            let options = std::mem::take(&mut titled.one_of);
            let (values, names) = options
                .into_iter()
                .map(|option| (option.value, option.title))
                .unzip();
            *field = PrimitiveSchema::LegacyTitled(LegacyTitledEnumSchema {
                title: titled.title.take(),
                description: titled.description.take(),
                values,
                enum_names: Some(names),
                default: None,
            });
        }
        PrimitiveSchema::MultiSelect(_) | PrimitiveSchema::TitledMultiSelect(_) => return false,
    }
    true
}

/// A form cannot have had a field with several choices; if an answer has them anyway, they become one
/// text.
pub(super) fn elicit_result(result: &mut ElicitResult) {
    for value in result
        .content
        .iter_mut()
        .flat_map(|content| content.values_mut())
    {
        if let ElicitValue::Choices(choices) = value {
            *value = ElicitValue::Text(choices.join(", "));
        }
    }
}

pub(super) fn error(error: &mut ErrorObject) {
    if error.code == code::URL_ELICITATION_REQUIRED {
        error.code = code::INVALID_REQUEST;
    }
}
