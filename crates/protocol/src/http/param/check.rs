//! Compares an argument with its header.

use super::argument::Found;
use super::{HeaderFault, Param};
use crate::http::{decode, encode, matches};

/// 2^53 − 1: the largest integer that a double distinguishes from its neighbours, so the largest one
/// that every language parses exactly.
const MAX_SAFE: i64 = (1 << 53) - 1;

/// Returns the header's value, or `None` if the argument cannot be a header.
pub(super) fn written(param: &Param, found: &Found<'_>) -> Result<Option<String>, HeaderFault> {
    let value = match found {
        Found::Text(text) => encode(text).into_owned(),
        Found::Boolean(value) => value.to_string(),
        Found::Number(number) => match whole(number) {
            HeaderNumber::Safe(value) => value.to_string(),
            HeaderNumber::Unsafe => return Err(HeaderFault::out_of_range(param)),
            // The schema requires an integer. The server reports that this is not one.
            HeaderNumber::Fraction(value) => value.to_string(),
        },
        Found::Composite => return Ok(None),
    };
    Ok(Some(value))
}

/// Checks that the header has the value of the argument.
pub(super) fn compare(
    param: &Param,
    found: &Found<'_>,
    header: Option<&[u8]>,
) -> Result<(), HeaderFault> {
    let Some(header) = header else {
        // An object cannot be a header: the error of the schema is more informative.
        return match found {
            Found::Composite => Ok(()),
            _ => Err(HeaderFault::missing(param)),
        };
    };
    if says(param, found, header)? {
        return Ok(());
    }
    match decode(header) {
        Ok(_) => Err(HeaderFault::mismatch(param)),
        Err(source) => Err(HeaderFault::Malformed {
            header: param.header.clone(),
            source,
        }),
    }
}

fn says(param: &Param, found: &Found<'_>, header: &[u8]) -> Result<bool, HeaderFault> {
    Ok(match found {
        Found::Text(text) => matches(header, text),
        Found::Boolean(value) => matches(header, if *value { "true" } else { "false" }),
        Found::Number(number) => match whole(number) {
            HeaderNumber::Safe(value) => {
                decode(header).is_ok_and(|text| integer(&text) == Some(value))
            }
            HeaderNumber::Unsafe => return Err(HeaderFault::out_of_range(param)),
            HeaderNumber::Fraction(value) => matches(header, &value.to_string()),
        },
        Found::Composite => false,
    })
}

/// A number, as the annotation distinguishes it.
enum HeaderNumber {
    Safe(i64),
    Unsafe,
    Fraction(f64),
}

fn whole(number: &serde_json::Number) -> HeaderNumber {
    if let Some(value) = number.as_i64() {
        return if (-MAX_SAFE..=MAX_SAFE).contains(&value) {
            HeaderNumber::Safe(value)
        } else {
            HeaderNumber::Unsafe
        };
    }
    match number.as_f64() {
        Some(value) if value.fract() != 0.0 => HeaderNumber::Fraction(value),
        #[expect(clippy::cast_precision_loss, reason = "2^53 − 1 is exact")]
        Some(value) if value.abs() <= MAX_SAFE as f64 =>
        {
            #[expect(clippy::cast_possible_truncation, reason = "whole and below 2^53")]
            HeaderNumber::Safe(value as i64)
        }
        _ => HeaderNumber::Unsafe,
    }
}

/// Parses an integer in a header: decimal digits, with a fraction only if it is zero.
///
/// streamable-http, "Server Validation": integers are compared as numbers, so `42.0` equals `42`.
fn integer(text: &str) -> Option<i64> {
    let (digits, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let is_decimal = digits
        .strip_prefix('-')
        .unwrap_or(digits)
        .bytes()
        .all(|byte| byte.is_ascii_digit());
    let is_nothing = !fraction.is_empty() && fraction.bytes().all(|byte| byte == b'0');
    if is_decimal && is_nothing {
        digits.parse().ok()
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::JsonObject;
    use crate::http::{BadHeader, ParamHeaders};
    use serde_json::{Value, json, value::RawValue};

    fn params() -> ParamHeaders {
        let schema = json!({"type": "object", "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "count": {"type": "integer", "x-mcp-header": "Count"},
            "dry": {"type": ["boolean", "null"], "x-mcp-header": "Dry"},
            "where": {"type": "object", "properties": {
                "zone": {"type": "string", "x-mcp-header": "Zone"},
            }},
            "query": {"type": "string"},
        }});
        ParamHeaders::of(schema.as_object().unwrap()).unwrap()
    }

    fn object(value: &Value) -> &JsonObject {
        value.as_object().expect("arguments here are an object")
    }

    /// Checks the same arguments as an object and as text.
    fn check(arguments: &Value, headers: &[(&str, &str)]) -> Result<(), HeaderFault> {
        let params = params();
        let lookup = |name: &str| {
            let header = headers.iter().find(|(header, _)| *header == name)?;
            Some(header.1.as_bytes())
        };
        let outcome = params.check(object(arguments), lookup);
        let text = RawValue::from_string(arguments.to_string()).unwrap();
        assert_eq!(params.check(&*text, lookup), outcome);
        outcome
    }

    fn headers(arguments: &Value) -> Vec<(String, String)> {
        params()
            .headers_for(object(arguments))
            .unwrap()
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect()
    }

    #[test]
    fn arguments_are_written_by_their_type() {
        let written = headers(&json!({
            "region": "Région", "count": -7, "dry": false, "where": {"zone": ""}, "query": "q",
        }));
        let expected = [
            ("mcp-param-region", "=?base64?UsOpZ2lvbg==?="),
            ("mcp-param-count", "-7"),
            ("mcp-param-dry", "false"),
            ("mcp-param-zone", ""),
        ];
        assert_eq!(
            written,
            expected.map(|(name, value)| (name.to_owned(), value.to_owned()))
        );
        assert_eq!(headers(&json!({"count": 42.0}))[0].1, "42");
    }

    #[test]
    fn what_is_absent_or_null_has_no_header() {
        assert!(headers(&json!({"region": null, "where": null, "query": "x"})).is_empty());
        assert!(headers(&json!({"where": {"other": 1}})).is_empty());
        assert!(headers(&json!({"where": [{"zone": "a"}]})).is_empty());
        assert_eq!(check(&json!({"region": null, "query": "x"}), &[]), Ok(()));
    }

    #[test]
    fn headers_that_repeat_the_arguments_pass() {
        let arguments = json!({"region": "eu", "count": 42, "dry": true, "where": {"zone": "b"}});
        let headers = [
            ("mcp-param-region", " eu "),
            ("mcp-param-count", "42.0"),
            ("mcp-param-dry", "true"),
            ("mcp-param-zone", "=?base64?Yg==?="),
        ];
        assert_eq!(check(&arguments, &headers), Ok(()));
    }

    #[test]
    fn an_argument_without_its_header_is_refused() {
        let fault = check(&json!({"where": {"zone": "b"}}), &[]).unwrap_err();
        assert_eq!(
            fault.to_string(),
            "header `mcp-param-zone` is missing; repeat argument `where.zone` in it"
        );
    }

    #[test]
    fn a_header_without_its_argument_is_refused() {
        for arguments in [json!({}), json!({"region": null})] {
            let fault = check(&arguments, &[("mcp-param-region", "eu")]).unwrap_err();
            assert!(matches!(fault, HeaderFault::Unexpected { .. }), "{fault}");
        }
    }

    #[test]
    fn a_header_that_says_something_else_is_refused() {
        for (arguments, name, value) in [
            (json!({"region": "eu"}), "mcp-param-region", "EU"),
            (json!({"region": "eu"}), "mcp-param-region", ""),
            (json!({"region": "42"}), "mcp-param-region", "42.0"),
            (json!({"region": {"a": 1}}), "mcp-param-region", "eu"),
            (json!({"dry": true}), "mcp-param-dry", "True"),
            (json!({"dry": true}), "mcp-param-dry", "1"),
            (json!({"count": 42}), "mcp-param-count", "43"),
            (json!({"count": 42}), "mcp-param-count", "42.5"),
            (json!({"count": 42}), "mcp-param-count", "42."),
            (json!({"count": 42}), "mcp-param-count", "4.2e1"),
            (json!({"count": 42}), "mcp-param-count", "+42"),
            (json!({"count": 42}), "mcp-param-count", "0x2a"),
            (json!({"count": 0}), "mcp-param-count", ""),
            (json!({"count": 0}), "mcp-param-count", "-"),
        ] {
            let fault = check(&arguments, &[(name, value)]).unwrap_err();
            let is_mismatch = matches!(fault, HeaderFault::Mismatch { .. });
            assert!(is_mismatch, "{arguments} {value:?}: {fault}");
        }
    }

    // rule: X7
    #[test]
    fn integers_are_compared_as_numbers() {
        for (count, header) in [
            (json!(42), "42"),
            (json!(42.0), "42"),
            (json!(42), "42.000"),
            (json!(42), "042"),
            (json!(-7), "-7"),
            (json!(0), "-0"),
            (json!(9_007_199_254_740_991_i64), "9007199254740991"),
        ] {
            let outcome = check(&json!({"count": count}), &[("mcp-param-count", header)]);
            assert_eq!(outcome, Ok(()), "{count} {header}");
        }
    }

    #[test]
    fn integers_beyond_a_double_are_refused() {
        for count in [
            json!(9_007_199_254_740_992_i64),
            json!(-9_007_199_254_740_992_i64),
            json!(u64::MAX),
            json!(1e300),
        ] {
            let arguments = json!({"count": count});
            let header = count.to_string();
            let fault = check(&arguments, &[("mcp-param-count", &header)]).unwrap_err();
            assert!(matches!(fault, HeaderFault::OutOfRange { .. }), "{fault}");
            let fault = params().headers_for(object(&arguments)).unwrap_err();
            assert!(matches!(fault, HeaderFault::OutOfRange { .. }), "{fault}");
        }
    }

    #[test]
    fn a_header_that_cannot_be_read_is_refused() {
        let arguments = json!({"region": "Hello"});
        for (value, source) in [
            ("=?base64?SGVsbG8?=", BadHeader::Base64),
            ("=?base64?SGVs!!!bG8=?=", BadHeader::Base64),
            ("H\u{e9}llo", BadHeader::Character { byte: 0xc3, at: 1 }),
        ] {
            let fault = check(&arguments, &[("mcp-param-region", value)]).unwrap_err();
            let header = "mcp-param-region".to_owned();
            assert_eq!(fault, HeaderFault::Malformed { header, source });
        }
    }

    #[test]
    fn an_argument_given_twice_cannot_hide_behind_the_other() {
        let params = params();
        for text in [
            r#"{"region":"eu","region":"us"}"#,
            r#"{"region":"us","region":"eu"}"#,
            r#"{"region":"eu","r\u0065gion":"us"}"#,
        ] {
            let text: &RawValue = serde_json::from_str(text).unwrap();
            let fault = params.check(text, |name| (name == "mcp-param-region").then_some(b"eu"));
            assert!(matches!(fault, Err(HeaderFault::Mismatch { .. })), "{text}");
        }
    }

    #[test]
    fn an_object_where_text_belongs_is_left_to_the_schema() {
        assert_eq!(
            check(&json!({"region": {"a": 1}, "count": [1]}), &[]),
            Ok(())
        );
        assert!(headers(&json!({"region": {"a": 1}})).is_empty());
    }
}
