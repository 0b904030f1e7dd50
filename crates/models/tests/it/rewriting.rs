//! How tools are rewritten to what each API accepts of JSON Schema.

use serde_json::{Value, json};
use turnbuckle_models::format::Format;
use turnbuckle_protocol::Tool;

use crate::conversation::{everything, tool};
use crate::shape;

/// A function that checks the shape of a request.
type Shape = fn(&Value);

const ALL: [(Format, Shape); 4] = [
    (Format::OpenAiChat, shape::openai_chat),
    (Format::OpenAiResponses, shape::openai_responses),
    (Format::Anthropic, shape::anthropic),
    (Format::Gemini, shape::gemini),
];

/// The tool as written in a valid request, and the changes.
fn write(format: Format, shape: Shape, tool: &Tool) -> (Value, Vec<String>) {
    let list = format.tools(std::slice::from_ref(tool));
    let mut params = everything();
    params.messages.truncate(1);
    shape(&format.request("m", &params, &list).body);
    let told = list.rewrites().iter().map(ToString::to_string).collect();
    (list.json()[0].clone(), told)
}

fn schema(format: Format, entry: &Value) -> Value {
    match format {
        Format::OpenAiChat => entry["function"]["parameters"].clone(),
        Format::Anthropic => entry["input_schema"].clone(),
        _ => entry["parameters"].clone(),
    }
}

/// Schemas of real servers: each becomes a tool that every API accepts.
#[test]
fn whatever_a_server_sends_becomes_a_schema_that_each_api_takes() {
    let deep = (0..40).fold(
        json!({"type": "string"}),
        |inner, _| json!({"type": "object", "properties": {"in": inner}}),
    );
    for hostile in [
        json!({}),
        json!({"type": "object", "properties": {}}),
        json!({"$ref": "#/$defs/A", "$defs": {"A": {"type": "object", "properties": {"a": {"$ref": "#/$defs/B"}}},
            "B": {"enum": ["x", "y"]}}}),
        json!({"type": "object", "properties": {"t": {"$ref": "#"}}}),
        json!({"$ref": "#"}),
        json!({"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}}}),
        json!({"type": "object", "properties": {"t": {"$ref": "https://example.com/x"}}}),
        json!({"anyOf": [{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
            {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"const": 1}}, "required": ["a"]}]}),
        json!({"type": "object", "properties": {"a": {}}, "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}),
        json!({"type": "object", "allOf": [{"if": {"required": ["a"]}, "then": {"required": ["b"]}}]}),
        json!({"type": "object", "properties": {"a": {"type": ["string", "null"]}, "b": {"type": ["integer", "string"]},
            "c": {"type": "array"}, "d": {"type": "array", "items": [{"type": "number"}, {"type": "string"}]},
            "e": {"type": "array", "prefixItems": [{"type": "number"}]}, "f": true, "g": false,
            "h": {"type": "integer", "exclusiveMinimum": 3}, "i": {"enum": [1, 2]}, "j": {"enum": ["x", null]},
            "k": {"anyOf": [{"type": "string", "format": "uri"}, {"type": "null"}]}, "l": {"type": "object"},
            "m": {"not": {"type": "string"}}, "n": {"type": "object", "additionalProperties": {"type": "string"}},
            "o": {"oneOf": [{"const": "a"}, {"const": "b"}]}, "p": {"minimum": 1}, "q": {"pattern": "^x"},
            "r": {"allOf": [{"type": "string"}, {"maxLength": 3}]}, "s": {"exclusiveMinimum": true}}}),
        json!({"type": "object", "properties": {"$top": {"type": "integer"}, "größe": {"type": "string"},
            "a b": {"type": "object", "properties": {"c/d": {"type": "string"}}, "required": ["c/d"]}},
            "required": ["$top", "a b"]}),
        json!({"type": "object", "properties": 7, "required": "x", "anyOf": {}, "items": 3}),
        json!({"type": "object", "properties": {"a": {"type": "any"}, "b": {"minLength": -1, "not": 5}}}),
        deep,
    ] {
        let tool = tool("t", hostile);
        for (format, shape) in ALL {
            write(format, shape, &tool);
        }
    }
}

#[test]
fn a_plain_schema_is_not_touched() {
    let plain = json!({"type": "object", "properties": {"a": {"type": "string", "minLength": 1},
        "b": {"type": "array", "items": {"type": "integer"}}}, "required": ["a"]});
    for (format, shape) in &ALL[..3] {
        let (entry, told) = write(*format, *shape, &tool("t", plain.clone()));
        assert_eq!(schema(*format, &entry), plain);
        assert!(told.is_empty(), "{told:?}");
    }
    let (_, told) = write(Format::Gemini, shape::gemini, &tool("t", plain));
    assert!(told.is_empty(), "{told:?}");
}

#[test]
fn keywords_that_json_schema_does_not_allow_are_reported() {
    let old = tool(
        "old",
        json!({"type": "object", "properties": {
            "a": {"type": "any", "description": "Anything."},
            "n": {"type": "number", "minimum": 0, "exclusiveMinimum": true}}}),
    );
    for (format, shape) in &ALL[..3] {
        let (entry, told) = write(*format, *shape, &old);
        let properties = &schema(*format, &entry)["properties"];
        assert_eq!(properties["a"], json!({"description": "Anything."}));
        let number = json!({"type": "number", "exclusiveMinimum": 0});
        assert_eq!(properties["n"], number);
        assert_eq!(
            told,
            [
                "tool `old` at `/properties/a`: `type` left out; its value is not allowed",
                "tool `old` at `/properties/n`: `exclusiveMinimum` written as a number",
            ]
        );
    }
}

#[test]
fn alternatives_at_the_root_become_one_object_and_are_reported() {
    let tool = tool(
        "t",
        json!({"oneOf": [
            {"type": "object", "properties": {"url": {"type": "string"}, "n": {"type": "integer"}}, "required": ["url", "n"]},
            {"type": "object", "properties": {"id": {"type": "string"}, "n": {"type": "string"}}, "required": ["id", "n"]},
        ]}),
    );
    for (format, shape) in &ALL[..3] {
        let (entry, told) = write(*format, *shape, &tool);
        let schema = schema(*format, &entry);
        assert_eq!(schema["required"], json!(["n"]), "{schema}");
        let n = json!({"anyOf": [{"type": "integer"}, {"type": "string"}]});
        assert_eq!(schema["properties"]["n"], n);
        assert_eq!(
            told,
            ["tool `t`: `oneOf` at the root merged into one object"]
        );
    }
}

#[test]
fn recursion_and_depth_end_and_are_reported() {
    let tree = tool(
        "tree",
        json!({"$ref": "#/$defs/Node", "$defs": {"Node": {"type": "object", "properties": {
            "name": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}}}}}}),
    );
    let (entry, told) = write(Format::OpenAiChat, shape::openai_chat, &tree);
    let schema = schema(Format::OpenAiChat, &entry);
    let inner = schema
        .pointer("/properties/children/items/properties/children/items")
        .unwrap();
    assert_eq!(inner, &json!({}));
    assert_eq!(
        told,
        [
            "tool `tree` at `/properties/children/items/properties/children/items`: recursion through \
          `#/$defs/Node` cut off; any value is allowed"
        ]
    );
    let deep = (0..12).fold(
        json!({"type": "string"}),
        |inner, _| json!({"type": "object", "properties": {"in": inner}}),
    );
    let (_, told) = write(Format::Anthropic, shape::anthropic, &tool("deep", deep));
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].ends_with("deeper than 10 levels; any value is allowed"),
        "{told:?}"
    );
}

/// References that double at each step must not exhaust the memory.
#[test]
fn a_schema_that_grows_without_end_is_cut_off() {
    let mut definitions = serde_json::Map::new();
    for step in 0..60 {
        let next = json!({"$ref": format!("#/$defs/d{}", step + 1)});
        definitions.insert(format!("d{step}"), json!({"anyOf": [next, next, next]}));
    }
    definitions.insert("d60".to_owned(), json!({"type": "string"}));
    let bomb = json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": definitions});
    let chain: serde_json::Map<_, _> = (0..5000)
        .map(|step| {
            (
                format!("d{step}"),
                json!({"anyOf": [{"$ref": format!("#/$defs/d{}", step + 1)}]}),
            )
        })
        .collect();
    let chain =
        json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": chain});
    for schema in [bomb, chain] {
        let tool = tool("bomb", schema);
        for (format, _) in ALL {
            let written = format.tools(std::slice::from_ref(&tool)).json()[0].to_string();
            assert!(
                written.len() < 1_000_000,
                "{format:?}: {} bytes",
                written.len()
            );
        }
    }
}

#[test]
fn renamed_properties_come_back_under_their_own_names() {
    let odd = tool(
        "odd",
        json!({"type": "object", "properties": {
            "$top": {"type": "integer"},
            "a b": {"type": "array", "items": {"type": "object", "properties": {"c/d": {"type": "string"}}}},
            "free": {}}, "required": ["$top"]}),
    );
    let arguments = json!({"$top": 1, "a b": [{"c/d": "x"}], "free": {"any": [1]}});
    let written = [
        (
            Format::Anthropic,
            json!({"_top": 1, "a_b": [{"c_d": "x"}], "free": {"any": [1]}}),
        ),
        (
            Format::Gemini,
            json!({"_top": 1, "a_b": [{"c_d": "x"}], "free": "{\"any\":[1]}"}),
        ),
        (Format::OpenAiChat, arguments.clone()),
    ];
    for (format, wrote) in written {
        let list = format.tools(std::slice::from_ref(&odd));
        let call = list.call("1", "odd", wrote.clone());
        assert_eq!(json!(call.input), arguments, "{format:?}");
        // In the next round the model sees its own text again.
        let mut params = everything();
        params.messages.truncate(1);
        let mut said = turnbuckle_protocol::SamplingMessage::assistant("x");
        said.content = vec![turnbuckle_protocol::SamplingContent::ToolUse(call)];
        params.messages.push(said);
        let body = format.request("m", &params, &list).body.to_string();
        let wrote = wrote.to_string();
        let escaped = json!(wrote).to_string();
        assert!(
            body.contains(&wrote) || body.contains(&escaped),
            "{format:?}: {body}"
        );
    }
    let required = Format::Anthropic.tools(&[odd]).json()[0]["input_schema"]["required"].clone();
    assert_eq!(required, json!(["_top"]));
}

#[test]
fn gemini_reads_in_the_description_what_its_schema_cannot_say() {
    let tool = tool(
        "t",
        json!({"type": "object", "properties": {
            "even": {"type": "integer", "multipleOf": 2, "description": "A number."},
            "small": {"type": "integer", "exclusiveMaximum": 10},
            "level": {"enum": [1, 2, 3]},
            "maybe": {"type": ["string", "null"]},
        }}),
    );
    let (entry, told) = write(Format::Gemini, shape::gemini, &tool);
    let properties = &entry["parameters"]["properties"];
    assert_eq!(
        properties["even"],
        json!({"type": "INTEGER", "description": "A number. (multipleOf: 2)"})
    );
    assert_eq!(
        properties["small"],
        json!({"type": "INTEGER", "maximum": 9})
    );
    assert_eq!(
        properties["level"],
        json!({"type": "INTEGER", "description": "(enum: [1,2,3])"})
    );
    assert_eq!(
        properties["maybe"],
        json!({"type": "STRING", "nullable": true})
    );
    assert_eq!(
        told,
        [
            "tool `t` at `/properties/even`: `multipleOf` moved to the description",
            "tool `t` at `/properties/level`: `enum` of values that are not strings moved to the description",
        ]
    );
}

#[test]
fn too_many_tools_and_long_descriptions_are_cut_and_reported() {
    let many: Vec<_> = (0..130)
        .map(|number| tool(&format!("t{number}"), json!({})))
        .collect();
    let list = Format::OpenAiChat.tools(&many);
    assert_eq!(list.json().len(), 128);
    let told: Vec<_> = list.rewrites().iter().map(ToString::to_string).collect();
    assert_eq!(told[0], "tool `t128`: left out; the API accepts 128 tools");
    assert!(list.rewrites().iter().all(|rewrite| rewrite.is_left_out));
    assert_eq!(Format::Anthropic.tools(&many).json().len(), 130);
    let long = tool("long", json!({})).with_description("ä".repeat(2000));
    let (entry, told) = write(Format::OpenAiChat, shape::openai_chat, &long);
    let description = entry["function"]["description"].as_str().unwrap();
    assert_eq!(description.chars().count(), 1024);
    assert_eq!(
        told,
        ["tool `long`: description cut off at 1024 characters"]
    );
}
