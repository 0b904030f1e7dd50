//! Checks the content of a form against its fields.
//!
//! elicitation: servers SHOULD validate received content against the requested schema. The reasons are
//! for the author of the client: they name the field and the expected value, and do not repeat the
//! user's input.

use serde_json::{Number, Value};
use turnbuckle_protocol::{
    ElicitResult, ElicitSchema, ElicitValue, JsonObject, NumberKind, NumberSchema, PrimitiveSchema,
    StringFormat, StringSchema,
};

use super::format::{is_date, is_date_time, is_email, is_uri};

/// How many choices a reason lists.
const SHOWN_CHOICES: usize = 8;

/// From this magnitude on, a float cannot represent all integers.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Returns the accepted form with the requested fields only. A field that is `null` counts as empty.
pub(super) fn accept(schema: &ElicitSchema, content: &JsonObject) -> Result<ElicitResult, String> {
    let filled = |name: &str| content.get(name).filter(|value| !value.is_null());
    let required = schema.required.iter().flatten();
    if let Some(name) = required
        .map(|name| &**name)
        .find(|name| filled(name).is_none())
    {
        return Err(format!("field `{name:.64}` is required and missing"));
    }
    let fields = schema.properties.iter().filter_map(|(name, field)| {
        let value = check(field, filled(name)?);
        Some(match value {
            Ok(value) => Ok((name.clone(), value)),
            Err(expected) => Err(format!("field `{name:.64}` must {expected}")),
        })
    });
    fields
        .collect::<Result<Vec<_>, _>>()
        .map(ElicitResult::accept)
}

fn check(field: &PrimitiveSchema, value: &Value) -> Result<ElicitValue, String> {
    match field {
        PrimitiveSchema::String(schema) => text(schema, value),
        PrimitiveSchema::Number(schema) => number(schema, value),
        PrimitiveSchema::Boolean(_) => value
            .as_bool()
            .map(ElicitValue::Boolean)
            .ok_or_else(|| format!("be true or false, not {}", kind(value))),
        PrimitiveSchema::SingleSelect(schema) => choice(&borrowed(&schema.values), value),
        PrimitiveSchema::LegacyTitled(schema) => choice(&borrowed(&schema.values), value),
        PrimitiveSchema::TitledSingleSelect(schema) => {
            let values: Vec<_> = schema.one_of.iter().map(|option| &*option.value).collect();
            choice(&values, value)
        }
        PrimitiveSchema::MultiSelect(schema) => {
            let values = borrowed(&schema.items.values);
            choices(&values, schema.min_items, schema.max_items, value)
        }
        PrimitiveSchema::TitledMultiSelect(schema) => {
            let options = schema.items.any_of.iter();
            let values: Vec<_> = options.map(|option| &*option.value).collect();
            choices(&values, schema.min_items, schema.max_items, value)
        }
        _ => Err("be of a known type".to_owned()),
    }
}

fn text(schema: &StringSchema, value: &Value) -> Result<ElicitValue, String> {
    let text = value
        .as_str()
        .ok_or_else(|| format!("be text, not {}", kind(value)))?;
    let length = text.chars().count() as u64;
    if let Some(least) = schema.min_length.filter(|least| length < *least) {
        return Err(format!("have at least {least} characters, not {length}"));
    }
    if let Some(most) = schema.max_length.filter(|most| length > *most) {
        return Err(format!("have at most {most} characters, not {length}"));
    }
    match &schema.format {
        Some(StringFormat::Email) if !is_email(text) => Err("be an email address".to_owned()),
        Some(StringFormat::Uri) if !is_uri(text) => Err("be an absolute URI".to_owned()),
        Some(StringFormat::Date) if !is_date(text) => Err("be a date: YYYY-MM-DD".to_owned()),
        Some(StringFormat::DateTime) if !is_date_time(text) => {
            Err("be a date and time with its offset: YYYY-MM-DDThh:mm:ssZ".to_owned())
        }
        _ => Ok(text.into()),
    }
}

fn number(schema: &NumberSchema, value: &Value) -> Result<ElicitValue, String> {
    let Value::Number(number) = value else {
        return Err(format!("be a number, not {}", kind(value)));
    };
    let number = match schema.kind {
        NumberKind::Integer => whole(number).ok_or("be an integer")?,
        _ => number.clone(),
    };
    if let Some(least) = schema
        .minimum
        .as_ref()
        .filter(|least| is_less(&number, least))
    {
        return Err(format!("be at least {least}, not {number}"));
    }
    if let Some(most) = schema
        .maximum
        .as_ref()
        .filter(|most| is_less(most, &number))
    {
        return Err(format!("be at most {most}, not {number}"));
    }
    Ok(ElicitValue::Number(number))
}

/// Returns a whole number as an integer: `3.0` becomes `3`, so that it can be read as an integer.
fn whole(number: &Number) -> Option<Number> {
    if number.as_i128().is_some() {
        return Some(number.clone());
    }
    let float = number.as_f64().filter(|float| float.fract() == 0.0)?;
    #[expect(clippy::cast_possible_truncation, reason = "whole and below 2^53")]
    Some(if float.abs() < EXACT {
        (float as i64).into()
    } else {
        number.clone()
    })
}

fn is_less(left: &Number, right: &Number) -> bool {
    match (left.as_i128(), right.as_i128()) {
        (Some(left), Some(right)) => left < right,
        _ => left.as_f64() < right.as_f64(),
    }
}

fn choice(values: &[&str], value: &Value) -> Result<ElicitValue, String> {
    match value.as_str() {
        Some(text) if values.contains(&text) => Ok(text.into()),
        _ => Err(format!("be one of {}", listed(values))),
    }
}

fn choices(
    values: &[&str],
    least: Option<u64>,
    most: Option<u64>,
    value: &Value,
) -> Result<ElicitValue, String> {
    let chosen = value
        .as_array()
        .ok_or_else(|| format!("be a list of choices, not {}", kind(value)))?;
    let count = chosen.len() as u64;
    if let Some(least) = least.filter(|least| count < *least) {
        return Err(format!("have at least {least} choices, not {count}"));
    }
    if let Some(most) = most.filter(|most| count > *most) {
        return Err(format!("have at most {most} choices, not {count}"));
    }
    let known = |one: &Value| {
        Some(
            one.as_str()
                .filter(|text| values.contains(text))?
                .to_owned(),
        )
    };
    let chosen: Option<Vec<String>> = chosen.iter().map(known).collect();
    chosen
        .map(ElicitValue::Choices)
        .ok_or_else(|| format!("have only choices among {}", listed(values)))
}

fn borrowed(values: &[String]) -> Vec<&str> {
    values.iter().map(|value| &**value).collect()
}

fn listed(values: &[&str]) -> String {
    let shown = values.iter().take(SHOWN_CHOICES);
    let mut list = shown
        .map(|value| format!("`{value:.64}`"))
        .collect::<Vec<_>>()
        .join(", ");
    if values.len() > SHOWN_CHOICES {
        list.push_str(", …");
    }
    list
}

const fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Checks a field against values that it accepts, and values that it refuses, each with a part of
    /// the reason.
    fn claim(field: &Value, good: &[Value], bad: &[(Value, &str)]) {
        let schema = json!({"type": "object", "properties": {"x": field}});
        let schema: ElicitSchema = serde_json::from_value(schema).unwrap();
        let fill = |value: &Value| {
            accept(
                &schema,
                json!({"x": value, "extra": {}}).as_object().unwrap(),
            )
        };
        for value in good {
            let result = serde_json::to_value(fill(value).unwrap()).unwrap();
            assert_eq!(result, json!({"action": "accept", "content": {"x": value}}));
        }
        for (value, reason) in bad {
            let refused = fill(value).unwrap_err();
            assert!(refused.starts_with("field `x` must "), "{refused}");
            assert!(refused.contains(reason), "{value}: {refused}");
        }
    }

    #[test]
    fn text_has_a_length_and_a_format() {
        claim(
            &json!({"type": "string", "minLength": 2, "maxLength": 3}),
            &[json!("ab"), json!("äöü")],
            &[
                (json!("a"), "at least 2 characters, not 1"),
                (json!("abcd"), "at most 3 characters, not 4"),
                (json!(12), "text, not a number"),
                (json!(["ab"]), "text, not a list"),
            ],
        );
        for (format, good, bad) in [
            ("email", "a@b.example", "a"),
            ("uri", "https://a.example", "a"),
            ("date", "2026-02-28", "2026-02-30"),
            ("date-time", "2026-02-28T10:00:00Z", "2026-02-28"),
        ] {
            let field = json!({"type": "string", "format": format});
            claim(&field, &[json!(good)], &[(json!(bad), "be a")]);
        }
        claim(
            &json!({"type": "string", "format": "postcode"}),
            &[json!("anything")],
            &[],
        );
    }

    #[test]
    fn numbers_have_ranges_and_may_have_to_be_whole() {
        claim(
            &json!({"type": "number", "minimum": -0.5, "maximum": 10}),
            &[json!(0), json!(-0.5), json!(10), json!(9.99)],
            &[
                (json!(-1), "at least -0.5, not -1"),
                (json!(10.01), "at most 10"),
                (json!("1"), "a number, not text"),
            ],
        );
        claim(
            &json!({"type": "integer", "minimum": 9_007_199_254_740_993_u64}),
            &[json!(9_007_199_254_740_993_u64), json!(u64::MAX)],
            &[
                (json!(9_007_199_254_740_992_u64), "at least"),
                (json!(0.5), "an integer"),
            ],
        );
    }

    #[test]
    fn a_whole_number_is_handed_on_as_one() {
        let field = json!({"type": "integer"});
        let schema = json!({"type": "object", "properties": {"x": field}});
        let schema: ElicitSchema = serde_json::from_value(schema).unwrap();
        let result = accept(&schema, json!({"x": 3.0}).as_object().unwrap()).unwrap();
        assert_eq!(
            serde_json::to_value(result).unwrap()["content"].to_string(),
            r#"{"x":3}"#
        );
    }

    #[test]
    fn choices_are_among_those_offered() {
        let titled = |value: &str| json!({"const": value, "title": value.to_uppercase()});
        for field in [
            json!({"type": "string", "enum": ["a", "b"]}),
            json!({"type": "string", "enum": ["a", "b"], "enumNames": ["A", "B"]}),
            json!({"type": "string", "oneOf": [titled("a"), titled("b")]}),
        ] {
            let bad = [
                (json!("c"), "one of `a`, `b`"),
                (json!("A"), "one of"),
                (json!(1), "one of"),
            ];
            claim(&field, &[json!("a"), json!("b")], &bad);
        }
        for items in [
            json!({"type": "string", "enum": ["a", "b", "c"]}),
            json!({"anyOf": [titled("a"), titled("b"), titled("c")]}),
        ] {
            claim(
                &json!({"type": "array", "items": items, "minItems": 1, "maxItems": 2}),
                &[json!(["a"]), json!(["c", "b"])],
                &[
                    (json!([]), "at least 1 choices, not 0"),
                    (json!(["a", "b", "c"]), "at most 2"),
                    (json!(["d"]), "among `a`, `b`, `c`"),
                    (json!([1]), "among"),
                    (json!("a"), "a list of choices, not text"),
                ],
            );
        }
    }

    #[test]
    fn yes_is_true_and_nothing_else() {
        let bad = [
            (json!("true"), "true or false"),
            (json!(1), "true or false"),
        ];
        claim(
            &json!({"type": "boolean"}),
            &[json!(true), json!(false)],
            &bad,
        );
    }

    #[test]
    fn empty_fields_are_missing_only_where_they_are_required() {
        let schema = ElicitSchema::new()
            .with_required("name", StringSchema::default())
            .with("note", StringSchema::default());
        let content = |value: Value| value.as_object().unwrap().clone();
        assert!(accept(&schema, &content(json!({"name": "n", "note": null}))).is_ok());
        for missing in [json!({}), json!({"name": null}), json!({"note": "x"})] {
            let refused = accept(&schema, &content(missing)).unwrap_err();
            assert_eq!(refused, "field `name` is required and missing");
        }
    }
}
