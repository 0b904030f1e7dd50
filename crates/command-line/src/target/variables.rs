//! The values of `${…}` in config files.

use std::collections::BTreeMap;

use turnbuckle_host::config::{Environment, Input, Variables};

use crate::{
    input::typed,
    secret::{self, MASK},
};

/// The environment. An input that a file would have an editor ask for, as VS Code's do, is the
/// variable `TURNBUCKLE_INPUT_…` with its id, or what was typed for it.
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

/// The same for commands that only show an entry: values of inputs and of variables that are named
/// like a secret are not shown.
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

/// The environment, and what a user gave for inputs. The inputs that have no value are noted.
#[derive(Debug, Default)]
pub struct WithInputs {
    /// Values by the ids of inputs.
    pub given: BTreeMap<String, String>,
    /// The inputs that were wanted, each with whether it has a value.
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
        // A launch that misses an input is not used; the others it wants are found out meanwhile.
        value.or_else(|| input.default.is_none().then(String::new))
    }
}

/// How variables with secrets end, besides members of messages that are secrets.
const SECRETS: [&str; 3] = ["TOKEN", "KEY", "PASS"];

/// The variable that gives an input.
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
