//! Command-line options about questions of servers.

use std::{
    io::{self, IsTerminal as _},
    path::PathBuf,
};

use clap::Args;
use turnbuckle::{Answers, client::Roots};
use turnbuckle_command_line::failure::{Failed, Outcome};

use super::{Answerer, prepared::Prepared};

/// What to answer when the server asks.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Elicitation, sampling and roots")]
pub(crate) struct AskOptions {
    /// Answer an elicitation in advance: FIELD=VALUE. If two questions have the same field, write
    /// QUESTION.FIELD=VALUE. QUESTION=decline or QUESTION=cancel refuses (may be repeated).
    #[arg(long = "answer", value_name = "FIELD=VALUE")]
    answers: Vec<String>,

    /// Read the answers to elicitations from a JSON file: an object of fields, or of questions.
    #[arg(long = "answers", value_name = "FILE")]
    file: Option<PathBuf>,

    /// Open the pages that a server sends you to in the browser, once you agreed.
    #[arg(long)]
    open: bool,

    /// A root: a folder that the server may work in (may be repeated).
    #[arg(long = "root", value_name = "PATH")]
    roots: Vec<PathBuf>,
}

impl AskOptions {
    /// Options without prepared answers, with these folders as roots.
    pub(crate) fn with_roots(roots: Vec<PathBuf>) -> Self {
        Self {
            roots,
            ..Self::default()
        }
    }

    /// The answerer for these options.
    pub(crate) fn answerer(&self) -> Outcome<Answerer> {
        Ok(Answerer {
            prepared: Prepared::read(&self.answers, self.file.as_deref())?,
            roots: self.folders()?,
            opens: self.open,
            // Questions are written to stderr and answered on stdin.
            is_attended: io::stdin().is_terminal() && io::stderr().is_terminal(),
        })
    }

    /// The capabilities to declare to servers: all, and roots if there are any. Servers are notified when one of the
    /// folders disappears or comes back.
    pub(crate) fn offer(&self) -> Outcome<Answers> {
        let answers = Answers::new()
            .forms_by_hand()
            .urls_by_hand()
            .samples_by_hand();
        if self.roots.is_empty() {
            return Ok(answers);
        }
        Ok(answers.roots(self.folders()?))
    }

    fn folders(&self) -> Outcome<Roots> {
        Roots::folders(&self.roots).map_err(Failed::usage)
    }
}
