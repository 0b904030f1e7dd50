//! The command's arguments, and how a chat starts.

use std::{
    io::{self, IsTerminal as _, Read as _},
    path::PathBuf,
    sync::Arc,
};

use clap::Args;
use turnbuckle::{
    host::{Audit, Host, HostBuilder},
    models::{
        HostSampling, HostTools, Model, ModelList, Ratings,
        agent::Agent,
        sampling::{Sampler, SamplingLimits},
    },
};
use turnbuckle_command_line::{
    failure::{Code, Failed, Outcome},
    target::Lookup,
    trust::Consent,
};

use super::{
    allow::Allowed,
    key, model,
    person::Person,
    servers,
    session::{ChatSession, Output},
};
use crate::{ask, runtime::block_on};

/// The most bytes of a prompt on stdin.
const MAX_PROMPT: u64 = 1024 * 1024;

/// Talk to a model that can use the tools of servers.
///
/// Without a server, those of all config files are used (`turnbuckle servers` lists them). You are
/// asked before a server is started, a tool is called or a server asks the model; what you allow
/// permanently is kept, and `/revoke` takes it back. `/help` lists the commands of the chat.
///
/// Models: `anthropic:NAME` with a key in ANTHROPIC_API_KEY, `openai:NAME` with one in
/// OPENAI_API_KEY, `ollama:NAME` at this machine, any NAME with `--api URL` of a server that speaks
/// OpenAI's chat completions (a key for it is taken from TURNBUCKLE_MODEL_KEY), or `scripted:FILE`.
/// Keys come from the environment or the keyring, and from nowhere else.
#[derive(Args)]
pub(crate) struct Chat {
    /// Servers, by URL or by their names in config files.
    #[arg(value_name = "SERVER")]
    servers: Vec<String>,

    /// The model.
    #[arg(long, value_name = "NAME")]
    model: Option<String>,

    /// The base URL of the model's API: the part before `/chat/completions`, or before `/v1/messages` for
    /// `anthropic:NAME`.
    #[arg(long, value_name = "URL")]
    api: Option<String>,

    /// Use the servers of this file alone.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Trust the project's config file in its present content.
    #[arg(long)]
    trust: bool,

    /// Send this prompt, print the answer and exit.
    #[arg(long, short, value_name = "TEXT")]
    prompt: Option<String>,

    /// The system prompt: instructions for the model.
    #[arg(long, value_name = "TEXT")]
    system: Option<String>,

    /// Print events as lines of JSON: one prompt in, from `--prompt` or stdin, events out.
    #[arg(long)]
    json: bool,

    /// Allow something without asking: a tool as SERVER/TOOL, or another action as
    /// ACTION:SERVER/SUBJECT, such as `start:git` or `sample:git`. `*` matches any text (may be
    /// repeated).
    #[arg(long = "allow", value_name = "SERVER/TOOL")]
    allow: Vec<String>,

    /// A root: a folder that servers may work in. You are asked for each server, unless `--allow root:SERVER`
    /// agrees to it (may be repeated).
    #[arg(long = "root", value_name = "PATH")]
    roots: Vec<PathBuf>,

    /// The most model requests for one prompt.
    #[arg(long, value_name = "NUMBER", default_value_t = 32)]
    max_rounds: usize,

    /// The most tokens of one answer.
    #[arg(long, value_name = "NUMBER", default_value_t = 8192)]
    max_tokens: u64,

    /// Write calls, decisions and answers to this file, without secrets.
    #[arg(long, value_name = "FILE")]
    audit: Option<PathBuf>,

    /// Keep the model's key in the keyring: read from stdin, as in `pass show key | turnbuckle chat
    /// --model openai:NAME --save-key`.
    #[arg(long)]
    save_key: bool,

    /// A command to start as a server.
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

pub(crate) fn run(chat: &Chat) -> Outcome {
    let named = model::parse(chat.model.as_deref(), chat.api.as_deref())?;
    if chat.save_key {
        return key::save(&named);
    }
    let model = model::open(&named)?;
    block_on(chat.on(model))
}

impl Chat {
    async fn on(&self, model: Arc<dyn Model>) -> Outcome {
        let prompt = self.prompt()?;
        let allowed = Allowed::parse(&self.allow)?;
        let is_attended = !self.json && io::stdin().is_terminal() && io::stderr().is_terminal();
        let builder = Host::builder("turnbuckle", env!("CARGO_PKG_VERSION"));
        let builder = servers::add(
            builder,
            &self.servers,
            &self.command,
            self.lookup(),
            &allowed,
        )?;
        let mut host = self.rules(builder, &allowed, is_attended)?;
        for path in &self.roots {
            host = host.root(ask::root(path)?);
        }
        let models = ModelList::new(Arc::clone(&model), Ratings::default());
        let sampler = Sampler::new(models, SamplingLimits::default());
        let host = host.model(HostSampling::new(sampler)).open().await;
        let conversation = Arc::new(host.conversation());
        let mut agent = Agent::new(model, HostTools::new(Arc::clone(&conversation)))
            .with_max_rounds(self.max_rounds.max(1))
            .with_max_tokens(self.max_tokens.max(1));
        if let Some(system) = &self.system {
            agent = agent.with_system_prompt(system);
        }
        let output = if self.json {
            Output::Json
        } else {
            Output::Text
        };
        let mut session = ChatSession::new(agent, conversation, allowed, output);
        let outcome = match prompt {
            Some(prompt) => session.once(&prompt).await,
            None => session.converse().await,
        };
        drop(session);
        host.close().await;
        outcome
    }

    fn lookup(&self) -> Lookup<'_> {
        Lookup {
            config: self.config.as_ref(),
            consent: if self.trust {
                Consent::Given
            } else {
                Consent::Ask
            },
        }
    }

    fn rules(
        &self,
        builder: HostBuilder,
        allowed: &Allowed,
        is_attended: bool,
    ) -> Outcome<HostBuilder> {
        let grants = servers::data_folder()?.join("grants.toml");
        let builder = builder.grants(grants).map_err(Failed::usage)?;
        let builder = builder.policy(allowed.clone());
        let builder = match &self.audit {
            Some(file) => builder.audit(Audit::file(file).map_err(|error| {
                Failed::usage(format!("cannot write `{}`: {error}", file.display()))
            })?),
            None => builder,
        };
        Ok(if is_attended {
            builder.user(Person)
        } else {
            builder
        })
    }

    /// The prompt of a chat that ends after its answer.
    fn prompt(&self) -> Outcome<Option<String>> {
        if self.prompt.is_some() {
            return Ok(self.prompt.clone());
        }
        if io::stdin().is_terminal() && !self.json {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        let read = io::stdin()
            .lock()
            .take(MAX_PROMPT + 1)
            .read_to_end(&mut bytes);
        read.map_err(|error| Failed::new(Code::Input, error))?;
        if bytes.len() as u64 > MAX_PROMPT {
            let said = format!("the prompt on stdin has more than {MAX_PROMPT} bytes");
            return Err(Failed::usage(said).hint("shorten it, or let a server read the text"));
        }
        let text = String::from_utf8(bytes)
            .map_err(|_| Failed::usage("the prompt on stdin is not valid UTF-8"))?;
        if text.trim().is_empty() {
            return Err(Failed::usage("there is no prompt")
                .hint("pass --prompt TEXT, or write it to stdin"));
        }
        Ok(Some(text))
    }
}
