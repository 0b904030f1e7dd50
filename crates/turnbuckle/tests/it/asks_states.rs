//! `requestState`: which caller may use it, how often, for how long, and how large it may be.

use std::time::Duration;

use serde_json::{Value, json};
use turnbuckle::{
    Ask, Caller, Client, Connection, Form, LiveServer, Revision, Server, ToolError,
    client::Answers, protocol::ElicitResult, store::MemoryUsedStates, tool,
};

#[derive(Form)]
struct Name {
    name: String,
}

#[tool]
async fn polite(Ask(ask): Ask) -> Result<String, ToolError> {
    Ok(ask
        .form::<Name>("name", "Your name?")
        .await?
        .accepted()?
        .name)
}

/// Has much to remember.
#[tool]
async fn learned(Ask(ask): Ask, bytes: usize) -> Result<String, ToolError> {
    let book = ask
        .memo("book", async { Ok::<_, ToolError>("x".repeat(bytes)) })
        .await?;
    let name = ask
        .form::<Name>("name", "Your name?")
        .await?
        .accepted()?
        .name;
    Ok(format!("{name} knows {} bytes", book.len()))
}

fn server() -> Server {
    Server::new("asks", "1.0.0").tool(polite).tool(learned)
}

/// Connects directly, without `reenter`: these tests count states, and re-entering uses some of them up.
async fn connect(server: &LiveServer) -> Connection {
    connect_as(server, Caller::local()).await
}

async fn connect_as(server: &LiveServer, caller: Caller) -> Connection {
    let answers = Answers::new().on_form(|_| async { Ok(ElicitResult::decline()) });
    let client = Client::new("test", "1.0.0").answering(answers);
    let client = client.only(Revision::V2026_07_28);
    client.connect(server.connect_as(caller)).await.unwrap()
}

async fn send(client: &Connection, params: Value) -> Result<Value, i64> {
    let raw = serde_json::value::to_raw_value(&params).unwrap();
    match client.request_raw("tools/call", Some(raw)).await {
        Ok(raw) => Ok(serde_json::from_str(raw.get()).unwrap()),
        Err(error) => Err(error.rejection().unwrap_or_else(|| panic!("{error}")).code),
    }
}

async fn pause(client: &Connection) -> String {
    let paused = send(client, json!({"name": "polite"})).await.unwrap();
    paused["requestState"].as_str().unwrap().to_owned()
}

async fn retry(client: &Connection, state: &str) -> Result<Value, i64> {
    let answer = json!({"name": {"action": "accept", "content": {"name": "Ada"}}});
    let params = json!({"name": "polite", "requestState": state, "inputResponses": answer});
    send(client, params)
        .await
        .map(|result| result["content"][0]["text"].clone())
}

const OLD: [u8; 32] = [1; 32];
const NEW: [u8; 32] = [2; 32];

/// Asks if it can.
#[tool]
async fn shy(#[extract] ask: Option<Ask>) -> Result<String, ToolError> {
    let Some(Ask(ask)) = ask else {
        return Ok("nobody asked".into());
    };
    let name = ask.form::<Name>("name", "Your name?").await?;
    Ok(name.accepted()?.name)
}

// rule: I4
// mrtr: servers MUST reject state that fails verification.
#[tokio::test]
async fn a_handler_that_can_do_without_asking_does_not_take_a_false_state() {
    let server = Server::new("asks", "1.0.0").tool(shy).build().unwrap();
    let client = connect(&server).await;
    let forged = json!({"name": "shy", "requestState": "forged", "inputResponses": {}});
    assert_eq!(send(&client, forged).await, Err(-32602));
    let paused = send(&client, json!({"name": "shy"})).await.unwrap();
    assert_eq!(paused["resultType"], "input_required");
}

// mrtr: the official suite retries with answers and without a state, so such retries are accepted, except where the
// author has limited how long or how often a state may be used.
#[tokio::test]
async fn answers_without_a_state_count_unless_the_author_set_a_bound() {
    let answer = json!({"name": {"action": "accept", "content": {"name": "Ada"}}});
    let params = || json!({"name": "polite", "inputResponses": answer});
    let client = connect(&server().build().unwrap()).await;
    let done = send(&client, params()).await.unwrap();
    assert_eq!(done["content"][0]["text"], "Ada");
    for strict in [
        server().single_use(MemoryUsedStates::default()),
        server().answer_within(Duration::from_mins(1)),
    ] {
        let client = connect(&strict.build().unwrap()).await;
        let asked = send(&client, params()).await.unwrap();
        assert_eq!(asked["resultType"], "input_required");
        let state = asked["requestState"].as_str().unwrap();
        assert_eq!(retry(&client, state).await.unwrap(), "Ada");
    }
}

#[tokio::test]
async fn secrets_change_while_the_server_runs() {
    let server = server().secret(&OLD).reusable_states().build().unwrap();
    let client = connect(&server).await;
    let old = pause(&client).await;
    assert!(server.secrets([[1; 8]]).is_err(), "too short");
    assert!(server.secrets([[1; 32]; 0]).is_err(), "none");
    assert_eq!(retry(&client, &old).await.unwrap(), "Ada");
    server.secrets([NEW, OLD]).unwrap();
    assert_eq!(retry(&client, &old).await.unwrap(), "Ada");
    let new = pause(&client).await;
    server.secrets([NEW]).unwrap();
    assert_eq!(retry(&client, &new).await.unwrap(), "Ada");
    assert_eq!(retry(&client, &old).await, Err(-32602));
}

#[tokio::test]
async fn secrets_change_without_losing_a_call() {
    let replica = |secrets: Vec<[u8; 32]>| server().secrets(secrets).build().unwrap();
    let before = connect(&replica(vec![OLD])).await;
    let learning = connect(&replica(vec![OLD, NEW])).await;
    let changed = connect(&replica(vec![NEW, OLD])).await;
    let after = connect(&replica(vec![NEW])).await;

    let sealed_with_old = pause(&before).await;
    assert_eq!(retry(&learning, &sealed_with_old).await, Ok("Ada".into()));
    assert_eq!(retry(&changed, &sealed_with_old).await, Ok("Ada".into()));
    assert_eq!(retry(&after, &sealed_with_old).await, Err(-32602));

    let sealed_with_new = pause(&changed).await;
    assert_eq!(retry(&learning, &sealed_with_new).await, Ok("Ada".into()));
    assert_eq!(retry(&after, &sealed_with_new).await, Ok("Ada".into()));
    assert_eq!(retry(&before, &sealed_with_new).await, Err(-32602));
}

#[tokio::test]
async fn a_process_without_a_secret_opens_only_its_own() {
    let one = connect(&server().build().unwrap()).await;
    let other = connect(&server().build().unwrap()).await;
    let state = pause(&one).await;
    assert_eq!(retry(&other, &state).await, Err(-32602));
    assert_eq!(retry(&one, &state).await, Ok("Ada".into()));
}

// mrtr: state that fails verification MUST be rejected.
#[tokio::test]
async fn a_state_that_is_not_text_is_refused_and_null_means_absent() {
    let client = connect(&server().build().unwrap()).await;
    for state in [json!(5), json!({}), json!(["A"]), json!(true), json!("")] {
        let params = json!({"name": "polite", "requestState": state});
        assert_eq!(send(&client, params).await, Err(-32602), "{state}");
    }
    let params = json!({"name": "polite", "requestState": null});
    let paused = send(&client, params).await.unwrap();
    assert_eq!(paused["resultType"], "input_required");
}

// mrtr: state presented by a different principal SHOULD be rejected.
#[tokio::test]
async fn a_state_is_of_use_to_its_caller_alone() {
    let server = server().build().unwrap();
    let ada = connect_as(&server, Caller::new("ada")).await;
    let state = pause(&ada).await;
    for other in [Caller::new("bob"), Caller::new(""), Caller::local()] {
        let other = connect_as(&server, other).await;
        assert_eq!(retry(&other, &state).await, Err(-32602));
    }
    let of_nobody = pause(&connect(&server).await).await;
    assert_eq!(retry(&ada, &of_nobody).await, Err(-32602));
    let ada_again = connect_as(&server, Caller::new("ada")).await;
    assert_eq!(retry(&ada_again, &state).await, Ok("Ada".into()));
}

#[test]
fn a_short_secret_is_refused_at_start_up() {
    for secrets in [vec![&b"hunter2"[..]], vec![&NEW[..], b"hunter2"]] {
        let refused = server().secrets(secrets).build().err().unwrap();
        assert!(refused.to_string().contains("7 bytes"), "{refused}");
    }
}

#[tokio::test]
async fn a_state_counts_once_unless_it_may_be_used_again() {
    let often = connect(&server().reusable_states().build().unwrap()).await;
    let state = pause(&often).await;
    assert_eq!(retry(&often, &state).await, Ok("Ada".into()));
    assert_eq!(retry(&often, &state).await, Ok("Ada".into()));

    let once = connect(&server().build().unwrap()).await;
    let state = pause(&once).await;
    // A retry that is rejected does not use up the state.
    let wrong = json!({"name": {"action": "shrug"}});
    let params = json!({"name": "polite", "requestState": state, "inputResponses": wrong});
    assert_eq!(send(&once, params).await, Err(-32602));
    assert_eq!(retry(&once, &state).await, Ok("Ada".into()));
    assert_eq!(retry(&once, &state).await, Err(-32602));
    assert_eq!(retry(&once, &pause(&once).await).await, Ok("Ada".into()));
}

#[tokio::test]
async fn a_store_of_spent_states_that_is_full_takes_none() {
    let full = server()
        .single_use(MemoryUsedStates::with_limit(1))
        .build()
        .unwrap();
    let full = connect(&full).await;
    assert_eq!(retry(&full, &pause(&full).await).await, Ok("Ada".into()));
    assert_eq!(retry(&full, &pause(&full).await).await, Err(429));
}

#[tokio::test]
async fn a_call_that_remembers_too_much_fails_and_so_does_a_state_that_is_too_long() {
    let small = server().max_state(2_000).build().unwrap();
    let client = connect(&small).await;
    let learn = |bytes: usize| json!({"name": "learned", "arguments": {"bytes": bytes}});
    let paused = send(&client, learn(100)).await.unwrap();
    assert_eq!(paused["resultType"], "input_required");
    assert_eq!(send(&client, learn(2_000)).await, Err(-32603));
    assert_eq!(retry(&client, &"A".repeat(2_001)).await, Err(-32602));
    // A state that was sealed by a replica with a higher limit is refused here too.
    let large = connect(&server().secret(&OLD).build().unwrap()).await;
    let paused = send(&large, learn(2_000)).await.unwrap();
    assert!(paused["requestState"].as_str().unwrap().len() > 2_000);
}
