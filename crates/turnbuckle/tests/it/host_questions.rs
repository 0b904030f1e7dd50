//! A host over real sockets: which conversation a question from a server belongs to.

use std::{
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use axum::{
    Router,
    extract::Request,
    http::StatusCode,
    middleware,
    response::{IntoResponse as _, Response},
};
use serde_json::json;
use tokio::{net::TcpListener, sync::Barrier};
use turnbuckle::{
    Ask, Form, Revision, Server, State, ToolError, Visit,
    host::{
        ConversationId, FormAnswer, Host, Requester, Rules, ServerSpec, ServerState, UserInterface,
        VisitAnswer, VisitRequest,
        config::{Launch, Remote, Wire},
    },
    protocol::{ElicitRequestFormParams, ElicitValue},
    tool,
};

#[derive(Form)]
struct Trip {
    city: String,
}

/// Asks where someone wants to go, when two calls are here.
#[tool]
async fn travel(
    State(both): State<Arc<Barrier>>,
    Ask(ask): Ask,
    name: String,
) -> Result<String, ToolError> {
    ask.memo("met", async {
        both.wait().await;
        Ok::<_, ToolError>(())
    })
    .await?;
    let question = format!("Where to, {name}?");
    let trip = ask.form::<Trip>("trip", &question).await?.accepted()?;
    Ok(format!("{name} goes to {}", trip.city))
}

/// A user who gives each conversation a different answer, and records which conversation asked.
#[derive(Default)]
struct Traveller(Mutex<Vec<(Option<ConversationId>, String)>>);

impl UserInterface for Traveller {
    fn form<'a>(
        &'a self,
        who: &'a Requester,
        form: &'a ElicitRequestFormParams,
    ) -> Pin<Box<dyn Future<Output = FormAnswer> + Send + 'a>> {
        let message = form.message.clone();
        let city = if message.contains("Ada") {
            "Rome"
        } else {
            "Oslo"
        };
        self.0.lock().unwrap().push((who.conversation, message));
        let content = [("city".to_owned(), ElicitValue::from(city))];
        Box::pin(std::future::ready(FormAnswer::Accept(content.into())))
    }
}

/// Rejects requests that only servers of 2026-07-28 understand, as older servers do.
async fn older(request: Request, next: middleware::Next) -> Response {
    let version = request.headers().get("mcp-protocol-version");
    if version.is_some_and(|version| version == "2026-07-28") {
        return StatusCode::BAD_REQUEST.into_response();
    }
    next.run(request).await
}

/// Serves at a URL, as a server of this revision.
pub(crate) async fn serve(mut router: Router, revision: Revision) -> Remote {
    if revision < Revision::V2026_07_28 {
        router = router.layer(middleware::from_fn(older));
    }
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await });
    Remote {
        url: format!("http://{address}/mcp"),
        headers: Vec::new(),
        wire: Wire::Any,
    }
}

/// Both calls are running when the server asks, so only the stream or the result that carries a question shows
/// which call it belongs to.
#[tokio::test]
async fn a_question_over_http_belongs_to_the_conversation_of_its_call() {
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let server = Server::new("travel", "1.0.0")
            .state(Arc::new(Barrier::new(2)))
            .tool(travel)
            .build()
            .unwrap();
        let router = Router::new().fallback_service(server.http());
        let remote = serve(router, revision).await;
        let traveller = Arc::new(Traveller::default());
        let host = Host::builder("host", "1.0.0")
            .policy(Rules::new().trust("*"))
            .user(Arc::clone(&traveller))
            .server("travel", ServerSpec::from(Launch::Remote(remote)))
            .open()
            .await;
        host.ready().await;
        let Some(ServerState::Ready(ready)) = host.state("travel") else {
            panic!("{:?}", host.state("travel"))
        };
        assert_eq!(ready.revision, revision);
        let (ada, bob) = (host.conversation(), host.conversation());
        let (first, second) = tokio::join!(
            ada.call("travel", json!({"name": "Ada"})),
            bob.call("travel", json!({"name": "Bob"})),
        );
        assert_eq!(first.unwrap().text(), "Ada goes to Rome", "{revision}");
        assert_eq!(second.unwrap().text(), "Bob goes to Oslo", "{revision}");
        let mut asked = traveller.0.lock().unwrap().clone();
        asked.sort();
        let expected = [
            (Some(ada.id()), "Where to, Ada?".to_owned()),
            (Some(bob.id()), "Where to, Bob?".to_owned()),
        ];
        assert_eq!(asked, expected, "{revision}");
        host.close().await;
    }
}

/// Lists files, once they are linked on a page. It never reports the end of a visit.
#[tool]
async fn files(State(linked): State<Arc<AtomicBool>>, Ask(ask): Ask) -> Result<String, ToolError> {
    if linked.load(Ordering::SeqCst) {
        return Ok("a.txt".into());
    }
    let visit = Visit::new("Link your files", "https://files.example/link");
    ask.visit("link", visit.id("link-1").first())
        .await?
        .accepted()?;
    Ok("agreed".into())
}

/// A user who links the files and confirms it.
struct Linking {
    linked: Arc<AtomicBool>,
    asked: Mutex<Vec<Option<ConversationId>>>,
}

impl UserInterface for Linking {
    fn visit<'a>(
        &'a self,
        who: &'a Requester,
        _visit: VisitRequest<'a>,
    ) -> Pin<Box<dyn Future<Output = VisitAnswer> + Send + 'a>> {
        self.asked.lock().unwrap().push(who.conversation);
        Box::pin(std::future::ready(VisitAnswer::Accept))
    }

    fn visit_done<'a>(
        &'a self,
        _who: &'a Requester,
        _visit: VisitRequest<'a>,
    ) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        self.linked.store(true, Ordering::SeqCst);
        Box::pin(std::future::ready(()))
    }
}

/// -32042: the client repeats the call as soon as the user confirms that they are done.
#[tokio::test]
async fn a_call_that_needs_a_visit_goes_on_when_the_user_is_done() {
    let linked = Arc::new(AtomicBool::new(false));
    let server = Server::new("files", "1.0.0")
        .state(Arc::clone(&linked))
        .tool(files)
        .build()
        .unwrap();
    let router = Router::new().fallback_service(server.http());
    let remote = serve(router, Revision::V2025_11_25).await;
    let user = Arc::new(Linking {
        linked,
        asked: Mutex::default(),
    });
    let host = Host::builder("host", "1.0.0")
        .policy(Rules::new().trust("*"))
        .user(Arc::clone(&user))
        .server("files", ServerSpec::from(Launch::Remote(remote)))
        .open()
        .await;
    host.ready().await;
    let ada = host.conversation();
    let listed = ada.call("files", json!({})).await.unwrap();
    assert_eq!(listed.text(), "a.txt");
    assert_eq!(*user.asked.lock().unwrap(), [Some(ada.id())]);
    host.close().await;
}
