//! `turnbuckle get`: gets a prompt.

use clap::Args;
use serde_json::Value;
use turnbuckle::{protocol::Prompt, schema::nearest_name};
use turnbuckle_command_line::{
    argument::{self, Unknown},
    failure::{Failed, Outcome},
    style::Style,
    target::Server,
};

use super::{
    call::{Misspelt, known},
    request::Request,
};
use crate::{
    session::Session,
    show::{self, print, print_shown},
};

/// Get a prompt, with its arguments filled in.
#[derive(Args)]
pub(crate) struct Get {
    /// The server, the prompt, and its arguments.
    #[arg(value_name = "SERVER PROMPT KEY=VALUE")]
    words: Vec<String>,

    #[command(flatten)]
    pub(crate) request: Request,
}

pub(crate) fn run(get: &Get) -> Outcome {
    let (server, rest) = get.request.server.split(&get.words)?;
    let (name, words) = rest.split_first().ok_or_else(|| {
        let line = server.line("list", "prompts");
        Failed::usage("no prompt was named").hint(format!("`{line}` lists the prompts"))
    })?;
    let work = async |session: Session| get.on(&server, &session, name, words).await;
    get.request.run(&server, work)
}

impl Get {
    async fn on(
        &self,
        server: &Server,
        session: &Session,
        name: &str,
        words: &[String],
    ) -> Outcome {
        let prompts = session.connection.prompts().await?;
        let prompt = find(server, &prompts, name)?;
        let arguments = arguments(prompt, words)?;
        let answerer = self.request.asks.answerer()?;
        let call = session.connection.get(name, arguments);
        let finished = session.finish(call, &answerer, self.request.json).await?;
        if self.request.json {
            return session.print_exact("prompts/get", &finished.result);
        }
        for message in &finished.result.messages {
            let role = serde_json::to_value(&message.role).unwrap_or_default();
            print(&Style::Dim.out(role.as_str().unwrap_or_default()));
            print_shown(&show::block(&message.content, &self.request.media));
        }
        Ok(())
    }
}

fn find<'p>(server: &Server, prompts: &'p [Prompt], name: &str) -> Outcome<&'p Prompt> {
    prompts
        .iter()
        .find(|prompt| prompt.name == name)
        .ok_or_else(|| {
            let failed = Failed::usage(format!("server `{}` has no prompt `{name}`", server.name));
            match nearest_name(name, prompts.iter().map(|prompt| &*prompt.name)) {
                Some(near) => failed.hint(format!("did you mean `{near}`?")),
                None => failed.hint(format!(
                    "`{}` lists the prompts",
                    server.line("list", "prompts")
                )),
            }
        })
}

/// The arguments of a prompt, which are all strings.
fn arguments(prompt: &Prompt, words: &[String]) -> Outcome<Value> {
    let named = prompt.arguments.iter().flatten();
    let schema = named
        .clone()
        .map(|argument| (argument.name.clone(), serde_json::json!({"type": "string"})))
        .collect::<serde_json::Map<String, Value>>();
    let schema = serde_json::json!({"properties": schema});
    let tree = argument::read(words, &schema)?;
    let arguments: Value = serde_json::from_str(&tree.to_json()).map_err(Failed::usage)?;
    for argument in named {
        if argument.required == Some(true) && arguments.get(&argument.name).is_none() {
            let failed = Failed::usage(format!(
                "prompt `{}` needs `{}`",
                prompt.name, argument.name
            ));
            let unknown = argument::unknown(&tree, &schema).into_iter();
            let mut meant = unknown.filter(|it| it.nearest.as_deref() == Some(&*argument.name));
            return Err(match meant.next() {
                Some(Unknown { name, .. }) => failed.hint(format!(
                    "it has no argument `{name}`: did you mean `{}`?",
                    argument.name
                )),
                None => failed.hint(format!("add {}=…", argument.name)),
            });
        }
    }
    let of = format!("prompt `{}`", prompt.name);
    known(&of, &tree, &schema, Misspelt::Sent)?;
    Ok(arguments)
}
