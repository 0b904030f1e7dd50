//! The arguments of a function with an attribute, found by their names.
//!
//! They are like [`Args`](crate::Args) of a struct that the attribute generates. The difference is
//! that the attribute knows the type of each argument: if none of these types can put a pattern
//! into the schema, the pattern engine is not linked into the program.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    marker::PhantomData,
};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::{Extract, args};
use crate::{
    Call, Failure,
    handler::{Arguments, Description, arguments::Patterns},
};

/// The arguments of a function with an attribute. The attribute generates code that uses it.
pub struct NamedArgs<T>(pub T);

/// A struct of arguments, which the attribute generates.
pub trait Named: DeserializeOwned + JsonSchema + Send {
    /// Whether its schema may have patterns.
    fn patterns() -> Patterns;
}

impl<T: Named> Extract for NamedArgs<T> {
    fn extract(call: &Call<'_>) -> Result<Self, Failure> {
        args::read(call).map(Self)
    }

    fn describe(description: &mut Description) {
        args::describe::<T>(description, |schema| {
            Arguments::derived::<T>(schema, T::patterns())
        });
    }
}

/// Represents a type, to find out whether its schema may have patterns.
///
/// With both [`PlainPatterns`] and [`AnyPatterns`] in scope, `(&TypeOf::<T>::new()).patterns()`
/// calls the first trait for a [`Plain`] type. For every other type it calls the second trait,
/// which needs one reference more. Without the `&` the second trait would not be found.
pub struct TypeOf<T>(PhantomData<fn() -> T>);

impl<T> TypeOf<T> {
    /// Returns the value that represents `T`.
    #[expect(
        clippy::new_without_default,
        reason = "the attribute calls it by this name"
    )]
    pub fn new() -> Self {
        Self(PhantomData)
    }
}

/// Implemented for types whose schema has no patterns.
pub trait PlainPatterns {
    /// Returns [`Patterns::NONE`].
    fn patterns(&self) -> Patterns;
}

/// Implemented for every type, whose schema may have patterns.
pub trait AnyPatterns {
    /// Returns [`Patterns::SOME`].
    fn patterns(&self) -> Patterns;
}

impl<T: Plain> PlainPatterns for TypeOf<T> {
    fn patterns(&self) -> Patterns {
        Patterns::NONE
    }
}

impl<T> AnyPatterns for &TypeOf<T> {
    fn patterns(&self) -> Patterns {
        Patterns::SOME
    }
}

/// A type whose schema contains no patterns.
pub trait Plain {}

macro_rules! plain {
    ($($ty:ty)*) => { $(impl Plain for $ty {})* };
}

plain!(bool char String f32 f64 i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize);
plain!(serde_json::Value std::path::PathBuf);

impl<T: Plain> Plain for Option<T> {}
impl<T: Plain> Plain for Box<T> {}
impl<T: Plain> Plain for Vec<T> {}
impl<T: Plain, S> Plain for HashSet<T, S> {}
impl<T: Plain> Plain for BTreeSet<T> {}
// A map whose keys are not strings describes its keys with patterns.
impl<T: Plain, S> Plain for HashMap<String, T, S> {}
impl<T: Plain> Plain for BTreeMap<String, T> {}

#[cfg(test)]
mod tests {
    use super::*;

    macro_rules! patterns {
        ($ty:ty) => {
            (&TypeOf::<$ty>::new()).patterns().is_some()
        };
    }

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Code(#[schemars(regex(pattern = "^[A-Z]+$"))] String);

    #[test]
    fn only_what_is_surely_without_patterns_is_plain() {
        assert!(!patterns!(String));
        assert!(!patterns!(Option<Vec<HashMap<String, u8>>>));
        assert!(patterns!(Code));
        assert!(patterns!(Vec<Code>));
        assert!(patterns!(HashMap<u32, String>));
    }

    #[test]
    fn schemas_of_plain_types_compile_without_patterns() {
        fn compiles<T: Plain + JsonSchema>() -> bool {
            let schema = turnbuckle_schema::output_schema::<T>();
            turnbuckle_schema::Schema::compile_without_patterns(&schema).is_ok()
        }
        assert!(compiles::<bool>() && compiles::<char>() && compiles::<String>());
        assert!(compiles::<f32>() && compiles::<f64>());
        assert!(compiles::<i8>() && compiles::<i16>() && compiles::<i32>() && compiles::<i64>());
        assert!(compiles::<u8>() && compiles::<u16>() && compiles::<u32>() && compiles::<u64>());
        assert!(compiles::<i128>() && compiles::<u128>());
        assert!(compiles::<isize>() && compiles::<usize>());
        assert!(compiles::<serde_json::Value>() && compiles::<std::path::PathBuf>());
        assert!(compiles::<Option<Box<String>>>() && compiles::<Vec<u8>>());
        assert!(compiles::<HashSet<String>>() && compiles::<BTreeSet<String>>());
        assert!(compiles::<HashMap<String, u8>>() && compiles::<BTreeMap<String, u8>>());
    }
}
