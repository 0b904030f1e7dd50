//! Arguments of a tool as words of a command line: any words with any schema give a JSON value or
//! an error.

use serde::de::IgnoredAny;
use serde_json::{Value, json};
use turnbuckle_command_line::argument;

use super::Target;

pub const TARGET: Target = Target {
    name: "command_line",
    run,
    seeds: &[
        b"a=1\nb=two\nc.d=true",
        b"a:=[1,2.50]\nb+=x\nb+=y",
        b"list.0=1\nlist.1=x\nn=-0",
        b"{\"a\":1}",
    ],
    words: &[
        "=", ":=", "+=", ".", "a", "b", "list", "true", "null", "\n", "-1",
    ],
    is_planted: false,
};

fn run(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else {
        return;
    };
    let words: Vec<String> = text.lines().map(str::to_owned).collect();
    // A word may name a file or stdin; nothing is opened here.
    if words.iter().any(|word| word.contains('@') || word == "-") {
        return;
    }
    let schema = json!({
        "properties": {
            "a": {"type": "integer"},
            "b": {"type": "array", "items": {"type": "string"}},
            "c": {"type": "object", "properties": {"d": {"type": "boolean"}}},
            "n": {"type": ["number", "null"]},
            "list": {"type": "array", "items": {}},
        },
    });
    if let Ok(tree) = argument::read(&words, &schema) {
        // Digits stay unchanged, even those of numbers that no computer can represent.
        let text = tree.to_json();
        serde_json::from_str::<IgnoredAny>(&text).expect("what was read is JSON");
        let pretty = tree.to_pretty();
        serde_json::from_str::<IgnoredAny>(&pretty).expect("and so is this");
        let value = serde_json::from_str::<Value>(&text);
        assert_eq!(value.ok(), serde_json::from_str(&pretty).ok());
        let _ = argument::unknown(&tree, &schema);
    }
}
