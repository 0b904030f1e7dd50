//! Suggests names of arguments, and their possible values.

use serde_json::Value;
use turnbuckle::protocol::{CompleteRequestParams, Reference};

use super::{
    Candidate, Suggestions,
    line::CommandLine,
    offer::{self, Listing},
    word::first_line,
};
use crate::{
    runtime::block_on,
    session::{self, Session},
};

/// How deep a schema is followed, through references and into objects.
const MAX_DEPTH: usize = 16;

/// The arguments of a tool: names that were not given yet, or values of the one that is being typed.
pub(super) fn of_tool(line: &CommandLine<'_>, offer: &Listing) -> Suggestions {
    let none = Suggestions::These(Vec::new());
    let Some(schema) = line.words.get(1).and_then(|tool| offer.input_schema(tool)) else {
        return none;
    };
    if let Some((key, value)) = line.current.split_once('=') {
        if value.starts_with('@') {
            return Suggestions::Files;
        }
        let name = key.trim_end_matches([':', '+']);
        let Some(part) = reached(schema, name) else {
            return none;
        };
        let values = values(schema, part, 0).into_iter();
        let all = values.map(|value| Candidate::new(format!("{key}={value}"), ""));
        return Suggestions::These(all.collect());
    }
    Suggestions::These(names(line, schema))
}

/// Names of arguments; inside an object, the names of its members.
fn names(line: &CommandLine<'_>, schema: &Value) -> Vec<Candidate> {
    let (path, inside) = match line.current.rsplit_once('.') {
        Some((path, _)) => match reached(schema, path) {
            Some(part) => (format!("{path}."), part),
            None => return Vec::new(),
        },
        None => (String::new(), schema),
    };
    let inside = resolved(schema, inside);
    let members = inside["properties"].as_object().into_iter().flatten();
    let all = members.map(|(name, part)| {
        let part = resolved(schema, part);
        let sign = match part["type"].as_str() {
            Some("array") => "+=",
            _ => "=",
        };
        let text = format!("{path}{name}{sign}");
        Candidate::new(text, first_line(&part["description"]))
    });
    // Items may be added to a list repeatedly.
    all.filter(|one| one.text.ends_with("+=") || !is_given(line, &one.text))
        .collect()
}

fn is_given(line: &CommandLine<'_>, name: &str) -> bool {
    let name = name.trim_end_matches('=');
    let mut given = line.words.iter().skip(2);
    given.any(|word| {
        let key = word.split('=').next().unwrap_or_default();
        key.trim_end_matches([':', '+']) == name
    })
}

/// The part of a schema at a path of names.
fn reached<'s>(root: &'s Value, path: &str) -> Option<&'s Value> {
    let mut part = root;
    for name in path.split('.') {
        part = resolved(root, part)["properties"].get(name)?;
    }
    Some(resolved(root, part))
}

fn resolved<'s>(root: &'s Value, part: &'s Value) -> &'s Value {
    let mut part = part;
    for _ in 0..MAX_DEPTH {
        let reference = part["$ref"]
            .as_str()
            .and_then(|text| text.strip_prefix('#'));
        match reference.and_then(|pointer| root.pointer(pointer)) {
            Some(target) => part = target,
            None => break,
        }
    }
    part
}

/// The possible values if they can be listed: choices and booleans.
fn values(root: &Value, part: &Value, depth: usize) -> Vec<String> {
    if depth == MAX_DEPTH {
        return Vec::new();
    }
    let part = resolved(root, part);
    let word = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    if let Some(value) = part.get("const") {
        return vec![word(value)];
    }
    if let Some(Value::Array(choices)) = part.get("enum") {
        return choices.iter().map(word).collect();
    }
    let variants = ["anyOf", "oneOf"]
        .iter()
        .filter_map(|key| part[key].as_array());
    let mut all: Vec<String> = variants
        .flatten()
        .flat_map(|variant| values(root, variant, depth + 1))
        .collect();
    let is = |kind: &str| match &part["type"] {
        Value::String(one) => one == kind,
        Value::Array(several) => several.iter().any(|one| one == kind),
        _ => false,
    };
    if is("boolean") {
        all.extend(["true".to_owned(), "false".to_owned()]);
    }
    if is("array") {
        all.extend(values(root, &part["items"], depth + 1));
    }
    all.dedup();
    all
}

/// The arguments of a prompt or the variables of a template; their values are suggested by the server.
pub(super) fn of_prompt(line: &CommandLine<'_>, offer: &Listing) -> Vec<Candidate> {
    let Some(name) = line.words.get(1) else {
        return Vec::new();
    };
    if let Some((argument, start)) = line.current.split_once('=') {
        let values = asked(line, name, argument, start).unwrap_or_default();
        let all = values.into_iter();
        return all
            .map(|value| Candidate::new(format!("{argument}={value}"), ""))
            .collect();
    }
    let arguments = offer.arguments(name).into_iter();
    let all = arguments.map(|(name, about)| Candidate::new(format!("{name}="), about));
    all.filter(|one| !is_given(line, &one.text)).collect()
}

/// Suggestions of the server.
fn asked(line: &CommandLine<'_>, of: &str, argument: &str, start: &str) -> Option<Vec<String>> {
    let options = offer::options(line)?;
    let server = offer::server(line, &options)?;
    let reference = if of.contains("://") {
        Reference::resource(of)
    } else {
        Reference::prompt(of)
    };
    let mut params = CompleteRequestParams::new(reference, argument, start);
    for (name, value) in line
        .words
        .iter()
        .skip(2)
        .filter_map(|word| word.split_once('='))
    {
        params = params.with_known(name, value);
    }
    let work = async |session: Session| {
        let completion = session.connection.complete_with(params).await?;
        Ok(completion.values.into_iter().collect::<Vec<String>>())
    };
    block_on(session::with(&options, None, &server, work)).ok()
}
