//! Reads words of a command line as one object of arguments.

use std::{fs, io::Read as _};

use serde_json::Value;

use super::{
    Tree,
    kind::Kinds,
    place::{items_at, schemas_at},
};
use crate::failure::{Failed, Outcome};

/// Why words cannot be read as arguments. Nothing has been sent then.
#[derive(Debug, thiserror::Error)]
enum ArgumentError {
    #[error("`{word}` is not an argument; write key=value, key:=json, key=@file, or - for stdin")]
    NoAssignment { word: String },
    #[error("`{key}` must be {expected}, got `{value}`")]
    WrongKind {
        key: String,
        expected: String,
        value: String,
    },
    #[error("`{key}` is a list: add to it with {key}+=…, or write it whole with {key}:=[…]")]
    List { key: String },
    #[error("`{key}` is not a list, so nothing can be added to it")]
    NotAList { key: String },
    #[error("`{key}` names a member of a value that is not an object")]
    NoWay { key: String },
    #[error("`{key}` is not valid JSON")]
    NotJson {
        key: String,
        source: serde_json::Error,
    },
    #[error("cannot read `{file}`")]
    Unreadable {
        file: String,
        source: std::io::Error,
    },
    #[error("stdin must hold a JSON object")]
    NotAnObject,
    #[error("`{key}` is given twice; a list takes several values, each with {key}+=…")]
    Repeated { key: String },
}

/// How many bytes a file or stdin may have; servers accept less.
const MAX_INPUT: u64 = 256 * 1024 * 1024;

/// The word for a JSON object from stdin, which the other words change.
const STDIN: &str = "-";

/// One word, split into its parts.
struct Assignment<'a> {
    key: &'a str,
    value: &'a str,
    is_json: bool,
    adds: bool,
}

/// Reads words as arguments; `schema` decides the type of each value. A key that is given twice is an
/// error, because one of the values would be lost.
pub fn read(words: &[String], schema: &Value) -> Outcome<Tree> {
    assign(words, schema).map_err(Failed::usage)
}

fn assign(words: &[String], schema: &Value) -> Result<Tree, ArgumentError> {
    let mut arguments = match words.iter().filter(|word| *word == STDIN).count() {
        0 => Tree::object(),
        1 => from_stdin()?,
        _ => return Err(repeated(STDIN)),
    };
    let mut given: Vec<Vec<&str>> = Vec::new();
    for word in words.iter().filter(|word| *word != STDIN) {
        let assignment = Assignment::parse(word)
            .ok_or_else(|| ArgumentError::NoAssignment { word: word.clone() })?;
        let path = assignment.path(schema);
        if !assignment.adds && given.iter().any(|before| before.starts_with(&path)) {
            return Err(repeated(assignment.key));
        }
        assignment.apply(&path, &mut arguments, schema)?;
        given.push(path);
    }
    Ok(arguments)
}

fn repeated(key: &str) -> ArgumentError {
    ArgumentError::Repeated {
        key: key.to_owned(),
    }
}

impl<'a> Assignment<'a> {
    fn parse(word: &'a str) -> Option<Self> {
        let (left, value) = word.split_once('=')?;
        let (left, is_json) = suffix(left, ':');
        let (key, adds) = suffix(left, '+');
        (!key.is_empty()).then_some(Self {
            key,
            value,
            is_json,
            adds,
        })
    }

    fn apply(
        &self,
        path: &[&str],
        arguments: &mut Tree,
        schema: &Value,
    ) -> Result<(), ArgumentError> {
        let schemas = if self.adds {
            items_at(schema, path)
        } else {
            schemas_at(schema, path)
        };
        let value = self.read(Kinds::of(&schemas))?;
        let there = arguments.at_mut(path).ok_or_else(|| ArgumentError::NoWay {
            key: self.key.to_owned(),
        })?;
        if !self.adds {
            *there = value;
            return Ok(());
        }
        match there {
            Tree::List(items) => items.push(value),
            // An empty object here was created on the way to this value.
            Tree::Object(members) if members.is_empty() => *there = Tree::List(vec![value]),
            _ => {
                return Err(ArgumentError::NotAList {
                    key: self.key.to_owned(),
                });
            }
        }
        Ok(())
    }

    /// The names on the path to the value. A key that is in the schema with its dots is not split.
    fn path(&self, schema: &Value) -> Vec<&'a str> {
        if self.key.contains('.') && schemas_at(schema, &[self.key]).is_empty() {
            self.key.split('.').collect()
        } else {
            vec![self.key]
        }
    }

    fn read(&self, kinds: Kinds) -> Result<Tree, ArgumentError> {
        let text = match self.value.strip_prefix('@') {
            Some(file) => from_file(file)?,
            None => self.value.to_owned(),
        };
        if self.is_json {
            return Tree::parse(&text).map_err(|source| ArgumentError::NotJson {
                key: self.key.to_owned(),
                source,
            });
        }
        kinds.read(&text).ok_or_else(|| {
            if kinds.list && !kinds.object {
                return ArgumentError::List {
                    key: self.key.to_owned(),
                };
            }
            ArgumentError::WrongKind {
                key: self.key.to_owned(),
                expected: kinds.described(),
                value: text,
            }
        })
    }
}

fn suffix(text: &str, mark: char) -> (&str, bool) {
    match text.strip_suffix(mark) {
        Some(shorter) => (shorter, true),
        None => (text, false),
    }
}

fn from_file(file: &str) -> Result<String, ArgumentError> {
    let unreadable = |source| ArgumentError::Unreadable {
        file: file.to_owned(),
        source,
    };
    let mut text = String::new();
    let opened = fs::File::open(file).map_err(unreadable)?;
    opened
        .take(MAX_INPUT)
        .read_to_string(&mut text)
        .map_err(unreadable)?;
    Ok(text)
}

fn from_stdin() -> Result<Tree, ArgumentError> {
    let mut text = String::new();
    std::io::stdin()
        .lock()
        .take(MAX_INPUT)
        .read_to_string(&mut text)
        .map_err(|source| ArgumentError::Unreadable {
            file: "stdin".to_owned(),
            source,
        })?;
    match Tree::parse(&text) {
        Ok(object @ Tree::Object(_)) => Ok(object),
        Ok(_) => Err(ArgumentError::NotAnObject),
        Err(source) => Err(ArgumentError::NotJson {
            key: "stdin".to_owned(),
            source,
        }),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        json!({
            "type": "object",
            "$defs": {"node": {"type": "object", "properties": {
                "value": {"type": "integer"}, "next": {"$ref": "#/$defs/node"}}}},
            "properties": {
                "name": {"type": "string"},
                "age": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
                "tags": {"type": "array", "items": {"type": "string"}},
                "sizes": {"type": "array", "items": {"type": "number"}},
                "tree": {"$ref": "#/$defs/node"},
                "with.dot": {"type": "boolean"},
                "extra": {"type": "object", "additionalProperties": {"type": "number"}}
            }
        })
    }

    fn json(words: &[&str]) -> Result<String, String> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        assign(&words, &schema())
            .map(|tree| tree.to_json())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn words_become_arguments() {
        for (words, wanted) in [
            (&["name=Ada"][..], r#"{"name":"Ada"}"#),
            (&["name=1", "age=3"], r#"{"name":"1","age":3}"#),
            (&["age=null"], r#"{"age":null}"#),
            (&["name=a=b"], r#"{"name":"a=b"}"#),
            (&["name="], r#"{"name":""}"#),
            (&["tags+=a", "tags+=1"], r#"{"tags":["a","1"]}"#),
            (&["tags:=[\"a\"]", "tags+=b"], r#"{"tags":["a","b"]}"#),
            (&["sizes+=1.50", "sizes+:=2"], r#"{"sizes":[1.50,2]}"#),
            (
                &["tree.value=1", "tree.next.next.value=2"],
                r#"{"tree":{"value":1,"next":{"next":{"value":2}}}}"#,
            ),
            (
                &["tree:={\"value\": 1}", "tree.value=2"],
                r#"{"tree":{"value":2}}"#,
            ),
            (&["with.dot=true"], r#"{"with.dot":true}"#),
            (&["extra.x=1"], r#"{"extra":{"x":1}}"#),
            (
                &["unknown=x", "other:={\"a\": 1}"],
                r#"{"unknown":"x","other":{"a":1}}"#,
            ),
            (
                &["age=12345678901234567890123"],
                r#"{"age":12345678901234567890123}"#,
            ),
        ] {
            assert_eq!(json(words).as_deref(), Ok(wanted), "{words:?}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        for (words, wanted) in [
            (
                &["name"][..],
                "`name` is not an argument; write key=value, key:=json, key=@file, or - for stdin",
            ),
            (&["age=old"], "`age` must be an integer or null, got `old`"),
            (
                &["tags=a"],
                "`tags` is a list: add to it with tags+=…, or write it whole with tags:=[…]",
            ),
            (
                &["name=a", "name+=b"],
                "`name` is not a list, so nothing can be added to it",
            ),
            (
                &["name=a", "name.b=c"],
                "`name.b` names a member of a value that is not an object",
            ),
            (
                &["age=1", "age=2"],
                "`age` is given twice; a list takes several values, each with age+=…",
            ),
            (
                &["tags+=a", "tags:=[]"],
                "`tags` is given twice; a list takes several values, each with tags+=…",
            ),
            (
                &["tree.value=1", "tree:={}"],
                "`tree` is given twice; a list takes several values, each with tree+=…",
            ),
            (&["age:={"], "`age` is not valid JSON"),
            (&["name=@/nowhere"], "cannot read `/nowhere`"),
        ] {
            assert_eq!(json(words), Err(wanted.to_owned()), "{words:?}");
        }
    }
}
