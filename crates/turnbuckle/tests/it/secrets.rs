//! Handlers must not ask for secrets in a form, and a link must not reveal any.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use serde_json::json;
use turnbuckle::{
    Ask, CallError, Client, Form, Revision, Server, ToolError,
    protocol::{ElicitRequestFormParams, ElicitResult, ElicitSchema, StringSchema},
    tool,
};
use turnbuckle_testing::connect_with;

#[derive(Debug, Form)]
struct Login {
    name: String,
    password: String,
}

#[derive(Debug, Form)]
struct Key {
    /// What the service gave you.
    #[form(title = "API key")]
    value: String,
}

#[tool]
async fn login(Ask(ask): Ask) -> Result<String, ToolError> {
    let login: Login = ask.form("login", "Who are you?").await?.accepted()?;
    Ok(format!("{} {}", login.name, login.password))
}

#[tool]
async fn key(Ask(ask): Ask) -> Result<String, ToolError> {
    let key: Key = ask.form("key", "Your key?").await?.accepted()?;
    Ok(key.value)
}

/// The same, by a form that was made at run time.
#[tool]
async fn made(Ask(ask): Ask) -> Result<String, ToolError> {
    let schema = ElicitSchema::new().with("clientSecret", StringSchema::default());
    let form = ElicitRequestFormParams::new("Your secret?", schema);
    ask.form_of("made", form).await?;
    Ok(String::new())
}

/// Sends people to a page.
#[tool]
async fn visit(Ask(ask): Ask, url: String) -> Result<String, ToolError> {
    ask.url("page", "Pay there.", url).await?.accepted()?;
    Ok("paid".into())
}

fn server() -> Server {
    Server::new("till", "1")
        .tool(login)
        .tool(key)
        .tool(made)
        .tool(visit)
}

/// A client that accepts everything, and counts the questions.
fn agreeable(revision: Revision) -> (Client, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let (forms, urls) = (asked.clone(), asked.clone());
    let client = Client::new("agreeable", "1")
        .on_form(move |_| {
            forms.fetch_add(1, Ordering::Relaxed);
            async { Ok(ElicitResult::accept([("name", "a"), ("password", "b")])) }
        })
        .on_url(move |_| {
            urls.fetch_add(1, Ordering::Relaxed);
            async { Ok(ElicitResult::accept_visit()) }
        });
    (client.only(revision), asked)
}

// elicitation: servers MUST NOT ask for secrets by a form.
// rule: E3
#[tokio::test]
async fn a_form_for_a_secret_is_not_sent() {
    for revision in [
        Revision::V2025_06_18,
        Revision::V2025_11_25,
        Revision::V2026_07_28,
    ] {
        let live = server().build().unwrap();
        let (client, asked) = agreeable(revision);
        let client = connect_with(&live, &client).await.unwrap();
        for tool in ["login", "key", "made"] {
            let error = client.call(tool, json!({})).await.unwrap_err();
            // This is a mistake of the server's author: the log says what to do, and the peer only gets an
            // internal error.
            let CallError::Rejected { error, .. } = error else {
                panic!("{revision} {tool}: {error:?}")
            };
            assert_eq!(error.code, -32603, "{revision} {tool}");
        }
        assert_eq!(asked.load(Ordering::Relaxed), 0, "{revision}");
    }
}

// elicitation: a URL MUST NOT contain credentials or personal data, nor be pre-authenticated; secrets are asked for
// on a page that identifies the user.
// rule: E3, E6
#[tokio::test]
async fn a_link_that_gives_something_away_is_not_sent() {
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let live = server().build().unwrap();
        let (client, asked) = agreeable(revision);
        let client = connect_with(&live, &client).await.unwrap();
        for url in [
            "https://ada:hunter2@till.example/pay",
            "https://till.example/pay?access_token=eyJ0",
            "https://till.example/pay?order=1&user=ada%40example.com",
            "https://till.example/pay#password=hunter2",
        ] {
            let error = client
                .call("visit", json!({ "url": url }))
                .await
                .unwrap_err();
            let code = error.rejection().map(|error| error.code);
            assert_eq!(code, Some(-32603), "{revision} {url}");
        }
        assert_eq!(asked.load(Ordering::Relaxed), 0, "{revision}");
        let plain = json!({ "url": "https://till.example/pay?order=1" });
        let paid = client.call("visit", plain).await.unwrap();
        assert_eq!(
            (paid.text().as_str(), asked.load(Ordering::Relaxed)),
            ("paid", 1)
        );
    }
}
