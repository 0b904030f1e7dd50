//! Lowering of values that an older revision cannot express.

use crate::{
    Annotations, CallToolResult, ClientCapabilities, ContentBlock, CreateMessageRequestParams,
    CreateMessageResult, ElicitRequestFormParams, ElicitRequestParams, ElicitRequestUrlParams,
    ElicitSchema, EnumItems, EnumOption, ErrorObject, InputRequest, Lower, Meta, Resource,
    Revision::{self, V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28},
    SamplingContent, SamplingMessage, TitledSingleSelectEnumSchema, Tool, ToolUseContent,
    UntitledMultiSelectEnumSchema,
    error::code,
    revision::Inexpressible,
};
use serde_json::json;

use crate::tests::sample::{self, Fullness};

fn lowered<T: Lower>(mut value: T, to: Revision) -> T {
    value.lower(to);
    value
}

fn texts(result: &CallToolResult) -> Vec<&str> {
    result
        .content
        .iter()
        .filter_map(ContentBlock::as_text)
        .collect()
}

#[test]
fn the_newest_revision_loses_nothing() {
    let result = sample::array_call_result(Fullness::Full);
    let without_meta = CallToolResult {
        meta: None,
        ..result
    };
    assert_eq!(lowered(without_meta.clone(), V2026_07_28), without_meta);
}

#[test]
fn a_sound_becomes_a_note_only_where_there_are_no_sounds() {
    let sound = ContentBlock::audio("aGk=", "audio/wav");
    assert_eq!(lowered(sound.clone(), V2025_03_26), sound);
    let note = lowered(sound, V2024_11_05);
    assert!(
        note.as_text()
            .is_some_and(|text| text.contains("audio/wav")),
        "{note:?}"
    );
}

#[test]
fn a_link_becomes_text_that_still_leads_there() {
    let annotations = Annotations {
        priority: Some(0.5),
        ..Annotations::default()
    };
    let resource = Resource::new("file:///a", "a")
        .with_description("The first file")
        .with_annotations(annotations.clone());
    let link = ContentBlock::link(resource);
    assert_eq!(lowered(link.clone(), V2025_06_18), link);
    let ContentBlock::Text(text) = lowered(link, V2025_03_26) else {
        panic!("text")
    };
    assert_eq!(text.text, "a: file:///a\nThe first file");
    assert_eq!(text.annotations, Some(annotations));
}

#[test]
fn structured_content_that_is_dropped_stays_readable() {
    for (json, to) in [
        (json!([1, 2]), V2025_11_25),
        (json!("hi"), V2025_11_25),
        (json!(null), V2025_06_18),
        (json!({"a": 1}), V2025_03_26),
        (json!({"a": 1}), V2024_11_05),
    ] {
        let full = CallToolResult::structured(&json).unwrap();
        let silent = CallToolResult {
            content: vec![],
            ..full.clone()
        };
        let result = lowered(silent, to);
        assert!(result.structured_content.is_none());
        assert_eq!(texts(&result), [json.to_string()]);
        // The text was already there.
        assert_eq!(texts(&lowered(full, to)), [json.to_string()]);
    }
}

#[test]
fn text_that_says_the_same_is_not_repeated() {
    let result = |text: &str, json: &serde_json::Value| {
        let full = CallToolResult::structured(json).unwrap();
        lowered(
            CallToolResult {
                content: vec![text.into()],
                ..full
            },
            V2025_03_26,
        )
    };
    assert_eq!(
        texts(&result("{ \"b\": 2, \"a\": 1 }", &json!({"a": 1, "b": 2}))).len(),
        1
    );
    assert_eq!(texts(&result("hello", &json!("hello"))), ["hello"]);
    assert_eq!(
        texts(&result("two users", &json!([1, 2]))),
        ["two users", "[1,2]"]
    );
}

#[test]
fn an_object_keeps_its_place_since_2025_06_18() {
    let result = CallToolResult::structured(&json!({"a": 1})).unwrap();
    for to in [V2025_06_18, V2025_11_25, V2026_07_28] {
        assert_eq!(lowered(result.clone(), to), result);
    }
}

#[test]
fn the_name_of_a_tool_moves_to_where_2025_03_26_looks_for_it() {
    let tool = Tool::new("book", sample::object(json!({}))).with_title("Book a seat");
    let old = lowered(tool.clone(), V2025_03_26);
    assert_eq!(
        (old.title, old.annotations.unwrap().title.unwrap().as_str()),
        (None, "Book a seat")
    );
    assert_eq!(lowered(tool, V2024_11_05).annotations, None);
}

#[test]
fn an_output_schema_that_is_not_an_object_is_dropped_before_2026_07_28() {
    let tool = |schema| Tool::new("list", sample::object(json!({}))).with_output_schema(schema);
    let array = tool(json!({"type": "array"}));
    assert_eq!(lowered(array.clone(), V2026_07_28), array);
    assert_eq!(lowered(array, V2025_11_25).output_schema, None);
    let object = tool(json!({"type": "object"}));
    assert_eq!(lowered(object.clone(), V2025_06_18), object);
}

#[test]
fn a_turn_of_several_pieces_becomes_several_turns() {
    let call = ToolUseContent::new("call-1", "book", sample::object(json!({})));
    let mut turn = SamplingMessage::assistant("one");
    turn.content.push(SamplingContent::ToolUse(call.clone()));
    turn.content.push("two".into());
    let only_call = SamplingMessage::assistant(SamplingContent::ToolUse(call));
    let params = CreateMessageRequestParams::new(vec![turn, only_call], 10);
    let old = lowered(params.clone(), V2025_06_18);
    assert_eq!(
        old.messages,
        [
            SamplingMessage::assistant("one"),
            SamplingMessage::assistant("two")
        ]
    );
    assert_eq!(lowered(params.clone(), V2025_11_25), params);
}

#[test]
fn an_answer_of_several_pieces_becomes_one() {
    let mut answer = CreateMessageResult::new("m", "one");
    answer.content.push("two".into());
    assert_eq!(
        lowered(answer, V2025_06_18).content,
        [SamplingContent::text("one\ntwo")]
    );

    let image = SamplingContent::Image(sample::image(Fullness::Bare));
    let mut answer = CreateMessageResult::new("m", image.clone());
    answer
        .content
        .push(SamplingContent::Audio(sample::audio(Fullness::Bare)));
    assert_eq!(lowered(answer, V2025_06_18).content, [image]);

    let call = ToolUseContent::new("call-1", "book", sample::object(json!({})));
    let answer = CreateMessageResult::new("m", SamplingContent::ToolUse(call));
    assert_eq!(
        lowered(answer, V2025_06_18).content,
        [SamplingContent::text("")]
    );
}

fn colour() -> ElicitSchema {
    let red = EnumOption {
        value: "r".into(),
        title: "Red".into(),
    };
    ElicitSchema::new().with_required(
        "colour",
        TitledSingleSelectEnumSchema {
            one_of: vec![red],
            default: Some("r".into()),
            ..Default::default()
        },
    )
}

#[test]
fn names_of_values_move_beside_them_in_2025_06_18() {
    let params = ElicitRequestParams::from(ElicitRequestFormParams::new("Colour?", colour()));
    let old = serde_json::to_value(params.clone().lower_to(V2025_06_18).unwrap()).unwrap();
    assert_eq!(
        old,
        json!({"message": "Colour?", "requestedSchema": {
            "type": "object", "required": ["colour"],
            "properties": {"colour": {"type": "string", "enum": ["r"], "enumNames": ["Red"]}},
        }})
    );
    assert_eq!(params.clone().lower_to(V2025_11_25).unwrap(), params);
}

#[test]
fn what_cannot_be_asked_is_an_error_that_says_why() {
    let form = ElicitRequestParams::from(ElicitRequestFormParams::new("Colour?", colour()));
    let visit = ElicitRequestParams::from(ElicitRequestUrlParams::new("Go", "https://a.example"));
    let items = EnumItems {
        values: vec!["r".into()],
    };
    let several = UntitledMultiSelectEnumSchema {
        items,
        ..Default::default()
    };
    let several = ElicitSchema::new().with("colours", several);
    let several = ElicitRequestParams::from(ElicitRequestFormParams::new("Colours?", several));
    for (params, to, error) in [
        (form, V2025_03_26, Inexpressible::Elicitation(V2025_03_26)),
        (
            visit.clone(),
            V2024_11_05,
            Inexpressible::Elicitation(V2024_11_05),
        ),
        (
            visit.clone(),
            V2025_06_18,
            Inexpressible::UrlElicitation(V2025_06_18),
        ),
        (
            visit,
            V2025_11_25,
            Inexpressible::MissingElicitationId(V2025_11_25),
        ),
        (
            several,
            V2025_06_18,
            Inexpressible::MultiSelect {
                field: "colours".into(),
                revision: V2025_06_18,
            },
        ),
    ] {
        assert_eq!(InputRequest::from(params).lower_to(to), Err(error));
    }
}

#[test]
fn modern_codes_stay_among_modern_peers() {
    let missing = ErrorObject::missing_capability("no forms", ClientCapabilities::new());
    let unsupported = ErrorObject::unsupported_version("1900-01-01", &[V2026_07_28]);
    let mismatch = ErrorObject::header_mismatch("not the same");
    for error in [missing, unsupported, mismatch] {
        assert_eq!(lowered(error.clone(), V2026_07_28), error);
        for &to in Revision::LEGACY {
            let old = lowered(error.clone(), to);
            assert!(
                [code::INVALID_REQUEST, code::INVALID_PARAMS].contains(&old.code),
                "{old}"
            );
            assert_eq!((&old.message, &old.data), (&error.message, &error.data));
        }
    }
}

// rule: J9
#[test]
fn retired_codes_do_not_reach_modern_peers() {
    let visit = ErrorObject::url_elicitation_required(vec![]);
    let modern = lowered(visit, V2026_07_28);
    assert_eq!(modern.code, code::INTERNAL_ERROR);
    assert_eq!(modern.data.unwrap()["code"], code::URL_ELICITATION_REQUIRED);
    let missing = ErrorObject::new(code::RESOURCE_NOT_FOUND, "gone");
    assert_eq!(lowered(missing, V2026_07_28).code, code::INVALID_PARAMS);
    let own = ErrorObject::new(-32001, "busy");
    assert_eq!(lowered(own.clone(), V2026_07_28), own);
}

#[test]
fn url_elicitation_alone_is_not_declared_in_2025_06_18() {
    let url = ClientCapabilities::new().with_url_elicitation();
    assert_eq!(lowered(url.clone(), V2025_11_25), url);
    assert_eq!(lowered(url, V2025_06_18).elicitation, None);
    let both = ClientCapabilities::new()
        .with_url_elicitation()
        .with_form_elicitation();
    assert!(lowered(both, V2025_06_18).has_form_elicitation());
}

// rule: J10
#[test]
fn what_the_sender_attached_survives_and_reserved_keys_do_not() {
    let capabilities = ClientCapabilities::new();
    let meta = Meta::of_request(V2026_07_28, &capabilities).with("example.com/a", 1);
    let result = |meta| CallToolResult::text("hi").with_meta(meta);
    let old = lowered(result(meta), V2024_11_05);
    assert_eq!(old.meta, Some(Meta::new().with("example.com/a", 1)));
    let old = lowered(
        result(Meta::of_request(V2026_07_28, &capabilities)),
        V2024_11_05,
    );
    assert_eq!(old.meta, None);
}
