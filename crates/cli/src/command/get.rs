//! `turnbuckle get`: gets a prompt.

use clap::Args;
use serde_json::Value;
use turnbuckle::schema::nearest_name;

use super::{block_on, print, print_json};
use crate::{
    argument,
    exit::{Failed, Outcome},
    show::{self, Style},
    target::{self, Options},
};

/// Get a prompt, with its arguments filled in.
#[derive(Args)]
pub(crate) struct Get {
    /// The server, the prompt, and its arguments.
    #[arg(value_name = "SERVER PROMPT KEY=VALUE")]
    words: Vec<String>,

    /// Print the result as JSON.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    options: Options,

    /// A command to start as the server.
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

pub(crate) fn run(get: &Get) -> Outcome {
    let config = get.options.config.as_ref();
    let (server, rest) = target::split(&get.words, &get.command, config)?;
    let (name, words) = rest.split_first().ok_or_else(|| {
        Failed::usage("no prompt was named").hint(format!(
            "`turnbuckle list {} prompts` shows them",
            server.name
        ))
    })?;
    block_on(async {
        let connection = get.options.connect(&server, &get.options.client()).await?;
        let prompts = connection.prompts().await?;
        let Some(prompt) = prompts.iter().find(|prompt| prompt.name == *name) else {
            let failed = Failed::usage(format!("server `{}` has no prompt `{name}`", server.name));
            return Err(
                match nearest_name(name, prompts.iter().map(|prompt| &*prompt.name)) {
                    Some(near) => failed.hint(format!("did you mean `{near}`?")),
                    None => failed,
                },
            );
        };
        // The arguments of a prompt are texts.
        let names = prompt
            .arguments
            .iter()
            .flatten()
            .map(|argument| argument.name.clone());
        let schema = names
            .map(|name| (name, serde_json::json!({"type": "string"})))
            .collect::<serde_json::Map<String, Value>>();
        let arguments = argument::read(words, &serde_json::json!({"properties": schema}))?;
        for argument in prompt.arguments.iter().flatten() {
            let is_given = words.iter().any(|word| {
                word == "-" || word.split(['=', ':']).next() == Some(argument.name.as_str())
            });
            if argument.required == Some(true) && !is_given {
                return Err(Failed::usage(format!(
                    "prompt `{name}` needs `{}`",
                    argument.name
                )));
            }
        }
        let arguments: Value = serde_json::from_str(&arguments.to_json()).map_err(Failed::usage)?;
        let result = connection.get(name, arguments).await;
        connection.close().await;
        let result = result?;
        if get.json {
            return print_json(&result);
        }
        for message in &result.messages {
            let role = serde_json::to_value(message.role).unwrap_or_default();
            print(&Style::Dim.out(role.as_str().unwrap_or_default()));
            print(&show::block(&message.content));
        }
        Ok(())
    })
}
