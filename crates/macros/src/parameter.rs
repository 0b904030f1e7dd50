//! The parameters of a handler: plain names are arguments, destructured ones are extractors.

use syn::{Attribute, FnArg, Ident, Pat, PatType, Token, Type, punctuated::Punctuated};

use crate::{
    argument::Argument,
    description::is_doc,
    kind::Kind,
    mistakes::Mistakes,
    type_path::{last_segment, opaque_in, option_of, reference_in},
};

/// Attributes that this crate reads and removes from the parameter.
const OURS: [&str; 5] = ["extract", "arg", "complete", "serde", "schemars"];

/// Attributes that rustc accepts on a parameter and that this crate ignores.
const LINTS: [&str; 5] = ["allow", "expect", "warn", "deny", "forbid"];

/// The facade's own extractors. A plain parameter of such a type is a forgotten `#[extract]`.
const EXTRACTORS: [&str; 16] = [
    "Args",
    "Ask",
    "Background",
    "Caller",
    "Cancelled",
    "Catalog",
    "Changes",
    "Declared",
    "ClientInfo",
    "Log",
    "CallMeta",
    "Progress",
    "RawArgs",
    "State",
    "TraceContext",
    "Uri",
];

/// One parameter, in the order of the signature.
pub(crate) enum Parameter {
    Argument(Box<Argument>),
    Extractor(Box<Extractor>),
}

impl Parameter {
    pub(crate) fn ty(&self) -> &Type {
        match self {
            Self::Argument(argument) => argument.ty(),
            Self::Extractor(extractor) => &extractor.ty,
        }
    }

    /// Whether its type can be written in the signature of the wrapped function.
    pub(crate) fn is_concrete(&self) -> bool {
        opaque_in(self.ty()).is_none() && reference_in(self.ty()).is_none()
    }
}

/// A parameter that is taken from the request or the server, not from the arguments.
pub(crate) struct Extractor {
    /// The name to show in the documentation, where the pattern has one.
    pub(crate) ident: Option<Ident>,
    pub(crate) ty: Type,
}

impl Extractor {
    /// Whether it is the facade's extractor of this name.
    pub(crate) fn is(&self, name: &str) -> bool {
        last_segment(&self.ty).is_some_and(|segment| segment.ident == name)
    }
}

/// Parses all parameters except a receiver, and leaves on them only attributes that rustc understands.
pub(crate) fn take(
    kind: Kind,
    inputs: &mut Punctuated<FnArg, Token![,]>,
    mistakes: &mut Mistakes,
) -> Vec<Parameter> {
    inputs
        .iter_mut()
        .filter_map(|input| match input {
            FnArg::Typed(parameter) => Some(read(kind, parameter, mistakes)),
            FnArg::Receiver(_) => None,
        })
        .collect()
}

fn read(kind: Kind, parameter: &mut PatType, mistakes: &mut Mistakes) -> Parameter {
    let (lints, attributes): (Vec<_>, Vec<_>) = std::mem::take(&mut parameter.attrs)
        .into_iter()
        .partition(is_lint);
    parameter.attrs = lints;
    let (ours, strangers): (Vec<_>, Vec<_>) = attributes.into_iter().partition(is_ours);
    for stranger in &strangers {
        mistakes.at(stranger, stranger_message(stranger));
    }
    let is_marked = ours
        .iter()
        .any(|attribute| attribute.path().is_ident("extract"));
    match plain_name(&parameter.pat) {
        Some(ident) if !is_marked => {
            check_argument(ident, &parameter.ty, &ours, mistakes);
            Parameter::Argument(Box::new(Argument::read(
                kind,
                ident,
                &parameter.ty,
                ours,
                mistakes,
            )))
        }
        _ => Parameter::Extractor(Box::new(extractor(parameter, &ours, mistakes))),
    }
}

fn is_lint(attribute: &Attribute) -> bool {
    LINTS.iter().any(|name| attribute.path().is_ident(name))
}

fn is_ours(attribute: &Attribute) -> bool {
    is_doc(attribute) || OURS.iter().any(|name| attribute.path().is_ident(name))
}

fn stranger_message(attribute: &Attribute) -> String {
    let path = attribute.path();
    if path.is_ident("cfg") || path.is_ident("cfg_attr") {
        return "a parameter cannot depend on `cfg`: write one function for each case".to_owned();
    }
    "this attribute has no effect on a parameter of a handler: use #[arg], #[complete], \
     #[extract], #[serde] or #[schemars]"
        .to_owned()
}

fn plain_name(pattern: &Pat) -> Option<&Ident> {
    match pattern {
        Pat::Ident(name) if name.subpat.is_none() => Some(&name.ident),
        Pat::Paren(paren) => plain_name(&paren.pat),
        _ => None,
    }
}

fn check_argument(ident: &Ident, ty: &Type, attributes: &[Attribute], mistakes: &mut Mistakes) {
    let is_surely_argument = attributes
        .iter()
        .any(|attribute| attribute.path().is_ident("arg"));
    let inner = option_of(ty).unwrap_or(ty);
    if let Some(name) = last_segment(inner).map(|segment| segment.ident.to_string())
        && EXTRACTORS.contains(&name.as_str())
        && !is_surely_argument
    {
        let full = readable(ty);
        let message = format!(
            "a plain name is an argument, and `{name}` is an extractor: write \
             `#[extract] {ident}: {full}` (or `#[arg]`, if `{name}` is a type of your own)"
        );
        mistakes.at(ty, message);
    }
    if let Type::Reference(reference) = ty {
        mistakes.at(
            ty,
            format!(
                "arguments are owned: use `{}` for `{ident}`",
                owned(&reference.elem)
            ),
        );
        return;
    }
    if let Some(place) = opaque_in(ty) {
        mistakes.at(
            place,
            format!("`{ident}` needs a concrete type: its schema is made from it"),
        );
    }
    if let Some(place) = reference_in(ty) {
        mistakes.at(
            place,
            format!("arguments are owned: use a type without references for `{ident}`"),
        );
    }
}

fn extractor(parameter: &PatType, attributes: &[Attribute], mistakes: &mut Mistakes) -> Extractor {
    for attribute in attributes {
        if !is_doc(attribute) && !attribute.path().is_ident("extract") {
            mistakes.at(
                attribute,
                "this attribute is for arguments, and a destructured parameter is an extractor",
            );
        }
    }
    let ty = &*parameter.ty;
    match ty {
        Type::Reference(_) => mistakes.at(ty, "extractors are owned: take it without the `&`"),
        Type::ImplTrait(_) => mistakes.at(ty, "an extractor needs a concrete type"),
        _ => {}
    }
    Extractor {
        ident: shown_name(&parameter.pat).cloned(),
        ty: ty.clone(),
    }
}

/// `app` of `State(app)`.
fn shown_name(pattern: &Pat) -> Option<&Ident> {
    match pattern {
        Pat::TupleStruct(tuple) if tuple.elems.len() == 1 => plain_name(&tuple.elems[0]),
        other => plain_name(other),
    }
}

fn owned(target: &Type) -> String {
    if let Type::Slice(slice) = target {
        let element = &slice.elem;
        return format!("Vec<{}>", readable(element));
    }
    match last_segment(target)
        .map(|segment| segment.ident.to_string())
        .as_deref()
    {
        Some("str") => "String".to_owned(),
        Some("Path") => "PathBuf".to_owned(),
        _ => readable(target),
    }
}

fn readable(ty: &Type) -> String {
    quote::quote!(#ty).to_string().replace(' ', "")
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::*;
    use crate::expansion::Expansion;

    fn tool(parameters: &proc_macro2::TokenStream) -> Expansion {
        Expansion::of_function(Kind::Tool, quote!(), &quote!(async fn seat(#parameters) {}))
    }

    #[test]
    fn patterns_are_extractors_and_names_are_arguments() {
        let text = tool(&quote!(_: One, Two { two }: Two, mut three: Three, #[extract] four: Four));
        text.has(&quote!(
            extractor0: One,
            extractor1: Two,
            extractor2: Four,
            ::turnbuckle::__private::NamedArgs(arguments)
        ));
        text.has(&quote!(seat(
            extractor0,
            extractor1,
            arguments.three,
            extractor2
        )));
    }

    #[test]
    fn lint_levels_stay_on_the_parameter() {
        let text = tool(&quote!(#[expect(unused)] row: u8));
        text.has(&quote!(async fn seat(#[expect(unused)] row: u8)));
        text.has(&quote!(
            struct __Arguments {
                row: u8,
            }
        ));
    }

    #[test]
    fn a_marked_argument_may_be_named_like_an_extractor() {
        tool(&quote!(#[arg] progress: Progress)).lacks(&quote!(compile_error));
        tool(&quote!(progress: Progress)).says("write `#[extract] progress: Progress`");
        tool(&quote!(who: Option<Caller>)).says("write `#[extract] who: Option<Caller>`");
    }

    #[test]
    fn borrowed_and_opaque_types_are_refused() {
        let table = [
            (quote!(a: &str), "use `String` for `a`"),
            (quote!(a: &[u8]), "use `Vec<u8>` for `a`"),
            (quote!(a: &std::path::Path), "use `PathBuf` for `a`"),
            (quote!(a: &Seat<u8>), "use `Seat<u8>` for `a`"),
            (
                quote!(a: Option<&str>),
                "use a type without references for `a`",
            ),
            (quote!(a: Vec<impl Seat>), "`a` needs a concrete type"),
            (quote!(One(_): &One), "take it without the `&`"),
            (
                quote!(One(_): impl Seat),
                "an extractor needs a concrete type",
            ),
        ];
        for (parameter, message) in table {
            tool(&parameter).says(message);
        }
    }

    #[test]
    fn strange_attributes_are_refused() {
        let table = [
            (quote!(#[default(3)] a: u8), "has no effect on a parameter"),
            (quote!(#[cfg(unix)] a: u8), "cannot depend on `cfg`"),
            (quote!(#[arg(default)] One(_): One), "is for arguments"),
        ];
        for (parameter, message) in table {
            tool(&parameter).says(message);
        }
    }
}
