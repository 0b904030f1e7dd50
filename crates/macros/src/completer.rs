//! What `#[complete(…)]` names: a function, a list, or a method of the state.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Expr, FnArg, ImplItem, ImplItemFn, Type, parse_quote};

use crate::{handler::local, mistakes::Mistakes};

/// The completer of a free function's argument: the expression as it stands.
pub(crate) fn as_written(completer: &Expr) -> TokenStream {
    completer.to_token_stream()
}

/// The completer of a method's argument. `Self::cities` may be a method of the same block, with or
/// without a receiver, async or not; it becomes a closure over the state. Anything else stands as
/// it is.
pub(crate) fn of_method(completer: &Expr, items: &[ImplItem]) -> TokenStream {
    let Some(method) = named(completer, items) else {
        return as_written(completer);
    };
    let Some(ty) = typed(method) else {
        return as_written(completer);
    };
    let ident = &method.sig.ident;
    let (this, completing) = (local("this"), local("completing"));
    let wait = method.sig.asyncness.map(|_| quote!(.await));
    if method.sig.receiver().is_none() {
        return quote!(move |#completing: #ty| async move { Self::#ident(#completing) #wait });
    }
    quote!({
        let #this = ::std::sync::Arc::clone(&self);
        move |#completing: #ty| {
            let #this = ::std::sync::Arc::clone(&#this);
            async move { Self::#ident(&*#this, #completing) #wait }
        }
    })
}

/// Checks that a method named as a completer can be one.
pub(crate) fn check(completer: &Expr, items: &[ImplItem], mistakes: &mut Mistakes) {
    let Some(method) = named(completer, items) else {
        return;
    };
    let is_shared = method.sig.receiver().is_none_or(|receiver| {
        matches!(&*receiver.ty, Type::Reference(reference) if reference.mutability.is_none())
    });
    if typed(method).is_none() || !is_shared {
        let ident = &method.sig.ident;
        mistakes.at(
            completer,
            format!(
                "a completer takes `&self` and what was typed so far: \
                 `fn {ident}(&self, partial: String) -> Vec<String>`"
            ),
        );
    }
}

/// Quiets the lints that blame a completer for what it must be: async, and an owner of its
/// argument.
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

/// The method of the block that `Self::name` means.
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

/// The type of the one parameter.
fn typed(method: &ImplItemFn) -> Option<&Type> {
    let mut parameters = method.sig.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(parameter) => Some(&*parameter.ty),
        FnArg::Receiver(_) => None,
    });
    let only = parameters.next();
    only.filter(|_| parameters.next().is_none())
}

#[cfg(test)]
mod tests {
    use syn::ItemImpl;

    use super::*;

    fn block() -> ItemImpl {
        parse_quote! {
            impl App {
                async fn cities(&self, partial: String) -> Vec<String> { Vec::new() }
                fn countries(completing: Completing) -> Vec<String> { Vec::new() }
                fn nothing(&self) -> Vec<String> { Vec::new() }
            }
        }
    }

    #[test]
    fn a_method_becomes_a_closure_over_the_state() {
        let items = block().items;
        let cities = of_method(&parse_quote!(Self::cities), &items).to_string();
        let call = quote!(async move { Self::cities(&*this, completing).await }).to_string();
        assert!(cities.contains(&call), "{cities}");
        let countries = of_method(&parse_quote!(Self::countries), &items).to_string();
        let expected =
            quote!(move |completing: Completing| async move { Self::countries(completing) });
        assert_eq!(countries, expected.to_string());
    }

    #[test]
    fn anything_else_stands_as_written() {
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
    fn a_method_without_a_parameter_is_refused() {
        let mut mistakes = Mistakes::default();
        check(&parse_quote!(Self::nothing), &block().items, &mut mistakes);
        let errors = mistakes
            .into_compile_errors()
            .expect("one mistake")
            .to_string();
        assert!(errors.contains("what was typed so far"), "{errors}");
        let mut none = Mistakes::default();
        check(&parse_quote!(Self::cities), &block().items, &mut none);
        assert!(none.into_compile_errors().is_none());
    }
}
