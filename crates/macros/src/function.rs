//! `#[tool]`, `#[prompt]` and `#[resource]` on a free function.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::{Attribute, Ident, ItemFn, Path, ext::IdentExt};

use crate::{
    attributes::{Attributes, conditions, kind_of},
    completer,
    handler::{Handler, local},
    kind::Kind,
    mistakes::Mistakes,
    parameter::Parameter,
    rules,
    settings::Settings,
    signature,
};

/// Expands the attribute to the function, a type that represents it, and the description that the server finds by
/// this type.
pub(crate) fn expand(kind: Kind, options: TokenStream, item: &TokenStream) -> TokenStream {
    let mut function: ItemFn = match syn::parse2(item.clone()) {
        Ok(function) => function,
        Err(_) => return not_a_function(kind, item),
    };
    let mut mistakes = Mistakes::default();
    let is_ours = |attribute: &mut Attribute| kind_of(attribute).is_some();
    for second in function.attrs.extract_if(.., is_ours) {
        mistakes.at(
            second,
            "a function is one tool, prompt or resource: write a second one that calls it",
        );
    }
    let settings = Settings::parse(kind, options, TokenStream::new(), &mut mistakes);
    let is_plain = signature::check_function(kind, &function.sig, &mut mistakes);
    let handler = Handler::read(
        kind,
        settings,
        &function.attrs,
        &mut function.sig,
        &mut mistakes,
    );
    rules::check(&handler, &mut mistakes);
    let root = handler.root(None);
    match mistakes.into_compile_errors() {
        None => {
            let description = description(&root, &function, &handler);
            let face = face(&root, function, &handler);
            quote!(#face #description)
        }
        // The function keeps the type it would have had, so that the code around it still compiles.
        Some(errors) if is_plain && handler.parameters().iter().all(Parameter::is_concrete) => {
            let description =
                implementation(&root, &function, kind, &[], &quote!(::core::unreachable!()));
            let face = face(&root, function, &handler);
            quote!(#errors #face #description)
        }
        Some(errors) => quote!(#errors #function),
    }
}

fn not_a_function(kind: Kind, item: &TokenStream) -> TokenStream {
    let message = format!(
        "#[{kind}] goes on a function, or on a method inside an impl block with #[handlers]"
    );
    let error = syn::Error::new(Span::call_site(), message).into_compile_error();
    quote!(#error #item)
}

/// The function as callers see it: the same name, parameters and output when awaited. The caller awaits it even if it
/// is not async: the server finds the description by the type that it returns.
fn face(root: &Path, function: ItemFn, handler: &Handler) -> TokenStream {
    let marker = marker(handler.kind(), &function.sig.ident);
    let ItemFn {
        attrs,
        vis,
        sig,
        block,
        ..
    } = function;
    let Attributes { outer, inner } = Attributes::sort(attrs);
    let ident = &sig.ident;
    let output = handler.output();
    let names: Vec<Ident> = handler
        .parameters()
        .iter()
        .enumerate()
        .map(|(number, parameter)| shown(number, parameter, ident))
        .collect();
    let types = handler.parameters().iter().map(Parameter::ty);
    let running = if sig.asyncness.is_some() {
        quote!(#ident(#(#names),*))
    } else {
        quote!(async move { #ident(#(#names),*) })
    };
    quote! {
        #(#outer)*
        #vis fn #ident(#(#names: #types),*) -> #root::__private::Described<
            #marker,
            impl ::core::future::Future<Output = #output> + ::core::marker::Send,
        > {
            // Handlers are async and own their arguments by contract, not by choice.
            #[allow(clippy::unused_async, clippy::needless_pass_by_value)]
            #(#inner)*
            #sig #block
            #root::__private::Described::new(#running)
        }
    }
}

/// The name of a parameter in the documentation. It must not be the function's own name, which is an item beside it.
fn shown(number: usize, parameter: &Parameter, function: &Ident) -> Ident {
    let ident = match parameter {
        Parameter::Argument(argument) => Some(argument.ident()),
        Parameter::Extractor(extractor) => extractor.ident.as_ref(),
    };
    match ident {
        Some(ident) if ident != function => {
            let mut shown = ident.clone();
            shown.set_span(ident.span().resolved_at(Span::mixed_site()));
            shown
        }
        _ => local(&format!("parameter{number}")),
    }
}

fn description(root: &Path, function: &ItemFn, handler: &Handler) -> TokenStream {
    let ident = &function.sig.ident;
    let items = handler.arguments_items(root, Clone::clone);
    let check = handler.output_check(root);
    let expression = handler.expression(
        root,
        |values| quote!(#ident(#(#values),*)),
        completer::as_written,
    );
    implementation(
        root,
        function,
        handler.kind(),
        &handler.bounds(root),
        &quote!(#items #check #expression),
    )
}

/// The type that represents the function, and the trait by which the server gets the description from it.
fn implementation(
    root: &Path,
    function: &ItemFn,
    kind: Kind,
    bounds: &[TokenStream],
    body: &TokenStream,
) -> TokenStream {
    let conditions: Vec<_> = conditions(&function.attrs).collect();
    let (vis, marker) = (&function.vis, marker(kind, &function.sig.ident));
    let describe = format_ident!("{}", kind.description());
    let method = format_ident!("{}", kind.word());
    let builder = format_ident!("{}", kind.builder());
    quote! {
        #(#conditions)*
        #[doc(hidden)]
        #[allow(non_camel_case_types)]
        #vis enum #marker {}

        #(#conditions)*
        #[automatically_derived]
        #[allow(deprecated, trivial_bounds, unused_qualifications, clippy::all, clippy::pedantic, clippy::nursery)]
        impl #root::__private::#describe for #marker where #(#bounds),* {
            fn #method() -> #root::#builder { #body }
        }
    }
}

fn marker(kind: Kind, function: &Ident) -> Ident {
    format_ident!(
        "__{}_{}",
        kind.word(),
        function.unraw(),
        span = function.span()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expansion::Expansion;

    fn book() -> TokenStream {
        quote! {
            /// Book a seat.
            #[tracing::instrument]
            pub(crate) async fn book(
                State(app): State<App>,
                /** Flight number. */ flight: String,
                #[extract] mut progress: Progress,
                #[arg(default = 3, rename = "rowNumber")] row: Option<u32>,
            ) -> Result<Json<Ticket>, ToolError> {
                body(app, flight, progress, row)
            }
        }
    }

    #[test]
    fn the_function_keeps_its_name_parameters_and_output() {
        let text = Expansion::of_function(Kind::Tool, quote!(destructive), &book());
        text.has(&quote! {
            #[doc = r" Book a seat."]
            pub(crate) fn book(
                app: State<App>,
                flight: String,
                progress: Progress,
                row: Option<u32>
            ) -> ::turnbuckle::__private::Described<
                __tool_book,
                impl ::core::future::Future<Output = Result<Json<Ticket>, ToolError> >
                    + ::core::marker::Send,
            > {
                #[allow(clippy::unused_async, clippy::needless_pass_by_value)]
                #[tracing::instrument]
                async fn book(
                    State(app): State<App>,
                    flight: String,
                    mut progress: Progress,
                    row: Option<u32>,
                ) -> Result<Json<Ticket>, ToolError> {
                    body(app, flight, progress, row)
                }
                ::turnbuckle::__private::Described::new(book(app, flight, progress, row))
            }
        });
    }

    #[test]
    fn the_description_is_found_by_type() {
        let text = Expansion::of_function(Kind::Tool, quote!(destructive, title = "Book"), &book());
        text.has(&quote!(
            pub(crate) enum __tool_book {}
        ));
        text.has(&quote!(impl ::turnbuckle::__private::DescribeTool for __tool_book));
        text.has(&quote! {
            ::turnbuckle::Tool::new(
                "book",
                move |
                    extractor0: State<App>,
                    extractor1: Progress,
                    ::turnbuckle::__private::NamedArgs(arguments):
                        ::turnbuckle::__private::NamedArgs<__Arguments>
                | book(extractor0, arguments.flight, extractor1, arguments.row)
            )
            .about("Book a seat.")
            .destructive()
            .title("Book")
        });
    }

    #[test]
    fn arguments_become_a_struct() {
        let text = Expansion::of_function(Kind::Tool, quote!(), &book());
        text.has(&quote! {
            #[serde(
                crate = "::turnbuckle::__private::serde",
                rename = "book",
                expecting = "the arguments of `book`"
            )]
            #[schemars(crate = "::turnbuckle::__private::schemars")]
            struct __Arguments {
                #[doc = "Flight number."]
                flight: String,
                #[serde(rename = "rowNumber")]
                #[serde(default = "__default_row")]
                row: Option<u32>
            }
            fn __default_row() -> Option<u32> {
                ::core::option::Option::Some(3)
            }
        });
    }

    #[test]
    fn without_arguments_there_is_no_struct() {
        let text = Expansion::of_function(
            Kind::Tool,
            quote!(),
            &quote!(
                async fn ping() {}
            ),
        );
        text.has(&quote!(::turnbuckle::Tool::new("ping", move || ping())));
        text.lacks(&quote!(__Arguments));
    }

    #[test]
    fn the_facade_may_be_elsewhere() {
        let item = quote!(
            async fn r#type(r#in: u8) {}
        );
        let text = Expansion::of_function(Kind::Prompt, quote!(crate = crate::mcp), &item);
        text.has(&quote!(crate::mcp::Prompt::new));
        text.says("\"crate::mcp::__private::serde\"");
        text.has(&quote!(
            enum __prompt_type {}
        ));
        text.lacks(&quote!(::turnbuckle));
    }

    #[test]
    fn resources_are_made_from_their_template() {
        let text = Expansion::of_function(
            Kind::Resource,
            quote!("seat://{flight}", mime_type = "text/plain", name = "Seats"),
            &quote!(
                async fn seat(#[complete(flights)] flight: String) -> String {
                    flight
                }
            ),
        );
        text.has(&quote! {
            .name("Seats").mime_type("text/plain").complete("flight", flights)
        });
        text.has(&quote!("seat://{flight}", move |::turnbuckle::__private::NamedArgs(arguments):));
    }

    #[test]
    fn conditions_hold_for_all_that_is_generated() {
        let item = quote!(
            #[cfg(unix)]
            async fn ping() {}
        );
        let text = Expansion::of_function(Kind::Tool, quote!(), &item);
        assert_eq!(text.count(&quote!(#[cfg(unix)])), 3);
    }

    #[test]
    fn a_mistake_in_the_options_leaves_the_function_described() {
        let text = Expansion::of_function(Kind::Tool, quote!(destructve), &book());
        text.says("did you mean `destructive`?");
        text.has(&quote!(::core::unreachable!()));
        text.has(&quote!(::turnbuckle::__private::Described < __tool_book,));
    }

    #[test]
    fn a_function_that_is_not_async_is_called_when_it_is_awaited() {
        let item = quote!(
            fn add(left: u8, right: u8) -> u8 {
                left + right
            }
        );
        let text = Expansion::of_function(Kind::Tool, quote!(), &item);
        text.has(&quote!(::turnbuckle::__private::Described::new(
            async move { add(left, right) }
        )));
    }

    #[test]
    fn a_mistake_in_the_signature_leaves_the_function_as_it_was() {
        let item = quote!(
            async fn add<T>(
                /** left */
                a: u8,
                #[arg(default)] b: u8,
            ) -> u8 {
                a + b
            }
        );
        let text = Expansion::of_function(Kind::Tool, quote!(), &item);
        text.says("without generic parameters");
        text.has(&quote!(
            async fn add<T>(a: u8, b: u8) -> u8 {
                a + b
            }
        ));
        text.lacks(&quote!(Described));
    }

    #[test]
    fn something_else_is_left_alone() {
        let text = Expansion::of_function(
            Kind::Tool,
            quote!(),
            &quote!(
                struct Book;
            ),
        );
        text.says("goes on a function");
        text.has(&quote!(
            struct Book;
        ));
    }
}
