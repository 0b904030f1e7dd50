//! Doc comments as the text that a model reads.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// The doc comments among these attributes as one expression of type `&'static str`, if there are
/// any.
pub(crate) fn expression(attributes: &[Attribute]) -> Option<TokenStream> {
    let docs: Vec<&Expr> = attributes.iter().filter_map(doc_value).collect();
    if docs.is_empty() {
        return None;
    }
    match literals(&docs) {
        Some(texts) => Some(tidy(&texts))
            .filter(|text| !text.is_empty())
            .map(|text| quote!(#text)),
        // `#[doc = include_str!("…")]`: the macro does not know the text, so the compiler joins the parts.
        None => Some(quote!(::core::concat!(#(#docs, "\n"),*).trim())),
    }
}

/// The doc comments as one attribute for a field, so that a schema shows them without stray
/// indentation.
pub(crate) fn attribute(attributes: &[Attribute]) -> TokenStream {
    let docs: Vec<&Expr> = attributes.iter().filter_map(doc_value).collect();
    match literals(&docs).map(|texts| tidy(&texts)) {
        Some(text) if text.is_empty() => TokenStream::new(),
        Some(text) => quote!(#[doc = #text]),
        None => docs.iter().map(|doc| quote!(#[doc = #doc])).collect(),
    }
}

/// Whether this is a doc comment or a `#[doc …]`.
pub(crate) fn is_doc(attribute: &Attribute) -> bool {
    attribute.path().is_ident("doc")
}

fn doc_value(attribute: &Attribute) -> Option<&Expr> {
    match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => Some(&pair.value),
        _ => None,
    }
}

fn literals(docs: &[&Expr]) -> Option<Vec<String>> {
    docs.iter().map(|doc| literal(doc)).collect()
}

fn literal(value: &Expr) -> Option<String> {
    match value {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) => Some(text.value()),
        Expr::Group(group) => literal(&group.expr),
        _ => None,
    }
}

/// One text of all doc comments. Line breaks stay as written, since the text is Markdown.
fn tidy(texts: &[String]) -> String {
    let lines: Vec<String> = texts
        .iter()
        .flat_map(|text| {
            if text.contains('\n') {
                block(text)
            } else {
                vec![line(text)]
            }
        })
        .collect();
    lines.join("\n").trim().to_owned()
}

/// A line comment: the space after `///` is not part of the text.
fn line(text: &str) -> String {
    text.strip_prefix(' ').unwrap_or(text).trim_end().to_owned()
}

/// A block comment: if all later lines start with a star, the stars are removed, and so is the indentation that
/// these lines share.
fn block(text: &str) -> Vec<String> {
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default().trim().to_owned();
    let later: Vec<&str> = lines.map(str::trim_end).collect();
    let unstarred: Option<Vec<&str>> = later
        .iter()
        .map(|line| {
            if line.is_empty() {
                Some("")
            } else {
                line.trim_start().strip_prefix('*')
            }
        })
        .collect();
    let later = unstarred.unwrap_or(later);
    let shared = later
        .iter()
        .filter(|line| !line.trim().is_empty())
        .map(|line| line.len() - line.trim_start().len())
        .min()
        .unwrap_or(0);
    // The cut may fall inside a multi-byte space of a line; such a line is left as it is.
    let dedented = later.iter().map(|line| match line.get(shared..) {
        Some(rest) => rest.to_owned(),
        None => line.trim().to_owned(),
    });
    std::iter::once(first).chain(dedented).collect()
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    fn said(attributes: &[Attribute]) -> String {
        let tokens = expression(attributes).expect("there are docs");
        syn::parse2::<syn::LitStr>(tokens)
            .expect("a literal")
            .value()
    }

    #[test]
    fn paragraphs_and_lists_are_kept() {
        let docs: Vec<Attribute> = vec![
            parse_quote!(#[doc = " Book a seat."]),
            parse_quote!(#[doc = ""]),
            parse_quote!(#[doc = " * one"]),
            parse_quote!(#[doc = "   * nested"]),
        ];
        assert_eq!(said(&docs), "Book a seat.\n\n* one\n  * nested");
    }

    #[test]
    fn block_comments_lose_stars_and_indentation() {
        let starred: Vec<Attribute> = vec![
            parse_quote!(#[doc = "\n     * Flight number.\n     *\n     * Two letters.\n     "]),
        ];
        assert_eq!(said(&starred), "Flight number.\n\nTwo letters.");
        let plain: Vec<Attribute> = vec![
            parse_quote!(#[doc = " Flight number,\n        two letters,\n          digits. "]),
        ];
        assert_eq!(said(&plain), "Flight number,\ntwo letters,\n  digits.");
        let short: Vec<Attribute> = vec![parse_quote!(#[doc = " Flight number. "])];
        assert_eq!(said(&short), "Flight number.");
    }

    #[test]
    fn included_text_is_left_to_the_compiler() {
        let docs: Vec<Attribute> = vec![
            parse_quote!(#[doc = " Books."]),
            parse_quote!(#[doc = include_str!("book.md")]),
        ];
        let expected =
            quote!(::core::concat!(" Books.", "\n", include_str!("book.md"), "\n").trim());
        assert_eq!(expression(&docs).unwrap().to_string(), expected.to_string());
        let field = quote!(#[doc = " Books."] #[doc = include_str!("book.md")]);
        assert_eq!(attribute(&docs).to_string(), field.to_string());
    }

    #[test]
    fn hidden_and_empty_docs_say_nothing() {
        let docs: Vec<Attribute> = vec![parse_quote!(#[doc(hidden)]), parse_quote!(#[doc = " "])];
        assert!(expression(&docs).is_none());
        assert!(attribute(&docs).is_empty());
    }

    #[test]
    fn odd_whitespace_does_not_break_the_cut() {
        let docs: Vec<Attribute> = vec![parse_quote!(#[doc = "\n x\n\u{3000}y\n"])];
        assert_eq!(said(&docs), "x\ny");
    }
}
