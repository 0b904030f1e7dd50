//! Questions about a type that its written form can answer.

use syn::{
    GenericArgument, PathArguments, PathSegment, Type,
    visit_mut::{self, VisitMut},
};

/// The `T` of an `Option<T>`.
pub(crate) fn option_of(ty: &Type) -> Option<&Type> {
    let segment = last_segment(ty).filter(|segment| segment.ident == "Option")?;
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else {
        return None;
    };
    match arguments.args.first()? {
        GenericArgument::Type(inner) => Some(inner),
        _ => None,
    }
}

/// The last segment of a type that is a path, such as `State<App>` of `turnbuckle::State<App>`.
pub(crate) fn last_segment(ty: &Type) -> Option<&PathSegment> {
    match ty {
        Type::Path(path) => path.path.segments.last(),
        // A type that came through a `macro_rules!` macro.
        Type::Group(group) => last_segment(&group.elem),
        Type::Paren(paren) => last_segment(&paren.elem),
        _ => None,
    }
}

/// An `impl Trait`, at any depth.
pub(crate) fn opaque_in(ty: &Type) -> Option<Type> {
    Find::first(ty, |ty| matches!(ty, Type::ImplTrait(_)))
}

/// A reference, at any depth.
pub(crate) fn reference_in(ty: &Type) -> Option<Type> {
    Find::first(ty, |ty| matches!(ty, Type::Reference(_)))
}

/// Walks through a type. It only reads, but it uses syn's mutable walk because this is the one that we build.
struct Find {
    is_wanted: fn(&Type) -> bool,
    found: Option<Type>,
}

impl Find {
    fn first(ty: &Type, is_wanted: fn(&Type) -> bool) -> Option<Type> {
        let mut find = Self {
            is_wanted,
            found: None,
        };
        find.visit_type_mut(&mut ty.clone());
        find.found
    }
}

impl VisitMut for Find {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        if self.found.is_some() {
            return;
        }
        if (self.is_wanted)(ty) {
            self.found = Some(ty.clone());
        } else {
            visit_mut::visit_type_mut(self, ty);
        }
    }
}

#[cfg(test)]
mod tests {
    use quote::quote;
    use syn::parse_quote;

    use super::*;

    fn shown(ty: Option<&Type>) -> String {
        quote!(#ty).to_string()
    }

    #[test]
    fn an_option_is_known_by_its_last_segment() {
        assert_eq!(shown(option_of(&parse_quote!(Option<u8>))), "u8");
        assert_eq!(
            shown(option_of(&parse_quote!(std::option::Option<u8>))),
            "u8"
        );
        assert!(option_of(&parse_quote!(Vec<u8>)).is_none());
        assert!(option_of(&parse_quote!(Option)).is_none());
        assert!(option_of(&parse_quote!([u8])).is_none());
    }

    #[test]
    fn types_are_searched_at_any_depth() {
        let ty: Type = parse_quote!(Vec<(u8, Option<&'static str>, [impl Copy; 2])>);
        assert_eq!(shown(reference_in(&ty).as_ref()), "& 'static str");
        assert_eq!(shown(opaque_in(&ty).as_ref()), "impl Copy");
        assert!(opaque_in(&parse_quote!(Vec<u8>)).is_none());
    }
}
