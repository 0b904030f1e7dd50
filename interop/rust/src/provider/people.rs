//! A person with a browser: follows links, keeps cookies, fills in the provider's pages.

use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use turnbuckle::{
    auth::{
        Secret,
        client::{AuthorizationRequest, Browser, BrowserVisit},
    },
    transport::http::client::{
        Address, AgentSettings, BoxError, HeaderMap, HeaderValue, Method, Reply,
    },
};

/// Where people come back to. No program listens there: they stop in front of it.
const BACK: &str = "http://127.0.0.1:7780/callback";

/// Pages and redirects of one visit: the provider needs eight.
const MAX_STEPS: usize = 20;

const MAX_BYTES: usize = 256 * 1024;

type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A person who signs in under a name and agrees to everything.
#[derive(Clone)]
pub(crate) struct Visitor {
    name: String,
    visits: Arc<AtomicUsize>,
}

impl Visitor {
    pub(crate) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            visits: Arc::default(),
        }
    }

    /// How often the person was asked.
    pub(crate) fn visits(&self) -> usize {
        self.visits.load(Ordering::Relaxed)
    }
}

impl Browser for Visitor {
    fn prepare<'a>(
        &'a self,
        _: &'a [String],
    ) -> BoxFuture<'a, Result<Box<dyn BrowserVisit>, BoxError>> {
        let visitor: Box<dyn BrowserVisit> = Box::new(self.clone());
        Box::pin(async { Ok(visitor) })
    }
}

impl BrowserVisit for Visitor {
    fn redirect_uri(&self) -> &str {
        BACK
    }

    fn ask(
        self: Box<Self>,
        request: &AuthorizationRequest,
    ) -> BoxFuture<'_, Result<Secret, BoxError>> {
        self.visits.fetch_add(1, Ordering::Relaxed);
        Box::pin(async move { self.walk(request.url()).await })
    }
}

impl Visitor {
    async fn walk(&self, url: &str) -> Result<Secret, BoxError> {
        let mut cookies = Cookies::default();
        let mut at = Address::parse(url)?;
        let mut form = None;
        for _ in 0..MAX_STEPS {
            let reply = open(&at, &cookies, form.take()).await?;
            cookies.keep(&reply);
            if let Some(to) = reply.headers().get("location") {
                let to = to.to_str()?;
                if to.starts_with(BACK) {
                    return Ok(Secret::new(to));
                }
                at = at.join(to)?;
                continue;
            }
            let status = reply.status();
            let page = String::from_utf8(reply.bytes(MAX_BYTES).await?.to_vec())?;
            let action = between(&page, "action=\"", "\"");
            let prompt = between(&page, "name=\"prompt\" value=\"", "\"");
            let (Some(action), Some(prompt)) = (action, prompt) else {
                return Err(format!("a page without a form: {status} {page}").into());
            };
            at = at.join(action)?;
            form = Some(match prompt {
                "login" => format!("prompt=login&login={}&password=any", self.name),
                prompt => format!("prompt={prompt}"),
            });
        }
        Err("the pages do not end".into())
    }
}

async fn open(at: &Address, cookies: &Cookies, form: Option<String>) -> Result<Reply, BoxError> {
    let agent = AgentSettings::new().without_redirects().agent(at)?;
    let mut headers = HeaderMap::new();
    headers.insert("accept", HeaderValue::from_static("text/html"));
    let cookies = cookies.of(at.uri().path());
    if !cookies.is_empty() {
        headers.insert("cookie", HeaderValue::from_str(&cookies)?);
    }
    let Some(form) = form else {
        let empty = String::new().into();
        return Ok(agent.send(Method::GET, at, headers, empty).await?);
    };
    let kind = HeaderValue::from_static("application/x-www-form-urlencoded");
    headers.insert("content-type", kind);
    Ok(agent.send(Method::POST, at, headers, form.into()).await?)
}

/// Cookies with the paths that they are for.
#[derive(Default)]
struct Cookies(Vec<(String, String, String)>);

impl Cookies {
    fn keep(&mut self, reply: &Reply) {
        for cookie in reply.headers().get_all("set-cookie") {
            let Ok(cookie) = cookie.to_str() else {
                continue;
            };
            let mut parts = cookie.split(';').map(str::trim);
            let Some((name, value)) = parts.next().and_then(|pair| pair.split_once('=')) else {
                continue;
            };
            let path = parts
                .find_map(|part| part.strip_prefix("path="))
                .unwrap_or("/");
            self.0.retain(|(known, _, at)| known != name || at != path);
            if !value.is_empty() {
                self.0
                    .push((name.to_owned(), value.to_owned(), path.to_owned()));
            }
        }
    }

    fn of(&self, path: &str) -> String {
        let fitting = self
            .0
            .iter()
            .filter(|(_, _, at)| path.starts_with(at.as_str()));
        let pairs: Vec<_> = fitting
            .map(|(name, value, _)| format!("{name}={value}"))
            .collect();
        pairs.join("; ")
    }
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(start)?;
    Some(rest.split_once(end)?.0)
}
