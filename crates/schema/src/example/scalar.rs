//! Strings and numbers for examples: takes the first of a few candidates that all rules accept.

use serde_json::{Number, Value};

use crate::check::{Place, Run, Verdict};
use crate::kind::Kinds;
use crate::limits::MAX_EXAMPLE_CHARS;
use crate::node::{Node, NumberRules, TextRules};
use crate::number::Num;
use crate::violation::Keyword;

/// The example of a string without further rules.
const PLACEHOLDER: &str = "text";

pub(super) fn text(run: &mut Run<'_>, nodes: &[&Node], nth: usize) -> Option<Value> {
    let rules: Vec<&TextRules> = nodes
        .iter()
        .filter_map(|node| node.text.as_deref())
        .collect();
    let least = rules.iter().map(|rules| rules.least).max().unwrap_or(0);
    let least = usize::try_from(least)
        .ok()
        .filter(|least| *least <= MAX_EXAMPLE_CHARS)?;
    let most = rules.iter().filter_map(|rules| rules.most).min();
    let most = most
        .and_then(|most| usize::try_from(most).ok())
        .unwrap_or(usize::MAX);
    let mut accepted = |text: &String| {
        rules.iter().all(|rules| {
            rules
                .check(run, text, &Place::ROOT, &mut Verdict)
                .is_continue()
        })
    };
    let formatted = rules
        .iter()
        .find_map(|rules| rules.format)
        .map(|format| format.sample().to_owned());
    let patterns = rules.iter().filter_map(|rules| rules.pattern.as_deref());
    let matching = patterns.flat_map(|pattern| {
        // Adds more and more repetitions until the length is right too.
        (0..=least.max(1)).filter_map(|extra| pattern.sample(extra))
    });
    let text = formatted
        .into_iter()
        .chain([placeholder(least, most, nth)])
        .chain(matching)
        .find(|text| accepted(text))?;
    Some(Value::String(text))
}

pub(super) fn number(kind: Kinds, nodes: &[&Node], nth: usize) -> Option<Value> {
    let rules: Vec<&NumberRules> = nodes
        .iter()
        .filter_map(|node| node.number.as_deref())
        .collect();
    let accepted = |number: &Number| {
        kind.admits(&Value::Number(number.clone()))
            && rules.iter().all(|rules| {
                rules
                    .check(number, &Place::ROOT, &mut Verdict)
                    .is_continue()
            })
    };
    let mut numbers: Vec<Number> = Vec::new();
    for candidate in candidates(&rules, nth).filter(accepted) {
        if !numbers.contains(&candidate) {
            numbers.push(candidate);
        }
    }
    let chosen = numbers.into_iter().nth(nth)?;
    Some(Value::Number(chosen))
}

fn placeholder(least: usize, most: usize, nth: usize) -> String {
    let mut text = PLACEHOLDER.to_owned();
    if nth > 0 {
        text = format!("{text}{nth}");
    }
    while text.len() < least {
        text.push('x');
    }
    text.chars().take(most).collect()
}

/// Numbers in and around the bounds, and multiples of `multipleOf` from there.
fn candidates(rules: &[&NumberRules], nth: usize) -> impl Iterator<Item = Number> + use<> {
    let bounds: Vec<(Keyword, f64)> = rules
        .iter()
        .flat_map(|rules| rules.bounds.iter())
        .filter_map(|bound| Some((bound.keyword, bound.written.as_f64()?)))
        .collect();
    let written: Vec<Number> = rules
        .iter()
        .flat_map(|rules| rules.bounds.iter())
        .map(|bound| bound.written.clone())
        .collect();
    let is_lower =
        |keyword: Keyword| matches!(keyword, Keyword::Minimum | Keyword::ExclusiveMinimum);
    let lower = bounds
        .iter()
        .filter(|(keyword, _)| is_lower(*keyword))
        .map(|(_, bound)| *bound);
    let upper = bounds
        .iter()
        .filter(|(keyword, _)| !is_lower(*keyword))
        .map(|(_, bound)| *bound);
    let (lower, upper) = (lower.reduce(f64::max), upper.reduce(f64::min));
    let start = lower.or(upper).unwrap_or(1.0);
    let middle = lower
        .zip(upper)
        .map(|(lower, upper)| f64::midpoint(lower, upper));
    let step = rules
        .iter()
        .find_map(|rules| rules.multiple_of())
        .and_then(Number::as_f64);
    let direction = if lower.is_none() && upper.is_some() {
        -1.0
    } else {
        1.0
    };
    let unit = step.unwrap_or(1.0);
    let base = (start / unit).floor();
    let spread = u32::try_from(nth).unwrap_or(0) + 3;
    let around = (0..spread).map(move |count| (base + direction * f64::from(count)) * unit);
    let plain = [1.0, 0.0].into_iter().filter(move |_| step.is_none());
    let floats = plain.chain(around).chain(middle).chain(step);
    // Bounds are taken exactly as written; the other candidates come from arithmetic on floats, which the caller
    // checks.
    let numbers = floats.filter_map(|float| {
        let whole = Number::from_f64(float).and_then(|number| Num::of(&number).to_integer());
        whole.or_else(|| Number::from_f64(float))
    });
    numbers.chain(written)
}
