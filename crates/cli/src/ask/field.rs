//! One field of a form: its prompt, and reading the text that was typed.

use serde_json::{Number, Value};
use turnbuckle::{
    protocol::{ElicitValue, NumberKind, PrimitiveSchema},
    schema::Schema,
};
use turnbuckle_command_line::control::one_line;

use super::message;
use crate::show::{cut, rows};

/// How many characters of a title are in the prompt; a longer title is written above it.
const MAX_TITLE: usize = 60;

/// How many characters of a default are in the prompt; a longer default is written above it.
const MAX_DEFAULT: usize = 40;

/// A field with its name, as it is asked for.
pub(crate) struct Field<'f> {
    pub(super) name: &'f str,
    schema: &'f PrimitiveSchema,
    pub(super) is_required: bool,
}

/// The text that was typed, as a value.
#[derive(Debug, PartialEq)]
pub(super) enum TypedField {
    Value(ElicitValue),
    /// The field is left out.
    Nothing,
}

impl<'f> Field<'f> {
    pub(super) fn new(name: &'f str, schema: &'f PrimitiveSchema, is_required: bool) -> Self {
        Self {
            name,
            schema,
            is_required,
        }
    }

    pub(super) fn has_default(&self) -> bool {
        self.schema.default_value().is_some()
    }

    pub(super) fn is_yes_or_no(&self) -> bool {
        matches!(self.schema, PrimitiveSchema::Boolean(_))
    }

    fn written(&self) -> Value {
        serde_json::to_value(self.schema).unwrap_or_default()
    }

    /// An answer in the form of the command line, for a hint.
    pub(super) fn example(&self) -> String {
        match self.schema {
            PrimitiveSchema::Boolean(_) => format!("{}=true", self.name),
            _ => format!("{}=VALUE", self.name),
        }
    }

    /// The prompt: the title, the rules, the default.
    pub(super) fn prompt(&self) -> String {
        let written = self.written();
        let title = cut(&self.title(&written), MAX_TITLE);
        let mut rules = self.rules(&written);
        if !self.is_required && !matches!(self.schema, PrimitiveSchema::Boolean(_)) {
            rules.push("optional".to_owned());
        }
        let rules = if rules.is_empty() {
            String::new()
        } else {
            format!(" ({})", rules.join(", "))
        };
        let end = match (self.schema, self.schema.default_value()) {
            (PrimitiveSchema::Boolean(_), Some(ElicitValue::Boolean(true))) => " [Y/n] ".to_owned(),
            (PrimitiveSchema::Boolean(_), _) => " [y/N] ".to_owned(),
            (_, Some(default)) => format!(" [{}]: ", cut(&shown(&default), MAX_DEFAULT)),
            _ => ": ".to_owned(),
        };
        format!("  {title}{rules}{end}")
    }

    fn title(&self, written: &Value) -> String {
        one_line(written["title"].as_str().unwrap_or(self.name))
    }

    /// The lines above the prompt: parts that are too long for the prompt, the description, and the numbered
    /// choices.
    pub(super) fn above(&self) -> Vec<String> {
        let written = self.written();
        let mut lines = Vec::new();
        let title = self.title(&written);
        if cut(&title, MAX_TITLE) != title {
            lines.extend(message::quoted(&title));
        }
        if let Some(default) = self.schema.default_value().map(|value| shown(&value))
            && cut(&default, MAX_DEFAULT) != default
        {
            lines.extend(message::quoted(&format!("default: {default}")));
        }
        if let Some(text) = written["description"].as_str() {
            lines.extend(message::quoted(text));
        }
        for (number, (value, title)) in (1..).zip(self.choices()) {
            let title = title.filter(|title| *title != value);
            let title = title.map(|title| format!("  {}", one_line(&title)));
            let title = title.unwrap_or_default();
            let choice = format!("{number}  {}{title}", one_line(&value));
            lines.extend(rows(&choice, 4).iter().map(|row| format!("    {row}")));
        }
        lines
    }

    fn rules(&self, written: &Value) -> Vec<String> {
        let mut rules = Vec::new();
        let mut rule = |name: &str, words: &dyn Fn(&Value) -> String| {
            if let Some(limit) = written.get(name) {
                rules.push(words(limit));
            }
        };
        rule("minLength", &|least| {
            format!("at least {least} {}", characters(least))
        });
        rule("maxLength", &|most| {
            format!("at most {most} {}", characters(most))
        });
        rule("minimum", &|least| format!("at least {least}"));
        rule("maximum", &|most| format!("at most {most}"));
        rule("format", &|format| {
            cut(&one_line(format.as_str().unwrap_or_default()), MAX_DEFAULT)
        });
        rule("minItems", &|least| format!("at least {least}"));
        rule("maxItems", &|most| format!("at most {most}"));
        match self.schema {
            PrimitiveSchema::MultiSelect(_) | PrimitiveSchema::TitledMultiSelect(_) => {
                rules.push("numbers or names, with commas".to_owned());
            }
            PrimitiveSchema::Number(number) if number.kind == NumberKind::Integer => {
                rules.push("an integer".to_owned());
            }
            _ => {}
        }
        rules
    }

    /// The values of a field with choices, with their titles.
    fn choices(&self) -> Vec<(String, Option<String>)> {
        let plain = |values: &[String]| values.iter().map(|value| (value.clone(), None)).collect();
        match self.schema {
            PrimitiveSchema::SingleSelect(field) => plain(&field.values),
            PrimitiveSchema::MultiSelect(field) => plain(&field.items.values),
            PrimitiveSchema::TitledSingleSelect(field) => titled(&field.one_of),
            PrimitiveSchema::TitledMultiSelect(field) => titled(&field.items.any_of),
            PrimitiveSchema::LegacyTitled(field) => {
                let names = field.enum_names.clone().unwrap_or_default();
                let names = names.into_iter().map(Some).chain(std::iter::repeat(None));
                field.values.iter().cloned().zip(names).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Reads the text that was typed. An empty text takes the default. Without a default, it leaves an optional field
    /// out, means no for a yes-or-no field, and is an error for any other field.
    pub(super) fn read(&self, text: &str) -> Result<TypedField, String> {
        let text = text.trim();
        if text.is_empty() {
            return match (self.schema.default_value(), self.schema) {
                (Some(default), _) => Ok(TypedField::Value(default)),
                (None, PrimitiveSchema::Boolean(_)) => Ok(TypedField::Value(false.into())),
                (None, _) if !self.is_required => Ok(TypedField::Nothing),
                (None, _) => Err("a value is required; Ctrl-D declines the form".to_owned()),
            };
        }
        let value = self.value(text)?;
        self.check(&value)?;
        Ok(TypedField::Value(value))
    }

    fn value(&self, text: &str) -> Result<ElicitValue, String> {
        match self.schema {
            PrimitiveSchema::String(_) => Ok(text.into()),
            PrimitiveSchema::Boolean(_) => yes_or_no(text)
                .map(ElicitValue::Boolean)
                .ok_or_else(|| "type y or n".to_owned()),
            PrimitiveSchema::Number(_) => serde_json::from_str::<Number>(text)
                .map(ElicitValue::Number)
                .map_err(|_| format!("`{text}` is not a number")),
            PrimitiveSchema::MultiSelect(_) | PrimitiveSchema::TitledMultiSelect(_) => text
                .split(',')
                .map(|part| self.choice(part.trim()))
                .collect::<Result<Vec<_>, _>>()
                .map(ElicitValue::Choices),
            _ => self.choice(text).map(ElicitValue::Text),
        }
    }

    /// A choice by its value, its title or its number; a value takes precedence over a number.
    fn choice(&self, text: &str) -> Result<String, String> {
        let choices = self.choices();
        let same = |(value, title): &&(String, Option<String>)| {
            value == text
                || title
                    .as_deref()
                    .is_some_and(|title| title.eq_ignore_ascii_case(text))
        };
        if let Some((value, _)) = choices.iter().find(same) {
            return Ok(value.clone());
        }
        let by_number = text
            .parse::<usize>()
            .ok()
            .and_then(|number| choices.get(number.checked_sub(1)?));
        by_number
            .map(|(value, _)| value.clone())
            .ok_or_else(|| format!("`{text}` is not one of the choices; type a number or a name"))
    }

    /// Checks a value against the rules of the schema.
    fn check(&self, value: &ElicitValue) -> Result<(), String> {
        let written = self.written();
        if let ElicitValue::Text(text) = value {
            let length = text.chars().count();
            let limit = |name: &str| written[name].as_u64().and_then(|n| usize::try_from(n).ok());
            if let Some(least) = limit("minLength").filter(|least| length < *least) {
                return Err(format!("too short: {length} of {least}"));
            }
            if let Some(most) = limit("maxLength").filter(|most| length > *most) {
                return Err(format!("too long: {length} of {most}"));
            }
        }
        // If the schema cannot be used, the value is not checked here; the server will check it.
        let (Ok(schema), Ok(value)) = (Schema::compile(&written), serde_json::to_value(value))
        else {
            return Ok(());
        };
        schema.check(&value).map_err(|violations| {
            let problems: Vec<_> = violations.iter().map(ToString::to_string).collect();
            problems.join("; ")
        })
    }
}

fn titled(options: &[turnbuckle::protocol::EnumOption]) -> Vec<(String, Option<String>)> {
    let pairs = options.iter();
    pairs
        .map(|option| (option.value.clone(), Some(option.title.clone())))
        .collect()
}

/// Reads a yes or no in the words that people use.
pub(super) fn yes_or_no(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "y" | "yes" | "true" => Some(true),
        "n" | "no" | "false" => Some(false),
        _ => None,
    }
}

fn shown(value: &ElicitValue) -> String {
    match value {
        ElicitValue::Text(text) => one_line(text),
        ElicitValue::Number(number) => number.to_string(),
        ElicitValue::Boolean(true) => "yes".to_owned(),
        ElicitValue::Boolean(false) => "no".to_owned(),
        ElicitValue::Choices(choices) => one_line(&choices.join(",")),
        other => serde_json::to_string(other).unwrap_or_default(),
    }
}

/// The noun in singular or plural.
fn characters(count: &Value) -> &'static str {
    if *count == 1 {
        "character"
    } else {
        "characters"
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(schema: Value, is_required: bool, text: &str) -> Result<Value, String> {
        let schema: PrimitiveSchema = serde_json::from_value(schema).unwrap();
        match Field::new("f", &schema, is_required).read(text)? {
            TypedField::Value(value) => Ok(serde_json::to_value(value).unwrap()),
            TypedField::Nothing => Ok(Value::Null),
        }
    }

    #[test]
    fn what_is_typed_is_read_by_the_schema() {
        let sizes = json!({"type": "string", "oneOf": [
            {"const": "s", "title": "Small"}, {"const": "m", "title": "Medium"}]});
        let many = json!({"type": "array", "items": {"type": "string", "enum": ["a", "b", "2"]}});
        for (schema, text, wanted) in [
            (json!({"type": "boolean"}), "y", json!(true)),
            (json!({"type": "boolean"}), "FALSE", json!(false)),
            (json!({"type": "boolean"}), "", json!(false)),
            (json!({"type": "boolean", "default": true}), "", json!(true)),
            (json!({"type": "integer"}), "7", json!(7)),
            (json!({"type": "string", "default": "x"}), "", json!("x")),
            (sizes.clone(), "2", json!("m")),
            (sizes.clone(), "small", json!("s")),
            (sizes, "s", json!("s")),
            // A value takes precedence over a number.
            (many, "1, 2", json!(["a", "2"])),
        ] {
            assert_eq!(
                read(schema.clone(), true, text),
                Ok(wanted),
                "{schema} {text}"
            );
        }
        assert_eq!(read(json!({"type": "string"}), false, ""), Ok(Value::Null));
    }

    #[test]
    fn a_bad_value_is_named() {
        for (schema, text, wanted) in [
            (
                json!({"type": "string", "minLength": 3}),
                "x",
                "too short: 1 of 3",
            ),
            (
                json!({"type": "string"}),
                "",
                "a value is required; Ctrl-D declines the form",
            ),
            (json!({"type": "number"}), "old", "`old` is not a number"),
            (json!({"type": "boolean"}), "maybe", "type y or n"),
            (
                json!({"type": "string", "enum": ["a"]}),
                "2",
                "`2` is not one of the choices; type a number or a name",
            ),
        ] {
            assert_eq!(read(schema, true, text), Err(wanted.to_owned()));
        }
        assert!(read(json!({"type": "integer", "maximum": 5}), true, "9").is_err());
        assert!(read(json!({"type": "integer"}), true, "1.5").is_err());
    }

    #[test]
    fn a_prompt_tells_the_rules() {
        for (schema, wanted) in [
            (
                json!({"type": "boolean", "title": "Really?"}),
                "  Really? [y/N] ",
            ),
            (
                json!({"type": "string", "minLength": 3}),
                "  f (at least 3 characters): ",
            ),
            (json!({"type": "string", "default": "x"}), "  f [x]: "),
        ] {
            let schema: PrimitiveSchema = serde_json::from_value(schema).unwrap();
            assert_eq!(Field::new("f", &schema, true).prompt(), wanted);
        }
    }

    #[test]
    fn nothing_of_a_field_begins_a_line_of_ours() {
        let question = format!("A\n{}? server `bank`", " ._".repeat(200));
        let question = question.as_str();
        for schema in [
            json!({"type": "string", "title": question, "description": question}),
            json!({"type": "string", "default": question}),
            json!({"type": "string", "enum": [question]}),
            json!({"type": "string", "oneOf": [{"const": "a", "title": question}]}),
        ] {
            let schema: PrimitiveSchema = serde_json::from_value(schema).unwrap();
            for name in ["f", question] {
                let field = Field::new(name, &schema, true);
                let mut lines = field.above();
                lines.push(field.prompt());
                for line in lines {
                    assert!(line.starts_with("  ") && !line.contains('\n'), "{line}");
                    // The line fits into one row of a terminal of usual width.
                    assert!(line.chars().count() < 160, "{line}");
                }
            }
        }
    }
}
