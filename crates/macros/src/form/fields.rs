//! `#[derive(Form)]` on a struct.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{
    Attribute, Data, DeriveInput, Fields, Path, meta::ParseNestedMeta, parse_quote,
    spanned::Spanned as _,
};

use super::{field::Field, field_options::unknown, rename::Rule, serde_options::SerdeOptions};
use crate::mistakes::Mistakes;

/// Expands the derive.
pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let input: DeriveInput = match syn::parse2(input) {
        Ok(input) => input,
        Err(error) => return error.into_compile_error(),
    };
    let mut mistakes = Mistakes::default();
    let whole = Whole::read(&input.attrs, &mut mistakes);
    let fields = fields(&input, whole.rename_all, &mut mistakes);
    check_names(&fields, &mut mistakes);
    if !input.generics.params.is_empty() {
        mistakes.at(
            &input.generics,
            "a form cannot have generic parameters: write a separate struct for each set of fields",
        );
    }
    let ident = &input.ident;
    let root = &whole.root;
    let (impl_generics, type_generics, conditions) = input.generics.split_for_impl();
    let (errors, schema, value) = match mistakes.into_compile_errors() {
        None => (None, schema(root, &fields), value(root, &fields)),
        // The type still implements `Form`, so that code that asks with it still compiles.
        Some(errors) => {
            let unreachable = quote!(::core::unreachable!());
            (Some(errors), unreachable.clone(), unreachable)
        }
    };
    quote! {
        #errors
        #[automatically_derived]
        impl #impl_generics #root::Form for #ident #type_generics #conditions {
            fn schema() -> #root::protocol::ElicitSchema {
                ::core::clone::Clone::clone(<Self as #root::Form>::shared().fields())
            }

            fn shared() -> ::std::borrow::Cow<'static, #root::FormSchema> {
                #schema
            }

            #[allow(unused_variables, reason = "a form may have no fields")]
            fn read(
                filled: &mut #root::FormValues,
            ) -> ::core::result::Result<Self, #root::FieldError> {
                #value
            }
        }
    }
}

/// The attributes of the struct itself.
pub(super) struct Whole {
    pub(super) root: Path,
    pub(super) rename_all: Rule,
}

impl Whole {
    pub(super) fn read(attributes: &[Attribute], mistakes: &mut Mistakes) -> Self {
        let serde = SerdeOptions::read(attributes, mistakes);
        if serde.default.is_some() {
            mistakes.at(
                attributes.iter().find(|one| one.path().is_ident("serde")),
                "a default of the whole form is not supported: write `#[form(default = …)]` on the \
                 fields",
            );
        }
        let mut whole = Self {
            root: parse_quote!(::turnbuckle),
            rename_all: serde.rename_all,
        };
        for attribute in attributes {
            if attribute.path().is_ident("form") {
                mistakes.keep(attribute.parse_nested_meta(|meta| whole.take(&meta)));
            }
        }
        whole
    }

    fn take(&mut self, meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
        if meta.path.is_ident("crate") {
            self.root = meta.value()?.parse()?;
        } else if meta.path.is_ident("rename_all") {
            self.rename_all = Rule::parse(&meta.value()?.parse()?)?;
        } else {
            return Err(meta.error(unknown(&meta.path, &["rename_all", "crate"])));
        }
        Ok(())
    }
}

fn fields(input: &DeriveInput, rename_all: Rule, mistakes: &mut Mistakes) -> Vec<Field> {
    let data = match &input.data {
        Data::Struct(data) => data,
        Data::Enum(data) => {
            mistakes.at(
                data.enum_token,
                "a form is a struct: write `#[derive(Choice)]` on an enum, and use it as a field",
            );
            return Vec::new();
        }
        Data::Union(data) => {
            mistakes.at(data.union_token, "a form is a struct");
            return Vec::new();
        }
    };
    match &data.fields {
        Fields::Unit => Vec::new(),
        Fields::Unnamed(fields) => {
            mistakes.push(syn::Error::new(
                fields.span(),
                "the fields of a form have names: write a struct with `{ … }`",
            ));
            Vec::new()
        }
        Fields::Named(fields) => fields
            .named
            .iter()
            .filter_map(|field| Some((field, field.ident.as_ref()?)))
            .map(|(field, ident)| Field::read(field, ident, rename_all, mistakes))
            .collect(),
    }
}

fn check_names(fields: &[Field], mistakes: &mut Mistakes) {
    let mut seen = Vec::new();
    for field in fields {
        let Some(name) = field.name() else { continue };
        if seen.contains(&name) {
            mistakes.at(
                field.ident(),
                format!("two fields are named `{name}`: rename one"),
            );
        }
        seen.push(name);
    }
}

/// The function that builds the form, once.
fn schema(root: &Path, fields: &[Field]) -> TokenStream {
    let fields = fields.iter().map(|field| field.schema(root));
    quote! {
        static SCHEMA: ::std::sync::LazyLock<#root::FormSchema> =
            ::std::sync::LazyLock::new(|| {
                #[allow(unused_mut, reason = "a form may have no fields")]
                let mut form = #root::protocol::ElicitSchema::new();
                #(#fields)*
                #root::FormSchema::new(form)
            });
        ::std::borrow::Cow::Borrowed(&*SCHEMA)
    }
}

fn value(root: &Path, fields: &[Field]) -> TokenStream {
    let fields = fields.iter().map(|field| field.value(root));
    quote!(::core::result::Result::Ok(Self { #(#fields),* }))
}
