//! The limits of a field: calls that set them, and assertions about them that the compiler checks.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Expr, Ident, Path, Type};

use super::field_options::{FieldOptions, Set};

/// The calls that set the limits of `field`, and assertions that they agree with each other.
pub(super) fn calls(root: &Path, ty: &Type, options: &FieldOptions) -> TokenStream {
    let limit = quote!(#root::__private::form_limit);
    let mut calls: TokenStream = [
        range(&limit, root, ty, options).calls(&limit),
        length(&limit, options).calls(&limit),
        count(options).calls(&limit),
    ]
    .into_iter()
    .collect();
    if let Some(Set { value, span }) = &options.format {
        let format = Ident::new(value, *span);
        calls.extend(quote_spanned! {*span=>
            #limit::Worded::format(&mut field, #root::protocol::StringFormat::#format);
        });
    }
    if let Some(Set { value, span }) = &options.default {
        calls.extend(quote_spanned!(*span=> #limit::Preset::preset(&mut field, #value);));
    }
    calls
}

/// A lower and an upper limit of one kind, and the measure of the default that must lie between them.
struct Bounds<'a> {
    /// The trait of the fields that have such limits.
    of: &'static str,
    /// The type of the limits.
    ty: TokenStream,
    least: (&'static str, Option<&'a Set<Expr>>),
    most: (&'static str, Option<&'a Set<Expr>>),
    default: Option<(TokenStream, Span)>,
    /// The error messages if the three are not in order.
    otherwise: [&'static str; 3],
}

fn range<'a>(limit: &TokenStream, root: &Path, ty: &Type, options: &'a FieldOptions) -> Bounds<'a> {
    let default = options.default.as_ref();
    Bounds {
        of: "Ranged",
        ty: quote!(<<#ty as #root::FormField>::Schema as #limit::Ranged>::Bound),
        least: ("minimum", options.min.as_ref()),
        most: ("maximum", options.max.as_ref()),
        default: default.map(|Set { value, span }| (quote!(#value), *span)),
        otherwise: [
            "`min` is more than `max`",
            "the default is less than `min`",
            "the default is more than `max`",
        ],
    }
}

fn length<'a>(limit: &TokenStream, options: &'a FieldOptions) -> Bounds<'a> {
    let default = options.default.as_ref();
    Bounds {
        of: "Worded",
        ty: quote!(u64),
        least: ("min_length", options.min_length.as_ref()),
        most: ("max_length", options.max_length.as_ref()),
        default: default.map(|Set { value, span }| (quote!(#limit::characters(#value)), *span)),
        otherwise: [
            "`min_length` is more than `max_length`",
            "the default is shorter than `min_length`",
            "the default is longer than `max_length`",
        ],
    }
}

fn count(options: &FieldOptions) -> Bounds<'_> {
    let default = match &options.default {
        Some(Set {
            value: Expr::Array(array),
            span,
        }) => {
            let count = array.elems.len() as u64;
            Some((quote!(#count), *span))
        }
        _ => None,
    };
    Bounds {
        of: "Counted",
        ty: quote!(u64),
        least: ("min_items", options.min_items.as_ref()),
        most: ("max_items", options.max_items.as_ref()),
        default,
        otherwise: [
            "`min_items` is more than `max_items`",
            "the default has fewer choices than `min_items`",
            "the default has more choices than `max_items`",
        ],
    }
}

impl Bounds<'_> {
    /// The calls, in a block in which the limits are constants.
    fn calls(&self, limit: &TokenStream) -> TokenStream {
        if self.least.1.is_none() && self.most.1.is_none() {
            return TokenStream::new();
        }
        let least = self.set(limit, "LEAST", self.least);
        let most = self.set(limit, "MOST", self.most);
        let default = self.default.as_ref().map(|(value, span)| {
            let ty = &self.ty;
            quote_spanned!(*span=> const DEFAULT: #ty = #value;)
        });
        let claims = self.claims();
        quote!({ #least #most #default #claims })
    }

    fn set(
        &self,
        limit: &TokenStream,
        name: &str,
        (call, set): (&str, Option<&Set<Expr>>),
    ) -> Option<TokenStream> {
        let Set { value, span } = set?;
        let ident = |name: &str| Ident::new(name, *span);
        let (of, name, call, ty) = (ident(self.of), ident(name), ident(call), &self.ty);
        Some(quote_spanned! {*span=>
            const #name: #ty = #value;
            #limit::#of::#call(&mut field, #name);
        })
    }

    /// Asserts the order of the constants that are given.
    fn claims(&self) -> TokenStream {
        let (least, most) = (self.least.1, self.most.1);
        let default = self.default.as_ref().map(|(_, span)| *span);
        let [limits, low, high] = self.otherwise;
        [
            ("LEAST", "MOST", least.and(most).map(|set| set.span), limits),
            ("LEAST", "DEFAULT", least.and(default), low),
            ("DEFAULT", "MOST", most.and(default), high),
        ]
        .into_iter()
        .filter_map(|(less, more, span, otherwise)| Some(claim(less, more, span?, otherwise)))
        .collect()
    }
}

/// Asserts that one constant is not greater than another. NaN fails the assertion too.
fn claim(less: &str, more: &str, span: Span, otherwise: &str) -> TokenStream {
    let (less, more) = (Ident::new(less, span), Ident::new(more, span));
    quote_spanned! {span=>
        const _: () = ::core::assert!(#less <= #more, #otherwise);
    }
}
