//! `rename_all`: how the names of fields and variants are written, with the rules of serde.

use syn::LitStr;

use crate::nearest::nearest;

/// The rules, by their names in attributes.
const RULES: [(&str, Rule); 8] = [
    ("lowercase", Rule::Lower),
    ("UPPERCASE", Rule::Upper),
    ("PascalCase", Rule::Pascal),
    ("camelCase", Rule::Camel),
    ("snake_case", Rule::Snake),
    ("SCREAMING_SNAKE_CASE", Rule::ScreamingSnake),
    ("kebab-case", Rule::Kebab),
    ("SCREAMING-KEBAB-CASE", Rule::ScreamingKebab),
];

/// A way of writing names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Rule {
    #[default]
    AsWritten,
    Lower,
    Upper,
    Pascal,
    Camel,
    Snake,
    ScreamingSnake,
    Kebab,
    ScreamingKebab,
}

impl Rule {
    pub(crate) fn parse(word: &LitStr) -> syn::Result<Self> {
        let text = word.value();
        let words = RULES.iter().map(|(word, _)| *word);
        RULES
            .iter()
            .find_map(|(known, rule)| (*known == text).then_some(*rule))
            .ok_or_else(|| {
                let hint = match nearest(&text, words.clone()) {
                    Some(near) => format!("did you mean `{near}`? "),
                    None => String::new(),
                };
                let known = words.collect::<Vec<_>>().join(", ");
                let message = format!("`{text}` is not a naming style: {hint}there are {known}");
                syn::Error::new(word.span(), message)
            })
    }

    /// Applies the rule to a field, which Rust writes in `snake_case`.
    pub(crate) fn field(self, name: &str) -> String {
        match self {
            Self::AsWritten | Self::Lower | Self::Snake => name.to_owned(),
            Self::Upper | Self::ScreamingSnake => name.to_ascii_uppercase(),
            Self::Pascal => name.split('_').map(capitalised).collect(),
            Self::Camel => lower_first(&Self::Pascal.field(name)),
            Self::Kebab => name.replace('_', "-"),
            Self::ScreamingKebab => name.to_ascii_uppercase().replace('_', "-"),
        }
    }

    /// Applies the rule to a variant, which Rust writes in `PascalCase`.
    pub(crate) fn variant(self, name: &str) -> String {
        match self {
            Self::AsWritten | Self::Pascal => name.to_owned(),
            Self::Lower => name.to_ascii_lowercase(),
            Self::Upper => name.to_ascii_uppercase(),
            Self::Camel => lower_first(name),
            Self::Snake => snake(name),
            Self::ScreamingSnake => snake(name).to_ascii_uppercase(),
            Self::Kebab => snake(name).replace('_', "-"),
            Self::ScreamingKebab => snake(name).to_ascii_uppercase().replace('_', "-"),
        }
    }
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

fn lower_first(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters.next().map(|first| first.to_ascii_lowercase());
    first.into_iter().chain(letters).collect()
}

fn snake(name: &str) -> String {
    let mut snake = String::new();
    for (index, letter) in name.char_indices() {
        if index > 0 && letter.is_uppercase() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use proc_macro2::Span;

    use super::*;

    fn rule(word: &str) -> syn::Result<Rule> {
        Rule::parse(&LitStr::new(word, Span::call_site()))
    }

    #[test]
    fn names_are_written_as_serde_writes_them() {
        for (word, field, variant) in [
            ("lowercase", "seat_row", "bytheaisle"),
            ("UPPERCASE", "SEAT_ROW", "BYTHEAISLE"),
            ("PascalCase", "SeatRow", "ByTheAisle"),
            ("camelCase", "seatRow", "byTheAisle"),
            ("snake_case", "seat_row", "by_the_aisle"),
            ("SCREAMING_SNAKE_CASE", "SEAT_ROW", "BY_THE_AISLE"),
            ("kebab-case", "seat-row", "by-the-aisle"),
            ("SCREAMING-KEBAB-CASE", "SEAT-ROW", "BY-THE-AISLE"),
        ] {
            let rule = rule(word).expect("a rule");
            assert_eq!(rule.field("seat_row"), field);
            assert_eq!(rule.variant("ByTheAisle"), variant);
        }
    }

    #[test]
    fn a_misspelt_rule_is_told_its_name() {
        let error = rule("camel_case").unwrap_err().to_string();
        assert!(
            error.contains("`camel_case` is not a naming style"),
            "{error}"
        );
        let error = rule("kebabcase").unwrap_err().to_string();
        assert!(error.contains("did you mean `kebab-case`?"), "{error}");
    }
}
