//! A server's tools, prompts and resources for completion: requested with a short time limit, or cached.

use std::time::Duration;

use clap::Parser;
use serde_json::Value;
use turnbuckle_command_line::target::{self, Options, Server};

use super::{Candidate, line::CommandLine, word::first_line};
use crate::{
    cache::{self, Cache},
    runtime::block_on,
    session::{self, Session},
};

/// How long a user who pressed Tab waits for a server to start and answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(2);

/// Results are cached for a minute: a user who completes one word completes the next,
/// and a server under development changes often.
const CACHE: Cache = Cache {
    name: "completion",
    age: Duration::from_mins(1),
};

/// The options that say how to connect.
#[derive(Parser)]
struct Connecting {
    #[command(flatten)]
    options: Options,
}

/// A server's lists, in the format of `turnbuckle list --json`.
pub(super) struct Listing(Value);

/// The connection options of a line; other options do not matter.
pub(super) fn options(line: &CommandLine<'_>) -> Option<Options> {
    let mut words = vec!["turnbuckle".to_owned()];
    for option in &line.options {
        let alone = [&["turnbuckle".to_owned()][..], option].concat();
        if Connecting::try_parse_from(alone).is_ok() {
            words.extend(option.iter().cloned());
        }
    }
    // These options would print or record something during completion, where it is not visible.
    let mut options = Connecting::try_parse_from(words).ok()?.options;
    (options.wire, options.record, options.timeout) = (false, None, Some(ANSWER_WITHIN));
    Some(options)
}

/// The server of a line.
pub(super) fn server(line: &CommandLine<'_>, options: &Options) -> Option<Server> {
    let name = line.words.first().map_or(&[][..], std::slice::from_ref);
    let found = target::split(name, &line.given, options.silent_lookup());
    found.ok().map(|(server, _)| server)
}

impl Listing {
    /// The lists of the server of a line; `None` if it does not answer in time.
    pub(super) fn of(line: &CommandLine<'_>) -> Option<Self> {
        let options = options(line)?;
        let name = line.words.first()?;
        let key = cache::key((name, &line.given, &line.options));
        if let Some(known) = CACHE.read(&key) {
            return Some(Self(known));
        }
        let server = server(line, &options)?;
        let work = async |session: Session| {
            let offer = crate::offer::Offer::read(&session.connection).await?;
            Ok(offer.to_json(&session.connection))
        };
        let listed = block_on(session::with(&options, None, &server, work)).ok()?;
        CACHE.write(&key, &listed);
        Some(Self(listed))
    }

    fn all(&self, list: &str, name: &str) -> Vec<Candidate> {
        let items = self.0[list].as_array().into_iter().flatten();
        items
            .filter_map(|item| {
                let text = item[name].as_str()?;
                Some(Candidate::new(text, first_line(&item["description"])))
            })
            .collect()
    }

    pub(super) fn tools(&self) -> Vec<Candidate> {
        self.all("tools", "name")
    }

    pub(super) fn prompts(&self) -> Vec<Candidate> {
        self.all("prompts", "name")
    }

    /// Resources, and the text of templates up to their first variable.
    pub(super) fn resources(&self) -> Vec<Candidate> {
        let mut all = self.all("resources", "uri");
        for template in self.templates() {
            let start = template.text.split('{').next().unwrap_or_default();
            if !start.is_empty() && all.iter().all(|known| known.text != start) {
                all.push(Candidate::new(start, template.about));
            }
        }
        all
    }

    pub(super) fn templates(&self) -> Vec<Candidate> {
        self.all("resourceTemplates", "uriTemplate")
    }

    pub(super) fn input_schema(&self, tool: &str) -> Option<&Value> {
        let mut tools = self.0["tools"].as_array()?.iter();
        let found = tools.find(|one| one["name"] == tool)?;
        found.get("inputSchema")
    }

    /// The arguments of a prompt, or the variables of a template, with their descriptions.
    pub(super) fn arguments(&self, name: &str) -> Vec<(String, String)> {
        let mut prompts = self.0["prompts"].as_array().into_iter().flatten();
        if let Some(prompt) = prompts.find(|prompt| prompt["name"] == name) {
            let arguments = prompt["arguments"].as_array().into_iter().flatten();
            return arguments
                .filter_map(|one| {
                    let name = one["name"].as_str()?.to_owned();
                    Some((name, first_line(&one["description"])))
                })
                .collect();
        }
        let expressions = name.split('{').skip(1);
        let inner = expressions.filter_map(|rest| rest.split('}').next());
        let names = inner.flat_map(|inner| {
            inner
                .trim_start_matches(['+', '#', '.', '/', ';', '?', '&'])
                .split(',')
        });
        names
            .map(|name| (name.trim_end_matches('*').to_owned(), String::new()))
            .collect()
    }
}
