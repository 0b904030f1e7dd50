//! Typed lines: edited, remembered, completed, pasted and withdrawn.

use super::Terminal;
use crate::program::{BINARY, Place, needs};

/// A script that repeats the user's text twice.
const ECHO: &str = "{\"text\": \"heard {{user}}.\"}\n{\"text\": \"heard {{user}}.\"}";

fn chat(place: &Place) -> Terminal<'_> {
    place.write("script", ECHO);
    let line = "turnbuckle chat lab --model scripted:script";
    let terminal = Terminal::run(place, &format!("{line}; echo first chat ended; {line}"));
    terminal.see("; /help lists the commands\n>");
    terminal
}

fn enter(terminal: &Terminal<'_>, text: &str) {
    terminal.type_text(text);
    terminal.press(&["Enter"]);
}

#[test]
fn arrow_keys_edit_a_line_and_bring_back_those_of_earlier_chats() {
    needs("tmux");
    let place = Place::with_lab();
    let terminal = chat(&place);
    terminal.type_text("helo wörld");
    terminal.press(&["Home", "Right", "Right", "Right"]);
    terminal.type_text("l");
    terminal.press(&["End", "BSpace", "Enter"]);
    terminal.see("heard hello wörl.");
    terminal.press(&["C-d"]);
    terminal.see("first chat ended\nscripted, ");
    terminal.see("commands\n>");
    terminal.press(&["Up"]);
    terminal.see("\n> hello wörl");
    enter(&terminal, "!");
    terminal.see("heard hello wörl!.");
}

#[test]
fn ctrl_c_empties_a_line_and_ends_the_chat_from_an_empty_one() {
    needs("tmux");
    let place = Place::with_lab();
    let terminal = chat(&place);
    terminal.type_text("never mind");
    terminal.see("> never mind");
    terminal.press(&["C-c"]);
    terminal.see("> never mind\n>");
    enter(&terminal, "this");
    terminal.see("heard this.\n>");
    terminal.press(&["C-c"]);
    terminal.see("first chat ended");
}

#[test]
fn several_lines_are_pasted_and_typed_as_one_message() {
    needs("tmux");
    let place = Place::with_lab();
    let terminal = chat(&place);
    terminal.paste("one\ntwo\nthree");
    terminal.see("> one\ntwo\nthree");
    terminal.press(&["Enter"]);
    terminal.see("heard one\ntwo\nthree.");
    enter(&terminal, "four\\");
    enter(&terminal, "five");
    terminal.see("heard four\nfive.");
}

#[test]
fn tab_completes_commands_and_what_servers_have() {
    needs("tmux");
    let place = Place::with_lab();
    let terminal = chat(&place);
    terminal.type_text("/ser");
    terminal.press(&["Tab"]);
    terminal.see("> /servers");
    terminal.press(&["Enter"]);
    terminal.see("lab  ready");
    terminal.type_text("/resource @demo://rea");
    terminal.press(&["Tab"]);
    terminal.see("> /resource @demo://readme");
    terminal.press(&["Enter"]);
    terminal.see("attached demo://readme");
}

/// Text that was typed before a question was shown is not an answer to it.
#[test]
fn keys_pressed_before_a_question_do_not_agree_to_it() {
    needs("tmux");
    let place = Place::with_lab();
    let script = "{\"calls\": [{\"name\": \"count\", \"arguments\": {\"to\": 10, \"pause\": 100}}]}\n\
                  {\"calls\": [{\"name\": \"add\", \"arguments\": {\"a\": 1, \"b\": 2}}]}\n\
                  {\"text\": \"done\"}";
    place.write("script", script);
    let line = "turnbuckle chat lab --model scripted:script --allow lab/count";
    let terminal = Terminal::run(&place, line);
    terminal.see("; /help lists the commands\n>");
    enter(&terminal, "go");
    terminal.see("/10 counted ");
    enter(&terminal, "y");
    terminal.see("may tool `add` be called?");
    terminal.see_last("n no [n]");
    enter(&terminal, "n");
    terminal.see("✗ add `call` is not allowed");
    terminal.see("done");
}

/// If a chat is ended from outside in the middle of a line, the terminal's settings are restored.
#[cfg(unix)]
#[test]
fn a_line_that_is_taken_back_leaves_the_terminal_as_it_was() {
    needs("tmux");
    let place = Place::with_lab();
    place.write("script", ECHO);
    let chat = "echo $$ > pid; exec turnbuckle chat lab --model scripted:script";
    let modes = "stty -a | tr -s ' ;' '\\n' | grep -x -e icanon -e echo -e isig";
    let terminal = Terminal::run(&place, &format!("sh -c '{chat}'; echo code $?; {modes}"));
    terminal.see("; /help lists the commands\n>");
    terminal.type_text("half a li");
    terminal.see("> half a li");
    let mut kill = std::process::Command::new("kill");
    let ended = kill.args(["-TERM", place.read("pid").trim()]).status();
    assert!(ended.expect("`kill` runs").success());
    terminal.see("code 130\nisig\nicanon\necho\nended with 0");
}

/// Inputs that an editor would ask for are asked for here; a secret is not shown.
#[test]
fn inputs_of_a_config_file_are_asked_for() {
    needs("tmux");
    let place = Place::new();
    let config = format!(
        r#"{{"inputs":[{{"id":"api-key","type":"promptString","description":"the key of the API","password":true}},
              {{"id":"region","type":"pickString","description":"the region","options":["eu","us"]}}],
            "servers":{{"lab":{{"type":"stdio","command":"sh","args":["-c",
              "test \"$1 $2\" = 'sésame us' && exec {BINARY} serve --stdio","sh","${{input:api-key}}","${{input:region}}"]}}}}}}"#
    );
    std::fs::create_dir_all(place.path().join("home/.config/Code/User")).expect("there is room");
    place.write("home/.config/Code/User/mcp.json", &config);
    let terminal = Terminal::run(&place, "turnbuckle call lab echo text=hello");
    terminal.see("server `lab` needs the key of the API\n  api-key:");
    terminal.type_text("sésamé");
    terminal.press(&["BSpace"]);
    enter(&terminal, "e");
    terminal.see("server `lab` needs the region\n    1  eu\n    2  us\n  region:");
    enter(&terminal, "asia");
    terminal.see("type a number or one of the values");
    enter(&terminal, "2");
    let screen = terminal.see("ended with 0");
    assert!(screen.contains("\nhello\n"), "{screen}");
    assert!(!screen.contains("sam"), "{screen}");
}

/// Ctrl-C while a secret is typed restores the terminal's settings.
#[test]
fn a_secret_that_is_not_given_is_named() {
    needs("tmux");
    let place = Place::new();
    place.write(
        "mcp.json",
        r#"{"inputs":[{"id":"key","type":"promptString","description":"a key","password":true}],
            "servers":{"lab":{"command":"sh","args":["${input:key}"]}}}"#,
    );
    let modes = "stty -a | tr -s ' ;' '\\n' | grep -x -e icanon -e echo -e isig";
    let line = format!("turnbuckle list lab --config mcp.json; echo code $?; {modes}");
    let terminal = Terminal::run(&place, &line);
    terminal.see("  key:");
    terminal.press(&["C-c"]);
    let screen = terminal.see("isig\nicanon\necho\nended with 0");
    assert!(screen.contains("the input `key` was not given"), "{screen}");
    assert!(screen.contains("code 2"), "{screen}");
}
