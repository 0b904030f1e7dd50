//! `Self` in the types of arguments. The generated struct is inside a function, where `Self` of the impl block
//! around it is not known.

use syn::{
    Type, parse_quote,
    visit_mut::{self, VisitMut},
};

/// The type with `Self` replaced by the state's type.
pub(crate) fn spelt_out(ty: &Type, state: &Type) -> Type {
    let mut ty = ty.clone();
    SpellOut { state }.visit_type_mut(&mut ty);
    ty
}

struct SpellOut<'a> {
    state: &'a Type,
}

impl VisitMut for SpellOut<'_> {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        visit_mut::visit_type_mut(self, ty);
        let Type::Path(path) = &*ty else { return };
        let segments = &path.path.segments;
        if path.qself.is_some() || segments.first().is_none_or(|first| first.ident != "Self") {
            return;
        }
        let state = self.state;
        let rest: Vec<_> = segments.iter().skip(1).collect();
        *ty = if rest.is_empty() {
            state.clone()
        } else {
            parse_quote!(<#state> #(::#rest)*)
        };
    }
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::*;

    #[test]
    fn self_is_found_at_any_depth() {
        let state: Type = parse_quote!(App);
        let cases: [(Type, Type); 4] = [
            (parse_quote!(Self), parse_quote!(App)),
            (parse_quote!(Vec<Self>), parse_quote!(Vec<App>)),
            (
                parse_quote!(Option<Self::Item>),
                parse_quote!(Option<<App>::Item>),
            ),
            (
                parse_quote!(<Self as Shop>::Item),
                parse_quote!(<App as Shop>::Item),
            ),
        ];
        for (written, expected) in cases {
            let made = spelt_out(&written, &state);
            assert_eq!(quote!(#made).to_string(), quote!(#expected).to_string());
        }
    }
}
