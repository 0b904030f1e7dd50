//! Reading any JSON never panics, and a value that was read is written as the same value.

use crate::{
    CallToolResult, ContentBlock, InputRequest, Lower, PrimitiveSchema, Revision, SamplingMessage,
    method::{self, Method, NotificationMethod},
};
use proptest::{collection::vec, prelude::*, sample::Index};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::tests::{
    generator::{Case, written},
    outgoing::cases,
    sample::{self, Fullness},
};

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1.0e9..1.0e9).prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let members = vec((".{0,4}", inner.clone()), 0..4);
        prop_oneof![
            vec(inner, 0..4).prop_map(Value::from),
            members.prop_map(|members| Value::Object(Map::from_iter(members))),
        ]
    })
}

/// Reads JSON as a type. If that succeeds, the written value must be read as the same value.
fn read<T: Serialize + DeserializeOwned>(json: &Value) {
    let Ok(value) = serde_json::from_str::<T>(&json.to_string()) else {
        return;
    };
    let once = serde_json::to_value(&value).expect("what was read can be written");
    let again: T = serde_json::from_value(once.clone()).expect("what was written can be read");
    assert_eq!(
        serde_json::to_value(&again).expect("it was written before"),
        once
    );
}

fn method<M: Method>(json: &Value) {
    read::<M::Params>(json);
    read::<M::Result>(json);
    read::<M::Outcome>(json);
}

fn notification<N: NotificationMethod>(json: &Value) {
    read::<N::Params>(json);
}

/// All message types, and the types inside them with hand-written parsers.
const READERS: &[fn(&Value)] = &[
    method::<method::ToolsCall>,
    method::<method::ToolsList>,
    method::<method::ResourcesList>,
    method::<method::ResourcesTemplatesList>,
    method::<method::ResourcesRead>,
    method::<method::PromptsList>,
    method::<method::PromptsGet>,
    method::<method::CompletionComplete>,
    method::<method::ServerDiscover>,
    method::<method::SubscriptionsListen>,
    method::<method::Initialize>,
    method::<method::LoggingSetLevel>,
    method::<method::SamplingCreateMessage>,
    method::<method::ElicitationCreate>,
    method::<method::RootsList>,
    method::<method::TasksGet>,
    method::<method::TasksUpdate>,
    method::<method::LegacyTasksGet>,
    method::<method::TasksList>,
    notification::<method::Cancelled>,
    notification::<method::Progress>,
    notification::<method::Message>,
    notification::<method::SubscriptionsAcknowledged>,
    read::<ContentBlock>,
    read::<SamplingMessage>,
    read::<PrimitiveSchema>,
    read::<InputRequest>,
];

/// Returns all positions in a value.
fn places(json: &Value) -> Vec<String> {
    fn walk(json: &Value, path: &str, places: &mut Vec<String>) {
        places.push(path.to_owned());
        match json {
            Value::Object(members) => {
                for (name, member) in members {
                    let name = name.replace('~', "~0").replace('/', "~1");
                    walk(member, &format!("{path}/{name}"), places);
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    walk(item, &format!("{path}/{index}"), places);
                }
            }
            _ => {}
        }
    }
    let mut places = Vec::new();
    walk(json, "", &mut places);
    places
}

fn everything() -> Vec<Case> {
    let revisions = Revision::ALL.iter().copied();
    revisions
        .flat_map(|revision| cases(revision, Fullness::Full))
        .collect()
}

#[test]
fn a_message_with_something_wrong_in_it_is_refused_or_understood() {
    let everything = everything();
    let strategy = (any::<Index>(), any::<Index>(), json());
    let config = ProptestConfig::with_cases(96);
    proptest!(config, |((case, place, wrong) in strategy)| {
        let mut json = case.get(&everything).json.clone();
        let places = places(&json);
        let place: &String = place.get(&places);
        *json.pointer_mut(place).expect("a place of this value") = wrong;
        for reader in READERS {
            reader(&json);
        }
    });
}

proptest! {
    #[test]
    fn structured_content_is_carried_as_it_is(json in json(), text in ".{0,20}") {
        let result = CallToolResult::structured(&json).expect("JSON is JSON");
        let kept = written(&result);
        prop_assert_eq!(&kept["structuredContent"], &json);
        let text = ContentBlock::text(text);
        written(&text);
    }
}

#[test]
fn tasks_of_the_extension_come_back_and_ask_in_modern_words() {
    for f in Fullness::BOTH {
        for mut task in sample::detailed_tasks(f) {
            let json = written(&task);
            assert_eq!(json.get("statusMessage").is_some(), f == Fullness::Full);
            assert_eq!(written(&task.summary())["status"], json["status"]);
            task.lower(Revision::LATEST);
            let asks = written(&task).to_string();
            assert!(
                !asks.contains("elicitationId") && !asks.contains("taskSupport"),
                "{asks}"
            );
        }
    }
}
