//! Forms: from a Rust type to form fields, and from the answer to the type.

use std::{any::type_name, borrow::Cow, collections::BTreeMap};

use turnbuckle_protocol::{ElicitResult, ElicitSchema, ElicitValue, PrimitiveSchema};
use turnbuckle_session::round::FormSchema;

use super::FormField;
use crate::FieldError;

/// A form that a user can fill in: a flat set of text, numbers, booleans and choices.
///
/// `#[derive(Form)]` of the `turnbuckle` crate implements it for a struct, and rejects fields that
/// clients cannot show. To implement it by hand, write two functions:
///
/// ```
/// use turnbuckle_protocol::ElicitSchema;
/// use turnbuckle_server::{FormValues, Form, FormField, FieldError};
///
/// struct Seat {
///     row: u8,
/// }
///
/// impl Form for Seat {
///     fn schema() -> ElicitSchema {
///         ElicitSchema::new().with_required("row", u8::schema())
///     }
///
///     fn read(filled: &mut FormValues) -> Result<Self, FieldError> {
///         Ok(Self { row: filled.take("row")? })
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a form",
    label = "not a form",
    note = "write `#[derive(Form)]` on a struct whose fields are text, numbers, booleans or choices; \
            a form that is made at run time goes to `form_of`"
)]
pub trait Form: Sized {
    /// Returns the fields, in the order in which they are shown.
    fn schema() -> ElicitSchema;

    /// Returns the fields as a value that all questions can share. By default it is made each time;
    /// `#[derive(Form)]` makes it once.
    fn shared() -> Cow<'static, FormSchema> {
        Cow::Owned(FormSchema::new(Self::schema()))
    }

    /// Converts the values that the user filled in. They have been checked against the schema.
    ///
    /// # Errors
    /// [`FieldError`] if the type does not accept a value that the schema allows.
    fn read(filled: &mut FormValues) -> Result<Self, FieldError>;
}

/// A form without fields: the user can only agree, or not.
impl Form for () {
    fn schema() -> ElicitSchema {
        ElicitSchema::new()
    }

    fn read(_filled: &mut FormValues) -> Result<Self, FieldError> {
        Ok(())
    }
}

/// The values that a user filled in: one for each field that is not empty. A [`Form`] reads its
/// fields from it.
#[derive(Debug, Default)]
pub struct FormValues(BTreeMap<String, ElicitValue>);

impl FormValues {
    /// Takes the value of a field. For an empty optional field, the value is `None`.
    ///
    /// # Errors
    /// If a required field is empty, or if the type does not accept the value.
    pub fn take<T: FormField>(&mut self, name: &str) -> Result<T, FieldError> {
        match self.0.remove(name) {
            Some(value) => read(name, value),
            None => T::EMPTY.map_or_else(|| Err(FieldError::missing(name)), |empty| Ok(empty())),
        }
    }

    /// Takes the value of a field, or `empty()` if the field was left empty.
    ///
    /// # Errors
    /// If the type does not accept the value.
    pub fn take_or<T: FormField>(
        &mut self,
        name: &str,
        empty: impl FnOnce() -> T,
    ) -> Result<T, FieldError> {
        match self.0.remove(name) {
            Some(value) => read(name, value),
            None => Ok(empty()),
        }
    }

    /// Takes the value of a field, or its default in the form if the field was left empty. An
    /// `Option` is `None` then, because the user has removed the default.
    ///
    /// # Errors
    /// If the type does not accept the value, or if the field is empty and has no default.
    pub fn take_or_preset<T: FormField>(
        &mut self,
        name: &str,
        form: &ElicitSchema,
    ) -> Result<T, FieldError> {
        if T::EMPTY.is_none() && !self.0.contains_key(name) {
            let preset = form
                .properties
                .get(name)
                .and_then(PrimitiveSchema::default_value);
            return preset
                .map_or_else(|| Err(FieldError::missing(name)), |value| read(name, value));
        }
        self.take(name)
    }
}

impl From<ElicitResult> for FormValues {
    fn from(result: ElicitResult) -> Self {
        Self(result.content.into_iter().flatten().collect())
    }
}

fn read<T: FormField>(name: &str, value: ElicitValue) -> Result<T, FieldError> {
    T::read(value)
        .ok_or_else(|| FieldError::new(name, format!("cannot be read as `{}`", type_name::<T>())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handler::ask::form_limit::Preset as _;

    fn form() -> ElicitSchema {
        let mut row = u8::schema();
        row.preset(3);
        ElicitSchema::new().with("row", row)
    }

    #[test]
    fn a_field_left_empty_is_what_the_form_showed_at_first() {
        let row: u8 = FormValues::default()
            .take_or_preset("row", &form())
            .unwrap();
        assert_eq!(row, 3);
        let taken_away: Option<u8> = FormValues::default()
            .take_or_preset("row", &form())
            .unwrap();
        assert_eq!(taken_away, None);
        let other: u8 = FormValues::default().take_or("row", || 9).unwrap();
        assert_eq!(other, 9);
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let mut filled = FormValues([("row".to_owned(), ElicitValue::Number(300.into()))].into());
        let misfit = filled.take::<u8>("row").unwrap_err();
        assert_eq!(misfit.to_string(), "field `row` cannot be read as `u8`");
        let missing = filled.take::<u8>("row").unwrap_err();
        assert_eq!(missing.to_string(), "field `row` is missing");
    }
}
