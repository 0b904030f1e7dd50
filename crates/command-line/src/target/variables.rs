//! The values of `${…}` in config files.

use std::collections::BTreeMap;

use turnbuckle_host::config::{Environment, Input, Variables};

use crate::{
    input::typed,
    secret::{self, MASK},
};

/// The environment. An input that an editor would ask for, as VS Code does, is the
/// variable `TURNBUCKLE_INPUT_…` with its id, or the value that was typed for it.
pub struct Process;

impl Variables for Process {
    fn environment(&self, name: &str) -> Option<String> {
        Environment.environment(name)
    }

    fn input(&self, input: &Input) -> Option<String> {
        self.environment(&variable(&input.id))
            .or_else(|| typed(&input.id))
    }
}

/// The same for commands that only show an entry: the values of inputs and of variables whose names
/// mark them as secrets are not shown.
pub struct Masked;

impl Variables for Masked {
    fn environment(&self, name: &str) -> Option<String> {
        let is_secret = secret::is_secret(name) || SECRETS.iter().any(|end| name.ends_with(end));
        let value = Process.environment(name)?;
        if is_secret && !value.is_empty() {
            return Some(MASK.to_owned());
        }
        Some(value)
    }

    fn input(&self, input: &Input) -> Option<String> {
        Process.input(input).map(|_| MASK.to_owned())
    }
}

/// The environment, and the values that a user gave for inputs. Inputs without a value are recorded.
#[derive(Debug, Default)]
pub struct WithInputs {
    /// Values by the ids of inputs.
    pub given: BTreeMap<String, String>,
    /// The inputs that were needed, each with whether it has a value.
    pub wanted: std::cell::RefCell<Vec<(Input, bool)>>,
}

impl Variables for WithInputs {
    fn environment(&self, name: &str) -> Option<String> {
        Process.environment(name)
    }

    fn input(&self, input: &Input) -> Option<String> {
        let given = self.given.get(&input.id).cloned();
        let value = given.or_else(|| Process.input(input));
        let mut wanted = self.wanted.borrow_mut();
        if wanted.iter().all(|(other, _)| other.id != input.id) {
            let has_value = value.is_some() || input.default.is_some();
            wanted.push((input.clone(), has_value));
        }
        // A launch without all its inputs is not used; the empty value lets the other inputs be found.
        value.or_else(|| input.default.is_none().then(String::new))
    }
}

/// The endings of variables with secrets, in addition to the names of secret members in messages.
const SECRETS: [&str; 3] = ["TOKEN", "KEY", "PASS"];

/// The environment variable for an input.
pub fn variable(id: &str) -> String {
    let letters = id.chars().map(|letter| match letter {
        letter if letter.is_ascii_alphanumeric() => letter.to_ascii_uppercase(),
        _ => '_',
    });
    format!("TURNBUCKLE_INPUT_{}", letters.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_has_a_variable_that_shells_can_set() {
        assert_eq!(variable("api-key"), "TURNBUCKLE_INPUT_API_KEY");
        assert_eq!(variable("token2"), "TURNBUCKLE_INPUT_TOKEN2");
    }
}
