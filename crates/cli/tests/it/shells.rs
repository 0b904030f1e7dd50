//! Completion in real shells, with the real key.

use crate::{
    program::{Place, needs},
    terminal::Terminal,
};

/// What is typed before the key, and what stands there after it.
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

fn completes(shell: &str, start: &str, load: &str) {
    needs("tmux");
    needs(shell);
    let place = Place::with_lab();
    let terminal = Terminal::run(&place, start);
    terminal.type_text(&format!("{load}; echo rea''dy"));
    terminal.press(&["Enter"]);
    terminal.see("\nready");
    for (typed, wanted) in TYPED {
        terminal.type_text(typed);
        terminal.press(&["Tab"]);
        terminal.see(&format!("> {wanted}"));
        // A name waits for its value, everything else for the next word.
        terminal.type_text("x");
        let end = if wanted.ends_with('=') { "x" } else { " x" };
        terminal.see(&format!("> {wanted}{end}"));
        terminal.press(&["C-u"]);
        terminal.press(&["C-l"]);
    }
}

#[test]
fn bash_completes() {
    let start = "PS1='> ' bash --norc --noprofile -i";
    completes(
        "bash",
        start,
        "PS1='> '; source <(turnbuckle completions bash)",
    );
}

#[test]
fn zsh_completes() {
    let load =
        "PS1='> '; autoload -U compinit; compinit -D -u; source <(turnbuckle completions zsh)";
    completes("zsh", "zsh -f -i", load);
}

#[test]
fn fish_completes() {
    let load = "function fish_prompt; echo -n '> '; end; turnbuckle completions fish | source";
    completes("fish", "fish --no-config -i", load);
}
