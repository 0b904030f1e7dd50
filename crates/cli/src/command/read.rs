//! `turnbuckle read`: reads a resource.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use clap::Args;
use serde_json::Value;
use turnbuckle::{
    ResourceContents,
    schema::nearest_name,
    uri_template::{Template, Variables},
};
use turnbuckle_command_line::failure::{Code, Failed, Outcome};

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
        return Err(failed.hint(format!("`{line}` shows them")));
    };
    let uri = match values {
        [] => uri.clone(),
        values => expanded(uri, values)?,
    };
    let work = async |session: Session| read.on(&session, &uri).await;
    read.request.run(&server, work)
}

impl Read {
    async fn on(&self, session: &Session, uri: &str) -> Outcome {
        let answerer = self.request.asks.answerer()?;
        let call = session.connection.read(uri);
        let finished = match session.finish(call, &answerer, self.request.json).await {
            Ok(finished) => finished,
            Err(failed) => return Err(suggest(session, uri, failed).await),
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

/// The URI that a template gives with these values.
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
    let expanded = parsed.expand(&variables);
    expanded.map_err(|error| failed(error.to_string()))
}

/// A URI that is nearly one that there is was misspelt.
async fn suggest(session: &Session, uri: &str, failed: Failed) -> Failed {
    if failed.code != Code::Protocol {
        return failed;
    }
    let resources = session.connection.resources().await.unwrap_or_default();
    let uris = resources.iter().map(|resource| &*resource.uri);
    match nearest_name(uri, uris.filter(|other| *other != uri)) {
        Some(near) => failed.hint(format!("did you mean `{near}`?")),
        None => failed,
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
    // A reader that has gone away has seen enough.
    drop(written);
    Ok(())
}
