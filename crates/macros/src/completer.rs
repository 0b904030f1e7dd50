//! The values of `#[complete(…)]` and `list = …`: a function, a list, or a method of the state.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Expr, FnArg, Ident, ImplItem, ImplItemFn, Type, parse_quote};

use crate::{handler::local, mistakes::Mistakes, signature::TakenSelf};

/// The completer of a free function's argument: the expression, unchanged.
pub(crate) fn as_written(completer: &Expr) -> TokenStream {
    completer.to_token_stream()
}

/// The completer of a method's argument. `Self::cities` may be a method of the same block, with or
/// without a receiver, async or not; it becomes a closure over the state. Any other expression is
/// left unchanged.
pub(crate) fn of_method(completer: &Expr, items: &[ImplItem]) -> TokenStream {
    let Some(method) = named(completer, items) else {
        return as_written(completer);
    };
    let ident = &method.sig.ident;
    let this = local("this");
    let (names, types): (Vec<Ident>, Vec<&Type>) = types(method)
        .enumerate()
        .map(|(number, ty)| (local(&format!("parameter{number}")), ty))
        .unzip();
    let wait = method.sig.asyncness.map(|_| quote!(.await));
    if method.sig.receiver().is_none() {
        return quote!(move |#(#names: #types),*| async move { Self::#ident(#(#names),*) #wait });
    }
    quote!({
        let #this = ::std::sync::Arc::clone(&self);
        move |#(#names: #types),*| {
            let #this = ::std::sync::Arc::clone(&#this);
            async move { Self::#ident(&*#this #(, #names)*) #wait }
        }
    })
}

/// Checks that a method named as a completer has the right signature.
pub(crate) fn check(completer: &Expr, items: &[ImplItem], mistakes: &mut Mistakes) {
    let Some(method) = named(completer, items) else {
        return;
    };
    let receiver = method.sig.receiver();
    let is_shared = receiver.is_none_or(|receiver| TakenSelf::of(receiver) == TakenSelf::Shared);
    if !is_shared {
        let ident = &method.sig.ident;
        mistakes.at(
            completer,
            format!(
                "`{ident}` runs at the same time as handlers: take `&self`, then the other \
                 parameters"
            ),
        );
    }
}

/// Silences the lints that complain about what a completer must be: async, and taking its argument by value.
pub(crate) fn quiet(completer: &Expr, items: &mut [ImplItem]) {
    let Some(ident) = named(completer, items).map(|method| method.sig.ident.clone()) else {
        return;
    };
    for item in items {
        if let ImplItem::Fn(method) = item
            && method.sig.ident == ident
        {
            let quiet =
                parse_quote!(#[allow(clippy::unused_async, clippy::needless_pass_by_value)]);
            method.attrs.insert(0, quiet);
        }
    }
}

/// The method of the block that `Self::name` refers to.
fn named<'a>(completer: &Expr, items: &'a [ImplItem]) -> Option<&'a ImplItemFn> {
    let Expr::Path(path) = completer else {
        return None;
    };
    let segments = &path.path.segments;
    if path.qself.is_some() || segments.len() != 2 || segments[0].ident != "Self" {
        return None;
    }
    items.iter().find_map(|item| match item {
        ImplItem::Fn(method) if method.sig.ident == segments[1].ident => Some(method),
        _ => None,
    })
}

/// The types of the parameters behind the receiver.
fn types(method: &ImplItemFn) -> impl Iterator<Item = &Type> {
    method.sig.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(parameter) => Some(&*parameter.ty),
        FnArg::Receiver(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use syn::ItemImpl;

    use super::*;

    fn block() -> ItemImpl {
        parse_quote! {
            impl App {
                async fn cities(&self, partial: String) -> Vec<String> { Vec::new() }
                fn countries(completing: CompletionContext) -> Vec<String> { Vec::new() }
                async fn towns(&self, typed: String, State(db): State<Db>) -> Vec<String> {
                    Vec::new()
                }
                fn exclusive(&mut self, typed: String) -> Vec<String> { Vec::new() }
            }
        }
    }

    #[test]
    fn a_method_becomes_a_closure_over_the_state() {
        let items = block().items;
        let cities = of_method(&parse_quote!(Self::cities), &items).to_string();
        let call = quote!(async move { Self::cities(&*this, parameter0).await }).to_string();
        assert!(cities.contains(&call), "{cities}");
        let towns = of_method(&parse_quote!(Self::towns), &items).to_string();
        let head = quote!(move |parameter0: String, parameter1: State<Db>|).to_string();
        let call = quote!(Self::towns(&*this, parameter0, parameter1).await).to_string();
        assert!(towns.contains(&head) && towns.contains(&call), "{towns}");
        let countries = of_method(&parse_quote!(Self::countries), &items).to_string();
        let expected =
            quote!(move |parameter0: CompletionContext| async move { Self::countries(parameter0) });
        assert_eq!(countries, expected.to_string());
    }

    #[test]
    fn any_other_expression_is_left_unchanged() {
        for written in [
            parse_quote!(cities),
            parse_quote!(["a", "b"]),
            parse_quote!(Self::other),
        ] {
            let written: Expr = written;
            let made = of_method(&written, &block().items).to_string();
            assert_eq!(made, as_written(&written).to_string());
        }
    }

    #[test]
    fn a_method_that_takes_its_state_for_itself_is_refused() {
        let mut mistakes = Mistakes::default();
        check(
            &parse_quote!(Self::exclusive),
            &block().items,
            &mut mistakes,
        );
        let errors = mistakes
            .into_compile_errors()
            .expect("one mistake")
            .to_string();
        assert!(errors.contains("take `&self`"), "{errors}");
        let mut none = Mistakes::default();
        check(&parse_quote!(Self::cities), &block().items, &mut none);
        assert!(none.into_compile_errors().is_none());
    }
}
