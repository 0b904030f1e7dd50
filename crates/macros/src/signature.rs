//! What a function must look like to be a handler.

use syn::{ReceiverKind, Safety, Signature, Type};

use crate::{kind::Kind, mistakes::Mistakes, type_path::last_segment};

/// How a method takes its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Receiver {
    /// No receiver: an associated function.
    None,
    /// `&self`
    Shared,
    /// `self: Arc<Self>`
    Arc,
}

/// Checks a free function. Returns whether it can be wrapped at all.
pub(crate) fn check_function(kind: Kind, signature: &Signature, mistakes: &mut Mistakes) -> bool {
    let name = &signature.ident;
    let mut is_sound = check_shape(kind, signature, mistakes);
    if let Some(receiver) = signature.receiver() {
        is_sound = false;
        mistakes.at(
            receiver,
            format!("`{name}` is a method: put #[handlers] on the impl block, and #[{kind}] works inside it"),
        );
    }
    is_sound
}

/// Checks a method of an impl block with `#[handlers]`, and returns how it takes its state.
pub(crate) fn check_method(kind: Kind, signature: &Signature, mistakes: &mut Mistakes) -> Receiver {
    check_shape(kind, signature, mistakes);
    let Some(receiver) = signature.receiver() else {
        return Receiver::None;
    };
    match TakenSelf::of(receiver) {
        TakenSelf::Shared => return Receiver::Shared,
        TakenSelf::Arc => return Receiver::Arc,
        TakenSelf::Exclusive => mistakes.at(
            receiver,
            "handlers run side by side: take `&self`, and keep what changes behind a lock or an atomic",
        ),
        TakenSelf::Otherwise => {
            mistakes.at(receiver, "handlers share their state: take `&self` or `self: Arc<Self>`");
        }
    }
    Receiver::Shared
}

/// How a method takes `self`, in either notation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum TakenSelf {
    Shared,
    Exclusive,
    Arc,
    Otherwise,
}

impl TakenSelf {
    pub(crate) fn of(receiver: &syn::Receiver) -> Self {
        let exclusive = |is_exclusive| {
            if is_exclusive {
                Self::Exclusive
            } else {
                Self::Shared
            }
        };
        match &receiver.kind {
            ReceiverKind::Reference(_, _, mutability) => exclusive(mutability.is_some()),
            ReceiverKind::Typed(_, ty) => match &**ty {
                Type::Reference(reference) => exclusive(reference.mutability.is_some()),
                ty if last_segment(ty).is_some_and(|last| last.ident == "Arc") => Self::Arc,
                _ => Self::Otherwise,
            },
            _ => Self::Otherwise,
        }
    }
}

/// Checks the rules for functions and methods: concrete types, not `unsafe`, no foreign ABI.
fn check_shape(kind: Kind, signature: &Signature, mistakes: &mut Mistakes) -> bool {
    let name = &signature.ident;
    let mut is_sound = true;
    let mut complain = |place: &dyn quote::ToTokens, message: String| {
        is_sound = false;
        mistakes.at(place, message);
    };
    if !signature.generics.params.is_empty() {
        let message = format!(
            "a {kind} has one fixed schema: make `{name}` a function without generic parameters"
        );
        complain(&signature.generics, message);
    }
    if let Some(clause) = &signature.generics.where_clause {
        complain(
            clause,
            format!("a {kind} has no generic parameters, so `{name}` needs no where clause"),
        );
    }
    if let Safety::Unsafe(keyword) = &signature.safety {
        complain(
            keyword,
            format!("any client may call `{name}`, so it cannot be unsafe"),
        );
    }
    if let Some(abi) = &signature.abi {
        complain(abi, format!("`{name}` is called from Rust: remove the ABI"));
    }
    is_sound
}

#[cfg(test)]
mod tests {
    use proc_macro2::TokenStream;
    use quote::quote;
    use syn::parse_quote;

    use super::*;
    use crate::expansion::Expansion;

    #[test]
    fn a_function_must_be_plain() {
        let table: [(TokenStream, &str); 5] = [
            (
                quote!(
                    async fn seat<T>(row: T) {}
                ),
                "without generic parameters",
            ),
            (
                quote!(
                    async fn seat()
                    where
                        u8: Copy,
                    {
                    }
                ),
                "needs no where clause",
            ),
            (
                quote!(
                    async unsafe fn seat() {}
                ),
                "cannot be unsafe",
            ),
            (
                quote!(
                    async extern "C" fn seat() {}
                ),
                "remove the ABI",
            ),
            (
                quote!(
                    async fn seat(&self) {}
                ),
                "put #[handlers] on the impl block",
            ),
        ];
        for (item, message) in table {
            Expansion::of_function(Kind::Tool, quote!(), &item).says(message);
        }
    }

    #[test]
    fn a_method_shares_its_state() {
        let table: [(Signature, Receiver, bool); 6] = [
            (parse_quote!(fn seat()), Receiver::None, true),
            (parse_quote!(fn seat(&self)), Receiver::Shared, true),
            (parse_quote!(fn seat(self: &Self)), Receiver::Shared, true),
            (
                parse_quote!(fn seat(self: std::sync::Arc<Self>)),
                Receiver::Arc,
                true,
            ),
            (parse_quote!(fn seat(&mut self)), Receiver::Shared, false),
            (parse_quote!(fn seat(self)), Receiver::Shared, false),
        ];
        for (signature, receiver, is_fine) in table {
            let mut mistakes = Mistakes::default();
            assert_eq!(
                check_method(Kind::Tool, &signature, &mut mistakes),
                receiver
            );
            assert_eq!(mistakes.into_compile_errors().is_none(), is_fine);
        }
    }
}
