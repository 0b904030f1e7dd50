//! Limits of form fields: bounds, lengths, formats, counts and defaults.
//!
//! Each kind of limit is a trait for the fields that support it. So the compiler reports a limit
//! that a field of a `#[derive(Form)]` cannot have, such as a length on a number.

use serde::Serialize;
use turnbuckle_protocol::{PrimitiveSchema, StringFormat};

use super::{
    Choice,
    choice::{ChoiceField, ChoicesField},
    form_field::{BooleanField, NumberField, TextField, json},
};

/// A field with a minimum and a maximum.
#[diagnostic::on_unimplemented(
    message = "`min` and `max` are for numbers",
    label = "this is a `{Self}`",
    note = "text takes `min_length` and `max_length`, lists of choices take `min_items` and `max_items`"
)]
pub trait Ranged {
    /// The type of the bounds.
    type Bound;

    /// Sets the smallest value that is accepted.
    fn minimum(&mut self, least: Self::Bound);

    /// Sets the largest value that is accepted.
    fn maximum(&mut self, most: Self::Bound);
}

impl<T: Serialize> Ranged for NumberField<T> {
    type Bound = T;

    fn minimum(&mut self, least: T) {
        self.schema.minimum = json(&least);
    }

    fn maximum(&mut self, most: T) {
        self.schema.maximum = json(&most);
    }
}

/// A field of text, which has a length and a format.
#[diagnostic::on_unimplemented(
    message = "`min_length`, `max_length` and `format` are for text",
    label = "this is a `{Self}`",
    note = "numbers take `min` and `max`, lists of choices take `min_items` and `max_items`"
)]
pub trait Worded {
    /// Sets the minimum length, in characters.
    fn min_length(&mut self, least: u64);

    /// Sets the maximum length, in characters.
    fn max_length(&mut self, most: u64);

    /// Accepts only text of this format.
    fn format(&mut self, format: StringFormat);
}

impl Worded for TextField {
    fn min_length(&mut self, least: u64) {
        self.0.min_length = Some(least);
    }

    fn max_length(&mut self, most: u64) {
        self.0.max_length = Some(most);
    }

    fn format(&mut self, format: StringFormat) {
        self.0.format = Some(format);
    }
}

/// A field in which several options can be chosen.
#[diagnostic::on_unimplemented(
    message = "`min_items` and `max_items` are for lists of choices",
    label = "this is a `{Self}`",
    note = "numbers take `min` and `max`, text takes `min_length` and `max_length`"
)]
pub trait Counted {
    /// Sets the minimum number of chosen options.
    fn min_items(&mut self, least: u64);

    /// Sets the maximum number of chosen options.
    fn max_items(&mut self, most: u64);
}

impl<C> Counted for ChoicesField<C> {
    fn min_items(&mut self, least: u64) {
        self.least = Some(least);
    }

    fn max_items(&mut self, most: u64) {
        self.most = Some(most);
    }
}

/// A field that can have a default.
#[diagnostic::on_unimplemented(
    message = "`{V}` is not a default for a `{Self}`",
    label = "not a value of the field's type",
    note = "write the value as in the struct: a number, text in quotes, `true`, a \
            variant, or an array of variants"
)]
pub trait Preset<V> {
    /// Sets the default, which the form shows at first.
    fn preset(&mut self, value: V);
}

impl Preset<&str> for TextField {
    fn preset(&mut self, value: &str) {
        self.0.default = Some(value.to_owned());
    }
}

impl<T: Serialize> Preset<T> for NumberField<T> {
    fn preset(&mut self, value: T) {
        self.schema.default = json(&value);
    }
}

impl Preset<bool> for BooleanField {
    fn preset(&mut self, value: bool) {
        self.0.default = Some(value);
    }
}

impl<C: Choice> Preset<C> for ChoiceField<C> {
    fn preset(&mut self, value: C) {
        self.default = Some(value.value().to_owned());
    }
}

impl<C: Choice, const N: usize> Preset<[C; N]> for ChoicesField<C> {
    fn preset(&mut self, value: [C; N]) {
        self.default = Some(value.iter().map(|one| one.value().to_owned()).collect());
    }
}

/// Returns the schema of a field with this title and description.
pub fn label(
    field: impl Into<PrimitiveSchema>,
    title: Option<&str>,
    description: Option<&str>,
) -> PrimitiveSchema {
    let mut field = field.into();
    if let Some(title) = title {
        field = field.with_title(title);
    }
    if let Some(description) = description {
        field = field.with_description(description);
    }
    field
}

/// Counts the characters of a text, at compile time.
pub const fn characters(text: &str) -> u64 {
    let bytes = text.as_bytes();
    let (mut index, mut count) = (0, 0);
    while index < bytes.len() {
        // Bytes of the form 10xxxxxx belong to the character before.
        if bytes[index] & 0b1100_0000 != 0b1000_0000 {
            count += 1;
        }
        index += 1;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_counted_not_bytes() {
        for text in ["", "abc", "äöü", "日本語", "a\u{301}"] {
            assert_eq!(characters(text), text.chars().count() as u64, "{text}");
        }
    }
}
