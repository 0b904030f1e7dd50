//! The frontmatter of a `SKILL.md`: YAML between two lines of three hyphens.

use serde_json::Value;
use turnbuckle_protocol::JsonObject;

use crate::{MAX_FRONTMATTER_BYTES, uri};

/// The longest description, by the Agent Skills specification, in characters.
const MAX_DESCRIPTION: usize = 1024;

/// A `SKILL.md`, split into frontmatter and body.
#[derive(Clone, Debug, PartialEq)]
pub struct Frontmatter<'a> {
    /// Every field, as JSON.
    pub fields: JsonObject,
    /// The text after the frontmatter: the instructions.
    pub body: &'a str,
}

/// Why a `SKILL.md` has no valid frontmatter.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadFrontmatter {
    /// The file does not begin with frontmatter.
    #[error("it must begin with a line `---`, the frontmatter, and another line `---`")]
    Missing,
    /// The frontmatter is too long.
    #[error("its frontmatter has more than {MAX_FRONTMATTER_BYTES} bytes")]
    TooLong,
    /// The frontmatter is not YAML.
    #[error("its frontmatter cannot be read: {0}")]
    Unreadable(String),
    /// A field is missing or invalid.
    #[error("`{field}` in its frontmatter {problem}")]
    Field {
        /// The field.
        field: &'static str,
        /// The problem.
        problem: &'static str,
    },
}

impl<'a> Frontmatter<'a> {
    /// Splits a `SKILL.md`, and checks its name and description.
    ///
    /// # Errors
    /// [`BadFrontmatter`] says what must be changed.
    pub fn parse(text: &'a str) -> Result<Self, BadFrontmatter> {
        let (yaml, body) = split(text).ok_or(BadFrontmatter::Missing)?;
        if yaml.len() > MAX_FRONTMATTER_BYTES {
            return Err(BadFrontmatter::TooLong);
        }
        let fields = match serde_saphyr::from_str::<Value>(yaml) {
            Ok(Value::Object(fields)) => fields,
            Ok(_) => {
                let problem = "it must be fields with values".to_owned();
                return Err(BadFrontmatter::Unreadable(problem));
            }
            Err(error) => {
                let text = error.to_string();
                let first = text.lines().next().unwrap_or_default();
                return Err(BadFrontmatter::Unreadable(first.to_owned()));
            }
        };
        check(&fields)?;
        Ok(Self { fields, body })
    }
}

/// skills: `name` and `description` are required, and the name follows the rules of names.
fn check(fields: &JsonObject) -> Result<(), BadFrontmatter> {
    let bad = |field, problem| Err(BadFrontmatter::Field { field, problem });
    match fields.get("name").and_then(Value::as_str) {
        None => return bad("name", "must be a string"),
        Some(name) if !uri::is_name(name) => {
            return bad(
                "name",
                "must be 1 to 64 small letters, digits and single hyphens between them",
            );
        }
        Some(_) => {}
    }
    match fields.get("description").and_then(Value::as_str) {
        None => bad("description", "must be a string"),
        Some(text) if text.trim().is_empty() => bad("description", "must not be empty"),
        Some(text) if text.chars().count() > MAX_DESCRIPTION => {
            bad("description", "must have at most 1024 characters")
        }
        Some(_) => Ok(()),
    }
}

/// The YAML, and the text after it.
fn split(text: &str) -> Option<(&str, &str)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (first, mut rest) = text.split_once('\n')?;
    if first.trim_end() != "---" {
        return None;
    }
    let whole = rest;
    loop {
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        if line.trim_end() == "---" {
            let end = whole.len() - rest.len();
            return Some((&whole[..end], after));
        }
        if after.is_empty() && !rest.ends_with('\n') || rest.is_empty() {
            return None;
        }
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use serde_json::json;

    use super::*;

    #[test]
    fn every_field_is_kept_as_json() {
        let text = "---\r\nname: pdf\ndescription: >-\n  Reads\n  forms\nlicense: MIT\nmetadata:\n  version: \"2.1\"\n  level: 3\n  beta: true\nallowed-tools: [a, b]\n---\n\n# Body\n---\nmore";
        let parsed = Frontmatter::parse(text).unwrap();
        assert_eq!(
            Value::Object(parsed.fields),
            json!({
                "name": "pdf", "description": "Reads forms", "license": "MIT",
                "metadata": {"version": "2.1", "level": 3, "beta": true},
                "allowed-tools": ["a", "b"],
            })
        );
        assert_eq!(parsed.body, "\n# Body\n---\nmore");
    }

    #[test]
    fn a_malformed_skill_is_refused_with_a_reason() {
        for text in [
            "",
            "---",
            "---\n",
            "name: a\n",
            "---\nname: a\n",
            "--- x\n---\n",
            "\n---\n---\n",
        ] {
            assert_eq!(
                Frontmatter::parse(text),
                Err(BadFrontmatter::Missing),
                "{text:?}"
            );
        }
        for text in [
            "---\n- a\n---\n",
            "---\n---\n",
            "---\n{\n---\n",
            "---\nname: a\nname: b\n---\n",
        ] {
            let error = Frontmatter::parse(text).unwrap_err();
            assert!(
                matches!(error, BadFrontmatter::Unreadable(_)),
                "{text:?}: {error}"
            );
        }
        for (text, field) in [
            ("---\ndescription: d\n---\n", "name"),
            ("---\nname: A\ndescription: d\n---\n", "name"),
            ("---\nname: a--b\ndescription: d\n---\n", "name"),
            ("---\nname: 7\ndescription: d\n---\n", "name"),
            ("---\nname: a\n---\n", "description"),
            ("---\nname: a\ndescription: \" \"\n---\n", "description"),
        ] {
            let error = Frontmatter::parse(text).unwrap_err();
            assert!(
                matches!(error, BadFrontmatter::Field { field: at, .. } if at == field),
                "{error}"
            );
        }
    }

    #[test]
    fn a_bomb_does_not_go_off() {
        let mut yaml =
            String::from("---\nname: a\ndescription: d\na0: &a0 [x, x, x, x, x, x, x, x, x]\n");
        for level in 1..12 {
            let last = level - 1;
            let row = vec![format!("*a{last}"); 9].join(", ");
            writeln!(yaml, "a{level}: &a{level} [{row}]").unwrap();
        }
        yaml.push_str("---\n");
        let error = Frontmatter::parse(&yaml).unwrap_err();
        assert!(matches!(error, BadFrontmatter::Unreadable(_)), "{error}");
        let long = format!("---\nname: {}\n---\n", "a".repeat(MAX_FRONTMATTER_BYTES));
        assert_eq!(Frontmatter::parse(&long), Err(BadFrontmatter::TooLong));
    }
}
