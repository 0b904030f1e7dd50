//! A real terminal, with tmux: what the user sees, and what the keys do.

mod chat;
mod line;

use std::process::{Command, Output};

use crate::program::{BINARY, Place, eventually, needs};

/// A terminal of 100 by 60 characters by default, in which a command runs.
pub(crate) struct Terminal<'p> {
    place: &'p Place,
    name: String,
}

impl<'p> Terminal<'p> {
    /// Runs a command in it; the terminal remains when the command has ended.
    pub(crate) fn run(place: &'p Place, line: &str) -> Self {
        Self::run_at(place, 100, line)
    }

    /// The same with this width.
    fn run_at(place: &'p Place, columns: usize, line: &str) -> Self {
        let name = place.path().file_name().expect("it has a name");
        let name = name.to_string_lossy().into_owned();
        let terminal = Self { place, name };
        let columns = columns.to_string();
        let size = ["-x", &columns, "-y", "60"];
        let line = format!("{line}; printf 'ended with %s\\n' $?; sleep 600");
        let session = ["-f", "/dev/null", "new-session", "-d"];
        let output = terminal.tmux(&[&session[..], &size, &["bash", "-c", &line]].concat());
        assert!(output.status.success(), "{output:?}");
        terminal
    }

    fn tmux(&self, words: &[&str]) -> Output {
        let mut command: Command = self.place.command("tmux");
        command
            .env("TERM", "xterm-256color")
            .env("LC_ALL", "C.UTF-8")
            .env_remove("TMUX")
            .args(["-u", "-L", &self.name])
            .args(words);
        command.output().expect("tmux runs")
    }

    /// Presses keys, by their names in tmux.
    pub(crate) fn press(&self, keys: &[&str]) {
        self.tmux(&[&["send-keys"], keys].concat());
    }

    /// Types text as it is.
    pub(crate) fn type_text(&self, text: &str) {
        self.tmux(&["send-keys", "-l", text]);
    }

    /// Pastes text as terminals do, with bracketed paste if the program supports it.
    fn paste(&self, text: &str) {
        self.tmux(&["set-buffer", text]);
        self.tmux(&["paste-buffer", "-p"]);
    }

    /// The text on the screen, without trailing blanks.
    pub(crate) fn screen(&self) -> String {
        let output = self.tmux(&["capture-pane", "-p"]);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let lines: Vec<_> = text.lines().map(str::trim_end).collect();
        lines.join("\n").trim_end().to_owned()
    }

    /// The same, with wrapped lines joined.
    fn whole_lines(&self) -> String {
        let output = self.tmux(&["capture-pane", "-p", "-J"]);
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Waits until this text is on the screen.
    #[track_caller]
    pub(crate) fn see(&self, text: &str) -> String {
        self.wait_for(text, |screen| screen.contains(text))
    }

    /// Waits until this is the last text on the screen: a question that the next keys answer.
    #[track_caller]
    fn see_last(&self, text: &str) -> String {
        self.wait_for(text, |screen| screen.ends_with(text))
    }

    #[track_caller]
    fn wait_for(&self, text: &str, is_there: impl Fn(&str) -> bool) -> String {
        let start = std::time::Instant::now();
        loop {
            let screen = self.screen();
            if is_there(&screen) {
                return screen;
            }
            assert!(
                start.elapsed() < crate::program::TIMEOUT,
                "`{text}` is not to be seen:\n{screen}"
            );
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        // Ends the tmux server of this socket only.
        self.tmux(&["kill-server"]);
    }
}

// rule: E9
#[test]
fn a_person_is_asked_field_by_field_and_again() {
    needs("tmux");
    let place = Place::with_lab();
    let terminal = Terminal::run(&place, "turnbuckle call lab deploy env=prod");
    terminal.see("? lab asks: Deploy to prod?");
    terminal.see("  Really? [y/N]");
    terminal.type_text("perhaps");
    terminal.press(&["Enter"]);
    terminal.see("  type y or n");
    terminal.type_text("y");
    terminal.press(&["Enter"]);
    terminal.see("  reason (at least 3 characters):");
    terminal.type_text("x");
    terminal.press(&["Enter"]);
    terminal.see("  too short: 1 of 3");
    terminal.type_text("because");
    terminal.press(&["Enter"]);
    let screen = terminal.see("ended with 0");
    assert!(screen.contains("\ndeployed prod\n"), "{screen}");
    assert!(screen.contains("      done in 2 steps, "), "{screen}");
}

// rule: E9
#[test]
fn ctrl_d_declines() {
    needs("tmux");
    let place = Place::with_lab();
    let terminal = Terminal::run(&place, "turnbuckle call lab greet");
    terminal.see("? lab asks: Whom may I greet?");
    terminal.see("Name (at least 1 character,");
    terminal.press(&["C-d"]);
    let screen = terminal.see("ended with 0");
    assert!(screen.contains("Hello, stranger!"), "{screen}");
}

#[test]
fn progress_is_one_line_and_gone_at_the_end() {
    needs("tmux");
    let place = Place::with_lab();
    let line = "turnbuckle call lab count to=10 pause=100";
    let terminal = Terminal::run(&place, line);
    let screen = terminal.see("/10 counted ");
    assert_eq!(screen.lines().count(), 1, "{screen}");
    assert!(screen.contains('▓'), "{screen}");
    let screen = terminal.see("ended with 0");
    assert!(
        screen.starts_with("counted to 10\n      done in "),
        "{screen}"
    );
    assert!(!screen.contains('▓'), "{screen}");
}

#[test]
fn ctrl_c_leaves_nothing_behind() {
    needs("tmux");
    let place = Place::with_lab();
    let line = "turnbuckle call lab count to=1000 pause=100 --record session";
    let terminal = Terminal::run(&place, line);
    terminal.see("/1000 counted ");
    terminal.press(&["C-c"]);
    let screen = terminal.see("ended with 130");
    assert!(!screen.contains('▓'), "{screen}");
    assert!(screen.contains("error: interrupted"), "{screen}");
    let recorded = place.read("session");
    let last = recorded.lines().last().unwrap_or_default();
    assert!(recorded.contains("notifications/cancelled"), "{last}");
    eventually("the server is gone", || {
        let folder = place.path().to_string_lossy().into_owned();
        is_idle(&folder).then_some(())
    });
}

/// Whether no demo server runs in this folder any more.
fn is_idle(folder: &str) -> bool {
    let Ok(processes) = std::fs::read_dir("/proc") else {
        return true;
    };
    let mut found = processes.filter_map(Result::ok).filter(|process| {
        let command = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
        let place = std::fs::read_link(process.path().join("cwd"));
        place.is_ok_and(|place| place.to_string_lossy() == folder)
            && String::from_utf8_lossy(&command).contains("serve\0--stdio")
    });
    found.next().is_none()
}

/// Text of a server is shown without control sequences at a terminal; a program gets every byte.
#[test]
fn words_of_a_server_command_nothing() {
    needs("tmux");
    let place = Place::with_lab();
    let call = r#"turnbuckle call lab echo "text=$(printf 'a\033]2;taken\007b\033[2Jc')""#;
    let terminal = Terminal::run(&place, call);
    let screen = terminal.see("ended with 0");
    assert!(screen.starts_with("a␛]2;taken␇b␛[2Jc\n"), "{screen}");
    let piped = place.shell(&format!("{call} | od -An -c | tr -d ' \\n'"));
    let bytes = String::from_utf8_lossy(&piped.stdout).into_owned();
    assert_eq!(bytes, r"a033]2;taken\ab033[2Jc\n");
}

#[test]
fn a_servers_words_bring_no_colours_and_no_directions_of_their_own() {
    needs("tmux");
    let place = Place::with_lab();
    let text = r"text=$'\e[31mred\e[0m \u202Etxt.exe'";
    let terminal = Terminal::run(&place, &format!("turnbuckle call lab echo {text}"));
    let screen = terminal.see("ended with 0");
    assert!(screen.contains("␛[31mred␛[0m \u{fffd}txt.exe"), "{screen}");
}

#[test]
fn a_projects_file_is_shown_and_asked_about() {
    needs("tmux");
    let place = Place::new();
    let entry = format!(r#"{{"command":"{BINARY}","args":["serve","--stdio"]}}"#);
    place.write(
        ".mcp.json",
        &format!(r#"{{"mcpServers":{{"project":{entry}}}}}"#),
    );
    let again = "turnbuckle list project tools > /dev/null";
    let line = format!("{again}; echo first $?; {again}; echo second $?; {again}");
    let terminal = Terminal::run(&place, &line);
    let screen = terminal.see("Use it? [y/N]");
    assert!(screen.contains("serve --stdio"), "{screen}");
    terminal.press(&["n", "Enter"]);
    terminal.see("first 2");
    let is_asked_after = |words: &str| {
        let screen = terminal.screen();
        let after = screen.split(words).nth(1);
        after.is_some_and(|after| after.contains("Use it? [y/N]"))
    };
    eventually("it is asked about again", || {
        is_asked_after("first 2").then_some(())
    });
    terminal.press(&["y", "Enter"]);
    terminal.see("second 0");
    terminal.see("ended with 0");
    assert!(!is_asked_after("second 0"), "{}", terminal.screen());
}

#[test]
fn lists_fit_the_width_of_the_terminal() {
    needs("tmux");
    for columns in [60, 80, 120] {
        for line in ["turnbuckle list lab", "turnbuckle list lab order"] {
            let place = Place::with_lab();
            let terminal = Terminal::run_at(&place, columns, line);
            terminal.see("ended with 0");
            let lines = terminal.whole_lines();
            let table = lines.lines().filter(|line| line.starts_with("  "));
            // An example is a single line, to be copied.
            for line in table.filter(|line| !line.contains("turnbuckle call")) {
                let width = line.trim_end().chars().count();
                assert!(width <= columns, "{columns}: {width} in {line}");
            }
        }
    }
}

/// A server that asks in the middle of a call, withdraws the question, and answers the call.
const CHANGES_ITS_MIND: &str = r#"
import json, sys

def say(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

for line in sys.stdin:
    heard = json.loads(line)
    method = heard.get("method")
    if method == "initialize":
        about = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                 "serverInfo": {"name": "s", "version": "1"}}
        say({"id": heard["id"], "result": about})
    elif method == "tools/list":
        tool = {"name": "t", "inputSchema": {"type": "object"}}
        say({"id": heard["id"], "result": {"tools": [tool]}})
    elif method == "tools/call":
        schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
        say({"id": "a", "method": "elicitation/create",
             "params": {"message": "Who is it?", "requestedSchema": schema}})
        # The test says when the question is to be seen.
        open("asked").read()
        say({"method": "notifications/cancelled", "params": {"requestId": "a"}})
        say({"id": heard["id"], "result": {"content": [{"type": "text", "text": "never mind"}]}})
    elif "id" in heard and method:
        say({"id": heard["id"], "error": {"code": -32601, "message": "unknown"}})
"#;

#[test]
fn a_question_that_is_taken_back_does_not_hold_up_the_result() {
    needs("tmux");
    let place = Place::new();
    place.write("server.py", CHANGES_ITS_MIND);
    // Reading the pipe waits until something is written to it.
    let made = place.command("mkfifo").arg("asked").status();
    assert!(made.expect("mkfifo runs").success());
    let terminal = Terminal::run(&place, "turnbuckle call t -- python3 server.py");
    terminal.see("Who is it?");
    terminal.see("\n  name");
    place.write("asked", "yes");
    let screen = terminal.see("ended with 0");
    assert!(screen.contains("never mind"), "{screen}");
    assert!(
        screen.contains("note: the server no longer needs an answer"),
        "{screen}"
    );
}
