//! Converts one value to another kind, without loss.

use serde_json::{Number, Value};

use crate::kind::Kinds;
use crate::number::Num;

/// The conversions of a value to the expected kinds, the most likely first.
pub(super) fn readings(value: &Value, wanted: Kinds) -> impl Iterator<Item = Value> {
    let (text, scalar) = match value {
        Value::String(text) => (Some(text.as_str()), None),
        Value::Number(_) | Value::Bool(_) => (None, Some(value)),
        _ => (None, None),
    };
    let from_text = text
        .into_iter()
        .flat_map(move |text| text_readings(text, wanted))
        .flatten();
    let as_text = scalar
        .filter(|_| wanted.has(Kinds::STRING))
        .map(std::string::ToString::to_string);
    from_text.chain(as_text.map(Value::String))
}

/// A number without a fraction as an integer; `None` if it is an integer already, or does not fit into 64 bits.
pub(super) fn integer(value: &Value) -> Option<Value> {
    let number = value.as_number()?;
    let is_integer = number.is_i64() || number.is_u64();
    Num::of(number)
        .to_integer()
        .filter(|_| !is_integer)
        .map(Value::Number)
}

fn text_readings(text: &str, wanted: Kinds) -> [Option<Value>; 4] {
    let text = text.trim();
    let has_number = wanted.has(Kinds::INTEGER) || wanted.has(Kinds::NUMBER);
    let number = has_number.then(|| number(text, wanted)).flatten();
    let boolean = wanted.has(Kinds::BOOLEAN).then(|| boolean(text)).flatten();
    let null = (wanted.has(Kinds::NULL) && text == "null").then_some(Value::Null);
    let structure = structure(text, wanted);
    [number, boolean, null, structure]
}

fn number(text: &str, wanted: Kinds) -> Option<Value> {
    let number: Number = serde_json::from_str(text).ok()?;
    let is_written_whole = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'-');
    let is_exact = number.is_i64() || number.is_u64();
    if is_written_whole && !is_exact {
        // Beyond 64 bits; as a float it would be a different number.
        return None;
    }
    if wanted.has(Kinds::NUMBER) {
        return Some(Value::Number(number));
    }
    Num::of(&number).to_integer().map(Value::Number)
}

fn boolean(text: &str) -> Option<Value> {
    // Models that think in Python write `True`.
    match text {
        _ if text.eq_ignore_ascii_case("true") => Some(Value::Bool(true)),
        _ if text.eq_ignore_ascii_case("false") => Some(Value::Bool(false)),
        _ => None,
    }
}

fn structure(text: &str, wanted: Kinds) -> Option<Value> {
    let kind = match text.bytes().next()? {
        b'{' => Kinds::OBJECT,
        b'[' => Kinds::ARRAY,
        _ => return None,
    };
    wanted
        .has(kind)
        .then(|| serde_json::from_str(text).ok())
        .flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn reads(value: &Value, kind: &str, expected: Option<&Value>) {
        let wanted = Kinds::of_type(&json!(kind));
        assert_eq!(
            readings(value, wanted).next().as_ref(),
            expected,
            "{value} as {kind}"
        );
    }

    #[test]
    fn text_is_read_only_if_it_is_exactly_the_kind() {
        reads(&json!("5"), "integer", Some(&json!(5)));
        reads(&json!(" 5.0 "), "integer", Some(&json!(5)));
        reads(&json!("5.5"), "integer", None);
        reads(&json!("5.5"), "number", Some(&json!(5.5)));
        reads(&json!("five"), "number", None);
        reads(&json!("0x10"), "integer", None);
        reads(&json!("True"), "boolean", Some(&json!(true)));
        reads(&json!("yes"), "boolean", None);
        reads(&json!("null"), "null", Some(&Value::Null));
        reads(&json!("[1]"), "array", Some(&json!([1])));
        reads(&json!("[1]"), "object", None);
        reads(&json!("{\"a\":"), "object", None);
    }

    #[test]
    fn integers_stay_exact_or_stay_text() {
        reads(
            &json!("9007199254740993"),
            "integer",
            Some(&json!(9_007_199_254_740_993_u64)),
        );
        reads(
            &json!("18446744073709551615"),
            "number",
            Some(&json!(u64::MAX)),
        );
        reads(&json!("18446744073709551616"), "integer", None);
        reads(&json!("18446744073709551616"), "number", None);
        reads(
            &json!("-9223372036854775808"),
            "integer",
            Some(&json!(i64::MIN)),
        );
    }

    #[test]
    fn scalars_become_text() {
        reads(&json!(5), "string", Some(&json!("5")));
        reads(&json!(false), "string", Some(&json!("false")));
        reads(&json!({}), "string", None);
        reads(&Value::Null, "string", None);
    }

    #[test]
    fn only_a_float_becomes_an_integer() {
        assert_eq!(integer(&json!(5.0)), Some(json!(5)));
        assert_eq!(integer(&json!(5)), None);
        assert_eq!(integer(&json!(5.5)), None);
    }
}
