//! JSON in its wire form: open objects, values kept as their original text, and numbers without an
//! unneeded decimal point.

use std::{borrow::Cow, fmt, marker::PhantomData};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::{Map, Value, value::RawValue};

/// An open JSON object, with its members in their original order.
pub type JsonObject = Map<String, Value>;

/// A string that is borrowed from the input if possible.
pub(crate) struct Text<'a>(pub(crate) Cow<'a, str>);

// Implemented by hand, because a deserializer that records the names of members must be asked for a
// string.
impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;

        impl<'de> de::Visitor<'de> for TextVisitor {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }

            fn visit_string<E: de::Error>(self, text: String) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text)))
            }
        }

        deserializer.deserialize_str(TextVisitor)
    }
}

/// Serialises a value to JSON text.
pub(crate) fn to_raw<T: Serialize + ?Sized>(value: &T) -> Result<Box<RawValue>, serde_json::Error> {
    serde_json::value::to_raw_value(value)
}

/// Whether two texts are the same JSON, whatever their white space and order of members.
pub(crate) fn is_same(left: &RawValue, right: &RawValue) -> bool {
    left.get() == right.get() || parsed(left.get()) == parsed(right.get())
}

/// The same as [`is_same`] for optional values.
pub(crate) fn is_same_option(left: Option<&RawValue>, right: Option<&RawValue>) -> bool {
    match (left, right) {
        (Some(left), Some(right)) => is_same(left, right),
        (left, right) => left.is_none() && right.is_none(),
    }
}

/// Whether the text is an object.
pub(crate) fn is_object(raw: &RawValue) -> bool {
    raw.get().starts_with('{')
}

fn parsed(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok()
}

/// Reads a member that may be any JSON, including `null`.
pub(crate) fn present<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    T::deserialize(deserializer).map(Some)
}

/// Reads an object as its text; `null` counts as missing.
pub(crate) fn raw_object<'de, D>(deserializer: D) -> Result<Option<Box<RawValue>>, D::Error>
where
    D: Deserializer<'de>,
{
    match Option::<Box<RawValue>>::deserialize(deserializer)? {
        Some(raw) if !is_object(&raw) => Err(de::Error::custom(format_args!(
            "expected an object, got `{}`",
            kind(&raw)
        ))),
        raw => Ok(raw),
    }
}

fn kind(raw: &RawValue) -> &'static str {
    match raw.get().as_bytes().first() {
        Some(b'"') => "a string",
        Some(b'[') => "an array",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        _ => "a number",
    }
}

/// Reads whole milliseconds from any number: fractions are cut off, negative numbers count as zero.
///
/// A time to live is only a hint, so a wrong one should not make the whole message invalid.
pub(crate) fn millis<'de, D>(deserializer: D) -> Result<Option<u64>, D::Error>
where
    D: Deserializer<'de>,
{
    let number = Option::<serde_json::Number>::deserialize(deserializer)?;
    Ok(number.map(|number| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "`as` saturates, which is what a hint needs"
        )]
        number
            .as_u64()
            .unwrap_or_else(|| number.as_f64().unwrap_or(0.0) as u64)
    }))
}

/// Reads an integer, which may have a fraction of zero.
///
/// JSON Schema: `3.0` is an integer.
pub(crate) fn whole<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: TryFrom<i128>,
{
    struct Whole<T>(PhantomData<T>);

    impl<T: TryFrom<i128>> Whole<T> {
        fn fit<E: de::Error>(number: i128) -> Result<T, E> {
            T::try_from(number)
                .map_err(|_| E::custom(format_args!("the integer `{number}` is out of range")))
        }
    }

    impl<T: TryFrom<i128>> de::Visitor<'_> for Whole<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an integer")
        }

        fn visit_u64<E: de::Error>(self, number: u64) -> Result<T, E> {
            Self::fit(number.into())
        }

        fn visit_i64<E: de::Error>(self, number: i64) -> Result<T, E> {
            Self::fit(number.into())
        }

        fn visit_f64<E: de::Error>(self, number: f64) -> Result<T, E> {
            // No integer type of the protocol has values beyond 2^64.
            if number.fract() == 0.0 && number.abs() <= 18_446_744_073_709_551_616.0 {
                #[expect(clippy::cast_possible_truncation, reason = "whole, and within 2^64")]
                return Self::fit(number as i128);
            }
            Err(E::invalid_value(de::Unexpected::Float(number), &self))
        }
    }

    deserializer.deserialize_any(Whole(PhantomData))
}

/// The same as [`whole`] for optional values.
pub(crate) fn whole_option<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: TryFrom<i128>,
{
    struct Present<T>(PhantomData<T>);

    impl<'de, T: TryFrom<i128>> de::Visitor<'de> for Present<T> {
        type Value = Option<T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an integer")
        }

        fn visit_none<E: de::Error>(self) -> Result<Option<T>, E> {
            Ok(None)
        }

        fn visit_unit<E: de::Error>(self) -> Result<Option<T>, E> {
            Ok(None)
        }

        fn visit_some<D: Deserializer<'de>>(self, value: D) -> Result<Option<T>, D::Error> {
            whole(value).map(Some)
        }
    }

    deserializer.deserialize_option(Present(PhantomData))
}

/// The largest magnitude below which every whole `f64` is exact.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Writes a whole number without a decimal point.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde's `serialize_with` passes references"
)]
pub(crate) fn number<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if number.fract() == 0.0 && number.abs() < EXACT {
        #[expect(clippy::cast_possible_truncation, reason = "whole and below 2^53")]
        serializer.serialize_i64(*number as i64)
    } else {
        serializer.serialize_f64(*number)
    }
}

/// The same as [`number`] for optional values.
#[expect(
    clippy::ref_option,
    reason = "serde's `serialize_with` passes references"
)]
pub(crate) fn number_option<S: Serializer>(
    value: &Option<f64>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => number(value, serializer),
        None => serializer.serialize_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize, Deserialize)]
    struct Sample {
        #[serde(serialize_with = "number")]
        number: f64,
        #[serde(default, deserialize_with = "millis")]
        ttl: Option<u64>,
        #[serde(default, deserialize_with = "raw_object")]
        object: Option<Box<RawValue>>,
    }

    fn read(json: &str) -> Result<Sample, serde_json::Error> {
        serde_json::from_str(json)
    }

    #[test]
    fn whole_numbers_keep_no_decimal_point() {
        for text in ["50", "0.5", "-3", "9007199254740991", "1e+300"] {
            let sample = read(&format!(r#"{{"number":{text}}}"#)).unwrap();
            let written = serde_json::to_value(&sample).unwrap();
            assert_eq!(written["number"].to_string(), text);
        }
    }

    #[test]
    fn a_bad_time_to_live_is_a_stale_one() {
        for (text, expected) in [
            ("12", Some(12)),
            ("12.9", Some(12)),
            ("-1", Some(0)),
            ("null", None),
            ("1e40", Some(u64::MAX)),
        ] {
            let sample = read(&format!(r#"{{"number":1,"ttl":{text}}}"#)).unwrap();
            assert_eq!(sample.ttl, expected, "{text}");
        }
    }

    #[test]
    fn an_object_is_asked_for_and_nothing_else_is_taken() {
        assert!(
            read(r#"{"number":1,"object":{"a":1}}"#)
                .unwrap()
                .object
                .is_some()
        );
        assert!(
            read(r#"{"number":1,"object":null}"#)
                .unwrap()
                .object
                .is_none()
        );
        for text in ["[]", "1", "\"{\"", "true"] {
            assert!(
                read(&format!(r#"{{"number":1,"object":{text}}}"#)).is_err(),
                "{text}"
            );
        }
    }

    #[test]
    fn raw_values_are_compared_by_meaning() {
        let raw = |text: &str| RawValue::from_string(text.to_owned()).unwrap();
        assert!(is_same(
            &raw(r#"{"a":1,"b":[2]}"#),
            &raw(r#"{ "b": [2], "a": 1 }"#)
        ));
        assert!(!is_same(&raw("[1,2]"), &raw("[2,1]")));
        assert!(!is_same_option(Some(&raw("null")), None));
    }
}
