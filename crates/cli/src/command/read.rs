//! `turnbuckle read`: reads a resource.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use clap::Args;
use turnbuckle::ResourceContents;

use super::{block_on, print, print_json};
use crate::{
    ask::AskOptions,
    exit::{Code, Failed, Outcome},
    session::{self, Session},
    show,
    target::{self, Options},
};

/// Read a resource by its URI.
#[derive(Args)]
pub(crate) struct Read {
    /// The server, and the URI.
    #[arg(value_name = "SERVER URI")]
    words: Vec<String>,

    /// Print the result as JSON.
    #[arg(long)]
    json: bool,

    /// Write the bytes of the resource to stdout as they are.
    #[arg(long, conflicts_with = "json")]
    raw: bool,

    #[command(flatten)]
    media: show::Media,

    #[command(flatten)]
    asks: AskOptions,

    #[command(flatten)]
    options: Options,

    /// A command to start as the server.
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

pub(crate) fn run(read: &Read) -> Outcome {
    let config = read.options.config.as_ref();
    let (server, rest) = target::split(&read.words, &read.command, config)?;
    let [uri] = rest else {
        return Err(Failed::usage("name one resource by its URI").hint(format!(
            "`turnbuckle list {} resources` shows them",
            server.name
        )));
    };
    let work = async |session: Session| read.on(&session, uri).await;
    block_on(session::with(
        &read.options,
        Some(&read.asks),
        &server,
        work,
    ))
}

impl Read {
    async fn on(&self, session: &Session, uri: &str) -> Outcome {
        let desk = self.asks.desk()?;
        let call = session.connection.read(uri);
        let finished = session.finish(call, &desk, self.json).await?;
        if self.json {
            return match session.wire.result("resources/read") {
                Some(exact) => {
                    print(exact.get());
                    Ok(())
                }
                None => print_json(&finished.result),
            };
        }
        for contents in &finished.result.contents {
            if self.raw {
                write_raw(contents)?;
            } else {
                print(&show::contents(contents, &self.media));
            }
        }
        Ok(())
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
    };
    // A reader that has gone away has seen enough.
    drop(written);
    Ok(())
}
