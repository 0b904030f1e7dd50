//! Inputs of config files, `${input:…}`: read from the environment, or else asked for at the terminal.

use std::{
    collections::BTreeMap,
    io::{self, BufRead as _, IsTerminal as _},
};

use turnbuckle_base::lock::Mutex;
use turnbuckle_host::config::{Entry, EntryError, Input, Variables};

use crate::{
    control::{prompt, tell},
    failure::{Failed, Outcome},
};

/// The values that were typed in this run, by the ids of the inputs.
static TYPED: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());

/// The value that was typed for an input.
pub(crate) fn typed(id: &str) -> Option<String> {
    TYPED.lock().get(id).cloned()
}

/// Asks for the inputs of an entry that have no value yet. Without a terminal it asks nothing.
///
/// # Errors
/// If the user does not answer, or the terminal cannot be read.
pub fn ask_missing(entry: &Entry, variables: &dyn Variables) -> Outcome {
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        return Ok(());
    }
    while let Err(EntryError::InputMissing { id, .. }) = entry.launch(variables) {
        // The file does not declare the input, so it may be a secret.
        let undeclared = || Input {
            description: format!("a value for `{id}`"),
            id: id.clone(),
            default: None,
            options: Vec::new(),
            is_secret: true,
        };
        let input = entry.input(&id).cloned().unwrap_or_else(undeclared);
        let value = ask(&entry.name, &input)?;
        TYPED.lock().insert(id, value);
    }
    Ok(())
}

fn ask(server: &str, input: &Input) -> Outcome<String> {
    let mut choices = String::new();
    for (number, option) in (1..).zip(&input.options) {
        choices += format!("    {number}  {option}\n").as_str();
    }
    let question = format!("server `{server}` needs {}", input.description);
    loop {
        let question = format!("{question}\n{choices}  {}: ", input.id);
        let line = if input.is_secret {
            hidden_line(&question)
        } else {
            prompt(&question);
            let mut line = String::new();
            let read = io::stdin().lock().read_line(&mut line);
            read.map(|count| (count > 0).then_some(line))
        };
        let line = line.map_err(Failed::usage)?;
        let Some(line) = line else {
            tell("");
            return Err(Failed::usage(format!(
                "the input `{}` was not given",
                input.id
            )));
        };
        let value = line.trim_end_matches(['\n', '\r']);
        if let Some(value) = chosen(input, value) {
            return Ok(value);
        }
        tell("  type a number or one of the values");
    }
}

/// The value for the input, if the typed text is valid for it.
fn chosen(input: &Input, typed: &str) -> Option<String> {
    if input.options.is_empty() {
        return (!typed.is_empty()).then(|| typed.to_owned());
    }
    let is_option = input.options.iter().any(|option| option == typed);
    let by_number = || {
        let number: usize = typed.trim().parse().ok()?;
        input.options.get(number.checked_sub(1)?).cloned()
    };
    if is_option {
        Some(typed.to_owned())
    } else {
        by_number()
    }
}

/// Asks for a line without showing what is typed. `None` at the end of the input, and after Ctrl-C.
#[cfg(unix)]
fn hidden_line(question: &str) -> io::Result<Option<String>> {
    use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

    /// Restores the terminal's settings when it is dropped.
    struct Before(Termios);

    impl Drop for Before {
        fn drop(&mut self) {
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
        }
    }

    let before = Before(tcgetattr(io::stdin())?);
    let mut hidden = before.0.clone();
    // Ctrl-C is read as a character, so that the terminal's settings are restored.
    hidden.local_modes -= LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG;
    tcsetattr(io::stdin(), OptionalActions::Now, &hidden)?;
    // The question comes after the settings: text that is typed at once would be shown otherwise.
    prompt(question);
    let mut bytes = Vec::new();
    loop {
        let mut byte = [0];
        if rustix::io::read(io::stdin(), &mut byte)? == 0 {
            return Ok(None);
        }
        match byte[0] {
            b'\n' | b'\r' => break,
            // Ctrl-C and Ctrl-D.
            3 | 4 => return Ok(None),
            8 | 127 => {
                // Removes a whole character, which may have several bytes.
                while bytes.pop().is_some_and(|last: u8| last & 0xc0 == 0x80) {}
            }
            // Ctrl-U.
            21 => bytes.clear(),
            other => bytes.push(other),
        }
    }
    tell("");
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

#[cfg(not(unix))]
fn hidden_line(_question: &str) -> io::Result<Option<String>> {
    let reason = "a secret cannot be typed hidden on this system; set it in the environment";
    Err(io::Error::new(io::ErrorKind::Unsupported, reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_with_choices_takes_one_of_them() {
        let mut input = Input {
            id: "region".to_owned(),
            description: "the region".to_owned(),
            default: None,
            options: vec!["eu".to_owned(), "us".to_owned(), "1".to_owned()],
            is_secret: false,
        };
        for (typed, wanted) in [
            ("eu", Some("eu")),
            ("2", Some("us")),
            // A value takes precedence over a number.
            ("1", Some("1")),
            ("9", None),
            ("", None),
        ] {
            assert_eq!(chosen(&input, typed).as_deref(), wanted, "{typed}");
        }
        input.options.clear();
        assert_eq!(chosen(&input, "any").as_deref(), Some("any"));
        assert_eq!(chosen(&input, ""), None);
    }
}
