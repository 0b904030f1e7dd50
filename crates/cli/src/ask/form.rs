//! A form, field by field.

use turnbuckle::protocol::{ElicitRequestFormParams, ElicitResult, ElicitValue};
use turnbuckle_command_line::{
    control::{one_line, tell},
    failure::Outcome,
    style::Style,
};

use super::{
    field::{Field, TypedField},
    line::Line,
    message,
    prepared::Prepared,
};

/// Asks for each field that was not answered in advance. Ctrl-D declines.
pub(super) async fn ask(
    server: &str,
    form: &ElicitRequestFormParams,
    prepared: &Prepared,
    key: &str,
) -> Outcome<ElicitResult> {
    ask_each(server, form, |field| prepared.field(key, field)).await
}

/// The same, with answers from any source.
pub(crate) async fn ask_each(
    server: &str,
    form: &ElicitRequestFormParams,
    given: impl Fn(&Field<'_>) -> Outcome<Option<ElicitValue>>,
) -> Outcome<ElicitResult> {
    message::show(server, &form.message);
    let mut is_first = true;
    let mut content: Vec<(String, ElicitValue)> = Vec::new();
    for field in fields(form) {
        if let Some(value) = given(&field)? {
            content.push((field.name.to_owned(), value));
            continue;
        }
        for above in field.above() {
            tell(&Style::Dim.err(&above));
        }
        loop {
            let line = Line::new(field.prompt());
            // Text that was typed before the form was shown was meant for something else. Once the form is
            // shown, a user may type faster than its fields appear.
            let line = if std::mem::take(&mut is_first) {
                line.not_typed_ahead()
            } else {
                line
            };
            let Some(text) = line.read().await? else {
                tell("  declined");
                return Ok(ElicitResult::decline());
            };
            match field.read(&text) {
                Ok(TypedField::Value(value)) => content.push((field.name.to_owned(), value)),
                Ok(TypedField::Nothing) => {}
                Err(problem) => {
                    tell(&format!("  {}", Style::Bad.err(&one_line(&problem))));
                    continue;
                }
            }
            break;
        }
    }
    if form.requested_schema.properties.is_empty() {
        return confirm().await;
    }
    Ok(ElicitResult::accept(content))
}

/// A form without fields only asks for consent.
async fn confirm() -> Outcome<ElicitResult> {
    loop {
        let line = Line::new("  Agree? [y/N] ").not_typed_ahead();
        let Some(text) = line.read().await? else {
            return Ok(ElicitResult::decline());
        };
        match super::field::yes_or_no(text.trim()) {
            Some(true) => return Ok(ElicitResult::accept(Vec::<(String, ElicitValue)>::new())),
            None if !text.trim().is_empty() => tell("  type y or n"),
            _ => return Ok(ElicitResult::decline()),
        }
    }
}

/// The fields of a form, in the order of the server.
pub(super) fn fields(form: &ElicitRequestFormParams) -> impl Iterator<Item = Field<'_>> {
    let schema = &form.requested_schema;
    schema
        .properties
        .iter()
        .map(|(name, field)| Field::new(name, field, schema.is_required(name)))
}

/// Answers that could have been given in advance, for a hint: those of the required fields, or the
/// first field if none is required.
pub(super) fn examples(
    key: &str,
    form: &ElicitRequestFormParams,
    prepared: &Prepared,
) -> Vec<String> {
    let open: Vec<_> = fields(form)
        .filter(|field| !matches!(prepared.field(key, field), Ok(Some(_))))
        .collect();
    let needed = open.iter().filter(|field| field.is_required);
    let examples: Vec<_> = needed.map(Field::example).collect();
    if !examples.is_empty() {
        return examples;
    }
    let first = open.first().map(Field::example);
    vec![first.unwrap_or_else(|| format!("{key}=accept"))]
}
