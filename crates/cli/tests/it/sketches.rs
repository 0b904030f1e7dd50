//! The command lines of the design's terminal sketch, run exactly as they are printed there.

use crate::{
    program::{HttpDemo, Place, needs, stderr, stdout},
    terminal::Terminal,
};

fn lab() -> (Place, HttpDemo) {
    let (place, demo) = (Place::new(), HttpDemo::start());
    place.name_lab(&format!(r#"{{"url":"{}"}}"#, demo.url));
    (place, demo)
}

#[test]
fn list_lab() {
    let (place, _demo) = lab();
    let output = place.shell("turnbuckle list lab");
    assert!(output.status.success(), "{output:?}");
    let said = stdout(&output);
    let first = said.lines().next().unwrap_or_default();
    assert!(first.starts_with("lab  Turnbuckle demo "), "{first}");
    assert!(
        first.contains(" · 2026-07-28 · http://127.0.0.1:"),
        "{first}"
    );
    let echo = said
        .lines()
        .find(|line| line.starts_with("  echo(text: string)"));
    let echo = echo.expect("echo is listed");
    assert!(
        echo.contains("  read  ") && echo.ends_with("  Returns its text."),
        "{echo}"
    );
    let deploy = said
        .lines()
        .find(|line| line.starts_with("  deploy(env: string)"));
    assert!(
        deploy.is_some_and(|line| line.contains("  destr  ")),
        "{said}"
    );
    let last = said.lines().last().unwrap_or_default();
    assert!(
        last.contains(" tools, 4 prompts, 3 resources, 3 templates in "),
        "{last}"
    );
}

#[test]
fn a_tool_that_is_not_there() {
    let (place, _demo) = lab();
    let output = place.shell("turnbuckle call lab ech message=hi");
    assert_eq!(output.status.code(), Some(2));
    let wanted = "error: server `lab` has no tool `ech`\nhint: did you mean `echo`?\n";
    assert_eq!(stderr(&output), wanted);
    assert_eq!(stdout(&output), "");
}

#[test]
fn deploy_at_a_terminal() {
    needs("tmux");
    let (place, _demo) = lab();
    let terminal = Terminal::run(&place, "turnbuckle call lab deploy env=prod");
    for (seen, typed) in [
        ("  Really? [y/N]", "y"),
        ("  reason (at least 3 characters):", "x"),
        (
            "  too short: 1 of 3\n  reason (at least 3 characters):",
            "because",
        ),
    ] {
        terminal.see(seen);
        terminal.type_text(typed);
        terminal.press(&["Enter"]);
    }
    let screen = terminal.see("ended with 0");
    let wanted = "? lab asks: Deploy to prod?\n  Really? [y/N] y\n  \
        reason (at least 3 characters): x\n  too short: 1 of 3\n  \
        reason (at least 3 characters): because\ndeployed prod\n      done in 2 steps, ";
    assert!(screen.starts_with(wanted), "{screen}");
}

#[test]
fn deploy_without_a_terminal() {
    needs("jq");
    let (place, _demo) = lab();
    let line = "turnbuckle call lab deploy env=prod --json </dev/null \
                | jq -r .inputRequests.confirm.params.message";
    let output = place.shell(line);
    assert_eq!(stdout(&output), "Deploy to prod?\n");
    assert_eq!(output.status.code(), Some(6), "{output:?}");
    let said = stderr(&output);
    assert!(
        said.ends_with("hint: pass --answer confirm=true --answer reason=VALUE\n"),
        "{said}"
    );
    // Each hint leads to the next command, until everything is answered.
    let first = "turnbuckle call lab deploy env=prod --answer confirm=true";
    let next = place.shell(first);
    assert!(
        stderr(&next).ends_with("hint: pass --answer reason=VALUE\n"),
        "{next:?}"
    );
    let all = place.shell(&format!("{first} --answer reason=because"));
    assert_eq!(stdout(&all), "deployed prod\n");
}

#[test]
fn doctor_at_an_address() {
    // Another program may use the port of the sketch, so any free port is used.
    let demo = HttpDemo::start();
    let output = Place::new().shell(&format!("turnbuckle doctor {}", demo.url));
    let said = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(said.contains("ok connect"), "{said}");
    assert!(said.contains("2026-07-28"), "{said}");
}
