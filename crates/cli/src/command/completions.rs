//! `turnbuckle completions`: scripts for the completion of shells, and the command that these scripts call.

use clap::{Args, ValueEnum};

use crate::{
    show::print,
    suggest::{self, Suggestions},
};

/// Print a script that completes commands, servers, tools, arguments and values in your shell.
///
/// bash: `source <(turnbuckle completions bash)` in ~/.bashrc.
/// zsh: `source <(turnbuckle completions zsh)` in ~/.zshrc, after `compinit`.
/// fish: `turnbuckle completions fish > ~/.config/fish/completions/turnbuckle.fish`.
/// When you press Tab, the server is asked for its tools and values, for at most two seconds, and the
/// answer is remembered for a minute. A server that is a command is started for that. In bash and zsh
/// the command may also follow after `--`, to the right of the word that you complete.
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Completions {
    /// The shell.
    shell: Shell,
}

/// A shell that we have a script for.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Shell {
    Bash,
    Zsh,
    Fish,
}

/// The arguments of the scripts: the words after the program's name, up to the word that is being typed.
#[derive(Args)]
pub(crate) struct Suggest {
    /// How many of the words are after the one that is being typed.
    #[arg(long, default_value = "0")]
    behind: usize,

    #[arg(last = true)]
    words: Vec<String>,
}

pub(crate) fn run(completions: &Completions) {
    let script = match completions.shell {
        Shell::Bash => include_str!("../suggest/turnbuckle.bash"),
        Shell::Zsh => include_str!("../suggest/turnbuckle.zsh"),
        Shell::Fish => include_str!("../suggest/turnbuckle.fish"),
    };
    print(script.trim_end());
}

/// Prints one candidate in each line, with its description after a tab, or `:files` for file names.
pub(crate) fn suggest(program: &clap::Command, asked: &Suggest) {
    let typed = asked.words.len().saturating_sub(asked.behind);
    let (typed, behind) = asked.words.split_at(typed);
    let candidates = match suggest::next(program, typed, behind) {
        Suggestions::Files => {
            print(":files");
            return;
        }
        Suggestions::These(candidates) => candidates,
    };
    for candidate in candidates {
        // Text from a server must not become two lines or control the terminal.
        let clean = |text: &str| text.replace(char::is_control, " ");
        let (text, about) = (&candidate.text, clean(&candidate.about));
        if text.contains(char::is_control) {
            continue;
        }
        print(format!("{text}\t{about}").trim_end());
    }
}
