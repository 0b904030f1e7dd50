//! The tokens of an expansion, as tests compare them: without regard to layout.

use proc_macro2::TokenStream;
use quote::quote;

use crate::{function, kind::Kind};

/// The text of generated items.
pub(crate) struct Expansion(String);

impl Expansion {
    /// Reads an expansion, which must be well-formed items.
    pub(crate) fn of(tokens: TokenStream) -> Self {
        let file: syn::File = syn::parse2(tokens).expect("the expansion is items");
        Self(plain(&quote!(#file)))
    }

    /// Reads the expansion of an attribute on a function.
    pub(crate) fn of_function(kind: Kind, options: TokenStream, item: &TokenStream) -> Self {
        Self::of(function::expand(kind, options, item))
    }

    /// Asserts that the expansion contains these tokens.
    #[track_caller]
    pub(crate) fn has(&self, part: &TokenStream) {
        let part = plain(part);
        assert!(self.0.contains(&part), "expected\n{part}\nin\n{}", self.0);
    }

    /// Asserts that the expansion does not contain these tokens.
    #[track_caller]
    pub(crate) fn lacks(&self, part: &TokenStream) {
        let part = plain(part);
        assert!(
            !self.0.contains(&part),
            "unexpected\n{part}\nin\n{}",
            self.0
        );
    }

    /// Asserts that an error message contains this text.
    #[track_caller]
    pub(crate) fn says(&self, message: &str) {
        let message = message.replace(' ', "");
        assert!(
            self.0.contains(&message),
            "expected\n{message}\nin\n{}",
            self.0
        );
    }

    /// How often the expansion contains the tokens.
    pub(crate) fn count(&self, part: &TokenStream) -> usize {
        self.0.matches(&plain(part)).count()
    }
}

/// The text without spaces, and without commas before a closing bracket.
fn plain(tokens: &TokenStream) -> String {
    let dense = tokens.to_string().replace(char::is_whitespace, "");
    [",)", ",}", ",>", ",]"]
        .into_iter()
        .fold(dense, |text, trailing| {
            text.replace(trailing, &trailing[1..])
        })
}
