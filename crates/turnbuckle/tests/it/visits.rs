//! Visits to URLs in 2025-11-25: their ids, how they end, and calls that have to wait for them.

use std::{
    collections::HashSet,
    pin::pin,
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
    time::Duration,
};

use serde_json::json;
use tokio::sync::mpsc;
use turnbuckle::{
    Answer, Ask, CallError, Changes, Client, Connection, LiveServer, Revision, Server,
    ServerNotification, State, ToolError, Visit,
    client::Answers,
    protocol::{ElicitResult, error::code},
    tool,
};
use turnbuckle_server::Http;

/// The users who have linked their files, by the id of the visit.
type Linked = Arc<Mutex<HashSet<String>>>;

/// Lists files, once they are linked.
#[tool]
async fn files(
    State(linked): State<Linked>,
    Ask(ask): Ask,
    state: String,
) -> Result<String, ToolError> {
    if !linked.lock().unwrap().contains(&state) {
        let page = format!("https://files.example/link?state={state}");
        let visit = Visit::new("Link your files", page).id(&state).first();
        ask.visit("link", visit).await?.accepted()?;
        return Ok("agreed".into());
    }
    Ok("a.txt".into())
}

/// Has something paid, and does not wait for it.
#[tool]
async fn pay(Ask(ask): Ask, order: String) -> Result<&'static str, ToolError> {
    let visit = Visit::new("Pay", "https://pay.example/").id(order);
    Ok(match ask.visit("pay", visit).await? {
        Answer::Accepted(()) => "under way",
        Answer::Declined | Answer::Cancelled => "given up",
    })
}

fn server(linked: &Linked) -> LiveServer {
    let server = Server::new("files", "1.0.0").state(linked.clone());
    server.tool(files).tool(pay).build().unwrap()
}

async fn connect(server: &LiveServer, answers: Answers, revision: Revision) -> Connection {
    let client = Client::new("test", "1.0.0")
        .answering(answers)
        .only(revision);
    client.connect(server.connect()).await.unwrap()
}

/// A user who links their files on the page; the page then tells the server.
fn linking(linked: &Linked, changes: Changes) -> Answers {
    let linked = linked.clone();
    Answers::new().on_url(move |ask| {
        let (linked, changes) = (linked.clone(), changes.clone());
        async move {
            let state = ask.elicitation_id.clone().expect("2025-11-25 names visits");
            linked.lock().unwrap().insert(state.clone());
            changes.elicitation_completed(state);
            Ok(ElicitResult::accept_visit())
        }
    })
}

// elicitation, 2025-11-25: the error lists the visits, and the client may call again after them.
#[tokio::test]
async fn a_call_that_needs_a_visit_first_is_made_again_after_it() {
    let linked = Linked::default();
    let server = server(&linked);
    let answers = linking(&linked, server.changes());
    let client = connect(&server, answers, Revision::V2025_11_25).await;
    let listed = client.call("files", json!({"state": "s1"})).await.unwrap();
    assert_eq!(listed.text(), "a.txt");
}

#[tokio::test]
async fn a_call_that_needs_a_visit_first_is_made_again_over_http() {
    let linked = Linked::default();
    let server = server(&linked);
    let (tell, told) = tokio::sync::oneshot::channel();
    let http = Http::bind("127.0.0.1:0").announce(|address| {
        let _ = tell.send(address);
    });
    let served = server.clone();
    tokio::spawn(async move { served.serve(http).await });
    let address = told.await.unwrap().unwrap();
    let client = Client::new("test", "1.0.0")
        .answering(linking(&linked, server.changes()))
        .only(Revision::V2025_11_25)
        .connect(&*format!("http://{address}/mcp"))
        .await
        .unwrap();
    let listed = client.call("files", json!({"state": "s1"})).await.unwrap();
    assert_eq!(listed.text(), "a.txt");
}

// rule: E8
#[tokio::test]
async fn a_declined_visit_returns_the_error() {
    let server = server(&Linked::default());
    let answers = Answers::new().on_url(|_| async { Ok(ElicitResult::decline()) });
    let client = connect(&server, answers, Revision::V2025_11_25).await;
    let refused = client.call("files", json!({"state": "s1"})).await;
    let Err(CallError::Rejected { error, .. }) = refused else {
        panic!("{refused:?}")
    };
    assert_eq!(error.code, code::URL_ELICITATION_REQUIRED);
    let visits = error.url_elicitation_data().unwrap().elicitations;
    assert_eq!(visits.len(), 1);
    assert_eq!(visits[0].elicitation_id.as_deref(), Some("s1"));
    assert!(visits[0].url.ends_with("?state=s1"), "{}", visits[0].url);
}

#[tokio::test]
async fn a_visit_that_is_never_over_ends_with_the_deadline_of_the_call() {
    let server = server(&Linked::default());
    let answers = Answers::new().on_url(|_| async { Ok(ElicitResult::accept_visit()) });
    let client = connect(&server, answers, Revision::V2025_11_25).await;
    let call = client.call("files", json!({"state": "s1"}));
    let refused = call.deadline(Duration::from_millis(200)).await.unwrap_err();
    let code = refused.rejection().map(|error| error.code);
    assert_eq!(code, Some(code::URL_ELICITATION_REQUIRED));
}

// The server never reports the end: the user says that they are done.
#[tokio::test]
async fn a_call_is_made_again_when_the_user_is_done() {
    let linked = Linked::default();
    let server = server(&linked);
    let answers = Answers::new().on_url(move |ask| {
        let linked = linked.clone();
        async move {
            let state = ask.elicitation_id.clone().expect("2025-11-25 names visits");
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_millis(50)).await;
                linked.lock().unwrap().insert(state);
                ask.finish();
            });
            Ok(ElicitResult::accept_visit())
        }
    });
    let client = connect(&server, answers, Revision::V2025_11_25).await;
    let listed = client.call("files", json!({"state": "s1"})).await.unwrap();
    assert_eq!(listed.text(), "a.txt");
}

// 2026-07-28 has no such error: the person is asked in the middle of the call.
#[tokio::test]
async fn without_an_error_for_visits_the_call_waits() {
    let server = server(&Linked::default());
    let answers = Answers::new().on_url(|_| async { Ok(ElicitResult::accept_visit()) });
    let client = connect(&server, answers, Revision::V2026_07_28).await;
    let agreed = client.call("files", json!({"state": "s1"})).await.unwrap();
    assert_eq!(agreed.text(), "agreed");
}

// rule: E7
// elicitation, 2025-11-25: the end of a visit is reported to the client that was asked, and to no other client.
#[tokio::test]
async fn the_end_of_a_visit_is_reported_to_its_client() {
    let server = server(&Linked::default());
    let (done, mut told) = mpsc::channel(1);
    let answers = Answers::new().on_url(move |ask| {
        let (over, done) = (ask.done(), done.clone());
        tokio::spawn(async move {
            over.await;
            done.send(()).await
        });
        async { Ok(ElicitResult::accept_visit()) }
    });
    let client = connect(&server, answers.clone(), Revision::V2025_11_25).await;
    let other = connect(&server, answers, Revision::V2025_11_25).await;
    let (mut news, mut others_news) = (client.notifications(), other.notifications());
    let paid = client.call("pay", json!({"order": "o7"})).await.unwrap();
    assert_eq!(paid.text(), "under way");
    assert!(told.try_recv().is_err(), "agreeing is not the end");

    let changes = server.changes();
    changes.everything();
    changes.elicitation_completed("another");
    changes.elicitation_completed("o7");
    told.recv().await.unwrap();
    let heard = tokio::time::timeout(Duration::from_secs(10), async {
        loop {
            match news.next().await {
                Some(ServerNotification::Visited { id }) => return id,
                Some(_) => {}
                None => panic!("the connection ended"),
            }
        }
    });
    assert_eq!(&*heard.await.unwrap(), "o7");
    // Notifications that the other client got before this answer are all that it gets.
    other.ping().await.unwrap();
    while let Some(Some(news)) = now_or_never(others_news.next()) {
        assert!(
            !matches!(news, ServerNotification::Visited { .. }),
            "{news:?}"
        );
    }
}

fn now_or_never<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}
