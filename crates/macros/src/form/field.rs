//! One field of a form.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Ident, Path, Type, ext::IdentExt as _, spanned::Spanned as _};

use super::{field_options::FieldOptions, limits, rename::Rule, serde_options::SerdeOptions};
use crate::{description, mistakes::Mistakes};

/// One field of a struct that is a form.
pub(super) struct Field {
    ident: Ident,
    ty: Type,
    name: String,
    description: Option<TokenStream>,
    options: FieldOptions,
    serde: SerdeOptions,
}

impl Field {
    pub(super) fn read(
        field: &syn::Field,
        ident: &Ident,
        rename_all: Rule,
        mistakes: &mut Mistakes,
    ) -> Self {
        let mut options = FieldOptions::read(&field.attrs, mistakes);
        let serde = SerdeOptions::read(&field.attrs, mistakes);
        if let (Some(default), Some(_)) = (&options.default, &serde.default) {
            mistakes.push(syn::Error::new(
                default.span,
                "the default is set twice: keep the one in `#[form]`, which the form shows",
            ));
        }
        let renamed = options.rename.take().or_else(|| serde.rename.clone());
        Self {
            name: renamed.unwrap_or_else(|| rename_all.field(&ident.unraw().to_string())),
            ident: ident.clone(),
            ty: field.ty.clone(),
            description: description::expression(&field.attrs),
            options,
            serde,
        }
    }

    /// The name that clients see; `None` if the field is not part of the form.
    pub(super) fn name(&self) -> Option<&str> {
        (!self.serde.is_skipped).then_some(&*self.name)
    }

    pub(super) fn ident(&self) -> &Ident {
        &self.ident
    }

    /// Adds the field to `form`.
    pub(super) fn schema(&self, root: &Path) -> TokenStream {
        let Some(name) = self.name() else {
            return TokenStream::new();
        };
        let ty = &self.ty;
        let title = optional(self.options.title.as_ref());
        let described = self.options.description.as_ref();
        let description = match described {
            Some(description) => optional(Some(description)),
            None => optional(self.description.as_ref()),
        };
        let field = quote_spanned!(ty.span()=> <#ty as #root::FormField>::schema());
        let limits = limits::calls(root, ty, &self.options);
        let has_default = self.options.default.is_some() || self.serde.default.is_some();
        let may_be_empty = if has_default {
            quote!(true)
        } else {
            quote_spanned!(ty.span()=> <#ty as #root::FormField>::EMPTY.is_some())
        };
        quote! {
            {
                #[allow(unused_mut, reason = "not every field has limits")]
                let mut field = #field;
                #limits
                let field = #root::__private::form_limit::label(field, #title, #description);
                form = if #may_be_empty {
                    form.with(#name, field)
                } else {
                    form.with_required(#name, field)
                };
            }
        }
    }

    /// Takes the field's value out of `filled`.
    pub(super) fn value(&self, root: &Path) -> TokenStream {
        let (ident, ty, name) = (&self.ident, &self.ty, &self.name);
        if self.serde.is_skipped {
            let default = self.serde.default.clone();
            let default = default.unwrap_or_else(|| quote!(::core::default::Default::default()));
            return quote!(#ident: #default);
        }
        let value = if self.options.default.is_some() {
            quote!(filled.take_or_preset::<#ty>(#name, <Self as #root::Form>::shared().fields()))
        } else if let Some(default) = &self.serde.default {
            quote!(filled.take_or::<#ty>(#name, || #default))
        } else {
            quote_spanned!(ty.span()=> filled.take::<#ty>(#name))
        };
        quote!(#ident: #value?)
    }
}

/// An optional text as an expression.
pub(super) fn optional<T: quote::ToTokens>(text: Option<&T>) -> TokenStream {
    text.map_or_else(
        || quote!(::core::option::Option::None),
        |text| quote!(::core::option::Option::Some(#text)),
    )
}
