//! Each example of the newest revision is read as its type and written back unchanged.

use crate::{method::Method, *};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::tests::spec::Spec;

fn round<T: Serialize + DeserializeOwned>(json: &Value) -> Result<Value, String> {
    let text = json.to_string();
    let value: T =
        serde_json::from_str(&text).map_err(|error| format!("cannot be read: {error}"))?;
    serde_json::to_value(&value).map_err(|error| format!("cannot be written: {error}"))
}

/// Reads and writes one member of a message as a type.
fn member<T: Serialize + DeserializeOwned>(json: &Value, name: &str) -> Result<Value, String> {
    let mut message = json.clone();
    message[name] = round::<T>(&json[name])?;
    Ok(message)
}

fn request<M: Method>(json: &Value) -> Result<Value, String> {
    if json["method"] != M::NAME {
        return Err(format!("the method is not {}", M::NAME));
    }
    member::<M::Params>(json, "params")
}

fn notification<N: method::NotificationMethod>(json: &Value) -> Result<Value, String> {
    if json["method"] != N::NAME {
        return Err(format!("the method is not {}", N::NAME));
    }
    member::<N::Params>(json, "params")
}

/// Reads and writes the result of a response.
fn response<M: Method>(json: &Value) -> Result<Value, String> {
    member::<M::Outcome>(json, "result")
}

/// Reads and writes the error of a response, and its data as its type.
fn error<T: Serialize + DeserializeOwned>(json: &Value) -> Result<Value, String> {
    let message = member::<ErrorObject>(json, "error")?;
    if message["error"].get("data").is_some() {
        let mut typed = message.clone();
        typed["error"]["data"] = round::<T>(&message["error"]["data"])?;
        return Ok(typed);
    }
    Ok(message)
}

/// Reads and writes an embedded request. One example has an `id`, which its definition does not have.
fn embedded(json: &Value) -> Result<Value, String> {
    let mut written = round::<InputRequest>(json)?;
    if let Some(id) = json.get("id").filter(|_| json["method"] == "roots/list") {
        written["id"] = id.clone();
    }
    Ok(written)
}

type Round = fn(&Value) -> Result<Value, String>;

/// The type of the examples in a folder.
fn round_of(folder: &str) -> Option<Round> {
    use crate::method as m;
    Some(match folder {
        "AudioContent" => round::<AudioContent>,
        "BlobResourceContents" => round::<BlobResourceContents>,
        "BooleanSchema" => round::<BooleanSchema>,
        "CallToolRequest" => request::<m::ToolsCall>,
        "CallToolRequestParams" => round::<CallToolRequestParams>,
        "CallToolResult" | "InputRequiredResult" => round::<CallToolOutcome>,
        "CallToolResultResponse" => response::<m::ToolsCall>,
        "CancelledNotification" => notification::<m::Cancelled>,
        "CancelledNotificationParams" => round::<CancelledNotificationParams>,
        "ClientCapabilities" => round::<ClientCapabilities>,
        "CompleteRequest" => request::<m::CompletionComplete>,
        "CompleteRequestParams" => round::<CompleteRequestParams>,
        "CompleteResult" => round::<Complete<CompleteResult>>,
        "CompleteResultResponse" => response::<m::CompletionComplete>,
        "CreateMessageRequest" | "ElicitRequest" | "ListRootsRequest" => embedded,
        "CreateMessageRequestParams" => round::<CreateMessageRequestParams>,
        "CreateMessageResult" => round::<CreateMessageResult>,
        "DiscoverRequest" => request::<m::ServerDiscover>,
        "DiscoverResult" => round::<Complete<DiscoverResult>>,
        "DiscoverResultResponse" => response::<m::ServerDiscover>,
        "ElicitRequestFormParams" | "ElicitRequestURLParams" => round::<ElicitRequestParams>,
        "ElicitResult" => round::<ElicitResult>,
        "EmbeddedResource" => round::<EmbeddedResource>,
        "GetPromptRequest" => request::<m::PromptsGet>,
        "GetPromptRequestParams" => round::<GetPromptRequestParams>,
        "GetPromptResult" => round::<Outcome<GetPromptResult>>,
        "GetPromptResultResponse" => response::<m::PromptsGet>,
        "HeaderMismatchError" => error::<Value>,
        "ImageContent" => round::<ImageContent>,
        "InputRequests" => round::<InputRequests>,
        "InputResponses" => round::<InputResponses>,
        "InternalError" | "InvalidParamsError" | "MethodNotFoundError" | "ParseError" => {
            round::<ErrorObject>
        }
        "ListPromptsRequest" => request::<m::PromptsList>,
        "ListPromptsResult" => round::<Complete<ListPromptsResult>>,
        "ListPromptsResultResponse" => response::<m::PromptsList>,
        "ListResourceTemplatesRequest" => request::<m::ResourcesTemplatesList>,
        "ListResourceTemplatesResult" => round::<Complete<ListResourceTemplatesResult>>,
        "ListResourceTemplatesResultResponse" => response::<m::ResourcesTemplatesList>,
        "ListResourcesRequest" => request::<m::ResourcesList>,
        "ListResourcesResult" => round::<Complete<ListResourcesResult>>,
        "ListResourcesResultResponse" => response::<m::ResourcesList>,
        "ListRootsResult" => round::<ListRootsResult>,
        "ListToolsRequest" => request::<m::ToolsList>,
        "ListToolsResult" => round::<Complete<ListToolsResult>>,
        "ListToolsResultResponse" => response::<m::ToolsList>,
        "LoggingMessageNotification" => notification::<m::Message>,
        "LoggingMessageNotificationParams" => round::<LoggingMessageNotificationParams>,
        "MissingRequiredClientCapabilityError" => error::<MissingRequiredClientCapability>,
        "ModelPreferences" => round::<ModelPreferences>,
        "NumberSchema" => round::<NumberSchema>,
        "PaginatedRequestParams" => round::<PaginatedRequestParams>,
        "ProgressNotification" => notification::<m::Progress>,
        "ProgressNotificationParams" => round::<ProgressNotificationParams>,
        "PromptListChangedNotification" => notification::<m::PromptsListChanged>,
        "ReadResourceRequest" => request::<m::ResourcesRead>,
        "ReadResourceResult" => round::<Outcome<ReadResourceResult>>,
        "ReadResourceResultResponse" => response::<m::ResourcesRead>,
        "Resource" => round::<Resource>,
        "ResourceLink" | "TextContent" => round::<ContentBlock>,
        "ResourceListChangedNotification" => notification::<m::ResourcesListChanged>,
        "ResourceUpdatedNotification" => notification::<m::ResourcesUpdated>,
        "ResourceUpdatedNotificationParams" => round::<ResourceUpdatedNotificationParams>,
        "Root" => round::<Root>,
        "SamplingMessage" => round::<SamplingMessage>,
        "ServerCapabilities" => round::<ServerCapabilities>,
        "StringSchema" => round::<StringSchema>,
        "SubscriptionsAcknowledgedNotification" => notification::<m::SubscriptionsAcknowledged>,
        "SubscriptionsListenRequest" => request::<m::SubscriptionsListen>,
        "SubscriptionsListenResult" => round::<Complete<SubscriptionsListenResult>>,
        "SubscriptionsListenResultResponse" => response::<m::SubscriptionsListen>,
        "TextResourceContents" => round::<ResourceContents>,
        "TitledMultiSelectEnumSchema"
        | "TitledSingleSelectEnumSchema"
        | "UntitledMultiSelectEnumSchema"
        | "UntitledSingleSelectEnumSchema" => round::<PrimitiveSchema>,
        "Tool" => round::<Tool>,
        "ToolListChangedNotification" => notification::<m::ToolsListChanged>,
        "ToolResultContent" | "ToolUseContent" => round::<SamplingContent>,
        "UnsupportedProtocolVersionError" => error::<UnsupportedProtocolVersion>,
        _ => return None,
    })
}

#[test]
fn every_example_is_read_and_written_back_as_it_was() {
    let Some(spec) = Spec::find("the test of the examples") else {
        return;
    };
    let mut faults = Vec::new();
    let examples = spec.examples();
    for (folder, file, json) in &examples {
        match round_of(folder).map(|round| round(json)) {
            None => faults.push(format!("{folder}: no type is named for these examples")),
            Some(Err(fault)) => faults.push(format!("{folder}/{file}: {fault}")),
            Some(Ok(written)) if written != *json => {
                faults.push(format!(
                    "{folder}/{file}:\n  read    {json}\n  written {written}"
                ));
            }
            Some(Ok(_)) => {}
        }
    }
    assert!(
        examples.len() > 100,
        "only {} examples were found",
        examples.len()
    );
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_folder_with_an_unknown_name_is_a_fault() {
    assert!(round_of("HologramContent").is_none());
    assert!(request::<method::ToolsCall>(&json!({"method": "tools/list", "params": {}})).is_err());
}
