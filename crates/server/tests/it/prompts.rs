//! Prompts with typed arguments, which clients can send only as text.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use turnbuckle_protocol::Revision;
use turnbuckle_server::{Args, LiveServer, Prompt, Server};

use crate::wire::Wire;

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Mood {
    Calm,
    VeryLoud,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Song {
    /// What it is about.
    about: String,
    /// How many verses.
    verses: u8,
    tempo: Option<f64>,
    rhyming: Option<bool>,
    mood: Option<Mood>,
    tags: Option<Vec<String>>,
}

async fn song(Args(song): Args<Song>) -> String {
    let Song {
        about,
        verses,
        tempo,
        rhyming,
        mood,
        tags,
    } = song;
    format!("{about:?} {verses} {tempo:?} {rhyming:?} {mood:?} {tags:?}")
}

fn server() -> LiveServer {
    let server = Server::new("s", "1").strict(); // This is for arguments of tools: prompts have only text.
    server
        .prompt(Prompt::new("song", song))
        .build()
        .expect("a server")
}

async fn get(wire: &mut Wire, arguments: Value) -> Value {
    let params = json!({ "name": "song", "arguments": arguments });
    wire.result("prompts/get", params).await["messages"][0]["content"]["text"].take()
}

#[tokio::test]
async fn text_is_read_as_the_type_that_is_meant() {
    let cases = [
        (
            json!({ "about": "7", "verses": "3" }),
            r#""7" 3 None None None None"#,
        ),
        (
            json!({ "about": "true", "verses": "0", "tempo": "1.5", "rhyming": "true", "mood": "very-loud" }),
            r#""true" 0 Some(1.5) Some(true) Some(VeryLoud) None"#,
        ),
        (
            json!({ "about": "", "verses": "3", "tempo": "120", "rhyming": "false", "mood": "calm" }),
            r#""" 3 Some(120.0) Some(false) Some(Calm) None"#,
        ),
        (
            json!({ "about": "a", "verses": "3", "tags": "[\"x\",\"y\"]" }),
            r#""a" 3 None None None Some(["x", "y"])"#,
        ),
        // Clients that send other types than text are understood, too.
        (
            json!({ "about": "a", "verses": 3, "tempo": null, "rhyming": true }),
            r#""a" 3 None Some(true) None None"#,
        ),
    ];
    for &revision in Revision::ALL {
        let mut wire = Wire::at(&server(), revision).await;
        for (arguments, text) in &cases {
            assert_eq!(
                get(&mut wire, arguments.clone()).await,
                *text,
                "{arguments} at {revision}"
            );
        }
    }
}

// rule: RS4, RS12
#[tokio::test]
async fn arguments_that_do_not_fit_are_invalid_params_at_every_revision() {
    // prompts: missing required arguments SHOULD be answered with -32602.
    let cases = [
        (json!({ "verses": "3" }), "about"),
        (json!({ "about": "a" }), "verses"),
        (json!({}), "about"),
        (json!({ "about": "a", "verses": "many" }), "verses"),
        (json!({ "about": "a", "verses": "256" }), "verses"),
        (json!({ "about": "a", "verses": "-1" }), "verses"),
        (
            json!({ "about": "a", "verses": "3", "mood": "loud" }),
            "mood",
        ),
        (json!({ "about": ["a"], "verses": "3" }), "about"),
    ];
    for &revision in Revision::ALL {
        let mut wire = Wire::at(&server(), revision).await;
        for (arguments, named) in &cases {
            let params = json!({ "name": "song", "arguments": arguments });
            let error = wire.error("prompts/get", params).await;
            assert_eq!(error["code"], -32602, "{arguments}");
            assert!(
                error["message"]
                    .as_str()
                    .is_some_and(|text| text.contains(named)),
                "{error}"
            );
        }
        for arguments in [json!(["a", "3"]), json!("a"), json!(7), json!(true)] {
            let params = json!({ "name": "song", "arguments": arguments });
            let error = wire.error("prompts/get", params).await;
            let expected =
                json!({ "code": -32602, "message": "`params.arguments` must be an object" });
            assert_eq!(error, expected, "{arguments}");
        }
        let error = wire
            .error("prompts/get", json!({ "name": "song", "arguments": null }))
            .await;
        assert_eq!(error["code"], -32602);
        for params in [
            json!({}),
            json!({ "name": 7 }),
            json!({ "name": null }),
            json!({ "name": "" }),
            json!({ "name": "unheard-of" }),
        ] {
            assert_eq!(wire.code("prompts/get", params).await, -32602);
        }
    }
}

#[tokio::test]
async fn the_list_says_what_a_prompt_takes() {
    let listed = Wire::open(&server())
        .result("prompts/list", json!({}))
        .await;
    let arguments = listed["prompts"][0]["arguments"]
        .as_array()
        .expect("arguments")
        .clone();
    let said: Vec<(&str, &Value, &Value)> = arguments
        .iter()
        .map(|argument| {
            let name = argument["name"].as_str().expect("a name");
            (name, &argument["required"], &argument["description"])
        })
        .collect();
    let (yes, no, nothing) = (&json!(true), &json!(false), &Value::Null);
    assert_eq!(
        said,
        [
            ("about", yes, &json!("What it is about.")),
            ("verses", yes, &json!("How many verses.")),
            ("tempo", no, nothing),
            ("rhyming", no, nothing),
            ("mood", no, nothing),
            ("tags", no, nothing),
        ]
    );
}
