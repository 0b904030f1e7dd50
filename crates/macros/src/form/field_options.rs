//! `#[form(…)]` on a field.

use proc_macro2::Span;
use syn::{Attribute, Expr, LitStr, Path, meta::ParseNestedMeta, spanned::Spanned as _};

use crate::{mistakes::Mistakes, nearest::nearest};

/// The options of a field.
pub(super) const OPTIONS: [&str; 11] = [
    "title",
    "description",
    "rename",
    "default",
    "min",
    "max",
    "min_length",
    "max_length",
    "format",
    "min_items",
    "max_items",
];

/// The formats of text, with their names in our types.
const FORMATS: [(&str, &str); 4] = [
    ("email", "Email"),
    ("uri", "Uri"),
    ("date", "Date"),
    ("date-time", "DateTime"),
];

/// A value, and the position of its option.
pub(super) struct Set<T> {
    pub(super) value: T,
    pub(super) span: Span,
}

/// The options in `#[form(…)]` on a field.
#[derive(Default)]
pub(super) struct FieldOptions {
    pub(super) title: Option<Expr>,
    pub(super) description: Option<Expr>,
    pub(super) rename: Option<String>,
    pub(super) default: Option<Set<Expr>>,
    pub(super) min: Option<Set<Expr>>,
    pub(super) max: Option<Set<Expr>>,
    pub(super) min_length: Option<Set<Expr>>,
    pub(super) max_length: Option<Set<Expr>>,
    /// The variant of `StringFormat`.
    pub(super) format: Option<Set<&'static str>>,
    pub(super) min_items: Option<Set<Expr>>,
    pub(super) max_items: Option<Set<Expr>>,
}

impl FieldOptions {
    pub(super) fn read(attributes: &[Attribute], mistakes: &mut Mistakes) -> Self {
        let mut options = Self::default();
        for attribute in attributes {
            if attribute.path().is_ident("form") {
                mistakes.keep(attribute.parse_nested_meta(|meta| options.take(&meta)));
            }
        }
        options
    }

    fn take(&mut self, meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
        let name = meta
            .path
            .get_ident()
            .map(ToString::to_string)
            .unwrap_or_default();
        let slot = match &*name {
            "default" => &mut self.default,
            "min" => &mut self.min,
            "max" => &mut self.max,
            "min_length" => &mut self.min_length,
            "max_length" => &mut self.max_length,
            "min_items" => &mut self.min_items,
            "max_items" => &mut self.max_items,
            "title" => return set_once(&mut self.title, meta, value(meta)?),
            "description" => return set_once(&mut self.description, meta, value(meta)?),
            "rename" => {
                let text: LitStr = meta.value()?.parse()?;
                return set_once(&mut self.rename, meta, text.value());
            }
            "format" => {
                let value = format(&meta.value()?.parse()?)?;
                let span = meta.path.span();
                return set_once(&mut self.format, meta, Set { value, span });
            }
            _ => return Err(meta.error(unknown(&meta.path, &OPTIONS))),
        };
        let (value, span) = (value(meta)?, meta.path.span());
        set_once(slot, meta, Set { value, span })
    }
}

fn value(meta: &ParseNestedMeta<'_>) -> syn::Result<Expr> {
    meta.value()
        .map_err(|_| {
            let name = quote::ToTokens::to_token_stream(&meta.path);
            meta.error(format!("`{name}` needs a value: `{name} = …`"))
        })?
        .parse()
}

fn set_once<T>(slot: &mut Option<T>, meta: &ParseNestedMeta<'_>, value: T) -> syn::Result<()> {
    if slot.is_some() {
        return Err(meta.error("this is set twice: keep one of them"));
    }
    *slot = Some(value);
    Ok(())
}

fn format(word: &LitStr) -> syn::Result<&'static str> {
    let text = word.value();
    FORMATS
        .iter()
        .find_map(|(known, variant)| (*known == text).then_some(*variant))
        .ok_or_else(|| {
            let message = format!(
                "forms have no format `{text}`: there are email, uri, date and date-time; say more in \
                 the field's description"
            );
            syn::Error::new(word.span(), message)
        })
}

/// The message for an unknown option.
pub(super) fn unknown(path: &Path, options: &[&'static str]) -> String {
    let option = path
        .get_ident()
        .map(ToString::to_string)
        .unwrap_or_default();
    let hint = match nearest(&option, options.iter().copied()) {
        Some(near) => format!("did you mean `{near}`? "),
        None => String::new(),
    };
    format!(
        "unknown option `{option}`: {hint}#[form] takes {} here",
        options.join(", ")
    )
}
