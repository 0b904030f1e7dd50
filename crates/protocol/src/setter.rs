//! `with_*` methods for the optional fields of wire types.

/// Writes a method for each optional field, which sets the field and returns the value.
///
/// Wire types may get fields with every revision, so that only this crate can build them from their
/// fields. Others begin with `new`, which takes what is required, and add what they need.
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
