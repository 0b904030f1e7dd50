//! The options in the parentheses of an attribute.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{
    Expr, ExprLit, Ident, Lit, LitStr, Path, Token, Type,
    ext::IdentExt,
    parse::{ParseStream, Parser},
};

use crate::{
    kind::{CONTRADICTIONS, Form, Kind},
    mistakes::Mistakes,
    nearest::nearest,
    time,
};

/// The options of one handler, read and checked.
#[derive(Default)]
pub(crate) struct Settings {
    pub(crate) template: Option<LitStr>,
    pub(crate) name: Option<LitStr>,
    pub(crate) about: Option<Expr>,
    pub(crate) icon: Option<Expr>,
    pub(crate) root: Option<Path>,
    pub(crate) output: Option<Type>,
    /// The function that lists the resources of a template.
    pub(crate) list: Option<Expr>,
    /// Options that are methods of the builder with the same name.
    calls: Vec<TokenStream>,
    seen: Vec<Ident>,
}

impl Settings {
    /// Parses the options of an attribute. `place` is the attribute, where missing options are reported; empty for the
    /// attribute that is being expanded.
    pub(crate) fn parse(
        kind: Kind,
        tokens: TokenStream,
        place: impl ToTokens,
        mistakes: &mut Mistakes,
    ) -> Self {
        let mut settings = Self::default();
        let read = |input: ParseStream<'_>| settings.read(kind, input, mistakes);
        if let Err(error) = read.parse2(tokens) {
            mistakes.push(error);
        } else if kind == Kind::Resource && settings.template.is_none() {
            mistakes.at(
                place,
                "the URI or URI template of the resource is missing: \
                 `#[resource(\"seat://{flight}\")]`",
            );
        }
        settings.check_contradictions(mistakes);
        settings
    }

    /// The builder calls, in the order in which the options were written.
    pub(crate) fn calls(&self) -> impl Iterator<Item = &TokenStream> {
        self.calls.iter()
    }

    /// The option as it was written, if it was given.
    pub(crate) fn option(&self, name: &str) -> Option<&Ident> {
        self.seen.iter().find(|option| *option == name)
    }

    fn read(
        &mut self,
        kind: Kind,
        input: ParseStream<'_>,
        mistakes: &mut Mistakes,
    ) -> syn::Result<()> {
        if input.peek(LitStr) {
            let text: LitStr = input.parse()?;
            if kind == Kind::Resource {
                self.template = Some(text);
            } else {
                mistakes.at(
                    &text,
                    format!(
                        "#[{kind}] takes no bare text: write `name = {}`",
                        quote!(#text)
                    ),
                );
            }
            skip_comma(input)?;
        }
        while !input.is_empty() {
            let option = Ident::parse_any(input)
                .map_err(|_| input.error("expected the name of an option"))?;
            let known = kind.options().iter().find(|(name, _)| option == name);
            if let Some((_, form)) = known {
                self.take(&option, *form, input, mistakes)?;
            } else {
                mistakes.at(&option, unknown(kind, &option));
                skip_value(input)?;
            }
            skip_comma(input)?;
        }
        Ok(())
    }

    fn take(
        &mut self,
        option: &Ident,
        form: Form,
        input: ParseStream<'_>,
        mistakes: &mut Mistakes,
    ) -> syn::Result<()> {
        let is_repeated = self.option(&option.to_string()).is_some();
        if is_repeated {
            mistakes.at(option, format!("`{option}` is set twice: keep one"));
        }
        self.seen.push(option.clone());
        if form == Form::Flag {
            return self.take_flag(option, input, mistakes);
        }
        if !input.peek(Token![=]) {
            return Err(syn::Error::new_spanned(option, needs_value(option, form)));
        }
        input.parse::<Token![=]>()?;
        match form {
            Form::Name => self.name = Some(name(input)?),
            Form::Crate => self.root = Some(crate_path(input)?),
            Form::Type => self.output = Some(input.parse()?),
            Form::Function => self.list = Some(input.parse()?),
            Form::Time => {
                let time = time::expression(&input.parse()?, mistakes);
                self.calls.push(quote!(.#option(#time)));
            }
            Form::Flag | Form::Text | Form::Number | Form::List => {
                let value: Expr = input.parse()?;
                check_literal(&value, form, mistakes);
                if option == "about" {
                    self.about = Some(value);
                } else if option == "icon" {
                    check_icon(&value, mistakes);
                    self.icon = Some(value);
                } else {
                    self.calls.push(quote!(.#option(#value)));
                }
            }
        }
        Ok(())
    }

    fn take_flag(
        &mut self,
        option: &Ident,
        input: ParseStream<'_>,
        mistakes: &mut Mistakes,
    ) -> syn::Result<()> {
        if input.peek(Token![=]) {
            mistakes.at(
                option,
                format!("`{option}` takes no value: write it alone, or leave it out"),
            );
            skip_value(input)?;
        }
        self.calls.push(quote!(.#option()));
        Ok(())
    }

    fn check_contradictions(&self, mistakes: &mut Mistakes) {
        for (one, other, reason) in CONTRADICTIONS {
            if let (Some(_), Some(second)) = (self.option(one), self.option(other)) {
                mistakes.at(
                    second,
                    format!("`{one}` and `{other}` contradict each other: {reason}"),
                );
            }
        }
    }
}

/// Parses the options of `#[handlers]`: the path to the facade, if given.
pub(crate) fn handlers_root(tokens: TokenStream) -> syn::Result<Option<Path>> {
    let read = |input: ParseStream<'_>| {
        if input.is_empty() {
            return Ok(None);
        }
        let option = Ident::parse_any(input)?;
        if option != "crate" {
            let message =
                format!("unknown option `{option}`: #[handlers] takes `crate = path` only");
            return Err(syn::Error::new_spanned(option, message));
        }
        input.parse::<Token![=]>()?;
        let root = crate_path(input)?;
        skip_comma(input)?;
        Ok(Some(root))
    };
    read.parse2(tokens)
}

fn name(input: ParseStream<'_>) -> syn::Result<LitStr> {
    input.parse().map_err(|error| {
        syn::Error::new(
            error.span(),
            "names are checked while compiling: write the name in quotes",
        )
    })
}

fn crate_path(input: ParseStream<'_>) -> syn::Result<Path> {
    if input.peek(LitStr) {
        input.parse::<LitStr>()?.parse()
    } else {
        Path::parse_mod_style(input)
    }
}

fn skip_comma(input: ParseStream<'_>) -> syn::Result<()> {
    if !input.is_empty() {
        input.parse::<Token![,]>()?;
    }
    Ok(())
}

/// Skips `= value` or `(value)` of an unknown option.
fn skip_value(input: ParseStream<'_>) -> syn::Result<()> {
    while !input.is_empty() && !input.peek(Token![,]) {
        input.parse::<proc_macro2::TokenTree>()?;
    }
    Ok(())
}

fn unknown(kind: Kind, option: &Ident) -> String {
    let names: Vec<&str> = kind.options().iter().map(|(name, _)| *name).collect();
    let hint = match nearest(&option.to_string(), names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`? "),
        None => String::new(),
    };
    format!(
        "unknown option `{option}`: {hint}#[{kind}] takes {}",
        names.join(", ")
    )
}

fn needs_value(option: &Ident, form: Form) -> String {
    let example = match form {
        Form::Number => "4",
        Form::Time => "\"30s\"",
        Form::List => "[\"…\"]",
        Form::Type => "Type",
        Form::Function => "function",
        Form::Crate => "path",
        Form::Flag | Form::Text | Form::Name => "\"…\"",
    };
    format!("`{option}` needs a value: `{option} = {example}`")
}

/// Icons page: a source is an HTTP or `data:` URI; clients must not load others.
fn check_icon(value: &Expr, mistakes: &mut Mistakes) {
    let Some(source) = text(value) else { return };
    if !["https://", "http://", "data:"]
        .iter()
        .any(|scheme| source.value().starts_with(scheme))
    {
        mistakes.at(
            source,
            "clients load icons only from `https://…` and `data:…`",
        );
    }
}

/// The text of a literal.
pub(crate) fn text(value: &Expr) -> Option<&LitStr> {
    match value {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) => Some(text),
        _ => None,
    }
}

/// Reports a literal of the wrong kind here, with a better message than the type of the builder's method gives.
fn check_literal(value: &Expr, form: Form, mistakes: &mut Mistakes) {
    let Expr::Lit(ExprLit { lit, .. }) = value else {
        return;
    };
    match (form, lit) {
        (Form::Text, Lit::Str(_)) | (Form::Number, Lit::Int(_)) => {}
        (Form::Number, _) => mistakes.at(lit, "expected an integer"),
        (Form::List, _) => mistakes.at(lit, "expected a list: `[\"…\"]`"),
        _ => mistakes.at(lit, "expected text in quotes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expansion::Expansion;

    fn said(kind: Kind, options: TokenStream) -> Expansion {
        Expansion::of_function(
            kind,
            options,
            &quote!(
                async fn seat() {}
            ),
        )
    }

    #[test]
    fn options_become_calls_in_the_order_written() {
        let options = quote!(open_world, title = TITLE, idempotent,);
        said(Kind::Tool, options).has(&quote!(.open_world().title(TITLE).idempotent()));
        said(Kind::Tool, quote!(scopes = ["a", "b"])).has(&quote!(.scopes(["a", "b"])));
        let output = quote!(.output_schema(::turnbuckle::schema::output_schema::<Vec<u8> >()));
        said(Kind::Tool, quote!(output = Vec<u8>)).has(&output);
    }

    #[test]
    fn an_icon_is_an_address_or_an_expression() {
        let literal = said(Kind::Prompt, quote!(icon = "https://x/y.png"));
        literal.has(&quote!(.icon(::turnbuckle::Icon::new("https://x/y.png"))));
        said(Kind::Prompt, quote!(icon = logo())).has(&quote!(.icon(logo())));
    }

    #[test]
    fn about_replaces_the_doc_comment() {
        let item = quote!(
            #[doc = " Written for developers."]
            async fn seat() {}
        );
        let text = Expansion::of_function(Kind::Tool, quote!(about = "For models."), &item);
        text.has(&quote!(.about("For models.")));
        text.lacks(&quote!(.about("Written for developers.")));
    }

    #[test]
    fn every_mistake_is_told() {
        let table = [
            (
                Kind::Tool,
                quote!(name = NAME),
                "names are checked while compiling",
            ),
            (
                Kind::Tool,
                quote!(icon = "logo.png"),
                "clients load icons only from",
            ),
            (
                Kind::Tool,
                quote!(colour),
                "unknown option `colour`: #[tool] takes name, title",
            ),
            (Kind::Prompt, quote!(titel = "x"), "did you mean `title`?"),
            (
                Kind::Tool,
                quote!(title = "a", title = "b"),
                "`title` is set twice",
            ),
            (
                Kind::Tool,
                quote!(read_only = true),
                "`read_only` takes no value",
            ),
            (
                Kind::Tool,
                quote!(title),
                "`title` needs a value: `title = \\\"…\\\"`",
            ),
            (Kind::Tool, quote!(title = 3), "expected text in quotes"),
            (Kind::Tool, quote!("seat"), "#[tool] takes no bare text"),
            (
                Kind::Tool,
                quote!(read_only, destructive),
                "contradict each other",
            ),
            (
                Kind::Tool,
                quote!(destructive, additive),
                "only adds destroys nothing",
            ),
            (Kind::Tool, quote!(output), "`output = Type`"),
            (Kind::Tool, quote!(scopes = "a"), "expected a list"),
            (Kind::Tool, quote!(scopes), "`scopes = ["),
            (Kind::Resource, quote!(), "of the resource is missing"),
            (
                Kind::Resource,
                quote!("a://b", size = "x"),
                "expected an integer",
            ),
            (Kind::Resource, quote!("a://b", size), "`size = 4`"),
            (Kind::Tool, quote!(timeout), "`timeout = \\\"30s\\\"`"),
            (Kind::Tool, quote!(timeout = 30), "write a unit"),
            (Kind::Tool, quote!(timeout = "30 s or so"), "is not a time"),
            (Kind::Tool, quote!(timeout = "0s"), "longer than zero"),
            (Kind::Tool, quote!(concurrency = "4"), "expected an integer"),
            (Kind::Tool, quote!(title = "a" idempotent), "expected `,`"),
            (Kind::Tool, quote!(= 3), "expected the name of an option"),
        ];
        for (kind, options, message) in table {
            said(kind, options).says(message);
        }
    }

    #[test]
    fn handlers_take_a_path_only() {
        assert!(handlers_root(quote!()).unwrap().is_none());
        assert!(handlers_root(quote!(crate = ::a::b)).unwrap().is_some());
        assert!(handlers_root(quote!(crate = "a::b",)).unwrap().is_some());
        let Err(error) = handlers_root(quote!(name = "x")) else {
            panic!("`name` is unknown");
        };
        assert!(
            error.to_string().contains("takes `crate = path` only"),
            "{error}"
        );
    }
}
