//! `turnbuckle read`: reads a resource.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use clap::Args;
use turnbuckle::ResourceContents;

use super::{block_on, print, print_json};
use crate::{
    exit::{Code, Failed, Outcome},
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
    block_on(async {
        let connection = read
            .options
            .connect(&server, &read.options.client())
            .await?;
        let result = connection.read(uri).await;
        connection.close().await;
        let result = result?;
        if read.json {
            return print_json(&result);
        }
        for contents in &result.contents {
            if read.raw {
                write_raw(contents)?;
            } else {
                print(&show::contents(contents));
            }
        }
        Ok(())
    })
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
