//! The other attributes of a handler, sorted by where they belong when the function is split into two.

use syn::Attribute;

use crate::kind::Kind;

/// The attributes of a function: some for the outer function that callers see, some for its body.
#[derive(Default)]
pub(crate) struct Attributes {
    pub(crate) outer: Vec<Attribute>,
    pub(crate) inner: Vec<Attribute>,
}

impl Attributes {
    /// Sorts the attributes. Lint levels go to both functions; unknown attributes, such as `#[instrument]`, go
    /// to the body.
    pub(crate) fn sort(attributes: Vec<Attribute>) -> Self {
        let mut sorted = Self::default();
        for attribute in attributes {
            if is_any(&attribute, &["doc", "cfg", "must_use", "deprecated"]) {
                sorted.outer.push(attribute);
            } else if is_any(&attribute, &["allow", "warn", "deny", "forbid"]) {
                sorted.outer.push(attribute.clone());
                sorted.inner.push(attribute);
            } else {
                sorted.inner.push(attribute);
            }
        }
        sorted
    }
}

/// The `cfg` conditions under which an item exists. Code generated for the item must have the same conditions.
pub(crate) fn conditions(attributes: &[Attribute]) -> impl Iterator<Item = &Attribute> {
    attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("cfg"))
}

/// The kind of handler that an attribute declares, if it is one of ours: `#[tool]`,
/// `#[turnbuckle::tool]`.
pub(crate) fn kind_of(attribute: &Attribute) -> Option<Kind> {
    let segments = &attribute.path().segments;
    let is_ours = match segments.len() {
        1 => true,
        2 => segments[0].ident == "turnbuckle",
        _ => false,
    };
    let word = &segments.last()?.ident;
    Kind::ALL
        .into_iter()
        .find(|kind| is_ours && word == kind.word())
}

fn is_any(attribute: &Attribute, names: &[&str]) -> bool {
    names.iter().any(|name| attribute.path().is_ident(name))
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    #[test]
    fn lint_levels_go_to_both_sides() {
        let sorted = Attributes::sort(vec![
            parse_quote!(#[doc = " Books."]),
            parse_quote!(#[allow(dead_code)]),
            parse_quote!(#[expect(unused)]),
            parse_quote!(#[tracing::instrument]),
        ]);
        assert_eq!(sorted.outer.len(), 2);
        assert_eq!(sorted.inner.len(), 3);
    }

    #[test]
    fn our_attributes_are_known_by_short_and_long_name() {
        assert_eq!(kind_of(&parse_quote!(#[tool])), Some(Kind::Tool));
        assert_eq!(
            kind_of(&parse_quote!(#[turnbuckle::prompt(title = "x")])),
            Some(Kind::Prompt)
        );
        assert_eq!(
            kind_of(&parse_quote!(#[::turnbuckle::resource("a://b")])),
            Some(Kind::Resource)
        );
        assert_eq!(kind_of(&parse_quote!(#[other::tool])), None);
        assert_eq!(kind_of(&parse_quote!(#[inline])), None);
    }
}
