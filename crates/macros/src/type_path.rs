//! What can be told of a type by its path alone.

use syn::{GenericArgument, PathArguments, PathSegment, Type};

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
