//! `with_*` methods for the optional fields of wire types.

/// Generates a method for each optional field, which sets the field and returns the value.
///
/// Wire types may get new fields with every revision, so only this crate can construct them from their
/// fields. Other crates use `new`, which takes the required fields, and set the others with these
/// methods.
macro_rules! setters {
    (impl $type:ident { $(fn $setter:ident($field:ident: $value:ty);)+ }) => {
        impl $type {
            $(
                #[doc = concat!(
                    "Sets [`", stringify!($field), "`](#structfield.", stringify!($field), ").",
                )]
                #[inline]
                pub fn $setter(mut self, $field: $value) -> Self {
                    self.$field = Some($field.into());
                    self
                }
            )+
        }
    };
}

pub(crate) use setters;
