//! One handler as it was parsed, and the `Tool::new(…)`, `Prompt::new(…)` or `Resource::new(…)` that is
//! generated for it.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{format_ident, quote};
use syn::{
    Attribute, Expr, Ident, LitStr, Path, ReturnType, Signature, Type, ext::IdentExt, parse_quote,
    spanned::Spanned,
};

use crate::{
    argument::Argument,
    description,
    kind::Kind,
    mistakes::Mistakes,
    name,
    parameter::{self, Extractor, Parameter},
    settings::{self, Settings},
    type_path::opaque_in,
};

/// A parsed handler.
pub(crate) struct Handler {
    kind: Kind,
    settings: Settings,
    name: LitStr,
    about: Option<TokenStream>,
    parameters: Vec<Parameter>,
    output: Type,
}

impl Handler {
    /// Parses a function, and removes from its parameters the attributes that only this crate understands. `rules`
    /// checks the parts against each other.
    pub(crate) fn read(
        kind: Kind,
        settings: Settings,
        attributes: &[Attribute],
        signature: &mut Signature,
        mistakes: &mut Mistakes,
    ) -> Self {
        let ident = &signature.ident;
        let name = settings
            .name
            .clone()
            .unwrap_or_else(|| LitStr::new(&ident.unraw().to_string(), ident.span()));
        name::check(kind, &name, mistakes);
        let about = match &settings.about {
            Some(about) => Some(quote!(#about)),
            None => description::expression(attributes),
        };
        let parameters = parameter::take(kind, &mut signature.inputs, mistakes);
        let output = match &signature.output {
            ReturnType::Default => parse_quote!(()),
            ReturnType::Type(_, ty) => (**ty).clone(),
        };
        Self {
            kind,
            settings,
            name,
            about,
            parameters,
            output,
        }
    }

    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    pub(crate) fn name(&self) -> &LitStr {
        &self.name
    }

    /// The value that must be unique among handlers of its kind: the template of a resource, or the name of a tool or
    /// prompt.
    pub(crate) fn identity(&self) -> String {
        self.settings
            .template
            .as_ref()
            .unwrap_or(&self.name)
            .value()
    }

    pub(crate) fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// The path to the facade: the handler's own, or that of the block around it, or the default.
    pub(crate) fn root(&self, around: Option<&Path>) -> Path {
        let chosen = self.settings.root.as_ref().or(around).cloned();
        chosen.unwrap_or_else(|| parse_quote!(::turnbuckle))
    }

    pub(crate) fn output(&self) -> &Type {
        &self.output
    }

    /// The traits that the server requires of the extractors, as bounds with the spans of the types. Without them the
    /// compiler would only say that some closure is not a handler.
    pub(crate) fn bounds(&self, root: &Path) -> Vec<TokenStream> {
        let extractors = self.extractors().map(|extractor| &extractor.ty);
        extractors
            .map(|ty| {
                let bound = located(quote!(#root::Extract), ty.span());
                quote!(#ty: #bound)
            })
            .collect()
    }

    /// A statement that checks the traits that the server requires of the output, reported where the type was written.
    /// It cannot be a bound: only the compiler knows which kind of `Result` the type is.
    pub(crate) fn output_check(&self, root: &Path) -> TokenStream {
        let ty = &self.output;
        if opaque_in(ty).is_some() {
            return TokenStream::new();
        }
        let outcome = format_ident!("{}", self.kind.outcome());
        located(
            quote!(#root::__private::is_outcome::<#ty, #root::#outcome, _>();),
            ty.span(),
        )
    }

    /// The struct that the arguments are parsed into, with the functions that return defaults. Empty without arguments.
    pub(crate) fn arguments_items(
        &self,
        root: &Path,
        spell_out: impl Fn(&Type) -> Type,
    ) -> TokenStream {
        let arguments: Vec<(&Argument, Type)> = self
            .arguments()
            .map(|argument| (argument, spell_out(argument.ty())))
            .collect();
        if arguments.is_empty() {
            return TokenStream::new();
        }
        let fields = arguments.iter().map(|(argument, ty)| argument.field(ty));
        let defaults = arguments
            .iter()
            .filter_map(|(argument, ty)| argument.default_item(ty));
        let (serde, schemars) = (
            quote!(#root::__private::serde),
            quote!(#root::__private::schemars),
        );
        let [serde_text, schemars_text] =
            [&serde, &schemars].map(|path| path.to_string().replace(' ', ""));
        let (title, expecting) = (
            self.name.value(),
            format!("the arguments of `{}`", self.name.value()),
        );
        let patterns = arguments
            .iter()
            .map(|(argument, ty)| argument.patterns(root, ty));
        let arguments = arguments_ident();
        quote! {
            #[derive(#serde::Deserialize, #schemars::JsonSchema)]
            #[serde(crate = #serde_text, rename = #title, expecting = #expecting)]
            #[schemars(crate = #schemars_text)]
            struct #arguments { #(#fields),* }
            #(#defaults)*
            #[automatically_derived]
            impl #root::__private::Named for #arguments {
                fn patterns() -> #root::__private::Patterns {
                    #[allow(unused_imports)]
                    use #root::__private::{AnyPatterns as _, PlainPatterns as _};
                    #root::__private::Patterns::NONE #(.and(#patterns))*
                }
            }
        }
    }

    /// The builder expression. `call` makes the body of the handler's closure from the values of the parameters;
    /// `completer` converts the function of a `complete` or `list` option.
    pub(crate) fn expression(
        &self,
        root: &Path,
        call: impl FnOnce(&[TokenStream]) -> TokenStream,
        completer: impl Fn(&Expr) -> TokenStream,
    ) -> TokenStream {
        let builder = format_ident!("{}", self.kind.builder());
        let values = self.values();
        let parameters = self.closure_parameters(root);
        let body = call(&values);
        let subject = self.settings.template.as_ref().unwrap_or(&self.name);
        let name = (self.kind == Kind::Resource).then(|| {
            let name = &self.name;
            quote!(.name(#name))
        });
        let about = self.about.iter().map(|about| quote!(.about(#about)));
        let calls = self.settings.calls();
        let output = self.settings.output.iter();
        let icon = self.icon_call(root);
        let list = self.settings.list.iter().map(&completer);
        let completions =
            self.arguments()
                .filter_map(Argument::completer)
                .map(|(name, written)| {
                    let completer = completer(written);
                    quote!(.complete(#name, #completer))
                });
        quote! {
            #root::#builder::new(#subject, move |#(#parameters),*| #body)
                #name #(#about)* #(#calls)* #icon
                #(.output_schema(#root::schema::output_schema::<#output>()))*
                #(.list(#list))*
                #(#completions)*
        }
    }

    /// The call that sets the icon: its address as text, or an expression that gives an icon.
    fn icon_call(&self, root: &Path) -> Option<TokenStream> {
        let icon = self.settings.icon.as_ref()?;
        let address = settings::text(icon).map(|address| quote!(.icon(#root::Icon::new(#address))));
        Some(address.unwrap_or_else(|| quote!(.icon(#icon))))
    }

    /// The functions named beside the handler: its completers, and the function that lists its resources.
    pub(crate) fn companions(&self) -> impl Iterator<Item = &Expr> {
        let completers = self.arguments().filter_map(Argument::completer);
        let completers = completers.map(|(_, completer)| completer);
        completers.chain(self.settings.list.as_ref())
    }

    /// The plain parameters.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = &Argument> {
        self.parameters
            .iter()
            .filter_map(|parameter| match parameter {
                Parameter::Argument(argument) => Some(&**argument),
                Parameter::Extractor(_) => None,
            })
    }

    /// The other parameters.
    pub(crate) fn extractors(&self) -> impl Iterator<Item = &Extractor> {
        self.parameters
            .iter()
            .filter_map(|parameter| match parameter {
                Parameter::Argument(_) => None,
                Parameter::Extractor(extractor) => Some(&**extractor),
            })
    }

    /// The closure's parameters: the extractors in order, then one for all arguments.
    fn closure_parameters(&self, root: &Path) -> Vec<TokenStream> {
        let mut parameters: Vec<TokenStream> = self
            .extractors()
            .enumerate()
            .map(|(number, Extractor { ty, .. })| {
                let ident = extractor_ident(number);
                quote!(#ident: #ty)
            })
            .collect();
        if self.arguments().next().is_some() {
            let (value, ty) = (local("arguments"), arguments_ident());
            parameters.push(
                quote!(#root::__private::NamedArgs(#value): #root::__private::NamedArgs<#ty>),
            );
        }
        parameters
    }

    /// The values that the function is called with, in the order of its parameters.
    fn values(&self) -> Vec<TokenStream> {
        let mut numbers = 0..;
        let arguments = local("arguments");
        let value = |parameter: &Parameter| match parameter {
            Parameter::Argument(argument) => {
                let field = argument.ident();
                quote!(#arguments.#field)
            }
            Parameter::Extractor(_) => {
                let ident = extractor_ident(numbers.next().unwrap_or_default());
                quote!(#ident)
            }
        };
        self.parameters.iter().map(value).collect()
    }
}

/// The tokens with their spans at another place.
fn located(tokens: TokenStream, place: Span) -> TokenStream {
    let moved = |mut token: TokenTree| {
        token.set_span(token.span().located_at(place));
        token
    };
    tokens.into_iter().map(moved).collect()
}

/// The name of the hidden struct. It is an item inside a function body, so only types of the user could
/// conflict with it.
fn arguments_ident() -> Ident {
    Ident::new("__Arguments", Span::call_site())
}

fn extractor_ident(number: usize) -> Ident {
    local(&format!("extractor{number}"))
}

/// A local variable that cannot conflict with one of the user's.
pub(crate) fn local(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}
