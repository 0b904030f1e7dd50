//! Questions to a client that does not support them: the author's fallback applies, or an error says what is missing.

use serde_json::json;
use turnbuckle::{
    Answer, Ask, CallError, Choice, Form, Revision, Server, ToolError,
    client::Answers,
    protocol::{CreateMessageRequestParams, CreateMessageResult, ElicitResult},
    tool,
};
use turnbuckle_testing::every_revision;

#[derive(Form)]
struct Seat {
    row: u8,
}

#[derive(Choice)]
enum Meal {
    Fish,
    Bread,
}

#[derive(Form)]
struct Meals {
    meals: Vec<Meal>,
}

#[tool]
async fn seat(Ask(ask): Ask) -> Result<String, ToolError> {
    let seat = ask
        .form::<Seat>("seat", "Which seat?")
        .or(Answer::Accepted(Seat { row: 1 }));
    Ok(format!("row {}", seat.await?.accepted()?.row))
}

#[tool]
async fn pay(Ask(ask): Ask) -> Result<String, ToolError> {
    let visit = ask
        .url("pay", "Please pay.", "https://pay.example/1")
        .or_else(|why| {
            assert!(!why.to_string().is_empty());
            Answer::Declined
        });
    Ok(match visit.await? {
        Answer::Accepted(()) => "paid online".into(),
        Answer::Declined | Answer::Cancelled => "pays at the desk".into(),
    })
}

#[tool]
async fn summary(Ask(ask): Ask) -> Result<String, ToolError> {
    let request = CreateMessageRequestParams::new(vec![], 10);
    let said = ask
        .sample("summary", request)
        .or(CreateMessageResult::new("none", "no model here"));
    let roots = ask.roots("roots").or(Vec::new());
    let (said, roots) = tokio::join!(said, roots);
    let said = said?;
    let text = said.content.first().and_then(|content| content.as_text());
    Ok(format!(
        "{}, {} roots",
        text.unwrap_or_default(),
        roots?.len()
    ))
}

#[tool]
async fn meals(Ask(ask): Ask) -> Result<String, ToolError> {
    let meals = ask.form::<Meals>("meals", "What do you eat?").await?;
    Ok(meals.accepted()?.meals.len().to_string())
}

fn server() -> Server {
    Server::new("asks", "1.0.0")
        .tool(seat)
        .tool(pay)
        .tool(summary)
        .tool(meals)
}

fn able() -> Answers {
    Answers::new()
        .on_form(|form| async move {
            let is_seat = form.requested_schema.properties.contains_key("row");
            let content = if is_seat {
                json!({"row": 7})
            } else {
                json!({"meals": ["Fish", "Bread"]})
            };
            Ok(serde_json::from_value(json!({"action": "accept", "content": content})).unwrap())
        })
        .on_url(|_| async { Ok(ElicitResult::accept_visit()) })
        .on_sample(|_| async { Ok(CreateMessageResult::new("m", "short")) })
}

every_revision! {
    async fn a_client_that_answers_nothing_gets_the_fallback(client = server()) {
        let said = async |tool: &str| client.call(tool, json!({})).await.unwrap().text();
        assert_eq!(said("seat").await, "row 1");
        assert_eq!(said("pay").await, "pays at the desk");
        assert_eq!(said("summary").await, "no model here, 0 roots");
    }

    async fn a_client_that_can_be_asked_is_asked(client = server(), answering = able()) {
        let revision = client.server().revision();
        let said = async |tool: &str| client.call(tool, json!({})).await.unwrap().text();
        // There are no forms before 2025-06-18, and no URLs before 2025-11-25.
        let row = if revision < Revision::V2025_06_18 { "row 1" } else { "row 7" };
        assert_eq!(said("seat").await, row);
        let paid = if revision < Revision::V2025_11_25 { "pays at the desk" } else { "paid online" };
        assert_eq!(said("pay").await, paid);
        assert_eq!(said("summary").await, "short, 0 roots");
    }

    async fn without_a_fallback_the_caller_is_told_what_is_missing(
        client = server(), answering = able()
    ) {
        let revision = client.server().revision();
        let called = client.call("meals", json!({})).await;
        if revision >= Revision::V2025_11_25 {
            assert_eq!(called.unwrap().text(), "2");
            return;
        }
        let output = called.unwrap();
        assert_eq!(output.is_error, Some(true));
        let reason = if revision < Revision::V2025_06_18 { "2025-06-18" } else { "`meals`" };
        assert!(output.text().contains(reason), "{}", output.text());
    }

    async fn a_modern_client_learns_which_capability_is_missing(client = server()) {
        let called = client.call("meals", json!({})).await;
        if client.server().revision().is_modern() {
            let Err(CallError::Rejected { error, .. }) = called else { panic!("{called:?}") };
            assert_eq!(error.code, -32021);
        } else {
            assert_eq!(called.unwrap().is_error, Some(true));
        }
    }
}
