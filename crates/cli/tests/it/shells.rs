//! Completion in real shells, with the Tab key.

use crate::{
    program::{Place, needs},
    terminal::Terminal,
};

/// The typed text before Tab, and the line after it.
const TYPED: [(&str, &str); 5] = [
    ("turnbuckle repl", "turnbuckle replay"),
    ("turnbuckle call la", "turnbuckle call lab"),
    ("turnbuckle call lab weat", "turnbuckle call lab weather"),
    (
        "turnbuckle call lab weather pl",
        "turnbuckle call lab weather place=",
    ),
    (
        "turnbuckle call lab weather place=Oslo unit=f",
        "turnbuckle call lab weather place=Oslo unit=fahrenheit",
    ),
];

fn completes<'p>(place: &'p Place, shell: &str, start: &str, load: &str) -> Terminal<'p> {
    needs("tmux");
    needs(shell);
    let terminal = Terminal::run(place, start);
    terminal.type_text(&format!("{load}; echo rea''dy"));
    terminal.press(&["Enter"]);
    terminal.see("\nready");
    for (typed, wanted) in TYPED {
        terminal.type_text(typed);
        terminal.press(&["Tab"]);
        terminal.see(&format!("> {wanted}"));
        // After a name follows its value, after everything else the next word.
        terminal.type_text("x");
        let end = if wanted.ends_with('=') { "x" } else { " x" };
        terminal.see(&format!("> {wanted}{end}"));
        terminal.press(&["C-u"]);
        terminal.press(&["C-l"]);
    }
    terminal
}

/// The cursor is moved back before the command that is the server. fish only passes the part
/// before the cursor to its completions.
fn completes_before_a_command(terminal: &Terminal<'_>) {
    let behind = " -- turnbuckle serve --stdio";
    terminal.type_text(&format!("turnbuckle call weat{behind}"));
    terminal.press(&vec!["Left"; behind.len()]);
    terminal.press(&["Tab"]);
    terminal.see("> turnbuckle call weather");
}

#[test]
fn bash_completes() {
    let start = "PS1='> ' bash --norc --noprofile -i";
    let load = "PS1='> '; source <(turnbuckle completions bash)";
    let place = Place::with_lab();
    completes_before_a_command(&completes(&place, "bash", start, load));
}

#[test]
fn zsh_completes() {
    let load =
        "PS1='> '; autoload -U compinit; compinit -D -u; source <(turnbuckle completions zsh)";
    let place = Place::with_lab();
    completes_before_a_command(&completes(&place, "zsh", "zsh -f -i", load));
}

#[test]
fn fish_completes() {
    let load = "function fish_prompt; echo -n '> '; end; turnbuckle completions fish | source";
    completes(&Place::with_lab(), "fish", "fish --no-config -i", load);
}
