//! Durations in options: `timeout = "30s"`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Expr, ExprLit, Lit, LitStr};

use crate::mistakes::Mistakes;

/// Milliseconds in each unit. `ms` comes first, because `m` and `s` are parts of it.
const UNITS: [(&str, u64); 4] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)];

/// The `Duration` that was written: text such as `"30s"`, or an expression that gives one.
pub(crate) fn expression(written: &Expr, mistakes: &mut Mistakes) -> TokenStream {
    let Expr::Lit(ExprLit { lit, .. }) = written else {
        return quote!(#written);
    };
    let milliseconds = match lit {
        Lit::Str(text) => read(text, mistakes),
        other => {
            mistakes.at(
                other,
                "write a unit: `\"30s\"`, `\"500ms\"`, `\"5m\"` or `\"1h\"`",
            );
            0
        }
    };
    quote!(::core::time::Duration::from_millis(#milliseconds))
}

fn read(text: &LitStr, mistakes: &mut Mistakes) -> u64 {
    let value = text.value();
    let milliseconds = UNITS.iter().find_map(|(unit, factor)| {
        let number = value.strip_suffix(unit)?.trim_end();
        number.parse::<u64>().ok()?.checked_mul(*factor)
    });
    if milliseconds == Some(0) {
        let said = "a timeout must be longer than zero; leave `timeout` out if there is no limit";
        mistakes.at(text, said);
    }
    milliseconds.unwrap_or_else(|| {
        mistakes.at(
            text,
            format!(
                "`{value}` is not a time: write a whole number and a unit, such as `30s`, `500ms`, \
                 `5m` or `1h`"
            ),
        );
        0
    })
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    #[test]
    fn times_have_units() {
        for (written, milliseconds) in [
            ("500ms", 500_u64),
            ("30s", 30_000),
            ("5 m", 300_000),
            ("1h", 3_600_000),
        ] {
            let mut mistakes = Mistakes::default();
            let time = expression(&parse_quote!(#written), &mut mistakes);
            let expected = quote!(::core::time::Duration::from_millis(#milliseconds));
            assert_eq!(time.to_string(), expected.to_string(), "{written}");
        }
    }

    #[test]
    fn an_expression_is_passed_on() {
        let mut mistakes = Mistakes::default();
        let time = expression(&parse_quote!(Duration::from_secs(3)), &mut mistakes);
        assert_eq!(time.to_string(), quote!(Duration::from_secs(3)).to_string());
    }
}
