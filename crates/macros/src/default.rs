//! `#[arg(default = …)]`: the value of an argument that the client leaves out.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Expr, Type};

use crate::{settings::text, type_path::option_of};

/// The default, converted to the argument's type: text is converted, and `3` for an `Option` means `Some(3)`.
pub(crate) fn value(ty: &Type, written: &Expr) -> TokenStream {
    let convert = || quote!(::core::convert::From::from(#written));
    let owned = if text(written).is_some() {
        convert()
    } else {
        quote!(#written)
    };
    if option_of(ty).is_none() {
        return owned;
    }
    match written {
        Expr::Lit(_) | Expr::Unary(_) => quote!(::core::option::Option::Some(#owned)),
        _ if is_some_or_none(written) => owned,
        // A constant or a call: of the inner type or of the `Option` itself.
        _ => convert(),
    }
}

fn is_some_or_none(written: &Expr) -> bool {
    let (path, name) = match written {
        Expr::Call(call) => (&*call.func, "Some"),
        other => (other, "None"),
    };
    let Expr::Path(path) = path else { return false };
    path.path
        .segments
        .last()
        .is_some_and(|last| last.ident == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_take_the_type_of_the_argument() {
        let table = [
            (quote!(u32), quote!(3), quote!(3)),
            (
                quote!(String),
                quote!("a"),
                quote!(::core::convert::From::from("a")),
            ),
            (
                quote!(Option<i8>),
                quote!(-3),
                quote!(::core::option::Option::Some(-3)),
            ),
            (quote!(Option<u8>), quote!(None), quote!(None)),
            (quote!(Option<u8>), quote!(Some(3)), quote!(Some(3))),
            (
                quote!(Option<u8>),
                quote!(ROW),
                quote!(::core::convert::From::from(ROW)),
            ),
            (
                quote!(Option<String>),
                quote!("a"),
                quote!(::core::option::Option::Some(::core::convert::From::from(
                    "a"
                ))),
            ),
        ];
        for (ty, written, expected) in table {
            let ty: Type = syn::parse2(ty).expect("a type");
            let written: Expr = syn::parse2(written).expect("an expression");
            assert_eq!(value(&ty, &written).to_string(), expected.to_string());
        }
    }
}
