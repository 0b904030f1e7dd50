//! A model that follows a script.

use turnbuckle_models::{Model, Scripted};
use turnbuckle_protocol::{CreateMessageRequestParams, SamplingMessage, StopReason};

fn said(text: &str) -> CreateMessageRequestParams {
    CreateMessageRequestParams::new(vec![SamplingMessage::user(text)], 10)
}

#[tokio::test]
async fn turns_are_played_in_order_and_checked() {
    let script = "# a comment\n\n{\"text\": \"You said {{user}}.\", \"calls\": [{\"name\": \"t\"}]}\n\
                  {\"expect\": \"blue\", \"text\": \"ok\"}\n{\"error\": \"out of order\"}\n";
    let model = Scripted::parse("demo", script).unwrap();
    let answer = model.answer(&said("red"), &mut |_| {}).await.unwrap();
    assert_eq!(answer.result.text(), "You said red.");
    assert_eq!(answer.result.stop_reason, Some(StopReason::ToolUse));
    assert_eq!(answer.calls().next().unwrap().id, "call_1");
    let error = model.answer(&said("red"), &mut |_| {}).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "script `demo`: line 4: expected `blue` in `red`"
    );
    let error = model.answer(&said("red"), &mut |_| {}).await.unwrap_err();
    assert_eq!(error.to_string(), "script `demo`: line 5: out of order");
    let error = model.answer(&said("red"), &mut |_| {}).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "script `demo`: the script has no turns left; add a line"
    );
}

#[test]
fn a_line_that_is_not_a_turn_is_named() {
    let Err(error) = Scripted::parse("demo", "{\"text\": \"a\"}\n{\"txet\": \"b\"}") else {
        panic!("it was taken")
    };
    assert!(
        error
            .to_string()
            .starts_with("script `demo`: line 2: unknown field `txet`"),
        "{error}"
    );
    let missing = std::path::Path::new("no/such/file");
    let Err(error) = Scripted::open(missing) else {
        panic!("it was opened")
    };
    assert!(
        error.to_string().starts_with("script `no/such/file`: "),
        "{error}"
    );
}
