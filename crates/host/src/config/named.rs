//! The environment variables that an entry names.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Entry, expand};

/// The settings whose texts have variables expanded, except folders, which are not secret.
const EXPANDED: [&str; 12] = [
    "args",
    "cmd",
    "command",
    "env",
    "environment",
    "envs",
    "headers",
    "httpUrl",
    "http_headers",
    "serverUrl",
    "uri",
    "url",
];

/// The settings of Codex that name variables without `${…}`.
const NAMES: [&str; 2] = ["bearer_token_env_var", "env_http_headers"];

impl Entry {
    /// The environment variables that the command, the URL, the headers and the variables of this
    /// entry name, such as `KEY` in `${KEY}`. Inputs are not among them. An entry with a mistake
    /// names its variables, too.
    pub fn variables(&self) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        for key in EXPANDED {
            collect(self.settings.get(key), &mut |text| {
                names.extend(expand::variables(text));
            });
        }
        for key in NAMES {
            collect(self.settings.get(key), &mut |text| {
                names.insert(text.to_owned());
            });
        }
        names
    }
}

/// Passes on all strings in a value.
fn collect(value: Option<&Value>, hear: &mut dyn FnMut(&str)) {
    match value {
        Some(Value::String(text)) => hear(text),
        Some(Value::Array(values)) => values.iter().for_each(|it| collect(Some(it), hear)),
        Some(Value::Object(members)) => members.values().for_each(|it| collect(Some(it), hear)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use std::{path::PathBuf, sync::Arc};

    use serde_json::json;

    use super::*;

    #[test]
    fn variables_of_an_entry_are_named() {
        let settings = json!({
            "command": { "path": "${TOOL}", "args": ["${A}${env:B}"] },
            "args": ["--token", "${C:-none}", "${workspaceFolder.path}", "${open"],
            "env": { "D": "${E} ${input:key}" },
            "headers": { "X": "Bearer ${F}" },
            "env_http_headers": { "Y": "G" },
            "bearer_token_env_var": "H",
            "cwd": "${FOLDER}",
            "url": 1,
        });
        let entry = Entry::new(
            "a".to_owned(),
            &settings,
            PathBuf::new(),
            None,
            Arc::default(),
        );
        let names: Vec<_> = entry.variables().into_iter().collect();
        assert_eq!(names, ["A", "B", "C", "E", "F", "G", "H", "TOOL"]);
    }
}
