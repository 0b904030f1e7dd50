//! The order of templates that match the same URI.

use std::cmp::Reverse;

use super::encode::Allow;
use super::expression::{Modifier, Part};
use super::unit::Units;

/// How specific a template is; a greater value is more specific.
///
/// A template with more literal characters is more specific. Among equals it is the template with
/// fewer variables that can hold more than one value or segment (`{+a}`, `{#a}`, `{a*}`), then the
/// one with fewer variables, then the one with the longer literal start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Specificity {
    // The derived order compares the fields from top to bottom.
    literals: usize,
    spans: Reverse<usize>,
    variables: Reverse<usize>,
    start: usize,
}

impl Specificity {
    pub(super) fn new(parts: &[Part]) -> Self {
        let (mut literals, mut spans, mut variables) = (0, 0, 0);
        for part in parts {
            match part {
                Part::Literal(text) => literals += Units::new(text).count(),
                Part::Expression(expression) => {
                    let is_wide = expression.operator.allow() == Allow::Reserved;
                    let spanning = expression.variables.iter();
                    spans += spanning
                        .filter(|variable| is_wide || variable.modifier == Modifier::Explode)
                        .count();
                    variables += expression.variables.len();
                }
            }
        }
        let start = match parts.first() {
            Some(Part::Literal(text)) => Units::new(text).count(),
            _ => 0,
        };
        Self {
            literals,
            spans: Reverse(spans),
            variables: Reverse(variables),
            start,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Template;

    #[test]
    fn the_closer_description_is_greater() {
        let pairs = [
            ("note://a/b", "note://a/{id}"),
            ("note://a/{id}", "note://{folder}/b"),
            ("note://{a}/{b}", "note://{a}"),
            ("note://{id}", "note://{+path}"),
            ("note://{id}{?page}", "note://{+path}"),
            ("note://{id}", "note://{id}{?page}"),
            ("note://x{/id}", "note://x{/id*}"),
            ("note://é", "note://{id}"),
        ];
        for (closer, wider) in pairs {
            let parse = |text| Template::parse(text).expect(text);
            let (closer, wider) = (parse(closer), parse(wider));
            assert!(
                closer.specificity() > wider.specificity(),
                "{closer} {wider}"
            );
            assert!(closer.precedence(&wider).is_lt(), "{closer} {wider}");
            assert!(wider.precedence(&closer).is_gt(), "{closer} {wider}");
        }
    }

    #[test]
    fn sorting_has_one_outcome() {
        let mut texts = ["x://{b}", "x://{a}", "x://{+a}", "x://y", "x://{a}{b}"];
        let expected = ["x://y", "x://{a}", "x://{b}", "x://{a}{b}", "x://{+a}"];
        for _ in 0..texts.len() {
            texts.rotate_left(1);
            let mut templates = texts.map(|text| Template::parse(text).expect(text));
            templates.sort_by(Template::precedence);
            assert_eq!(templates.each_ref().map(Template::as_str), expected);
        }
    }
}
