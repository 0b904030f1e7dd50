//! Tests of the comparison of schemas.

use serde_json::{Value, json};

use super::{
    super::change::{Change, Changes, Of},
    *,
};

fn compared(position: Position, was: &Value, is: &Value) -> Vec<Change> {
    let mut changes = Changes::default();
    let mut of = Of {
        changes: &mut changes,
        kind: "tool",
        name: "t",
    };
    compare(position, was, is, &mut of);
    changes.sorted()
}

fn object(properties: &Value, required: &Value) -> Value {
    json!({"type": "object", "properties": properties, "required": required})
}

#[track_caller]
fn one(position: Position, was: &Value, is: &Value, effect: Effect, path: &str, what: &str) {
    let changes = compared(position, was, is);
    assert_eq!(changes.len(), 1, "{changes:?}");
    let change = &changes[0];
    assert_eq!(
        (change.effect, change.path.as_str(), change.what.as_str()),
        (effect, path, what)
    );
}

#[test]
fn what_takes_less_breaks_arguments_and_what_gives_more_breaks_results() {
    for (narrow, wide, what) in [
        (
            json!({"type": "integer"}),
            json!({"type": "number"}),
            "its type changed",
        ),
        (json!({"enum": [1]}), json!({"enum": [1, 2]}), "2 is"),
        (
            json!({"maxLength": 3}),
            json!({"maxLength": 5}),
            "`maxLength` changed",
        ),
        (
            json!({"minimum": 3}),
            json!({"minimum": 1}),
            "`minimum` changed",
        ),
        (json!({"minimum": 3}), json!({}), "`minimum` changed"),
        (json!({"pattern": "a"}), json!({}), "pattern"),
        (
            json!({"anyOf": [{"title": "A"}]}),
            json!({"anyOf": [{"title": "A"}, {"title": "B"}]}),
            "variant B",
        ),
    ] {
        let wrapped = |schema: &Value| object(&json!({"x": schema}), &json!([]));
        let (narrow, wide) = (wrapped(&narrow), wrapped(&wide));
        for (position, was, is, effect) in [
            (Position::Input, &wide, &narrow, Effect::Breaking),
            (Position::Input, &narrow, &wide, Effect::Compatible),
            (Position::Output, &narrow, &wide, Effect::Breaking),
            (Position::Output, &wide, &narrow, Effect::Compatible),
        ] {
            let changes = compared(position, was, is);
            assert_eq!(changes.len(), 1, "{was} {is}: {changes:?}");
            assert_eq!(changes[0].effect, effect, "{position:?} {was} {is}");
            assert!(changes[0].what.contains(what), "{changes:?}");
        }
    }
}

#[test]
fn members_come_and_go() {
    use Effect::{Breaking, Compatible};
    use Position::{Input, Output};
    let none = object(&json!({}), &json!([]));
    let optional = object(&json!({"a": {"type": "string"}}), &json!([]));
    let needed = object(&json!({"a": {"type": "string"}}), &json!(["a"]));
    one(
        Input,
        &none,
        &optional,
        Compatible,
        "a",
        "there is a new argument",
    );
    let new = "there is a new argument, which is required";
    one(Input, &none, &needed, Breaking, "a", new);
    one(
        Input,
        &optional,
        &none,
        Breaking,
        "a",
        "the argument was removed",
    );
    one(
        Input,
        &optional,
        &needed,
        Breaking,
        "a",
        "it is now required",
    );
    one(
        Input,
        &needed,
        &optional,
        Compatible,
        "a",
        "it is now optional",
    );
    one(
        Output,
        &needed,
        &optional,
        Breaking,
        "output.a",
        "it is now optional",
    );
    one(
        Output,
        &needed,
        &none,
        Breaking,
        "output.a",
        "the result no longer has it",
    );
    one(
        Output,
        &none,
        &needed,
        Compatible,
        "output.a",
        "the result now has it",
    );
}

#[test]
fn references_are_followed_and_have_an_end() {
    let tree = |kind: &str| {
        json!({
            "$defs": {"node": {"type": "object", "properties": {
                "value": {"type": kind}, "next": {"$ref": "#/$defs/node"}}}},
            "properties": {"root": {"$ref": "#/$defs/node"}}
        })
    };
    assert!(compared(Position::Input, &tree("string"), &tree("string")).is_empty());
    let changes = compared(Position::Input, &tree("string"), &tree("integer"));
    assert_eq!(changes[0].path, "root.value");
    assert_eq!(changes[0].effect, Effect::Breaking);
    // Inlining a definition instead of referring to it changes nothing.
    let named =
        json!({"$defs": {"u": {"type": "string"}}, "properties": {"x": {"$ref": "#/$defs/u"}}});
    let inline = json!({"properties": {"x": {"type": "string"}}});
    assert!(compared(Position::Input, &named, &inline).is_empty());
}

#[test]
fn words_are_words() {
    let said = |text: &str| object(&json!({"a": {"description": text}}), &json!([]));
    let (was, is) = (said("one"), said("two"));
    let what = "its description changed";
    one(Position::Input, &was, &is, Effect::Wording, "a", what);
}
