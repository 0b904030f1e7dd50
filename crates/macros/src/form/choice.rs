//! `#[derive(Choice)]` on an enum.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{
    Data, DeriveInput, Expr, Fields, Ident, LitStr, Path, Variant, ext::IdentExt as _,
    meta::ParseNestedMeta, spanned::Spanned as _,
};

use super::{
    field::optional, field_options::unknown, fields::Whole, rename::Rule,
    serde_options::SerdeOptions,
};
use crate::{description, mistakes::Mistakes};

/// Expands the derive.
pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let input: DeriveInput = match syn::parse2(input) {
        Ok(input) => input,
        Err(error) => return error.into_compile_error(),
    };
    let mut mistakes = Mistakes::default();
    let whole = Whole::read(&input.attrs, &mut mistakes);
    let choices = choices(&input, whole.rename_all, &mut mistakes);
    check_values(&choices, &mut mistakes);
    if !input.generics.params.is_empty() {
        mistakes.at(&input.generics, "a choice cannot have generic parameters");
    }
    let errors = mistakes.into_compile_errors();
    let choices = if errors.is_some() { &[] } else { &choices[..] };
    let implementation = implementation(&whole.root, &input, choices);
    quote!(#errors #implementation)
}

/// One variant.
struct Choice {
    ident: Ident,
    value: String,
    title: Option<TokenStream>,
}

fn choices(input: &DeriveInput, rename_all: Rule, mistakes: &mut Mistakes) -> Vec<Choice> {
    let Data::Enum(data) = &input.data else {
        mistakes.at(
            &input.ident,
            "a choice is an enum: write `#[derive(Form)]` on a struct of fields to fill in",
        );
        return Vec::new();
    };
    if data.variants.is_empty() {
        mistakes.at(
            &input.ident,
            "a choice needs at least one variant: add a variant",
        );
    }
    data.variants
        .iter()
        .map(|variant| choice(variant, rename_all, mistakes))
        .collect()
}

fn choice(variant: &Variant, rename_all: Rule, mistakes: &mut Mistakes) -> Choice {
    if !matches!(variant.fields, Fields::Unit) {
        mistakes.push(syn::Error::new(
            variant.fields.span(),
            "a variant of a choice cannot have fields: ask for more in another field of the form",
        ));
    }
    let serde = SerdeOptions::read(&variant.attrs, mistakes);
    let (mut title, mut rename) = (None, serde.rename);
    for attribute in &variant.attrs {
        if attribute.path().is_ident("form") {
            mistakes.keep(attribute.parse_nested_meta(|meta| take(&meta, &mut title, &mut rename)));
        }
    }
    let title = match title {
        Some(title) => Some(quote!(#title)),
        None => description::expression(&variant.attrs).map(|text| one_line(&text)),
    };
    let value = rename.unwrap_or_else(|| rename_all.variant(&variant.ident.unraw().to_string()));
    Choice {
        ident: variant.ident.clone(),
        value,
        title,
    }
}

fn take(
    meta: &ParseNestedMeta<'_>,
    title: &mut Option<Expr>,
    rename: &mut Option<String>,
) -> syn::Result<()> {
    if meta.path.is_ident("title") {
        *title = Some(meta.value()?.parse()?);
    } else if meta.path.is_ident("rename") {
        *rename = Some(meta.value()?.parse::<LitStr>()?.value());
    } else {
        return Err(meta.error(unknown(&meta.path, &["title", "rename"])));
    }
    Ok(())
}

/// A title is one line: the first paragraph of the doc comment. Text that is included from a file
/// stays as it is.
fn one_line(text: &TokenStream) -> TokenStream {
    let Ok(text) = syn::parse2::<LitStr>(text.clone()) else {
        return text.clone();
    };
    let text = text.value();
    let paragraph = text.split("\n\n").next().unwrap_or_default();
    let line = paragraph
        .lines()
        .map(str::trim)
        .collect::<Vec<_>>()
        .join(" ");
    // "Window seat." in the code is "Window seat" in a list.
    let line = line.strip_suffix('.').unwrap_or(&line);
    quote!(#line)
}

fn check_values(choices: &[Choice], mistakes: &mut Mistakes) {
    for (index, choice) in choices.iter().enumerate() {
        let is_taken = choices[..index]
            .iter()
            .any(|before| before.value == choice.value);
        if is_taken {
            mistakes.at(
                &choice.ident,
                format!("two choices are `{}`: rename one", choice.value),
            );
        }
    }
}

fn implementation(root: &Path, input: &DeriveInput, choices: &[Choice]) -> TokenStream {
    let ident = &input.ident;
    let (impl_generics, type_generics, conditions) = input.generics.split_for_impl();
    let values: Vec<_> = choices.iter().map(|choice| &choice.value).collect();
    let variants: Vec<_> = choices.iter().map(|choice| &choice.ident).collect();
    let titles = choices.iter().map(|choice| optional(choice.title.as_ref()));
    // After a mistake there are no choices here, and the last arm matches all variants.
    let last = choices
        .is_empty()
        .then(|| quote!(_ => ::core::unreachable!(),));
    quote! {
        #[automatically_derived]
        impl #impl_generics #root::Choice for #ident #type_generics #conditions {
            fn options() -> ::std::vec::Vec<#root::__private::ChoiceOption> {
                ::std::vec![#(#root::__private::ChoiceOption {
                    value: #values,
                    title: #titles,
                }),*]
            }

            fn value(&self) -> &'static str {
                match self {
                    #(Self::#variants => #values,)*
                    #last
                }
            }

            fn from_value(value: &str) -> ::core::option::Option<Self> {
                match value {
                    #(#values => ::core::option::Option::Some(Self::#variants),)*
                    _ => ::core::option::Option::None,
                }
            }
        }

        #[automatically_derived]
        impl #impl_generics #root::FormField for #ident #type_generics #conditions {
            type Schema = #root::__private::ChoiceField<Self>;

            fn schema() -> Self::Schema {
                #root::__private::ChoiceField::new()
            }

            fn read(
                value: #root::protocol::ElicitValue,
            ) -> ::core::option::Option<Self> {
                #root::__private::ChoiceField::<Self>::read(&value)
            }
        }
    }
}
