//! `turnbuckle list`: what a server offers, as signatures.

use std::time::Instant;

use clap::Args;
use serde_json::Value;
use turnbuckle::{
    Connection,
    protocol::{Named as _, Prompt, Tool},
    schema::nearest_name,
};
use turnbuckle_command_line::{
    failure::{Failed, Outcome},
    style::{Style, elapsed},
    target::{Server, ServerArguments},
};

use super::servers;
use crate::{
    offer::Offer,
    runtime::block_on,
    session::{self, Session},
    show::{Table, print, print_json},
    signature,
};

/// List what a server offers: tools as signatures, prompts, resources and templates.
#[derive(Args)]
pub(crate) struct List {
    /// The server: a URL, a name from a config file, or `file:name`. Then, if wanted, one of
    /// `tools`, `prompts`, `resources`, or the start of a name.
    #[arg(value_name = "SERVER")]
    words: Vec<String>,

    /// Print JSON: everything the server said.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    server: ServerArguments,
}

/// What can be asked for by its kind.
const KINDS: [&str; 3] = ["tools", "prompts", "resources"];

/// How many parameters of a tool are shown; `--json` has all.
const MAX_PARAMETERS: usize = 4;

pub(crate) fn run(list: &List) -> Outcome {
    let (server, rest) = list.server.split(&list.words)?;
    if let Some(word) = rest.get(1) {
        return Err(Failed::usage(format!("`{word}` is one word too many")));
    }
    let started = Instant::now();
    let work = async |session: Session| {
        let connection = &session.connection;
        let mut offer = Offer::read(connection).await?;
        let took = started.elapsed();
        if let Some(wanted) = rest.first() {
            offer
                .keep(wanted)
                .map_err(|near| nothing(&server, wanted, near))?;
        }
        if list.json {
            print_json(&offer.to_json(connection))?;
        } else {
            let title = title(&server, connection);
            print(&Style::Strong.out(&title));
            offer.table().lines().iter().for_each(|line| print(line));
            print(&Style::Dim.out(&format!("{} in {}", offer.counts(), elapsed(took))));
        }
        Ok(())
    };
    block_on(session::with(&list.server.options, None, &server, work))
}

/// Nothing is listed: it was not meant to be nothing.
fn nothing(server: &Server, wanted: &str, near: Option<String>) -> Failed {
    let name = &server.name;
    let failed = Failed::usage(format!("nothing of server `{name}` begins with `{wanted}`"));
    match near {
        Some(near) => failed.hint(format!("did you mean `{near}`?")),
        None => failed.hint(format!("`{}` shows what there is", server.line("list", ""))),
    }
}

fn title(target: &Server, connection: &Connection) -> String {
    let server = connection.server();
    let mut title = target.name.clone();
    if let Some(info) = server.implementation() {
        let called = info.display_name();
        title = format!("{title}  {called} {}", info.version);
    }
    let title = format!("{title} · {}", server.revision());
    // A query may be a secret, and a server that is called by its URL was named already.
    let place = servers::line(&target.shown);
    let place = place.split('?').next().unwrap_or_default();
    if target.name.split('?').next() == Some(place) {
        return title;
    }
    format!("{title} · {place}")
}

impl Offer {
    /// Keeps one kind, or what begins so. If that is nothing, what was probably meant.
    fn keep(&mut self, wanted: &str) -> Result<(), Option<String>> {
        let (tools, prompts, resources) = match wanted {
            "tools" => (true, false, false),
            "prompts" => (false, true, false),
            "resources" => (false, false, true),
            start => return self.keep_start(start),
        };
        if !tools {
            self.tools.clear();
        }
        if !prompts {
            self.prompts.clear();
        }
        if !resources {
            self.resources.clear();
            self.templates.clear();
        }
        Ok(())
    }

    fn keep_start(&mut self, start: &str) -> Result<(), Option<String>> {
        let near = nearest_name(start, KINDS.into_iter().chain(self.names()));
        let near = near.map(str::to_owned);
        let begins = |name: &str| name.starts_with(start);
        self.tools.retain(|tool| begins(&tool.name));
        self.prompts.retain(|prompt| begins(&prompt.name));
        self.resources
            .retain(|resource| begins(&resource.uri) || begins(&resource.name));
        self.templates
            .retain(|template| begins(&template.uri_template) || begins(&template.name));
        self.names().next().map(drop).ok_or(near)
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        let tools = self.tools.iter().map(|tool| &*tool.name);
        let prompts = self.prompts.iter().map(|prompt| &*prompt.name);
        let resources = self.resources.iter().map(|resource| &*resource.uri);
        let templates = self.templates.iter().map(|one| &*one.uri_template);
        tools.chain(prompts).chain(resources).chain(templates)
    }

    fn table(&self) -> Table {
        let mut table = Table::default();
        for tool in &self.tools {
            let schema = Value::Object(tool.input_schema.clone());
            table.row(vec![
                (signature::short(&tool.name, &schema, MAX_PARAMETERS), None),
                (marks(tool).to_owned(), Some(Style::Warn)),
                (first_line(tool.description.as_deref()), Some(Style::Dim)),
            ]);
        }
        for prompt in &self.prompts {
            table.row(vec![
                (prompt_signature(prompt), None),
                ("prompt".to_owned(), Some(Style::Ask)),
                (first_line(prompt.description.as_deref()), Some(Style::Dim)),
            ]);
        }
        for resource in &self.resources {
            table.row(vec![
                (resource.uri.clone(), None),
                ("resource".to_owned(), Some(Style::Good)),
                (
                    first_line(resource.description.as_deref().or(Some(&resource.name))),
                    Some(Style::Dim),
                ),
            ]);
        }
        for template in &self.templates {
            table.row(vec![
                (template.uri_template.clone(), None),
                ("template".to_owned(), Some(Style::Good)),
                (
                    first_line(template.description.as_deref().or(Some(&template.name))),
                    Some(Style::Dim),
                ),
            ]);
        }
        table
    }

    fn counts(&self) -> String {
        let counted = [
            (self.tools.len(), "tool"),
            (self.prompts.len(), "prompt"),
            (self.resources.len(), "resource"),
            (self.templates.len(), "template"),
        ];
        let parts: Vec<_> = counted
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}{}", if *count == 1 { "" } else { "s" }))
            .collect();
        if parts.is_empty() {
            "nothing".to_owned()
        } else {
            parts.join(", ")
        }
    }
}

/// What a caller should know before calling.
fn marks(tool: &Tool) -> &'static str {
    let annotations = tool.annotations.as_ref();
    let is_read_only = annotations.and_then(|hints| hints.read_only_hint) == Some(true);
    let is_destructive = annotations.and_then(|hints| hints.destructive_hint) == Some(true);
    match (is_read_only, is_destructive) {
        (true, _) => "read",
        (false, true) => "destr",
        (false, false) => "",
    }
}

fn prompt_signature(prompt: &Prompt) -> String {
    let arguments = prompt.arguments.iter().flatten().map(|argument| {
        let mark = if argument.required == Some(true) {
            ""
        } else {
            "?"
        };
        format!("{}{mark}", argument.name)
    });
    format!(
        "{}({})",
        prompt.name,
        arguments.collect::<Vec<_>>().join(", ")
    )
}

/// The start of a description, in characters.
const MAX_DESCRIPTION: usize = 72;

fn first_line(text: Option<&str>) -> String {
    let line = text
        .unwrap_or_default()
        .lines()
        .next()
        .unwrap_or_default()
        .trim();
    if line.chars().count() <= MAX_DESCRIPTION {
        return line.to_owned();
    }
    let start: String = line.chars().take(MAX_DESCRIPTION - 1).collect();
    format!("{}…", start.trim_end())
}
