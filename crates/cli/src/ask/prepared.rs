//! Answers given in advance: `--answer` and `--answers`.

use std::{cell::RefCell, collections::BTreeSet, fs, path::Path};

use serde_json::{Map, Value};
use turnbuckle::{
    protocol::{
        ElicitRequestFormParams, ElicitRequestParams, ElicitResult, ElicitValue, InputRequest,
        InputResponse,
    },
    schema::nearest_name,
};
use turnbuckle_command_line::failure::{Failed, Outcome};

use super::{
    field::{Field, TypedField},
    form, sample,
};

/// Answers given in advance, by field, by question and field, or by question.
#[derive(Debug, Default)]
pub(super) struct Prepared {
    answers: Map<String, Value>,
    /// The names of the answers on the command line.
    given: Vec<String>,
    /// The answers that some question asked for.
    asked: RefCell<BTreeSet<String>>,
    /// The questions that were answered, each with its text.
    answered: RefCell<BTreeSet<String>>,
}

impl Prepared {
    pub(super) fn read(words: &[String], file: Option<&Path>) -> Outcome<Self> {
        let mut answers = match file {
            Some(path) => from_file(path)?,
            None => Map::new(),
        };
        let mut given: Vec<String> = Vec::new();
        for word in words {
            let (key, value) = word.split_once('=').ok_or_else(|| {
                Failed::usage(format!(
                    "`{word}` is not an answer; write --answer field=value"
                ))
            })?;
            let (key, value) = match key.strip_suffix(':') {
                Some(key) => {
                    let json = serde_json::from_str(value).map_err(|error| {
                        Failed::usage(format!("the answer to `{key}` is not valid JSON: {error}"))
                    })?;
                    (key, json)
                }
                None => (key, Value::from(value)),
            };
            if given.iter().any(|other| other == key) {
                return Err(Failed::usage(format!("`--answer {key}=…` is given twice")));
            }
            given.push(key.to_owned());
            answers.insert(key.to_owned(), value);
        }
        Ok(Self {
            answers,
            given,
            ..Self::default()
        })
    }

    /// Answers on the command line that no question asked for.
    pub(super) fn unasked(&self) -> impl Iterator<Item = &str> {
        let given = self.given.iter().map(String::as_str);
        given.filter(|name| !self.asked.borrow().contains(*name))
    }

    fn get(&self, name: &str) -> Option<&Value> {
        let found = self.answers.get(name)?;
        self.asked.borrow_mut().insert(name.to_owned());
        Some(found)
    }

    /// The whole answer to a question, if all required parts were given in advance.
    pub(super) fn answer(&self, key: &str, ask: &InputRequest) -> Outcome<Option<InputResponse>> {
        // Otherwise an answer that the server rejects would be sent again and again.
        let is_new = self
            .answered
            .borrow_mut()
            .insert(format!("{key} {}", written(ask)));
        if !is_new {
            return Ok(None);
        }
        let said = self.get(key).and_then(Value::as_str);
        match ask {
            InputRequest::Elicit(elicit) => match (&**elicit, said) {
                (_, Some("decline")) => Ok(Some(ElicitResult::decline().into())),
                (_, Some("cancel")) => Ok(Some(ElicitResult::cancel().into())),
                (ElicitRequestParams::Form(asked), _) => self.form(key, asked),
                (ElicitRequestParams::Url(_), Some("accept" | "yes" | "y" | "true")) => {
                    Ok(Some(ElicitResult::accept_visit().into()))
                }
                _ => Ok(None),
            },
            InputRequest::CreateMessage(_) => {
                Ok(said.map(|text| sample::result(text.to_owned()).into()))
            }
            _ => Ok(None),
        }
    }

    fn form(&self, key: &str, asked: &ElicitRequestFormParams) -> Outcome<Option<InputResponse>> {
        self.is_no_misspelling(key, asked)?;
        let mut content = Vec::new();
        let mut is_whole = true;
        let mut has_any = matches!(self.get(key), Some(Value::String(text)) if text == "accept");
        for field in form::fields(asked) {
            match self.field(key, &field)? {
                Some(value) => {
                    has_any = true;
                    content.push((field.name.to_owned(), value));
                }
                None => match field.read("") {
                    Ok(TypedField::Value(value)) if field.has_default() => {
                        content.push((field.name.to_owned(), value));
                    }
                    Ok(TypedField::Nothing) => {}
                    // A required field without an answer: the user has to be asked.
                    _ if field.is_required => is_whole = false,
                    _ => {}
                },
            }
        }
        let whole = is_whole && has_any;
        Ok(whole.then(|| ElicitResult::accept(content).into()))
    }

    /// Fails for an answer whose name is similar to that of a field: it is probably meant for the field.
    fn is_no_misspelling(&self, key: &str, asked: &ElicitRequestFormParams) -> Outcome {
        let names: Vec<&str> = form::fields(asked).map(|field| field.name).collect();
        let start = format!("{key}.");
        for given in &self.given {
            let name = given.strip_prefix(&start).unwrap_or(given);
            if given == key || names.contains(&name) || self.asked.borrow().contains(given) {
                continue;
            }
            let open = names
                .iter()
                .filter(|name| !self.answers.contains_key(**name));
            if let Some(near) = nearest_name(name, open.copied()) {
                let said = format!("`--answer {given}=…` matches no field of the question");
                return Err(Failed::usage(said).hint(format!("did you mean `{near}`?")));
            }
        }
        Ok(())
    }

    /// The answer for one field: under its question and field, under the question's full name, or by its own name.
    pub(super) fn field(&self, key: &str, field: &Field<'_>) -> Outcome<Option<ElicitValue>> {
        let name = field.name;
        let found = self
            .get(&format!("{key}.{name}"))
            .or_else(|| self.get(key).and_then(|question| question.get(name)))
            .or_else(|| self.get(name).filter(|value| !value.is_object()));
        let Some(value) = found else {
            return Ok(None);
        };
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Array(items) => {
                let items = items.iter().map(|item| match item {
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                });
                items.collect::<Vec<_>>().join(",")
            }
            other => other.to_string(),
        };
        // At a prompt, Enter may mean no; a prepared answer must say so explicitly.
        if text.trim().is_empty() && field.is_yes_or_no() {
            let said = format!("the answer to `{name}` is empty");
            return Err(
                Failed::usage(said).hint(format!("write `--answer {name}=true` or `false`"))
            );
        }
        match field.read(&text) {
            Ok(TypedField::Value(value)) => Ok(Some(value)),
            Ok(TypedField::Nothing) => Ok(None),
            Err(problem) => Err(Failed::usage(format!(
                "the answer to `{name}` is invalid: {problem}"
            ))),
        }
    }
}

fn written(ask: &InputRequest) -> String {
    serde_json::to_string(ask).unwrap_or_default()
}

fn from_file(path: &Path) -> Outcome<Map<String, Value>> {
    let text = fs::read_to_string(path)
        .map_err(|error| Failed::usage(format!("cannot read `{}`: {error}", path.display())))?;
    serde_json::from_str(&text).map_err(|error| {
        Failed::usage(format!("`{}` must hold an object: {error}", path.display()))
    })
}
