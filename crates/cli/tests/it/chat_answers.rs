//! Incomplete answers of models, and answers of APIs that do not follow their format.

use serde_json::{Value, json};

use crate::{
    chat::{api, events, of_kind},
    program::{Place, stderr, stdout},
};

/// A chat of one prompt with an API that gives this answer.
fn ask(kind: &'static str, body: String, words: &[&str]) -> std::process::Output {
    let place = Place::with_lab();
    let (url, served) = api("200 OK", kind, body);
    let chat = ["chat", "lab", "--model", "m", "--api", &url, "-p", "hi"];
    let output = place.run(&[&chat[..], words].concat());
    served.join().expect("it was asked");
    output
}

fn stream(text: &str, reason: &str) -> String {
    let chunk = json!({"model": "m", "choices": [
        {"index": 0, "delta": {"content": text}, "finish_reason": reason}]});
    format!("data: {chunk}\n\ndata: [DONE]\n\n")
}

#[test]
fn an_answer_that_is_not_whole_is_not_taken_for_one() {
    for (text, reason, said) in [
        (
            "part",
            "length",
            "cut off: the answer reached the token limit",
        ),
        (
            "part",
            "content_filter",
            "the API ended it with `contentFilter`",
        ),
        ("", "stop", "the model gave no answer"),
        ("whole", "stop", ""),
    ] {
        let output = ask("text/event-stream", stream(text, reason), &[]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert_eq!(stdout(&output).trim_end(), text, "{output:?}");
        let told = stderr(&output);
        assert_eq!(told.is_empty(), said.is_empty(), "{reason}: {told}");
        assert!(told.contains(said), "{reason}: {told}");
    }
    // A program gets it in the event.
    let output = ask("text/event-stream", stream("part", "length"), &["--json"]);
    let end = of_kind(&events(&output), "end")[0].clone();
    assert_eq!(end["stopReason"], "maxTokens");
    assert_eq!(stderr(&output), "");
}

#[test]
fn what_an_api_says_instead_of_an_answer_is_shown() {
    let page = "<title>Please sign in</title>".to_owned();
    let output = ask("text/html", page, &[]);
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    let said = stderr(&output);
    assert!(
        said.contains("it begins with `<title>Please sign in</title>`"),
        "{said}"
    );
    assert!(said.contains("hint: check the API's URL"), "{said}");

    let error = json!({"error": "Unexpected endpoint or method. (POST /chat/completions)"});
    let output = ask("application/json", error.to_string(), &["--json"]);
    let said: Value = of_kind(&events(&output), "error")[0]["message"].clone();
    let said = said.as_str().expect("it is text");
    assert!(said.contains("Unexpected endpoint or method"), "{said}");
}
