//! The attributes of turnbuckle: [`macro@tool`], [`macro@prompt`], [`macro@resource`] and
//! [`macro@handlers`], and the derives [`macro@Form`] and [`macro@Choice`].
//!
//! The attributes only add code. A function keeps its name, its parameters and the value it gives when awaited.
//! Beside it, the attribute generates a description that the server finds by the function's type. Everything
//! that is generated can also be written by hand with `Tool::new`, `Prompt::new` and `Resource::new`. Depend on
//! the `turnbuckle` crate, which re-exports these attributes: the generated paths go through it.

use proc_macro::TokenStream;

mod argument;
mod attributes;
mod completer;
mod default;
mod description;
#[cfg(test)]
mod expansion;
mod form;
mod function;
mod handler;
mod handlers;
mod kind;
mod mistakes;
mod name;
mod nearest;
mod parameter;
mod rules;
mod self_type;
mod settings;
mod signature;
mod template;
mod time;
mod type_path;

use kind::Kind;

// The facade crate, which depends on this one, runs the examples in the documentation. If this crate depended on the
// facade, the whole facade would be built a second time, for the host that runs macros.

#[cfg_attr(not(doctest), doc = include_str!("docs/tool.md"))]
#[proc_macro_attribute]
pub fn tool(options: TokenStream, item: TokenStream) -> TokenStream {
    function::expand(Kind::Tool, options.into(), &item.into()).into()
}

#[cfg_attr(not(doctest), doc = include_str!("docs/prompt.md"))]
#[proc_macro_attribute]
pub fn prompt(options: TokenStream, item: TokenStream) -> TokenStream {
    function::expand(Kind::Prompt, options.into(), &item.into()).into()
}

#[cfg_attr(not(doctest), doc = include_str!("docs/resource.md"))]
#[proc_macro_attribute]
pub fn resource(options: TokenStream, item: TokenStream) -> TokenStream {
    function::expand(Kind::Resource, options.into(), &item.into()).into()
}

#[cfg_attr(not(doctest), doc = include_str!("docs/handlers.md"))]
#[proc_macro_attribute]
pub fn handlers(options: TokenStream, item: TokenStream) -> TokenStream {
    handlers::expand(options.into(), &item.into()).into()
}

#[cfg_attr(not(doctest), doc = include_str!("docs/form.md"))]
#[proc_macro_derive(Form, attributes(form, serde))]
pub fn form(item: TokenStream) -> TokenStream {
    form::expand_form(item.into()).into()
}

#[cfg_attr(not(doctest), doc = include_str!("docs/choice.md"))]
#[proc_macro_derive(Choice, attributes(form, serde))]
pub fn choice(item: TokenStream) -> TokenStream {
    form::expand_choice(item.into()).into()
}
