//! Form fields for one or several values of a list.

use std::{
    collections::{BTreeSet, HashSet},
    fmt,
    hash::{BuildHasher, Hash},
    marker::PhantomData,
};

use turnbuckle_protocol::{
    ElicitValue, EnumOption, PrimitiveSchema, TitledMultiSelectEnumSchema,
    TitledSingleSelectEnumSchema, UntitledMultiSelectEnumSchema, UntitledSingleSelectEnumSchema,
};

use super::FormField;

/// One of several values from which the user can choose: an enum with `#[derive(Choice)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a choice",
    label = "not an enum with `#[derive(Choice)]`",
    note = "a list in a form holds choices, each once: make the items an enum without fields and \
            write `#[derive(Choice)]` on it"
)]
pub trait Choice: Sized {
    /// Returns all options, in the order in which they are shown.
    fn options() -> Vec<ChoiceOption>;

    /// Returns the text by which this option is sent.
    fn value(&self) -> &'static str;

    /// Returns the option with this text; `None` if there is no such option.
    fn from_value(value: &str) -> Option<Self>;
}

/// One option of a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChoiceOption {
    /// The text by which the option is sent.
    pub value: &'static str,
    /// The text that people read. If only some options of a choice have a title, the others show
    /// their value.
    pub title: Option<&'static str>,
}

/// A form field for one of several options, made by `#[derive(Choice)]`.
pub struct ChoiceField<C> {
    pub(super) default: Option<String>,
    of: PhantomData<C>,
}

/// The methods of a [`FormField`], which `#[derive(Choice)]` calls.
impl<C: Choice> ChoiceField<C> {
    /// Creates a field without a default.
    pub const fn new() -> Self {
        Self {
            default: None,
            of: PhantomData,
        }
    }

    /// Returns the chosen option; `None` if the value is not one of the options.
    pub fn read(value: &ElicitValue) -> Option<C> {
        match value {
            ElicitValue::Text(value) => C::from_value(value),
            _ => None,
        }
    }
}

impl<C: Choice> Default for ChoiceField<C> {
    fn default() -> Self {
        Self::new()
    }
}

impl<C: Choice> From<ChoiceField<C>> for PrimitiveSchema {
    fn from(field: ChoiceField<C>) -> Self {
        match words::<C>() {
            Words::Plain(values) => {
                let mut schema = UntitledSingleSelectEnumSchema::new(values);
                schema.default = field.default;
                schema.into()
            }
            Words::Titled(options) => {
                let mut schema = TitledSingleSelectEnumSchema::new(options);
                schema.default = field.default;
                schema.into()
            }
        }
    }
}

/// A form field in which any number of options can be chosen.
pub struct ChoicesField<C> {
    pub(super) least: Option<u64>,
    pub(super) most: Option<u64>,
    pub(super) default: Option<Vec<String>>,
    of: PhantomData<C>,
}

impl<C: Choice> From<ChoicesField<C>> for PrimitiveSchema {
    fn from(field: ChoicesField<C>) -> Self {
        match words::<C>() {
            Words::Plain(values) => {
                let mut schema = UntitledMultiSelectEnumSchema::new(values);
                schema.min_items = field.least;
                schema.max_items = field.most;
                schema.default = field.default;
                schema.into()
            }
            Words::Titled(options) => {
                let mut schema = TitledMultiSelectEnumSchema::new(options);
                schema.min_items = field.least;
                schema.max_items = field.most;
                schema.default = field.default;
                schema.into()
            }
        }
    }
}

enum Words {
    Plain(Vec<String>),
    Titled(Vec<EnumOption>),
}

fn words<C: Choice>() -> Words {
    let options = C::options();
    if options.iter().all(|option| option.title.is_none()) {
        return Words::Plain(
            options
                .iter()
                .map(|option| option.value.to_owned())
                .collect(),
        );
    }
    let titled = options
        .iter()
        .map(|option| EnumOption::new(option.value, option.title.unwrap_or(option.value)));
    Words::Titled(titled.collect())
}

fn several<C>() -> ChoicesField<C> {
    ChoicesField {
        least: None,
        most: None,
        default: None,
        of: PhantomData,
    }
}

fn read_several<C: Choice, S: FromIterator<C>>(value: ElicitValue) -> Option<S> {
    match value {
        ElicitValue::Choices(values) => values.iter().map(|value| C::from_value(value)).collect(),
        _ => None,
    }
}

impl<C: Choice> FormField for Vec<C> {
    type Schema = ChoicesField<C>;

    fn schema() -> ChoicesField<C> {
        several()
    }

    fn read(value: ElicitValue) -> Option<Self> {
        read_several(value)
    }
}

impl<C: Choice + Ord> FormField for BTreeSet<C> {
    type Schema = ChoicesField<C>;

    fn schema() -> ChoicesField<C> {
        several()
    }

    fn read(value: ElicitValue) -> Option<Self> {
        read_several(value)
    }
}

impl<C: Choice + Eq + Hash, S: BuildHasher + Default> FormField for HashSet<C, S> {
    type Schema = ChoicesField<C>;

    fn schema() -> ChoicesField<C> {
        several()
    }

    fn read(value: ElicitValue) -> Option<Self> {
        read_several(value)
    }
}

impl<C> fmt::Debug for ChoiceField<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChoiceField").finish_non_exhaustive()
    }
}

impl<C> fmt::Debug for ChoicesField<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChoicesField").finish_non_exhaustive()
    }
}
