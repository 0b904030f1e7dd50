//! `turnbuckle list`: the tools, prompts and resources of a server, as signatures.

use std::{path::PathBuf, time::Instant};

use clap::Args;
use serde_json::Value;
use turnbuckle::{
    Connection,
    protocol::{Named, Prompt, Tool},
    schema::nearest_name,
};
use turnbuckle_command_line::{
    failure::{Failed, Outcome},
    style::{Style, elapsed},
    target::{Server, ServerArguments},
};

use super::servers;
use crate::{
    ask::AskOptions,
    offer::Offer,
    runtime::block_on,
    session::{self, Session},
    show::{self, Table, print, print_json},
    signature,
};

/// List what a server offers: tools as signatures, prompts, resources and templates.
#[derive(Args)]
pub(crate) struct List {
    /// The server: a URL, a name from a config file, or `file:name`. Then, if wanted, one of
    /// `tools`, `prompts`, `resources`, and the start of a name. The whole name of a tool shows the
    /// tool with its arguments, its result and an example.
    #[arg(value_name = "SERVER")]
    words: Vec<String>,

    /// Print JSON: everything the server said.
    #[arg(long)]
    pub(crate) json: bool,

    /// A folder that the server may work in (may be repeated). Some servers have tools only for
    /// clients that have such folders.
    #[arg(long = "root", value_name = "PATH")]
    roots: Vec<PathBuf>,

    #[command(flatten)]
    server: ServerArguments,
}

/// The kinds that can be listed separately.
const KINDS: [&str; 3] = ["tools", "prompts", "resources"];

/// How many parameters of a tool are shown; `--json` shows all.
const MAX_PARAMETERS: usize = 4;

pub(crate) fn run(list: &List) -> Outcome {
    let (server, rest) = list.server.split(&list.words)?;
    let (kind, name) = match rest {
        [] => (None, None),
        [one] if KINDS.contains(&&**one) => (Some(one), None),
        [one] => (None, Some(one)),
        [kind, name] if KINDS.contains(&&**kind) => (Some(kind), Some(name)),
        [_, _, word, ..] | [_, word] => {
            return Err(Failed::usage(format!("unexpected argument `{word}`")).hint(
                "after the server: `tools`, `prompts` or `resources`, and the start of a name",
            ));
        }
    };
    let started = Instant::now();
    let work = async |session: Session| {
        let connection = &session.connection;
        let (mut offer, missing) = Offer::read_what_there_is(connection).await?;
        let took = started.elapsed();
        if let Some(kind) = kind {
            offer.keep_kind(kind);
        }
        if let Some(name) = name {
            offer
                .keep_start(name)
                .map_err(|near| nothing(&server, name, near))?;
        }
        let one = offer.tools.iter().find(|tool| Some(&tool.name) == name);
        if list.json {
            print_json(&offer.to_json(connection))?;
        } else if let Some(tool) = one {
            for line in show::tool(&server, tool) {
                print(&line);
            }
        } else {
            for row in show::wrapped(&title(&server, connection), 0) {
                print(&Style::Strong.out(&row));
            }
            offer.table().lines().iter().for_each(|line| print(line));
            print(&Style::Dim.out(&format!("{} in {}", offer.counts(), elapsed(took))));
        }
        // The part that could be read is printed, but a missing part is an error all the same.
        missing.map_or(Ok(()), Err)
    };
    // Some servers only offer tools to clients that can answer the questions of these tools.
    let asks = AskOptions::with_roots(list.roots.clone());
    let options = &list.server.options;
    block_on(session::with(options, Some(&asks), &server, work))
}

/// The error if nothing is listed.
fn nothing(server: &Server, wanted: &str, near: Option<String>) -> Failed {
    let name = &server.name;
    let failed = Failed::usage(format!(
        "nothing that server `{name}` offers starts with `{wanted}`"
    ));
    match near {
        Some(near) => failed.hint(format!("did you mean `{near}`?")),
        None => failed.hint(format!("`{}` lists all of them", server.line("list", ""))),
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
    // A query may be a secret, and a server whose name is its URL is not repeated.
    let place = servers::line(&target.shown);
    let place = place.split('?').next().unwrap_or_default();
    if target.name.split('?').next() == Some(place) {
        return title;
    }
    format!("{title} · {place}")
}

impl Offer {
    /// Keeps only one kind.
    fn keep_kind(&mut self, kind: &str) {
        if kind != "tools" {
            self.tools.clear();
        }
        if kind != "prompts" {
            self.prompts.clear();
        }
        if kind != "resources" {
            self.resources.clear();
            self.templates.clear();
        }
    }

    /// Keeps entries that begin with `start`. If there are none, returns the name that was probably meant.
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
                (
                    about(tool, &tool.name, tool.description.as_deref()),
                    Some(Style::Dim),
                ),
            ]);
        }
        for prompt in &self.prompts {
            table.row(vec![
                (prompt_signature(prompt), None),
                ("prompt".to_owned(), Some(Style::Ask)),
                (
                    about(prompt, &prompt.name, prompt.description.as_deref()),
                    Some(Style::Dim),
                ),
            ]);
        }
        for resource in &self.resources {
            table.row(vec![
                (resource.uri.clone(), None),
                ("resource".to_owned(), Some(Style::Good)),
                (
                    about(resource, &resource.uri, resource.description.as_deref()),
                    Some(Style::Dim),
                ),
            ]);
        }
        for template in &self.templates {
            table.row(vec![
                (template.uri_template.clone(), None),
                ("template".to_owned(), Some(Style::Good)),
                (
                    about(
                        template,
                        &template.uri_template,
                        template.description.as_deref(),
                    ),
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

/// Marks for properties that a caller should know before calling.
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

/// The text beside an entry: its description, or else its title, unless that only repeats the
/// name.
fn about(entry: &impl Named, called: &str, description: Option<&str>) -> String {
    let name = Some(entry.display_name()).filter(|name| *name != called);
    description
        .or(name)
        .map(first_paragraph)
        .unwrap_or_default()
}

/// The text up to the first blank line, as one line, with a mark if there is more.
fn first_paragraph(text: &str) -> String {
    let mut lines = text.trim().lines();
    let first = lines.by_ref().map(str::trim);
    let first: Vec<_> = first.take_while(|line| !line.is_empty()).collect();
    let mark = if lines.next().is_some() { " …" } else { "" };
    first.join(" ") + mark
}

#[cfg(test)]
mod tests {
    use super::first_paragraph;

    #[test]
    fn lines_of_a_paragraph_are_joined_and_more_is_marked() {
        for (text, shown) in [
            ("Says it.", "Says it."),
            ("\nSays it\n  twice.\n", "Says it twice."),
            ("Says it.\n\nAnd more.", "Says it. …"),
            ("", ""),
        ] {
            assert_eq!(first_paragraph(text), shown);
        }
    }
}
