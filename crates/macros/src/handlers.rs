//! `#[handlers]` on the impl block of a state type.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{Attribute, ImplItem, ImplItemFn, ItemImpl, Meta, Path, parse_quote};

use crate::{
    attributes::{conditions, kind_of},
    completer,
    handler::{Handler, local},
    kind::Kind,
    mistakes::Mistakes,
    rules, self_type,
    settings::{self, Settings},
    signature::{self, Receiver},
};

/// Expands the attribute: the block as it was, and a registration of every handler in it.
pub(crate) fn expand(options: TokenStream, item: &TokenStream) -> TokenStream {
    let mut block: ItemImpl = match syn::parse2(item.clone()) {
        Ok(block) => block,
        Err(_) => return not_an_impl(item),
    };
    let mut mistakes = Mistakes::default();
    let root = mistakes.keep(settings::handlers_root(options)).flatten();
    check_block(&block, &mut mistakes);
    let methods: Vec<Method> = block
        .items
        .iter_mut()
        .filter_map(|item| match item {
            ImplItem::Fn(function) => Method::take(function, &mut mistakes),
            _ => None,
        })
        .collect();
    check_methods(&methods, &block, &mut mistakes);
    for method in &methods {
        for companion in method.handler.companions() {
            completer::quiet(companion, &mut block.items);
        }
    }
    match mistakes.into_compile_errors() {
        None => {
            let registration = registration(root.as_ref(), &block, &methods);
            quote!(#block #registration)
        }
        // The type keeps an implementation of the trait, so that the code around it still compiles.
        Some(errors) if block.generics.params.is_empty() && block.trait_.is_none() => {
            let nothing =
                implementation(root.as_ref(), &block, &[], &quote!(::core::unreachable!()));
            quote!(#errors #block #nothing)
        }
        Some(errors) => quote!(#errors #block),
    }
}

/// One method that is a handler.
struct Method {
    handler: Handler,
    function: ImplItemFn,
    receiver: Receiver,
}

impl Method {
    /// Reads a method and removes our attributes; `None` if it has no attribute of ours.
    fn take(function: &mut ImplItemFn, mistakes: &mut Mistakes) -> Option<Self> {
        let ours: Vec<(Kind, Attribute)> = function
            .attrs
            .extract_if(.., |attribute| kind_of(attribute).is_some())
            .filter_map(|attribute| Some((kind_of(&attribute)?, attribute)))
            .collect();
        let ((kind, attribute), others) = ours.split_first()?;
        for (_, second) in others {
            mistakes.at(
                second,
                "a method is one tool, prompt or resource: write a second one that calls it",
            );
        }
        let options = options_of(attribute, mistakes);
        let settings = Settings::parse(*kind, options, attribute, mistakes);
        let receiver = signature::check_method(*kind, &function.sig, mistakes);
        let handler = Handler::read(
            *kind,
            settings,
            &function.attrs,
            &mut function.sig,
            mistakes,
        );
        rules::check(&handler, mistakes);
        // Handlers are async, methods and owners of their arguments by contract, not by choice.
        // This attribute comes first, so that the method's own lint levels override it.
        function.attrs.insert(
            0,
            parse_quote!(#[allow(clippy::unused_async, clippy::needless_pass_by_value, clippy::unused_self)]),
        );
        Some(Self {
            handler,
            function: function.clone(),
            receiver,
        })
    }

    /// The statement that registers it.
    fn registration(&self, root: Option<&Path>, block: &ItemImpl) -> TokenStream {
        let root = self.handler.root(root);
        let state = &*block.self_ty;
        let conditions = conditions(&self.function.attrs);
        let items = self
            .handler
            .arguments_items(&root, |ty| self_type::spelt_out(ty, state));
        let check = self.handler.output_check(&root);
        let expression = self.handler.expression(
            &root,
            |values| self.call(values),
            |completer| completer::of_method(completer, &block.items),
        );
        let kind = syn::Ident::new(self.handler.kind().word(), Span::call_site());
        let (this, set) = (local("this"), local("set"));
        let shared = (self.receiver != Receiver::None)
            .then(|| quote!(let #this = ::std::sync::Arc::clone(&self);));
        quote! {
            #(#conditions)*
            {
                #items
                #check
                #shared
                #set.#kind(#expression);
            }
        }
    }

    fn call(&self, values: &[TokenStream]) -> TokenStream {
        let (ident, this) = (&self.function.sig.ident, local("this"));
        let wait = self.function.sig.asyncness.map(|_| quote!(.await));
        let receiver = match self.receiver {
            Receiver::None => quote!(),
            Receiver::Shared => quote!(&*#this,),
            Receiver::Arc => quote!(#this,),
        };
        let shared = (self.receiver != Receiver::None)
            .then(|| quote!(let #this = ::std::sync::Arc::clone(&#this);));
        quote!({ #shared async move { Self::#ident(#receiver #(#values),*) #wait } })
    }
}

fn not_an_impl(item: &TokenStream) -> TokenStream {
    let error = syn::Error::new(
        Span::call_site(),
        "#[handlers] goes on `impl YourState { … }`",
    );
    let error = error.into_compile_error();
    quote!(#error #item)
}

fn check_block(block: &ItemImpl, mistakes: &mut Mistakes) {
    if !block.generics.params.is_empty() {
        mistakes.at(
            &block.generics,
            "a server holds one concrete state: put #[handlers] on `impl` of a type without parameters",
        );
    } else if let Some(clause) = &block.generics.where_clause {
        mistakes.at(
            clause,
            "#[handlers] works on a type without parameters, so it needs no where clause",
        );
    }
    if let Some((path, _)) = &block.trait_ {
        mistakes.at(
            path,
            "#[handlers] goes on the type's own impl block, not on that of a trait",
        );
    }
}

fn check_methods(methods: &[Method], block: &ItemImpl, mistakes: &mut Mistakes) {
    if methods.is_empty() {
        mistakes.at(
            &block.self_ty,
            "no method here is a handler: mark one with #[tool], #[prompt] or #[resource(\"…\")]",
        );
    }
    let mut seen: Vec<(Kind, String)> = Vec::new();
    for method in methods {
        let handler = &method.handler;
        for companion in handler.companions() {
            completer::check(companion, &block.items, mistakes);
        }
        let key = (handler.kind(), handler.identity());
        // Of two methods with opposite conditions, only one exists.
        let is_conditional = conditions(&method.function.attrs).next().is_some();
        if seen.contains(&key) && !is_conditional {
            let (kind, name) = &key;
            mistakes.at(
                &method.function.sig.ident,
                format!("`{name}` is already a {kind} of this block"),
            );
        }
        seen.push(key);
    }
}

fn options_of(attribute: &Attribute, mistakes: &mut Mistakes) -> TokenStream {
    match &attribute.meta {
        Meta::Path(_) => TokenStream::new(),
        Meta::List(list) => list.tokens.clone(),
        Meta::NameValue(_) => {
            mistakes.at(attribute, "write the options in parentheses");
            TokenStream::new()
        }
    }
}

/// The implementation that registers every handler.
fn registration(root: Option<&Path>, block: &ItemImpl, methods: &[Method]) -> TokenStream {
    let statements: TokenStream = methods
        .iter()
        .map(|method| method.registration(root, block))
        .collect();
    // A bound cannot have a condition, so methods with conditions get no bounds.
    let bounds: Vec<TokenStream> = methods
        .iter()
        .filter(|method| conditions(&method.function.attrs).next().is_none())
        .flat_map(|method| method.handler.bounds(&method.handler.root(root)))
        .collect();
    implementation(root, block, &bounds, &statements)
}

fn implementation(
    root: Option<&Path>,
    block: &ItemImpl,
    bounds: &[TokenStream],
    body: &TokenStream,
) -> TokenStream {
    let (conditions, state, set) = (conditions(&block.attrs), &block.self_ty, local("set"));
    let usual: Path = parse_quote!(::turnbuckle);
    let root = root.unwrap_or(&usual);
    quote! {
        #(#conditions)*
        #[automatically_derived]
        #[allow(
            deprecated, trivial_bounds, unused_qualifications, unused_variables,
            clippy::all, clippy::pedantic, clippy::nursery
        )]
        impl #root::__private::Handlers for #state where #(#bounds),* {
            fn register(self: ::std::sync::Arc<Self>, #set: &mut #root::__private::HandlerSet) {
                #body
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expansion::Expansion;

    fn expanded(options: TokenStream, item: &TokenStream) -> Expansion {
        Expansion::of(expand(options, item))
    }

    #[test]
    fn methods_stay_and_are_registered() {
        let text = expanded(
            quote!(),
            &quote! {
                impl App {
                    /// Add.
                    #[tool(idempotent)]
                    async fn add(&self, /** what */ item: Vec<Self>) -> String { self.done() }
                    fn done(&self) -> String { String::new() }
                }
            },
        );
        text.has(&quote!(
            async fn add(&self, item: Vec<Self>) -> String {
                self.done()
            }
        ));
        text.has(&quote!(impl ::turnbuckle::__private::Handlers for App));
        text.has(&quote!(
            struct __Arguments {
                #[doc = "what"]
                item: Vec<App>,
            }
        ));
        text.has(&quote! {
            let this = ::std::sync::Arc::clone(&self);
            set.tool(::turnbuckle::Tool::new(
                "add",
                move |::turnbuckle::__private::NamedArgs(arguments): ::turnbuckle::__private::NamedArgs<__Arguments>| {
                    let this = ::std::sync::Arc::clone(&this);
                    async move { Self::add(&*this, arguments.item).await }
                }
            ).about("Add.").idempotent());
        });
    }

    #[test]
    fn every_receiver_is_called_in_its_way() {
        let text = expanded(
            quote!(crate = mcp),
            &quote! {
                impl App {
                    #[tool] fn one(self: Arc<Self>) {}
                    #[turnbuckle::prompt] fn two() {}
                    #[cfg(unix)] #[resource("a://b")] fn three(&self) {}
                }
            },
        );
        text.has(&quote!(async move { Self::one(this,) }));
        text.has(&quote!(mcp::Prompt::new("two", move || {
            async move { Self::two() }
        })));
        text.has(&quote!(async move { Self::three(&*this,) }));
        assert_eq!(text.count(&quote!(#[cfg(unix)])), 2);
    }

    #[test]
    fn mistakes_are_all_told_and_the_block_stays() {
        let text = expanded(
            quote!(),
            &quote! {
                impl<T> App<T> {
                    #[tool] #[prompt] async fn one(&mut self) {}
                    #[tool(name = "one")] async fn two(self) {}
                }
            },
        );
        for message in [
            "one concrete state",
            "one tool, prompt or resource",
            "handlers run side by side",
            "handlers share their state",
            "`one` is already a tool of this block",
        ] {
            text.says(message);
        }
        text.has(&quote!(
            async fn two(self) {}
        ));
    }

    #[test]
    fn a_block_without_handlers_is_a_mistake() {
        let text = expanded(quote!(), &quote!(impl App { fn one(&self) {} }));
        text.has(&quote!(impl ::turnbuckle::__private::Handlers for App));
        text.says("no method here is a handler");
        let other = expanded(
            quote!(name = 1),
            &quote!(
                struct App;
            ),
        );
        other.says("goes on `impl YourState");
    }
}
