//! Expands `${…}` in settings.

use super::{EntryError, Input};

/// The source of values for variables in config files. Implement it to ask the user for [`Input`]s;
/// use [`Environment`] or [`Unexpanded`] otherwise.
pub trait Variables {
    /// Returns the value of an environment variable, or `None` if it is not set. An unset variable
    /// is an error only if the file gives no default for it.
    fn environment(&self, name: &str) -> Option<String>;

    /// Returns the value that the user gave for an input, or `None` to use its default.
    fn input(&self, input: &Input) -> Option<String>;
}

/// Leaves variables as they are written: `${KEY}` is expanded to `${KEY}`. Use it to show the
/// contents of a file without its secrets.
pub struct Unexpanded;

impl Variables for Unexpanded {
    fn environment(&self, name: &str) -> Option<String> {
        Some(format!("${{{name}}}"))
    }

    fn input(&self, input: &Input) -> Option<String> {
        Some(format!("${{input:{}}}", input.id))
    }
}

/// The environment of this process. Inputs have only the defaults that the file declares. A host
/// uses it unless [`HostBuilder::variables`](crate::HostBuilder::variables) sets something else.
pub struct Environment;

impl Variables for Environment {
    fn environment(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    fn input(&self, _input: &Input) -> Option<String> {
        None
    }
}

/// Expands the variables of a text.
pub(super) struct Expansion<'a> {
    pub(super) inputs: &'a [Input],
    pub(super) variables: &'a dyn Variables,
}

impl Expansion<'_> {
    /// Expands `${VAR}`, `${VAR:-default}`, `${env:VAR}` and `${input:id}`. Anything else in `${…}`
    /// is left unchanged, because it may be meant for the server.
    pub(super) fn expand(&self, key: &str, text: &str) -> Result<String, EntryError> {
        let mut expanded = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find("${") {
            expanded.push_str(&rest[..start]);
            let inside = &rest[start + 2..];
            let end = inside.find('}').ok_or_else(|| EntryError::Unclosed {
                key: key.to_owned(),
            })?;
            let reference = &inside[..end];
            match self.value(key, reference)? {
                Some(value) => expanded.push_str(&value),
                None => expanded.push_str(&rest[start..=start + 2 + end]),
            }
            rest = &inside[end + 1..];
        }
        expanded.push_str(rest);
        Ok(expanded)
    }

    fn value(&self, key: &str, reference: &str) -> Result<Option<String>, EntryError> {
        if let Some(id) = reference.strip_prefix("input:") {
            return self.input(key, id).map(Some);
        }
        let (name, default) = parts(reference);
        if !is_variable(name) {
            return Ok(None);
        }
        let set = self.variables.environment(name);
        // As in a shell, `:-` replaces an empty value as well as an unset one.
        let value = match default {
            Some(default) => set
                .filter(|value| !value.is_empty())
                .or_else(|| Some(default.to_owned())),
            None => set,
        };
        value.map(Some).ok_or_else(|| EntryError::Unset {
            name: name.to_owned(),
            key: key.to_owned(),
        })
    }

    fn input(&self, key: &str, id: &str) -> Result<String, EntryError> {
        let declared = self.inputs.iter().find(|input| input.id == id);
        // Some file formats cannot declare inputs, but their servers still need the value.
        let undeclared = || Input {
            id: id.to_owned(),
            description: id.to_owned(),
            default: None,
            options: Vec::new(),
            is_secret: true,
        };
        let input = declared.cloned().unwrap_or_else(undeclared);
        let given = self.variables.input(&input).or(input.default);
        given.ok_or_else(|| EntryError::InputMissing {
            id: id.to_owned(),
            description: declared.map_or_else(
                || "the file does not declare it".to_owned(),
                |input| input.description.clone(),
            ),
            key: key.to_owned(),
        })
    }
}

/// The name of the variable in a reference to the environment, and its default.
fn parts(reference: &str) -> (&str, Option<&str>) {
    let reference = reference.strip_prefix("env:").unwrap_or(reference);
    match reference.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (reference, None),
    }
}

/// The names of the environment variables in a text.
pub(super) fn variables(text: &str) -> impl Iterator<Item = String> {
    let references = text.split("${").skip(1).filter_map(|rest| {
        let (reference, _) = rest.split_once('}')?;
        (!reference.starts_with("input:")).then_some(parts(reference).0)
    });
    references
        .filter(|name| is_variable(name))
        .map(str::to_owned)
}

/// Whether a text is the name of an environment variable, unlike for example `workspaceFolder.path`.
fn is_variable(name: &str) -> bool {
    let mut characters = name.chars();
    characters
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && characters.all(|other| other.is_ascii_alphanumeric() || other == '_')
}
