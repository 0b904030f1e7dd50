//! `/prompt`: a server's prompt as the next turn of the conversation.

use std::collections::BTreeMap;

use turnbuckle::{
    host::{Conversation, HostCatalog},
    models::format::attachment,
    protocol::{ContentBlock, PromptArgument, SamplingContent, SamplingMessage},
};
use turnbuckle_command_line::{
    control::one_line,
    failure::{Code, Failed, Outcome},
};

use crate::{ask::read_line, show::tell};

/// How many suggestions for an argument are shown.
const MAX_SUGGESTIONS: usize = 8;

/// All prompts, one in each line.
pub(super) fn list(catalog: &HostCatalog) -> Vec<String> {
    let prompts = catalog.prompts().iter().map(|prompt| {
        let arguments = prompt.prompt().arguments.iter().flatten();
        let arguments: Vec<_> = arguments
            .map(|argument| format!(" {}=…", one_line(&argument.name)))
            .collect();
        let about = prompt.prompt().description.as_deref().unwrap_or_default();
        format!(
            "/prompt {}{}  {}",
            prompt.name(),
            arguments.concat(),
            one_line(about)
        )
    });
    prompts.collect()
}

/// Gets a prompt. The user is asked for required arguments that were not given.
pub(super) async fn get(
    conversation: &Conversation,
    name: &str,
    words: &[&str],
) -> Outcome<Vec<SamplingMessage>> {
    let catalog = conversation.host().catalog();
    let prompt = catalog.prompt(name).ok_or_else(|| {
        Failed::usage(format!("there is no prompt `{name}`")).hint("`/prompt` lists them")
    })?;
    let mut given = BTreeMap::new();
    for word in words {
        let (key, value) = word.split_once('=').ok_or_else(|| {
            Failed::usage(format!("`{word}` is not an argument; write name=value"))
        })?;
        given.insert(key.to_owned(), value.to_owned());
    }
    for argument in prompt.prompt().arguments.iter().flatten() {
        if argument.required == Some(true) && !given.contains_key(&argument.name) {
            let value = ask(conversation, name, argument, &given).await?;
            given.insert(argument.name.clone(), value);
        }
    }
    let got = conversation.get_prompt(name, &given).await;
    let got = got.map_err(|error| Failed::new(Code::Protocol, error))?;
    if got.messages.is_empty() {
        let said = format!("prompt `{name}` has no messages, so nothing was sent to the model");
        return Err(Failed::new(Code::Protocol, said));
    }
    let messages = got.messages.into_iter();
    Ok(messages
        .map(|message| SamplingMessage::new(message.role, content(message.content)))
        .collect())
}

async fn ask(
    conversation: &Conversation,
    prompt: &str,
    argument: &PromptArgument,
    given: &BTreeMap<String, String>,
) -> Outcome<String> {
    let host = conversation.host();
    let suggested = host
        .complete_prompt(prompt, &argument.name, "", given)
        .await;
    if let Ok(completion) = suggested
        && !completion.values.is_empty()
    {
        let values: Vec<_> = completion
            .values
            .iter()
            .take(MAX_SUGGESTIONS)
            .cloned()
            .collect();
        tell(&format!("  for example: {}", one_line(&values.join(", "))));
    }
    if let Some(about) = &argument.description {
        tell(&format!("  it says: {}", one_line(about)));
    }
    let typed = read_line(&format!("  {}: ", one_line(&argument.name))).await?;
    typed.ok_or_else(|| Failed::new(Code::Input, format!("`{}` is required", argument.name)))
}

/// A content block of a prompt as content of the conversation.
fn content(block: ContentBlock) -> SamplingContent {
    match block {
        ContentBlock::Text(text) => SamplingContent::Text(text),
        ContentBlock::Image(image) => SamplingContent::Image(image),
        ContentBlock::Audio(audio) => SamplingContent::Audio(audio),
        ContentBlock::Resource(embedded) => attachment(&embedded.resource),
        ContentBlock::ResourceLink(link) => SamplingContent::text(format!(
            "[resource {}: {}]",
            link.resource.uri, link.resource.name
        )),
        _ => SamplingContent::text("[content of an unknown kind]"),
    }
}
