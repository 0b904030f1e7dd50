//! Compares the rules for one value in a schema, and decides whether a change breaks callers.

use serde_json::Value;

use super::{Effect, offer::became, schema::Comparison};

/// Rules that are narrower with a larger value.
const LEAST: [&str; 5] = [
    "minimum",
    "exclusiveMinimum",
    "minLength",
    "minItems",
    "minProperties",
];

/// Rules that are narrower with a smaller value.
const MOST: [&str; 5] = [
    "maximum",
    "exclusiveMaximum",
    "maxLength",
    "maxItems",
    "maxProperties",
];

/// Rules that make a schema narrower, but whose values cannot be compared with each other.
const OTHERS: [&str; 14] = [
    "pattern",
    "format",
    "multipleOf",
    "uniqueItems",
    "allOf",
    "not",
    "if",
    "then",
    "else",
    "prefixItems",
    "patternProperties",
    "dependentRequired",
    "dependentSchemas",
    "unevaluatedProperties",
];

/// Members that only people and models read.
const WORDS: [&str; 4] = ["title", "description", "examples", "deprecated"];

/// Compares the rules for one value.
pub(super) fn compare(at: &mut Comparison<'_, '_, '_>, path: &str, was: &Value, is: &Value) {
    choices(at, path, was, is);
    for (rules, larger_is_narrower) in [(LEAST, true), (MOST, false)] {
        for rule in rules {
            bound(at, path, rule, &was[rule], &is[rule], larger_is_narrower);
        }
    }
    for rule in OTHERS {
        match (was.get(rule), is.get(rule)) {
            (None, Some(_)) => at.judge(path, true, format!("the rule `{rule}` was added")),
            (Some(_), None) => at.judge(path, false, format!("the rule `{rule}` was removed")),
            (Some(was), Some(is)) if was != is => {
                let what = format!("the rule `{rule}` changed {}", became(was, is));
                at.of.say(Effect::Breaking, path, what);
            }
            _ => {}
        }
    }
    if was.get("default") != is.get("default") {
        let what = format!(
            "its default changed {}",
            became(&was["default"], &is["default"])
        );
        at.of.say(Effect::Compatible, path, what);
    }
    for word in WORDS {
        // Texts of the root schema are reported with those of the tool itself.
        if !path.is_empty() && was.get(word) != is.get(word) {
            at.of
                .say(Effect::Wording, path, format!("its {word} changed"));
        }
    }
}

fn choices(at: &mut Comparison<'_, '_, '_>, path: &str, was: &Value, is: &Value) {
    let (was, is) = (chosen(was), chosen(is));
    match (was, is) {
        (Some(was), Some(is)) => {
            for gone in was.iter().filter(|choice| !is.contains(choice)) {
                at.judge(path, true, format!("{gone} is no longer a choice"));
            }
            for added in is.iter().filter(|choice| !was.contains(choice)) {
                at.judge(path, false, format!("{added} is now a choice"));
            }
        }
        (None, Some(_)) => at.judge(path, true, "only certain values are now allowed"),
        (Some(_), None) => at.judge(path, false, "any value is now allowed"),
        (None, None) => {}
    }
}

/// The allowed values, if `const` or `enum` lists them.
fn chosen(schema: &Value) -> Option<Vec<&Value>> {
    match (schema.get("const"), &schema["enum"]) {
        (Some(one), _) => Some(vec![one]),
        (None, Value::Array(choices)) => Some(choices.iter().collect()),
        _ => None,
    }
}

fn bound(
    at: &mut Comparison<'_, '_, '_>,
    path: &str,
    rule: &str,
    was: &Value,
    is: &Value,
    larger_is_narrower: bool,
) {
    if was == is {
        return;
    }
    let is_narrower = match (was.as_f64(), is.as_f64()) {
        (Some(was), Some(is)) => (is > was) == larger_is_narrower,
        (_, None) => false,
        (None, Some(_)) => true,
    };
    at.judge(
        path,
        is_narrower,
        format!("`{rule}` changed {}", became(was, is)),
    );
}
