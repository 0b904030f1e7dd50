//! Options in `#[serde(…)]` on a field, a variant or the whole type, which hold for the form too.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, LitStr, Path, Token, meta::ParseNestedMeta};

use super::rename::Rule;
use crate::mistakes::Mistakes;

/// Options that change how a value is read in ways that forms do not support.
const UNREADABLE: [&str; 9] = [
    "flatten",
    "with",
    "deserialize_with",
    "from",
    "try_from",
    "tag",
    "untagged",
    "content",
    "other",
];

/// The options from `#[serde(…)]`, and those that `#[form(…)]` shares with it.
#[derive(Default)]
pub(super) struct SerdeOptions {
    pub(super) rename: Option<String>,
    pub(super) rename_all: Rule,
    /// The value of a field that the user leaves empty, as an expression.
    pub(super) default: Option<TokenStream>,
    pub(super) is_skipped: bool,
}

impl SerdeOptions {
    pub(super) fn read(attributes: &[Attribute], mistakes: &mut Mistakes) -> Self {
        let mut options = Self::default();
        for attribute in attributes {
            if attribute.path().is_ident("serde") {
                mistakes.keep(attribute.parse_nested_meta(|meta| options.take(&meta)));
            }
        }
        options
    }

    fn take(&mut self, meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
        if let Some(word) = UNREADABLE.iter().find(|word| meta.path.is_ident(word)) {
            return Err(meta.error(format!(
                "`{word}` is not supported in a form: its fields are flat and are read by the form \
                 itself"
            )));
        }
        if meta.path.is_ident("rename") {
            self.rename = one_of(meta)?.map(|name| name.value());
        } else if meta.path.is_ident("rename_all") {
            if let Some(word) = one_of(meta)? {
                self.rename_all = Rule::parse(&word)?;
            }
        } else if meta.path.is_ident("default") && meta.input.peek(Token![=]) {
            let path: Path = meta.value()?.parse::<LitStr>()?.parse()?;
            self.default = Some(quote!(#path()));
        } else if meta.path.is_ident("default") {
            self.default = Some(quote!(::core::default::Default::default()));
        } else if meta.path.is_ident("skip") || meta.path.is_ident("skip_deserializing") {
            self.is_skipped = true;
        } else {
            // Skips the value of any other option, whatever its form: these options are about serializing.
            while !meta.input.is_empty() && !meta.input.peek(Token![,]) {
                meta.input.parse::<proc_macro2::TokenTree>()?;
            }
        }
        Ok(())
    }
}

/// `name = "…"`, or the `deserialize` of `name(serialize = "…", deserialize = "…")`.
fn one_of(meta: &ParseNestedMeta<'_>) -> syn::Result<Option<LitStr>> {
    if meta.input.peek(Token![=]) {
        return meta.value()?.parse().map(Some);
    }
    let mut read = None;
    meta.parse_nested_meta(|direction| {
        let text: LitStr = direction.value()?.parse()?;
        if direction.path.is_ident("deserialize") {
            read = Some(text);
        }
        Ok(())
    })?;
    Ok(read)
}
