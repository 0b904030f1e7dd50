//! Exact comparison and division of numbers. JSON has one kind of number; Rust has integers that `f64`
//! cannot hold, and binary cannot hold decimal fractions, so neither `as f64` nor `%` would give the right
//! result.

use std::cmp::Ordering;
use std::fmt::Write as _;

use serde_json::Number;

/// The first magnitude at which an `f64` no longer fits an `i128`: 2^127.
const BEYOND_I128: f64 = 170_141_183_460_469_231_731_687_303_715_884_105_728.0;

/// A JSON number in a form that can be compared.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Num {
    Int(i128),
    Float(f64),
}

impl Num {
    pub(crate) fn of(number: &Number) -> Self {
        if let Some(signed) = number.as_i64() {
            Self::Int(signed.into())
        } else if let Some(unsigned) = number.as_u64() {
            Self::Int(unsigned.into())
        } else {
            Self::Float(number.as_f64().unwrap_or(f64::NAN))
        }
    }

    pub(crate) fn is_integer(self) -> bool {
        match self {
            Self::Int(_) => true,
            // For a schema an integer is any number without a fraction, 5.0 included.
            Self::Float(float) => float.is_finite() && float.fract() == 0.0,
        }
    }

    /// The order of two numbers; `None` only for NaN.
    pub(crate) fn order(self, other: Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Int(left), Self::Int(right)) => Some(left.cmp(&right)),
            (Self::Float(left), Self::Float(right)) => left.partial_cmp(&right),
            (Self::Int(left), Self::Float(right)) => order_mixed(left, right),
            (Self::Float(left), Self::Int(right)) => {
                order_mixed(right, left).map(Ordering::reverse)
            }
        }
    }

    /// The same form for equal numbers: floats without a fraction become integers.
    pub(crate) fn canonical(self) -> Self {
        match self {
            Self::Float(float) if self.is_integer() => truncated(float).map_or(self, Self::Int),
            _ => self,
        }
    }

    /// The number as an integer, if it fits into 64 bits.
    pub(crate) fn to_integer(self) -> Option<Number> {
        let Self::Int(integer) = self.canonical() else {
            return None;
        };
        i64::try_from(integer)
            .map(Number::from)
            .or_else(|_| u64::try_from(integer).map(Number::from))
            .ok()
    }
}

/// A number as digits and a power of ten. The digits have no trailing zeros.
#[derive(Clone, Copy, Debug, Hash)]
pub(crate) struct Decimal {
    digits: u128,
    exponent: i32,
}

impl Decimal {
    /// The shortest decimal that reads back as this number, without its sign.
    pub(crate) fn of(number: Num) -> Option<Self> {
        match number {
            Num::Int(integer) => Some(Self::normal(integer.unsigned_abs(), 0)),
            Num::Float(float) => Self::of_float(float.abs()),
        }
    }

    /// Whether this is an integer multiple of `divisor`, which must not be zero.
    pub(crate) fn is_multiple_of(self, divisor: Self) -> bool {
        let shift = i64::from(self.exponent) - i64::from(divisor.exponent);
        if shift < 0 {
            // The digits have no trailing zeros, so they are not divisible by ten.
            return self.digits == 0;
        }
        let modulus = divisor.digits;
        let mut rest = self.digits % modulus;
        for _ in 0..shift {
            if rest == 0 {
                break;
            }
            // Digits come from 64-bit numbers, so this product fits 128 bits.
            rest = rest * 10 % modulus;
        }
        rest == 0
    }

    fn of_float(float: f64) -> Option<Self> {
        let mut text = ShortText::default();
        write!(text, "{float:e}").ok()?;
        let (mantissa, exponent) = text.as_str().split_once('e')?;
        let fraction = mantissa
            .split_once('.')
            .map_or("", |(_, fraction)| fraction);
        let digits = mantissa
            .bytes()
            .filter(u8::is_ascii_digit)
            .fold(0u128, |sum, digit| sum * 10 + u128::from(digit - b'0'));
        let places = i32::try_from(fraction.len()).ok()?;
        Some(Self::normal(digits, exponent.parse::<i32>().ok()? - places))
    }

    fn normal(mut digits: u128, mut exponent: i32) -> Self {
        while digits != 0 && digits.is_multiple_of(10) {
            digits /= 10;
            exponent += 1;
        }
        Self { digits, exponent }
    }
}

/// Space for one float in scientific notation: at most 17 digits, a point, `e`, a sign and three
/// digits.
#[derive(Default)]
struct ShortText {
    bytes: [u8; 32],
    length: usize,
}

impl ShortText {
    fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.length]).unwrap_or_default()
    }
}

impl std::fmt::Write for ShortText {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let end = self.length + text.len();
        let room = self
            .bytes
            .get_mut(self.length..end)
            .ok_or(std::fmt::Error)?;
        room.copy_from_slice(text.as_bytes());
        self.length = end;
        Ok(())
    }
}

fn order_mixed(integer: i128, float: f64) -> Option<Ordering> {
    if float.is_nan() {
        return None;
    }
    match truncated(float) {
        Some(whole) => Some(integer.cmp(&whole).then(if float.fract() > 0.0 {
            Ordering::Less
        } else if float.fract() < 0.0 {
            Ordering::Greater
        } else {
            Ordering::Equal
        })),
        None if float > 0.0 => Some(Ordering::Less),
        None => Some(Ordering::Greater),
    }
}

fn truncated(float: f64) -> Option<i128> {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the range was compared before"
    )]
    (float.abs() < BEYOND_I128).then_some(float as i128)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn num(text: &str) -> Num {
        Num::of(&serde_json::from_str(text).expect("a number"))
    }

    fn divides(value: &str, divisor: &str) -> bool {
        let decimal = |text| Decimal::of(num(text)).expect("finite");
        decimal(value).is_multiple_of(decimal(divisor))
    }

    #[test]
    fn integers_beyond_double_precision_are_told_apart() {
        let (low, high) = (num("9007199254740992"), num("9007199254740993"));
        assert_eq!(low.order(high), Some(Ordering::Less));
        assert_eq!(num("9007199254740992.0").order(high), Some(Ordering::Less));
        assert_eq!(
            num("18446744073709551615").order(num("1e300")),
            Some(Ordering::Less)
        );
        assert_eq!(
            num("-1e300").order(num("-9223372036854775808")),
            Some(Ordering::Less)
        );
    }

    #[test]
    fn fractions_decide_between_an_integer_and_a_float() {
        assert_eq!(num("5").order(num("5.5")), Some(Ordering::Less));
        assert_eq!(num("-5").order(num("-5.5")), Some(Ordering::Greater));
        assert_eq!(num("5").order(num("5.0")), Some(Ordering::Equal));
    }

    #[test]
    fn multiples_are_decimal_not_binary() {
        assert!(divides("4.02", "0.01"));
        assert!(divides("19.99", "0.01"));
        assert!(!divides("0.00751", "0.0001"));
        assert!(divides("1e308", "0.5"));
        assert!(!divides("1e308", "0.123456789"));
        assert!(divides("0", "3"));
        assert!(!divides("35", "100"));
        assert!(divides("9007199254740993", "3"));
    }

    #[test]
    fn a_float_without_fraction_becomes_the_integer_it_is() {
        assert_eq!(num("5.0").to_integer(), Some(Number::from(5)));
        assert_eq!(num("5.5").to_integer(), None);
        assert_eq!(num("1e30").to_integer(), None);
    }
}
