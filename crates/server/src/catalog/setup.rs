//! Turns the builders of the author into entries, and reports every mistake.

use std::{any::TypeId, sync::Arc};

use serde::de::IgnoredAny;
use serde_json::{Map, Value};
use turnbuckle_protocol::{
    self as protocol, CacheHint, CacheScope, Meta, PromptArgument,
    grammar::{is_media_type, is_meta_key, uri_problem},
    http::ParamHeaders,
};
use turnbuckle_uri_template::Template;

use super::{
    NewEntry, PromptEntry, Reading, ResourceEntry, SetupError, TemplateEntry, ToolEntry,
    completion::Completers, tool,
};
use crate::{
    Leniency, Prompt, Resource, Tool,
    handler::{Arguments, Description, StateTypes, arguments::Patterns},
};

/// Checks the handler of an extension's method.
pub(crate) fn extension_method(
    name: &str,
    description: &Description,
    states: &StateTypes,
) -> Result<(), SetupError> {
    let about = About {
        kind: "method",
        key: name,
    };
    if description.arguments.is_some() {
        return Err(about.invalid("a method of an extension takes `Params`, not `Args`"));
    }
    about.check_needs(description, states)
}

/// The kind and the key of the entry that errors are about.
struct About<'a> {
    kind: &'static str,
    key: &'a str,
}

impl About<'_> {
    fn invalid(&self, problem: impl Into<String>) -> SetupError {
        SetupError::Invalid {
            kind: self.kind,
            key: self.key.to_owned(),
            problem: problem.into(),
        }
    }

    fn check(&self, description: &Description, states: &StateTypes) -> Result<(), SetupError> {
        if description.takes_params {
            return Err(self.invalid("`Params` works only in methods of extensions: take `Args`"));
        }
        if description.completes {
            return Err(self.invalid("`CompletionContext` works only in completers: take `Args`"));
        }
        if description.lists {
            return Err(
                self.invalid("`Paging` works only in callbacks that list resources: take `Args`")
            );
        }
        self.check_needs(description, states)
    }

    /// Checks a function of the entry other than its handler.
    fn check_beside(
        &self,
        what: &str,
        description: &Description,
        states: &StateTypes,
    ) -> Result<(), SetupError> {
        if description.arguments.is_some() || description.takes_params {
            return Err(self.invalid(format!("{what} cannot take `Args` or `Params`")));
        }
        self.check_needs(description, states)
    }

    /// Checks the keys of `_meta`, and the media type if there is one.
    fn check_texts(&self, meta: Option<&Meta>, mime_type: Option<&str>) -> Result<(), SetupError> {
        let keys = meta.into_iter().flat_map(|meta| meta.0.keys());
        if let Some(key) = keys.into_iter().find(|key| !is_meta_key(key)) {
            return Err(self.invalid(format!(
                "`{key}` is not a key for `_meta`: write a name of letters, digits, `-`, `_` and \
                 `.`, with a prefix such as `com.example/`"
            )));
        }
        match mime_type.filter(|mime_type| !is_media_type(mime_type)) {
            Some(bad) => Err(self.invalid(format!("`{bad}` is not a media type"))),
            None => Ok(()),
        }
    }

    fn check_needs(
        &self,
        description: &Description,
        states: &StateTypes,
    ) -> Result<(), SetupError> {
        if let Some(problem) = description.problems.first() {
            return Err(self.invalid(problem));
        }
        if description.reads_http {
            states.keep_http_requests();
        }
        let missing = |(id, _): &&(TypeId, &'static str)| !states.has(*id);
        match description.states.iter().find(missing) {
            Some((_, state)) => Err(SetupError::MissingState {
                kind: self.kind,
                key: self.key.to_owned(),
                state,
            }),
            None => Ok(()),
        }
    }
}

pub(crate) fn tool(
    tool: Tool,
    default: Leniency,
    states: &StateTypes,
) -> Result<NewEntry, SetupError> {
    let Tool {
        mut wire,
        handler,
        description,
        leniency,
        visible,
        listed_with,
        scopes,
        layers,
        limits,
        is_disabled,
        is_restartable,
    } = tool;
    let name = wire.name.clone();
    let about = About {
        kind: "tool",
        key: &name,
    };
    about.check(&description, states)?;
    check_name(&about)?;
    about.check_texts(wire.meta.as_ref(), None)?;
    let is_declared = description
        .arguments
        .as_ref()
        .is_some_and(|arguments| !arguments.is_derived());
    let mut arguments = description
        .arguments
        .unwrap_or_else(|| Arguments::derived::<IgnoredAny>(tool::no_arguments(), Patterns::NONE));
    arguments.leniency = leniency.unwrap_or(default);
    if is_declared {
        // tools: inputSchema is an object schema.
        if arguments.schema().get("type") != Some(&Value::from("object")) {
            return Err(about.invalid("an input schema must have `\"type\": \"object\"`"));
        }
        arguments
            .compile()
            .map_err(|error| about.invalid(format!("input schema: {error}")))?;
    }
    wire.input_schema.clone_from(arguments.schema());
    let headers = ParamHeaders::of(&wire.input_schema)
        .map_err(|fault| about.invalid(format!("input schema: {fault}")))?;
    let headers = (!headers.is_empty()).then_some(headers);
    let output = description.output;
    // A schema that was written by hand may be invalid; a derived schema is valid, and is compiled
    // when it is needed.
    if let Some(output) = output.as_ref().filter(|_| description.is_output_declared) {
        output
            .compile()
            .map_err(|error| about.invalid(format!("output schema: {error}")))?;
    }
    wire.output_schema = output.as_ref().map(|output| output.schema().clone());
    let begins_task = description.begins_task;
    let task = wire
        .execution
        .as_ref()
        .and_then(|execution| execution.task_support.clone());
    if begins_task && task.is_none() {
        return Err(about.invalid(
            "uses `Background` but is not a task; add `task` to its attribute or call `.task()`",
        ));
    }
    if is_restartable && task.is_none() {
        return Err(about.invalid(
            "is restartable but not a task; add `task` to its attribute or call `.task()`",
        ));
    }
    if is_restartable && description.reads_http {
        return Err(about.invalid(
            "is restartable but has a parameter from the HTTP request, which another replica does \
             not have; remove the parameter or make the tool not restartable",
        ));
    }
    let arguments = Arc::new(arguments);
    let entry = ToolEntry {
        wire,
        handler: limits.around(handler),
        is_disabled,
        logs: description.logs,
        changes_catalog: description.changes_catalog,
        arguments,
        output,
        headers,
        visible,
        listed_with,
        task,
        begins_task,
        is_restartable,
        scopes,
        layers,
    };
    Ok(NewEntry::Tool(Arc::new(entry)))
}

/// tools: a name has 1 to 128 characters: letters, digits, `_`, `-` and `.`.
fn check_name(about: &About<'_>) -> Result<(), SetupError> {
    const MAX: usize = 128;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    if about.key.is_empty() || about.key.len() > MAX || !about.key.bytes().all(is_plain) {
        return Err(about.invalid("a name is 1 to 128 letters, digits, `_`, `-` and `.`"));
    }
    Ok(())
}

pub(crate) fn prompt(prompt: Prompt, states: &StateTypes) -> Result<NewEntry, SetupError> {
    let Prompt {
        mut wire,
        handler,
        description,
        mut completers,
        visible,
        layers,
    } = prompt;
    let name = wire.name.clone();
    let about = About {
        kind: "prompt",
        key: &name,
    };
    about.check(&description, states)?;
    if name.is_empty() {
        return Err(about.invalid("a prompt needs a name"));
    }
    about.check_texts(wire.meta.as_ref(), None)?;
    let arguments = description.arguments.map(Arc::new);
    let schema = arguments.as_ref().map(|arguments| arguments.schema());
    let listed = schema.map(prompt_arguments).unwrap_or_default();
    check_completers(&about, &completers, states, |name| {
        listed.iter().any(|listed| listed.name == name)
    })?;
    complete_enums(schema, &mut completers);
    if !listed.is_empty() {
        wire.arguments = Some(listed);
    }
    Ok(NewEntry::Prompt(Arc::new(PromptEntry {
        wire,
        handler,
        logs: description.logs || completers.description.logs,
        changes_catalog: description.changes_catalog || completers.description.changes_catalog,
        arguments,
        completers,
        visible,
        layers,
    })))
}

/// Makes the arguments of a prompt from the schema of its argument type.
fn prompt_arguments(schema: &Map<String, Value>) -> Vec<PromptArgument> {
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return Vec::new();
    };
    let text = |property: &Value, key| property.get(key).and_then(Value::as_str).map(str::to_owned);
    properties
        .iter()
        .map(|(name, property)| {
            let mut argument = PromptArgument::new(name);
            argument.title = text(property, "title");
            argument.description = text(property, "description");
            argument.required = Some(required.contains(&name.as_str()));
            argument
        })
        .collect()
}

fn check_completers(
    about: &About<'_>,
    completers: &Completers,
    states: &StateTypes,
    is_known: impl Fn(&str) -> bool,
) -> Result<(), SetupError> {
    about.check_beside("a completer", &completers.description, states)?;
    match completers.names().find(|name| !is_known(name)) {
        Some(name) => Err(about.invalid(format!(
            "has a completer for `{name}`, but no argument or variable with this name"
        ))),
        None => Ok(()),
    }
}

/// Adds a completer for each argument whose values are a fixed list, unless it has a completer.
fn complete_enums(schema: Option<&Map<String, Value>>, completers: &mut Completers) {
    let properties = schema
        .and_then(|schema| schema.get("properties"))
        .and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        let values = property
            .get("enum")
            .and_then(Value::as_array)
            .map(|values| {
                values
                    .iter()
                    .filter_map(Value::as_str)
                    .map(str::to_owned)
                    .collect::<Vec<_>>()
            });
        if let Some(values) = values.filter(|_| !completers.names().any(|taken| taken == name)) {
            completers.insert(name, values);
        }
    }
}

pub(crate) fn resource(resource: Resource, states: &StateTypes) -> Result<NewEntry, SetupError> {
    let about = About {
        kind: "resource",
        key: &resource.uri,
    };
    about.check(&resource.description, states)?;
    let mut template =
        Template::parse(&resource.uri).map_err(|error| about.invalid(error.to_string()))?;
    if resource.any_path {
        template = template.allow_any_path();
    }
    let is_public = |hint: CacheHint| hint.scope == CacheScope::Public;
    if resource.visible.is_some() && resource.cache.is_some_and(is_public) {
        return Err(about.invalid(
            "is visible to some callers only, so shared caches must not keep it: use \
             `CacheScope::Private`",
        ));
    }
    if !resource.uri.contains(':') {
        return Err(about.invalid("a URI starts with a scheme, such as `file://` or `app://`"));
    }
    if template.is_literal()
        && let Some(problem) = uri_problem(&resource.uri)
    {
        return Err(about.invalid(format!("it is not a URI: {problem}")));
    }
    about.check_texts(resource.meta.as_ref(), resource.mime_type.as_deref())?;
    let schema = resource
        .description
        .arguments
        .as_ref()
        .map(|arguments| arguments.schema().clone());
    check_variables(&about, &template, schema.as_ref())?;
    let is_variable = |name: &str| template.variables().any(|variable| variable == name);
    check_completers(&about, &resource.completers, states, is_variable)?;
    if let Some(lister) = &resource.lister {
        if template.is_literal() {
            return Err(about.invalid(
                "has a callback that lists resources, which only a template such as `note://{id}` \
                 can have: remove the callback",
            ));
        }
        about.check_beside(
            "a callback that lists resources",
            &lister.description,
            states,
        )?;
    }
    Ok(new_entry(resource, template, schema.as_ref()))
}

/// Checks that every required argument of the handler is a variable of the template.
fn check_variables(
    about: &About<'_>,
    template: &Template,
    schema: Option<&Map<String, Value>>,
) -> Result<(), SetupError> {
    let required = schema
        .and_then(|schema| schema.get("required"))
        .and_then(Value::as_array);
    let missing = required
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .find(|name| !template.variables().any(|variable| variable == *name));
    match missing {
        Some(name) => Err(about.invalid(format!(
            "the handler takes `{name}`, but the URI has no `{{{name}}}`"
        ))),
        None => Ok(()),
    }
}

fn new_entry(
    resource: Resource,
    template: Template,
    schema: Option<&Map<String, Value>>,
) -> NewEntry {
    let mut completers = resource.completers;
    complete_enums(schema, &mut completers);
    let beside = [
        Some(&resource.description),
        Some(&completers.description),
        resource.lister.as_ref().map(|lister| &lister.description),
    ];
    let any = |says: fn(&Description) -> bool| beside.iter().flatten().any(|said| says(said));
    let read = Reading {
        logs: any(|description| description.logs),
        changes_catalog: any(|description| description.changes_catalog),
        handler: resource.handler,
        arguments: resource.description.arguments.map(Arc::new),
        mime_type: resource.mime_type.clone(),
        visible: resource.visible,
        cache: resource.cache,
        layers: resource.layers,
    };
    let name = resource.name.unwrap_or_else(|| resource.uri.clone());
    if template.is_literal() {
        let mut wire = protocol::Resource::new(resource.uri, name);
        wire.title = resource.title;
        wire.description = resource.about;
        wire.mime_type = resource.mime_type;
        wire.size = resource.size;
        wire.annotations = resource.annotations;
        wire.icons = resource.icons;
        wire.meta = resource.meta;
        return NewEntry::Resource(Arc::new(ResourceEntry { wire, read }));
    }
    let mut wire = protocol::ResourceTemplate::new(resource.uri, name);
    wire.title = resource.title;
    wire.description = resource.about;
    wire.mime_type = resource.mime_type;
    wire.annotations = resource.annotations;
    wire.icons = resource.icons;
    wire.meta = resource.meta;
    NewEntry::Template(Arc::new(TemplateEntry {
        wire,
        template,
        completers,
        lister: resource.lister,
        read,
    }))
}
