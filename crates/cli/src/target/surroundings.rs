//! Where config files get the values of their `${…}`.

use turnbuckle_host::config::{Environment, Input, Variables};

/// The environment. An input that a file would have an editor ask for, as VS Code's do, is the
/// variable `TURNBUCKLE_INPUT_…` with its id.
pub(crate) struct Surroundings;

impl Variables for Surroundings {
    fn environment(&self, name: &str) -> Option<String> {
        Environment.environment(name)
    }

    fn input(&self, input: &Input) -> Option<String> {
        self.environment(&variable(&input.id))
    }
}

/// The variable that gives an input.
pub(super) fn variable(id: &str) -> String {
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
