//! `turnbuckle complete`: a server's suggestions for an argument.

use clap::Args;
use turnbuckle::protocol::{CompleteRequestParams, Reference};
use turnbuckle_command_line::{
    control::tell,
    failure::{Failed, Outcome},
    style::Style,
    target::ServerArguments,
};

use crate::{
    runtime::block_on,
    session::{self, Session},
    show::print,
};

/// Ask what a server suggests for an argument of a prompt or a variable of a template.
///
/// The last `key=start` is what is being typed; those before it are already filled in.
#[derive(Args)]
pub(crate) struct Complete {
    /// The server, the prompt or template, and `argument=start`.
    #[arg(value_name = "SERVER PROMPT-OR-TEMPLATE KEY=START")]
    words: Vec<String>,

    /// Print the result as JSON.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    server: ServerArguments,
}

pub(crate) fn run(complete: &Complete) -> Outcome {
    let (server, rest) = complete.server.split(&complete.words)?;
    let [of, settled @ .., typed] = rest else {
        return Err(Failed::usage(
            "name a prompt or a template, and `argument=start`",
        ));
    };
    let (name, start) = pair(typed)?;
    let reference = if of.contains("://") {
        Reference::resource(of)
    } else {
        Reference::prompt(of)
    };
    let mut params = CompleteRequestParams::new(reference, name, start);
    for word in settled {
        let (name, value) = pair(word)?;
        params = params.with_known(name, value);
    }
    let work = async |session: Session| {
        let completion = session.connection.complete_with(params).await?;
        if complete.json {
            return session.print_exact("completion/complete", &completion);
        }
        completion.values.iter().for_each(|value| print(value));
        if completion.has_more == Some(true) {
            tell(&Style::Dim.err("the server has more values"));
        }
        Ok(())
    };
    block_on(session::with(&complete.server.options, None, &server, work))
}

pub(super) fn pair(word: &str) -> Outcome<(&str, &str)> {
    word.split_once('=')
        .ok_or_else(|| Failed::usage(format!("`{word}` must be written `argument=value`")))
}
