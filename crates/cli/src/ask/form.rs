//! A form, field by field.

use turnbuckle::protocol::{ElicitRequestFormParams, ElicitResult, ElicitValue};

use super::{
    field::{Field, Typed},
    line,
    prepared::Prepared,
};
use crate::{
    exit::Outcome,
    show::{Style, tell},
};

/// Asks for each field that was not answered ahead. Ctrl-D declines.
pub(super) async fn ask(
    server: &str,
    form: &ElicitRequestFormParams,
    prepared: &Prepared,
    key: &str,
) -> Outcome<ElicitResult> {
    tell(&format!(
        "{} {server} asks: {}",
        Style::Ask.err("?"),
        form.message
    ));
    let mut content: Vec<(String, ElicitValue)> = Vec::new();
    for field in fields(form) {
        if let Some(value) = prepared.field(key, &field)? {
            content.push((field.name.to_owned(), value));
            continue;
        }
        for above in field.above() {
            tell(&Style::Dim.err(&above));
        }
        loop {
            let Some(text) = line::read(&field.prompt()).await? else {
                eprintln!("  declined");
                return Ok(ElicitResult::decline());
            };
            match field.read(&text) {
                Ok(Typed::Value(value)) => content.push((field.name.to_owned(), value)),
                Ok(Typed::Nothing) => {}
                Err(problem) => {
                    tell(&format!("  {}", Style::Bad.err(&problem)));
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

/// A form without fields asks for consent alone.
async fn confirm() -> Outcome<ElicitResult> {
    loop {
        let Some(text) = line::read("  Agree? [y/N] ").await? else {
            return Ok(ElicitResult::decline());
        };
        match super::field::yes_or_no(text.trim()) {
            Some(true) => return Ok(ElicitResult::accept(Vec::<(String, ElicitValue)>::new())),
            None if !text.trim().is_empty() => eprintln!("  type y or n"),
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

/// An answer that could have been given ahead and was not, for a hint.
pub(super) fn example(key: &str, form: &ElicitRequestFormParams, prepared: &Prepared) -> String {
    let schema = &form.requested_schema;
    let is_open = |name: &str| {
        let mut fields = fields(form);
        let field = fields.find(|field| field.name == name);
        field.is_some_and(|field| !matches!(prepared.field(key, &field), Ok(Some(_))))
    };
    let open = schema.properties.iter().filter(|(name, _)| is_open(name));
    let first = open
        .clone()
        .find(|(name, _)| schema.is_required(name))
        .or_else(|| open.clone().next());
    match first {
        Some((name, turnbuckle::protocol::PrimitiveSchema::Boolean(_))) => format!("{name}=true"),
        Some((name, _)) => format!("{name}=VALUE"),
        None => format!("{key}=accept"),
    }
}
