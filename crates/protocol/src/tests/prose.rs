//! Each JSON example in the prose of two revisions is read as its type and written back without loss.
//!
//! The texts are read from their original place, beside the specification's schemas.

use std::fs;

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{
    method::{self, Method, NotificationMethod},
    tests::spec::Spec,
    *,
};

/// Reads and writes an example as a type.
type Round = fn(&Value) -> Result<Value, String>;

/// Returns how to read the params and the result of the method with this name, if it matches.
type OfMethod = fn(&str) -> Option<(Round, Round)>;

fn round<T: Serialize + DeserializeOwned>(json: &Value) -> Result<Value, String> {
    let value: T = serde_json::from_str(&json.to_string()).map_err(|error| error.to_string())?;
    serde_json::to_value(&value).map_err(|error| error.to_string())
}

/// Returns how to read the params and the result of a method.
fn rounds(name: &str) -> Option<(Round, Round)> {
    fn of<M: Method>(name: &str) -> Option<(Round, Round)> {
        (name == M::NAME).then_some((round::<M::Params> as Round, round::<M::Result> as Round))
    }

    fn notice<N: NotificationMethod>(name: &str) -> Option<(Round, Round)> {
        (name == N::NAME).then_some((round::<N::Params> as Round, round::<EmptyResult> as Round))
    }

    let all: &[OfMethod] = &[
        of::<method::Initialize>,
        of::<method::Ping>,
        of::<method::ToolsList>,
        of::<method::ToolsCall>,
        of::<method::PromptsList>,
        of::<method::PromptsGet>,
        of::<method::ResourcesList>,
        of::<method::ResourcesTemplatesList>,
        of::<method::ResourcesRead>,
        of::<method::ResourcesSubscribe>,
        of::<method::ResourcesUnsubscribe>,
        of::<method::CompletionComplete>,
        of::<method::LoggingSetLevel>,
        of::<method::SamplingCreateMessage>,
        of::<method::ElicitationCreate>,
        of::<method::RootsList>,
        notice::<method::Initialized>,
        notice::<method::Cancelled>,
        notice::<method::Progress>,
        notice::<method::Message>,
        notice::<method::ResourcesUpdated>,
        notice::<method::ResourcesListChanged>,
        notice::<method::ToolsListChanged>,
        notice::<method::PromptsListChanged>,
        notice::<method::RootsListChanged>,
    ];
    all.iter().find_map(|of| of(name))
}

/// Capabilities in the form in which the pages show them, without the rest of the message.
#[derive(Serialize, serde::Deserialize)]
struct DeclaredBy<C> {
    capabilities: C,
}

/// Returns the type of an example that is not a message, by its members.
fn part(json: &Value) -> Option<Round> {
    let has = |name: &str| json.get(name).is_some();
    if json.is_array() {
        return Some(round::<Vec<Root>>);
    }
    if let Some(capabilities) = json.get("capabilities") {
        let is_client = ["roots", "sampling", "elicitation"]
            .iter()
            .any(|name| capabilities.get(*name).is_some());
        return Some(if is_client {
            round::<DeclaredBy<ClientCapabilities>>
        } else {
            round::<DeclaredBy<ServerCapabilities>>
        });
    }
    Some(match json["type"].as_str() {
        Some("string" | "number" | "integer" | "boolean") => round::<PrimitiveSchema>,
        Some("text" | "image" | "audio" | "resource" | "resource_link") => round::<ContentBlock>,
        _ if has("inputSchema") => round::<Tool>,
        _ if has("uriTemplate") => round::<ResourceTemplate>,
        _ if has("uri") && (has("text") || has("blob")) => round::<ResourceContents>,
        _ if has("uri") && has("name") => round::<Resource>,
        _ if has("role") && has("content") => round::<PromptMessage>,
        _ if has("hints") => round::<ModelPreferences>,
        _ => return None,
    })
}

/// Returns the JSON examples of a document, in order.
fn examples(text: &str) -> Vec<Value> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((_, after)) = rest.split_once("```json") {
        // The rest of the line may contain a file name.
        let Some((block, after)) = after.split_once("```") else {
            break;
        };
        let body = block.split_once('\n').map_or("", |(_, body)| body);
        found.extend(serde_json::from_str::<Value>(body).ok());
        rest = after;
    }
    found
}

/// Reads a message or a part of one, and writes it again. Returns `None` if its type is unknown.
fn written(json: &Value, asked: &mut Option<String>) -> Option<Result<Value, String>> {
    let in_place = |name: &str, round: Round| {
        let mut message = json.clone();
        if let Some(member) = json.get(name) {
            match round(member) {
                Ok(member) => message[name] = member,
                Err(error) => return Err(error),
            }
        }
        Ok(message)
    };
    if let Some(method) = json["method"].as_str() {
        if json.get("id").is_some() {
            *asked = Some(method.to_owned());
        }
        return Some(in_place("params", rounds(method)?.0));
    }
    if json.get("result").is_some() {
        let method = asked.as_deref()?;
        return Some(in_place("result", rounds(method)?.1));
    }
    if json.get("error").is_some() {
        return Some(in_place("error", round::<ErrorObject>));
    }
    part(json).map(|round| round(json))
}

// rule: J16
#[test]
fn every_example_of_the_prose_comes_back_without_loss() {
    let Some(spec) = Spec::find("the test of the examples in the prose") else {
        return;
    };
    let Some(folder) = spec.prose() else { return };
    let mut faults = Vec::new();
    let mut count = 0;
    for entry in fs::read_dir(folder).expect("the folder was found") {
        let path = entry.expect("an entry").path();
        let Ok(text) = fs::read_to_string(&path) else {
            continue;
        };
        let mut asked = None;
        for json in examples(&text) {
            // The only unknown method is the one that represents any other method.
            let Some(written) = written(&json, &mut asked) else {
                assert_eq!(json["method"], "some_method", "what is this? {json}");
                continue;
            };
            count += 1;
            match written {
                Ok(written) if written == json => {}
                Ok(written) => faults.push(format!("{json}\n  came back as {written}")),
                Err(error) => faults.push(format!("{json}\n  {error}")),
            }
        }
    }
    assert!(count > 130, "only {count} examples were found");
    assert!(
        faults.is_empty(),
        "{} of {count}:\n{}",
        faults.len(),
        faults.join("\n")
    );
}
