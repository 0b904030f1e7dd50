//! A plain parameter: a field of the hidden struct that the arguments are read into.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{
    Attribute, Expr, Ident, LitStr, Path, Token, Type, ext::IdentExt, meta::ParseNestedMeta,
    parse_quote,
};

use crate::{
    default, description,
    kind::Kind,
    mistakes::Mistakes,
    nearest::nearest,
    type_path::{last_segment, option_of},
};

/// The options of `#[arg(…)]`.
const OPTIONS: [&str; 3] = ["default", "rename", "header"];

/// One argument of a tool or prompt, or one variable of a resource.
pub(crate) struct Argument {
    ident: Ident,
    ty: Type,
    /// `#[serde]` and `#[schemars]` attributes, the user's and those that `#[arg]` expands to.
    attributes: Vec<Attribute>,
    docs: TokenStream,
    default: Option<Expr>,
    header: Option<LitStr>,
    /// The name that peers see; `None` for a field that is flattened or skipped.
    name: Option<String>,
    completer: Option<Expr>,
    /// Whether attributes of the user may add something to the schema of its type.
    is_described: bool,
}

impl Argument {
    /// Reads a plain parameter and the attributes that belong to its field.
    pub(crate) fn read(
        kind: Kind,
        ident: &Ident,
        ty: &Type,
        attributes: Vec<Attribute>,
        mistakes: &mut Mistakes,
    ) -> Self {
        let mut argument = Self {
            ident: ident.clone(),
            ty: ty.clone(),
            docs: description::attribute(&attributes),
            attributes: Vec::new(),
            default: None,
            header: None,
            name: Some(ident.unraw().to_string()),
            completer: None,
            is_described: false,
        };
        for attribute in attributes {
            argument.take(kind, attribute, mistakes);
        }
        argument
    }

    pub(crate) fn ident(&self) -> &Ident {
        &self.ident
    }

    pub(crate) fn ty(&self) -> &Type {
        &self.ty
    }

    pub(crate) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    pub(crate) fn header(&self) -> Option<&LitStr> {
        self.header.as_ref()
    }

    /// An expression that says whether its schema may have patterns. `ty` is the type with `Self` replaced.
    pub(crate) fn patterns(&self, root: &Path, ty: &Type) -> TokenStream {
        if self.is_described {
            quote!(#root::__private::Patterns::SOME)
        } else {
            quote!((&#root::__private::TypeOf::<#ty>::new()).patterns())
        }
    }

    /// Its name and its completer, if it has both.
    pub(crate) fn completer(&self) -> Option<(&str, &Expr)> {
        Some((self.name.as_deref()?, self.completer.as_ref()?))
    }

    /// The field of the arguments struct. `ty` is the type with `Self` replaced.
    pub(crate) fn field(&self, ty: &Type) -> TokenStream {
        let Self {
            ident,
            attributes,
            docs,
            ..
        } = self;
        let default = self.default.as_ref().map(|_| {
            let function = self.default_function().to_string();
            quote!(#[serde(default = #function)])
        });
        let header = self
            .header
            .as_ref()
            .map(|name| quote!(#[schemars(extend("x-mcp-header" = #name))]));
        quote!(#docs #(#attributes)* #default #header #ident: #ty)
    }

    /// The function that returns the default, if the attribute has one.
    pub(crate) fn default_item(&self, ty: &Type) -> Option<TokenStream> {
        let function = self.default_function();
        let value = default::value(ty, self.default.as_ref()?);
        Some(quote!(fn #function() -> #ty { #value }))
    }

    fn default_function(&self) -> Ident {
        format_ident!("__default_{}", self.ident.unraw(), span = self.ident.span())
    }

    fn take(&mut self, kind: Kind, attribute: Attribute, mistakes: &mut Mistakes) {
        let path = attribute.path();
        if path.is_ident("arg") {
            if !matches!(attribute.meta, syn::Meta::Path(_)) {
                let read =
                    attribute.parse_nested_meta(|meta| self.take_option(kind, &meta, mistakes));
                mistakes.keep(read);
            }
        } else if path.is_ident("complete") {
            self.take_completer(kind, &attribute, mistakes);
        } else if path.is_ident("serde") || path.is_ident("schemars") {
            // The derives report attributes that they cannot read.
            let _ = attribute.parse_nested_meta(|meta| self.take_wire_name(&meta));
            self.attributes.push(attribute);
            self.is_described = true;
        }
    }

    fn take_option(
        &mut self,
        kind: Kind,
        meta: &ParseNestedMeta<'_>,
        mistakes: &mut Mistakes,
    ) -> syn::Result<()> {
        if meta.path.is_ident("default") {
            if meta.input.peek(Token![=]) {
                self.default = Some(meta.value()?.parse()?);
            } else {
                self.attributes.push(parse_quote!(#[serde(default)]));
            }
        } else if meta.path.is_ident("rename") {
            let name: LitStr = meta.value()?.parse()?;
            self.name = Some(name.value());
            self.attributes.push(parse_quote!(#[serde(rename = #name)]));
        } else if meta.path.is_ident("header") {
            let name: LitStr = meta.value()?.parse()?;
            check_header(kind, &name, &self.ty, mistakes);
            self.header = Some(name);
        } else {
            return Err(meta.error(unknown_option(&meta.path)));
        }
        Ok(())
    }

    fn take_completer(&mut self, kind: Kind, attribute: &Attribute, mistakes: &mut Mistakes) {
        if kind == Kind::Tool {
            mistakes.at(
                attribute,
                "arguments of tools have no completion: only prompts and resources do",
            );
            return;
        }
        match attribute.parse_args() {
            Ok(completer) => self.completer = Some(completer),
            Err(_) => mistakes.at(attribute, "name the completer: `#[complete(cities)]`"),
        }
    }

    /// Reads from `#[serde]` and `#[schemars]` the name of the field on the wire.
    fn take_wire_name(&mut self, meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
        if meta.path.is_ident("flatten") || meta.path.is_ident("skip") {
            self.name = None;
        } else if meta.path.is_ident("rename") && meta.input.peek(Token![=]) {
            self.name = Some(meta.value()?.parse::<LitStr>()?.value());
        } else if meta.path.is_ident("rename") {
            meta.parse_nested_meta(|direction| {
                let name: LitStr = direction.value()?.parse()?;
                if direction.path.is_ident("deserialize") {
                    self.name = Some(name.value());
                }
                Ok(())
            })?;
        } else {
            // The value of any other option, whatever its shape.
            while !meta.input.is_empty() && !meta.input.peek(Token![,]) {
                meta.input.parse::<proc_macro2::TokenTree>()?;
            }
        }
        Ok(())
    }
}

fn unknown_option(path: &Path) -> String {
    let option = path
        .get_ident()
        .map(ToString::to_string)
        .unwrap_or_default();
    let hint = match nearest(&option, OPTIONS) {
        Some(near) => format!("did you mean `{near}`? "),
        None => String::new(),
    };
    format!(
        "unknown option `{option}`: {hint}#[arg] takes {}",
        OPTIONS.join(", ")
    )
}

/// `x-mcp-header` (transports page): an RFC 9110 token, on strings, integers and booleans of tools.
fn check_header(kind: Kind, name: &LitStr, ty: &Type, mistakes: &mut Mistakes) {
    if kind != Kind::Tool {
        mistakes.at(
            name,
            format!("arguments of a {kind} are not sent in headers: only those of tools are"),
        );
    }
    let text = name.value();
    let is_token = !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte));
    if !is_token {
        mistakes.at(
            name,
            format!("`{text}` cannot be part of a header name: use letters, digits and `-`"),
        );
    }
    let last = last_segment(option_of(ty).unwrap_or(ty));
    if last.is_some_and(|segment| segment.ident == "f32" || segment.ident == "f64") {
        mistakes.at(
            ty,
            "a float cannot be sent in a header: use a string, an integer or a boolean",
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expansion::Expansion;

    fn tool(parameters: &TokenStream) -> Expansion {
        Expansion::of_function(Kind::Tool, quote!(), &quote!(async fn seat(#parameters) {}))
    }

    #[test]
    fn attributes_move_to_the_field() {
        let parameters = quote! {
            #[schemars(range(min = 1))] #[serde(default)] row: u32,
            #[arg(default)] seats: Vec<String>,
            #[arg(header = "Region")] region: String
        };
        tool(&parameters).has(&quote! {
            struct __Arguments {
                #[schemars(range(min = 1))] #[serde(default)] row: u32,
                #[serde(default)] seats: Vec<String>,
                #[schemars(extend("x-mcp-header" = "Region"))] region: String
            }
        });
    }

    #[test]
    fn names_follow_the_derives() {
        let table = [
            quote!(#[arg(rename = "row")] x: u8),
            quote!(#[serde(alias = "y", rename = "row")] x: u8),
            quote!(#[serde(rename(serialize = "y", deserialize = "row"))] x: u8),
            quote!(#[schemars(range(min = 1), rename = "row")] x: u8),
        ];
        for second in table {
            tool(&quote!(row: u8, #second)).says("two arguments are named `row`");
        }
        tool(&quote!(row: u8, #[serde(flatten)] row_too: Seat)).lacks(&quote!(compile_error));
    }

    #[test]
    fn mistakes_in_options_are_told() {
        let table = [
            (
                quote!(#[arg(defualt = 3)] row: u8),
                "did you mean `default`?",
            ),
            (
                quote!(#[arg(colour)] row: u8),
                "unknown option `colour`: #[arg] takes default",
            ),
            (
                quote!(#[arg(header = "")] row: u8),
                "cannot be part of a header name",
            ),
            (
                quote!(#[arg(header = "a b")] row: u8),
                "`a b` cannot be part of a header name",
            ),
            (
                quote!(#[arg(header = "Row")] row: f32),
                "a float cannot be sent",
            ),
            (quote!(#[complete(x)] row: u8), "tools have no completion"),
        ];
        for (parameter, message) in table {
            tool(&parameter).says(message);
        }
    }
}
