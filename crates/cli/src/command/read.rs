//! `turnbuckle read`: reads a resource.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use clap::Args;
use serde_json::Value;
use turnbuckle::{
    ResourceContents,
    schema::nearest_name,
    uri_template::{Template, Variables},
};
use turnbuckle_command_line::{
    failure::{Code, Failed, Outcome},
    target::Server,
};

use super::{complete::pair, request::Request};
use crate::{
    session::Session,
    show::{self, print_shown},
};

/// Read a resource by its URI, or by a template and values for its variables.
#[derive(Args)]
pub(crate) struct Read {
    /// The server, and the URI; or a template and `variable=value` (twice for a list).
    #[arg(value_name = "SERVER URI [KEY=VALUE]")]
    words: Vec<String>,

    /// Write the bytes of the resource to stdout as they are.
    #[arg(long, conflicts_with = "json")]
    raw: bool,

    #[command(flatten)]
    pub(crate) request: Request,
}

pub(crate) fn run(read: &Read) -> Outcome {
    let (server, rest) = read.request.server.split(&read.words)?;
    let [uri, values @ ..] = rest else {
        let line = server.line("list", "resources");
        let failed = Failed::usage("name one resource by its URI");
        return Err(failed.hint(format!("`{line}` lists the resources")));
    };
    let uri = match values {
        [] => uri.clone(),
        values => expanded(uri, values)?,
    };
    let work = async |session: Session| read.on(&server, &session, &uri).await;
    read.request.run(&server, work)
}

impl Read {
    async fn on(&self, server: &Server, session: &Session, uri: &str) -> Outcome {
        let answerer = self.request.asks.answerer()?;
        let call = session.connection.read(uri);
        let finished = match session.finish(call, &answerer, self.request.json).await {
            Ok(finished) => finished,
            Err(failed) => return Err(suggest(server, session, uri, failed).await),
        };
        if self.request.json {
            return session.print_exact("resources/read", &finished.result);
        }
        for contents in &finished.result.contents {
            if self.raw {
                write_raw(contents)?;
            } else {
                print_shown(&show::contents(contents, &self.request.media));
            }
        }
        Ok(())
    }
}

/// Expands a template with these values.
fn expanded(template: &str, values: &[String]) -> Outcome<String> {
    let failed = |problem: String| Failed::usage(format!("`{template}`: {problem}"));
    let parsed = Template::parse(template).map_err(|error| failed(error.to_string()))?;
    let mut variables = Variables::new();
    for word in values {
        let (name, value) = pair(word)?;
        if !parsed.variables().any(|variable| variable == name) {
            let names: Vec<&str> = parsed.variables().collect();
            let failed = failed(format!("there is no variable `{name}`"));
            return Err(match &*names {
                [] => failed.hint("this is a URI without variables; give it alone"),
                names => failed.hint(format!("its variables are {}", names.join(", "))),
            });
        }
        let value = Value::from(value);
        match variables.get_mut(name) {
            None => drop(variables.insert(name.to_owned(), value)),
            Some(Value::Array(list)) => list.push(value),
            Some(first) => *first = Value::Array(vec![first.take(), value]),
        }
    }
    let is_missing = |name: &&str| !variables.contains_key(*name) && !is_optional(template, name);
    if let Some(missing) = parsed.variables().find(is_missing) {
        let failed = failed(format!("variable `{missing}` is missing"));
        return Err(failed.hint(format!("add {missing}=…")));
    }
    let expanded = parsed.expand(&variables);
    expanded.map_err(|error| failed(error.to_string()))
}

/// Whether a variable may be left out, because it is a parameter of the query.
fn is_optional(template: &str, variable: &str) -> bool {
    let expressions = template.split('{').skip(1);
    let names = expressions.filter_map(|it| it.strip_prefix(['?', '&', ';'])?.split('}').next());
    let names = names.flat_map(|names| names.split(','));
    let mut names = names.map(|name| name.split([':', '*']).next().unwrap_or_default());
    names.any(|name| name == variable)
}

/// Adds a suggestion to the error if the URI is similar to one that the server lists.
async fn suggest(server: &Server, session: &Session, uri: &str, failed: Failed) -> Failed {
    if failed.code != Code::Protocol {
        return failed;
    }
    let rejection = failed.rejection();
    let is_unknown = rejection.is_some_and(|error| error.message.contains("not found"));
    let resources = session.connection.resources().await.unwrap_or_default();
    let uris = resources.iter().map(|resource| &*resource.uri);
    match nearest_name(uri, uris.filter(|other| *other != uri)) {
        Some(near) => failed.hint(format!("did you mean `{near}`?")),
        None if !is_unknown => failed,
        None => {
            let line = server.line("list", "resources");
            failed.hint(format!("`{line}` lists the resources"))
        }
    }
}

fn write_raw(contents: &ResourceContents) -> Outcome {
    use std::io::Write as _;
    let mut out = std::io::stdout().lock();
    let written = match contents {
        ResourceContents::Text(text) => out.write_all(text.text.as_bytes()),
        ResourceContents::Blob(blob) => {
            let bytes = BASE64_STANDARD
                .decode(&blob.blob)
                .map_err(|error| Failed::new(Code::Protocol, error))?;
            out.write_all(&bytes)
        }
        other => serde_json::to_writer(&mut out, other).map_err(Into::into),
    };
    // If the reader has closed stdout, it needs no more output.
    drop(written);
    Ok(())
}
