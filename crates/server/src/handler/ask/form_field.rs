//! The fields of a form, and the Rust types of their values.

use std::marker::PhantomData;

use serde_json::Number;
use turnbuckle_protocol::{
    BooleanSchema, ElicitValue, NumberSchema, PrimitiveSchema, StringSchema,
};

/// A type that can be a field of a form.
///
/// Implemented for text (`String`, `char`), numbers, booleans, enums with `#[derive(Choice)]`,
/// lists and sets of these enums, and for `Option` of each of these, which the user may leave
/// empty. You can implement it for a newtype.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a field of a form",
    label = "not text, a number, a boolean or a choice",
    note = "forms are flat, so that any client can show them: use `String`, `char`, an integer, a \
            float, `bool`, an enum with `#[derive(Choice)]`, a `Vec` of such an enum, or `Option` of \
            one of these; ask for more with another form"
)]
pub trait FormField: Sized {
    /// The schema of the field.
    type Schema: Into<PrimitiveSchema>;

    /// Returns the value of a field that was left empty. `None` for types that must be filled in.
    const EMPTY: Option<fn() -> Self> = None;

    /// Returns the schema of the field.
    fn schema() -> Self::Schema;

    /// Converts the value that the user filled in; `None` if it is not of this type.
    fn read(value: ElicitValue) -> Option<Self>;
}

impl<T: FormField> FormField for Option<T> {
    type Schema = T::Schema;

    const EMPTY: Option<fn() -> Self> = Some(|| None);

    fn schema() -> T::Schema {
        T::schema()
    }

    fn read(value: ElicitValue) -> Option<Self> {
        T::read(value).map(Some)
    }
}

/// A form field for text.
#[derive(Clone, Debug, Default)]
pub struct TextField(pub(super) StringSchema);

impl From<TextField> for PrimitiveSchema {
    fn from(field: TextField) -> Self {
        field.0.into()
    }
}

impl FormField for String {
    type Schema = TextField;

    fn schema() -> TextField {
        TextField::default()
    }

    fn read(value: ElicitValue) -> Option<Self> {
        match value {
            ElicitValue::Text(text) => Some(text),
            _ => None,
        }
    }
}

impl FormField for char {
    type Schema = TextField;

    fn schema() -> TextField {
        TextField(StringSchema::new().with_min_length(1).with_max_length(1))
    }

    fn read(value: ElicitValue) -> Option<Self> {
        let text = String::read(value)?;
        let mut letters = text.chars();
        letters.next().filter(|_| letters.as_str().is_empty())
    }
}

/// A form field for yes or no.
#[derive(Clone, Debug, Default)]
pub struct BooleanField(pub(super) BooleanSchema);

impl From<BooleanField> for PrimitiveSchema {
    fn from(field: BooleanField) -> Self {
        field.0.into()
    }
}

impl FormField for bool {
    type Schema = BooleanField;

    fn schema() -> BooleanField {
        BooleanField::default()
    }

    fn read(value: ElicitValue) -> Option<Self> {
        match value {
            ElicitValue::Boolean(choice) => Some(choice),
            _ => None,
        }
    }
}

/// A form field for a number of one type.
#[derive(Clone, Debug)]
pub struct NumberField<T> {
    pub(super) schema: NumberSchema,
    of: PhantomData<T>,
}

impl<T> From<NumberField<T>> for PrimitiveSchema {
    fn from(field: NumberField<T>) -> Self {
        field.schema.into()
    }
}

impl<T> NumberField<T> {
    fn whole(minimum: Option<Number>, maximum: Option<Number>) -> Self {
        let mut schema = NumberSchema::integer();
        schema.minimum = minimum;
        schema.maximum = maximum;
        Self {
            schema,
            of: PhantomData,
        }
    }

    fn any() -> Self {
        Self {
            schema: NumberSchema::default(),
            of: PhantomData,
        }
    }
}

/// Converts a Rust number to a JSON number. `None` for NaN and the infinities, which JSON does not
/// have; such a bound is omitted.
pub(super) fn json<T: serde::Serialize>(number: &T) -> Option<Number> {
    match serde_json::to_value(number) {
        Ok(serde_json::Value::Number(number)) => Some(number),
        _ => None,
    }
}

/// Integers. The schema has bounds for integers of up to 32 bits. It has no bounds for 64 bits,
/// because many clients use floats and would round the bounds.
macro_rules! whole {
    ($($type:ident: $minimum:expr, $maximum:expr;)*) => {$(
        impl FormField for $type {
            type Schema = NumberField<Self>;

            fn schema() -> NumberField<Self> {
                NumberField::whole($minimum, $maximum)
            }

            fn read(value: ElicitValue) -> Option<Self> {
                let ElicitValue::Number(number) = value else {
                    return None;
                };
                number.as_i128()?.try_into().ok()
            }
        }
    )*};
}

whole! {
    u8: Some(Self::MIN.into()), Some(Self::MAX.into());
    u16: Some(Self::MIN.into()), Some(Self::MAX.into());
    u32: Some(Self::MIN.into()), Some(Self::MAX.into());
    u64: Some(Self::MIN.into()), None;
    usize: Some(Self::MIN.into()), None;
    i8: Some(Self::MIN.into()), Some(Self::MAX.into());
    i16: Some(Self::MIN.into()), Some(Self::MAX.into());
    i32: Some(Self::MIN.into()), Some(Self::MAX.into());
    i64: None, None;
    isize: None, None;
}

impl FormField for f64 {
    type Schema = NumberField<Self>;

    fn schema() -> NumberField<Self> {
        NumberField::any()
    }

    fn read(value: ElicitValue) -> Option<Self> {
        match value {
            ElicitValue::Number(number) => number.as_f64(),
            _ => None,
        }
    }
}

impl FormField for f32 {
    type Schema = NumberField<Self>;

    fn schema() -> NumberField<Self> {
        NumberField::any()
    }

    fn read(value: ElicitValue) -> Option<Self> {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the author chose fewer digits"
        )]
        f64::read(value).map(|number| number as Self)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told<T: FormField>() -> serde_json::Value {
        let schema: PrimitiveSchema = T::schema().into();
        serde_json::to_value(schema).unwrap()
    }

    fn given<T: FormField>(value: serde_json::Value) -> Option<T> {
        T::read(serde_json::from_value(value).unwrap())
    }

    #[test]
    fn each_type_tells_what_it_takes() {
        assert_eq!(told::<String>(), json!({"type": "string"}));
        assert_eq!(told::<bool>(), json!({"type": "boolean"}));
        assert_eq!(told::<f32>(), json!({"type": "number"}));
        assert_eq!(told::<i64>(), json!({"type": "integer"}));
        assert_eq!(told::<usize>(), json!({"type": "integer", "minimum": 0}));
        assert_eq!(
            told::<Option<i8>>(),
            json!({"type": "integer", "minimum": -128, "maximum": 127})
        );
        assert_eq!(
            told::<char>(),
            json!({"type": "string", "minLength": 1, "maxLength": 1})
        );
    }

    #[test]
    fn values_are_read_as_their_type_or_not_at_all() {
        assert_eq!(given::<u8>(json!(255)), Some(255));
        assert_eq!(given::<u8>(json!(256)), None);
        assert_eq!(given::<u64>(json!(u64::MAX)), Some(u64::MAX));
        assert_eq!(given::<i64>(json!(-1)), Some(-1));
        assert_eq!(given::<Option<u8>>(json!(3)), Some(Some(3)));
        assert_eq!(given::<f64>(json!(1)), Some(1.0));
        assert_eq!(given::<char>(json!("é")), Some('é'));
        assert_eq!(given::<char>(json!("ab")), None);
        assert_eq!(given::<String>(json!(true)), None);
        assert_eq!(given::<bool>(json!("true")), None);
    }
}
