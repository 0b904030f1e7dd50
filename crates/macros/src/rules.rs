//! Rules about the parts of one handler together.

use syn::LitStr;

use crate::{
    argument::Argument, handler::Handler, mistakes::Mistakes, nearest::nearest,
    parameter::Extractor, template::Template,
};

/// The most extractors that the server's handler trait takes; all arguments together count as one extractor.
const EXTRACTORS_MAX: usize = 12;

/// The most parameters of a function whose description the server can find by its type.
const PARAMETERS_MAX: usize = 16;

/// Checks a parsed handler against these rules.
pub(crate) fn check(handler: &Handler, mistakes: &mut Mistakes) {
    check_names(handler, mistakes);
    check_headers(handler, mistakes);
    check_whole(handler, mistakes);
    check_number(handler, mistakes);
    check_template(handler, mistakes);
}

fn check_names(handler: &Handler, mistakes: &mut Mistakes) {
    let mut names: Vec<&str> = Vec::new();
    for argument in handler.arguments() {
        let Some(name) = argument.name() else {
            continue;
        };
        if names.contains(&name) {
            let message = format!("two arguments are named `{name}`: rename one of them");
            mistakes.at(argument.ident(), message);
        }
        names.push(name);
    }
}

fn check_headers(handler: &Handler, mistakes: &mut Mistakes) {
    // Transports page, custom headers: names differ without regard to case.
    let mut headers: Vec<String> = Vec::new();
    for header in handler.arguments().filter_map(Argument::header) {
        let name = header.value().to_ascii_lowercase();
        if headers.contains(&name) {
            let message = format!(
                "two arguments are sent in the header `{}`: rename one",
                header.value()
            );
            mistakes.at(header, message);
        }
        headers.push(name);
    }
}

fn check_whole(handler: &Handler, mistakes: &mut Mistakes) {
    let whole = handler.extractors().find(|extractor| extractor.is("Args"));
    if let Some(Extractor { ty, .. }) = whole
        && handler.arguments().next().is_some()
    {
        mistakes.at(
            ty,
            "arguments are either plain parameters or one `Args`: use one of the two",
        );
    }
}

fn check_number(handler: &Handler, mistakes: &mut Mistakes) {
    let whole = usize::from(handler.arguments().next().is_some());
    let count = handler.extractors().count() + whole;
    if count > EXTRACTORS_MAX {
        let message = format!(
            "a handler takes at most {EXTRACTORS_MAX} extractors, all arguments together being one, \
             and this takes {count}: combine some of them"
        );
        mistakes.at(handler.name(), message);
    }
    let parameters = handler.parameters().len();
    if parameters > PARAMETERS_MAX {
        let message = format!(
            "a handler has at most {PARAMETERS_MAX} parameters, and this has {parameters}: put the \
             arguments into a struct and take it with `Args(…): Args<…>`"
        );
        mistakes.at(handler.name(), message);
    }
}

fn check_template(handler: &Handler, mistakes: &mut Mistakes) {
    let Some(literal) = &handler.settings().template else {
        return;
    };
    let template = match Template::parse(&literal.value()) {
        Ok(template) => template,
        Err(message) => return mistakes.at(literal, message),
    };
    if let Some(size) = handler.settings().option("size")
        && !template.is_fixed()
    {
        mistakes.at(
            size,
            "only a resource with a fixed URI can have `size`: remove the option",
        );
    }
    check_variables(handler, literal, &template, mistakes);
}

/// Checks that every plain argument is a variable and that every variable is an argument, unless the handler takes
/// the variables as a whole.
fn check_variables(
    handler: &Handler,
    literal: &LitStr,
    template: &Template,
    mistakes: &mut Mistakes,
) {
    let names: Vec<&str> = handler.arguments().filter_map(Argument::name).collect();
    let mut missing = template.without(&names);
    for argument in handler.arguments() {
        let Some(name) = argument.name().filter(|name| !template.has(name)) else {
            continue;
        };
        let hint = if let Some(near) = nearest(name, missing.iter().copied()) {
            missing.retain(|variable| *variable != near);
            format!("did you mean `{near}`?")
        } else {
            format!("write `{{{name}}}` where its value belongs")
        };
        let template = literal.value();
        let message = format!("`{name}` is not a variable of `{template}`: {hint}");
        mistakes.at(argument.ident(), message);
    }
    if takes_all_variables(handler) {
        return;
    }
    for variable in missing {
        let message = format!(
            "the template variable `{variable}` has no argument: add a parameter \
             `{variable}: String`, or take all of them with `Args(…): Args<…>`"
        );
        mistakes.at(literal, message);
    }
}

fn takes_all_variables(handler: &Handler) -> bool {
    let is_whole = |extractor: &Extractor| {
        ["Args", "RawArgs", "Uri"]
            .iter()
            .any(|name| extractor.is(name))
    };
    handler.extractors().any(is_whole)
        || handler
            .arguments()
            .any(|argument| argument.name().is_none())
}

#[cfg(test)]
mod tests {
    use proc_macro2::TokenStream;
    use quote::{format_ident, quote};

    use super::*;
    use crate::{expansion::Expansion, kind::Kind};

    fn tool(parameters: &TokenStream) -> Expansion {
        Expansion::of_function(Kind::Tool, quote!(), &quote!(async fn seat(#parameters) {}))
    }

    fn resource(template: &str, parameters: &TokenStream) -> Expansion {
        let item = quote!(async fn seat(#parameters) {});
        Expansion::of_function(Kind::Resource, quote!(#template), &item)
    }

    #[test]
    fn names_and_headers_are_unique() {
        tool(&quote!(row: u8, #[arg(rename = "row")] x: u8)).says("two arguments are named `row`");
        let headers = quote!(#[arg(header = "Row")] a: u8, #[arg(header = "row")] b: u8);
        tool(&headers).says("two arguments are sent in the header `row`");
    }

    #[test]
    fn args_excludes_plain_arguments() {
        tool(&quote!(Args(all): Args<All>, row: u8)).says("use one of the two");
        tool(&quote!(Args(all): Args<All>)).lacks(&quote!(compile_error));
    }

    #[test]
    fn the_server_takes_so_many_and_no_more() {
        let extractors =
            |count: usize| -> TokenStream { (0..count).map(|_| quote!(_: One,)).collect() };
        let most = extractors(EXTRACTORS_MAX);
        tool(&most).lacks(&quote!(compile_error));
        tool(&quote!(#most row: u8)).says("and this takes 13");
        let arguments = |count: usize| -> TokenStream {
            let names = (0..count).map(|number| format_ident!("a{number}"));
            quote!(#(#names: u8),*)
        };
        tool(&arguments(PARAMETERS_MAX)).lacks(&quote!(compile_error));
        tool(&arguments(PARAMETERS_MAX + 1)).says("and this has 17");
    }

    #[test]
    fn variables_and_arguments_agree() {
        resource("a://{b}/{c}", &quote!(c: u8, b: u8)).lacks(&quote!(compile_error));
        resource("a://{b}", &quote!(#[arg(rename = "b")] c: u8)).lacks(&quote!(compile_error));
        resource("a://{b}/{c}", &quote!(b: u8)).says("`c` has no argument");
        resource("a://{row}", &quote!(rwo: u8)).says("did you mean `row`?");
        resource("a://{b}", &quote!(b: u8, other: u8)).says("write `{other}` where");
    }

    #[test]
    fn a_handler_of_the_whole_call_needs_no_arguments() {
        for whole in [
            quote!(Args(_): Args<B>),
            quote!(_: Uri),
            quote!(_: turnbuckle::RawArgs),
        ] {
            resource("a://{b}", &whole).lacks(&quote!(compile_error));
        }
        resource("a://{b}", &quote!(_: Uri, c: u8)).says("`c` is not a variable of `a://{b}`");
        resource("a://{b}", &quote!(#[serde(flatten)] all: All)).lacks(&quote!(compile_error));
    }
}
