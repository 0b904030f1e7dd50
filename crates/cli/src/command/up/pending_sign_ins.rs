//! Sign-ins that wait for their users, and the pages for users who come back from an authorization server.
//!
//! A link to an authorization server can be sent to somebody else, who would then sign in for the
//! caller that asked for the link. So a page shows a returning user which caller will use the account
//! at which server, and the code is only redeemed after the user has confirmed that.

use std::{collections::HashMap, sync::Arc, time::Duration};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot, watch};
use turnbuckle::{ExtraRoutes, TextResponse, auth::Secret, gateway::personal::SignInState};
use turnbuckle_base::lock::Mutex;

/// The path that authorization servers redirect users to.
const CALLBACK: &str = "/oauth/callback";

/// The path to which the form of the page is posted. The page uses a relative path, because a
/// proxy may serve both under a prefix.
const CONFIRM: &str = "/oauth/confirm";

/// How long a user may take to sign in.
pub(super) const WITHIN: Duration = Duration::from_mins(10);

/// How many sign-ins are under way, of all callers to all servers.
const MAX_PENDING: usize = 256;

/// 32 bytes: a ticket cannot be guessed.
const TICKET_BYTES: usize = 32;

/// The cookie's name, before the `state` of its sign-in.
const COOKIE: &str = "turnbuckle-sign-in-";

/// Pages load nothing, run nothing, and cannot be shown in a frame: a page around them could hide what the
/// user confirms.
const PAGE_POLICY: &str =
    "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// The sign-ins that wait for their users, by their `state`.
#[derive(Clone)]
pub(super) struct PendingSignIns {
    waiting: Arc<Mutex<HashMap<String, PendingSignIn>>>,
    /// The URL that users are redirected to, once the gateway listens.
    redirect: Arc<Mutex<Option<String>>>,
    places: Arc<Semaphore>,
}

/// A sign-in whose user is at the authorization server, or has not confirmed yet.
pub(super) struct PendingSignIn {
    /// Who will use the account, and for which server, as the page shows it.
    pub(super) caller: Option<String>,
    pub(super) server: String,
    /// Receives the URL with which the user comes back.
    pub(super) tell: oneshot::Sender<Secret>,
    pub(super) state: watch::Sender<SignInState>,
    /// The newest visit, which is not confirmed yet.
    pub(super) visit: Option<UnconfirmedVisit>,
}

/// A visit of a browser that was redirected here and got the page.
pub(super) struct UnconfirmedVisit {
    /// A secret that only this browser knows.
    ticket: Secret,
    /// The URL of the visit, with the code.
    uri: Secret,
}

/// Removes its sign-in when it is dropped.
pub(super) struct Registration {
    all: PendingSignIns,
    state: String,
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.all.waiting.lock().remove(&self.state);
    }
}

impl Default for PendingSignIns {
    fn default() -> Self {
        Self {
            waiting: Arc::default(),
            redirect: Arc::default(),
            places: Arc::new(Semaphore::new(MAX_PENDING)),
        }
    }
}

impl PendingSignIns {
    /// Sets the URL at which browsers reach the gateway.
    pub(super) fn come_to(&self, base: &str) {
        let base = base.trim_end_matches('/');
        *self.redirect.lock() = Some(format!("{base}{CALLBACK}"));
    }

    /// The URL that users are redirected to; `None` if no browser can reach the gateway.
    pub(super) fn redirect(&self) -> Option<String> {
        self.redirect.lock().clone()
    }

    /// A permit for one more sign-in, valid until it is dropped; `None` if there are too many sign-ins.
    pub(super) fn place(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.places).try_acquire_owned().ok()
    }

    /// Registers a sign-in that waits for a user with this `state`, until the registration is dropped.
    pub(super) fn register(&self, state: &str, pending: PendingSignIn) -> Registration {
        self.waiting.lock().insert(state.to_owned(), pending);
        Registration {
            all: self.clone(),
            state: state.to_owned(),
        }
    }

    /// These routes, and the pages for returning users.
    pub(super) fn or(self, routes: ExtraRoutes) -> ExtraRoutes {
        ExtraRoutes::of_requests(move |method, uri, headers| {
            self.answer(method, uri, headers)
                .or_else(|| routes.answer(method, uri, headers))
        })
    }

    fn answer(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Option<TextResponse> {
        match (method, uri.path()) {
            (&Method::GET, CALLBACK) => Some(self.come_back(uri).unwrap_or_else(over)),
            (&Method::POST, CONFIRM) => Some(self.confirm(uri, headers).unwrap_or_else(over)),
            _ => None,
        }
    }

    /// Shows the page that asks a returning user for confirmation. `None` if the sign-in is over.
    fn come_back(&self, uri: &Uri) -> Option<TextResponse> {
        let query = uri.query().unwrap_or_default();
        let state = parameter(query, "state")?;
        let mut waiting = self.waiting.lock();
        if parameter(query, "error").is_some() {
            // The user or the authorization server refused: there is nothing to confirm.
            let pending = waiting.remove(&state)?;
            return pending.finish(Secret::new(uri.to_string()));
        }
        let pending = waiting.get_mut(&state)?;
        let ticket = ticket()?;
        let page = pending.question(&state, &ticket);
        let is_secure = self.redirect().is_some_and(|it| it.starts_with("https:"));
        let cookie = cookie(&state, &ticket, is_secure)?;
        pending.visit = Some(UnconfirmedVisit {
            ticket: Secret::new(ticket),
            uri: Secret::new(uri.to_string()),
        });
        Some(page.with_header(header::SET_COOKIE, cookie))
    }

    /// Continues a sign-in that the user has confirmed in the browser that got the page.
    fn confirm(&self, uri: &Uri, headers: &HeaderMap) -> Option<TextResponse> {
        let query = uri.query().unwrap_or_default();
        let state = parameter(query, "state")?;
        let given = Secret::new(parameter(query, "ticket")?);
        let mut waiting = self.waiting.lock();
        let visit = waiting.get(&state)?.visit.as_ref()?;
        if visit.ticket != given || !has_cookie(headers, &state, &visit.ticket) {
            return None;
        }
        let pending = waiting.remove(&state)?;
        let uri = pending.visit.as_ref()?.uri.clone();
        pending.finish(uri)
    }
}

impl PendingSignIn {
    /// Passes on the URL with which the user came back. `None` if the sign-in is over.
    fn finish(self, uri: Secret) -> Option<TextResponse> {
        self.tell.send(uri).ok()?;
        // The sign-in may have ended in the meantime.
        self.state.send_if_modified(|state| {
            let is_waiting = *state == SignInState::Waiting;
            if is_waiting {
                *state = SignInState::Confirmed;
            }
            is_waiting
        });
        let said = "<p>Thank you. You can close this page.";
        Some(page(StatusCode::OK, said))
    }

    fn question(&self, state: &str, ticket: &str) -> TextResponse {
        let server = escaped(&self.server);
        let (who, warning) = match &self.caller {
            Some(caller) => {
                let caller = escaped(caller);
                (
                    format!("<b>{caller}</b>"),
                    format!("If you are not {caller}, or did not ask for this, close this page."),
                )
            }
            None => (
                "Everyone who uses this gateway".to_owned(),
                "If you did not ask for this, close this page.".to_owned(),
            ),
        };
        let action = format!("confirm?state={}&amp;ticket={ticket}", escaped(state));
        let said = format!(
            "<p>{who} will use your account at <b>{server}</b>.<p>{warning}\
             <form method=post action=\"{action}\"><button>Allow</button></form>"
        );
        page(StatusCode::OK, &said)
    }
}

fn over() -> TextResponse {
    let said = "<p>This sign-in is over or was never begun. Begin again in your client.";
    page(StatusCode::BAD_REQUEST, said)
}

fn page(status: StatusCode, said: &str) -> TextResponse {
    let text = format!("<!doctype html><meta charset=utf-8><title>Sign-in</title>{said}");
    TextResponse::new(status, "text/html; charset=utf-8", text)
        .with_header(
            header::CONTENT_SECURITY_POLICY,
            HeaderValue::from_static(PAGE_POLICY),
        )
        // The URL contains the code. Without any referrer, the form would be sent without an origin.
        .with_header(
            header::REFERRER_POLICY,
            HeaderValue::from_static("same-origin"),
        )
}

/// A new ticket; `None` if the operating system provides no random bytes.
fn ticket() -> Option<String> {
    let mut bytes = [0; TICKET_BYTES];
    getrandom::fill(&mut bytes).ok()?;
    Some(URL_SAFE_NO_PAD.encode(bytes))
}

/// The cookie for a browser that gets the page. With `Lax`, forms on other sites do not send it. It has
/// no path, so that it is sent to the folder of the callback, wherever a proxy serves that.
fn cookie(state: &str, ticket: &str, is_secure: bool) -> Option<HeaderValue> {
    let age = WITHIN.as_secs();
    let secure = if is_secure { "; Secure" } else { "" };
    let text = format!("{COOKIE}{state}={ticket}; Max-Age={age}; HttpOnly; SameSite=Lax{secure}");
    HeaderValue::from_str(&text).ok()
}

fn has_cookie(headers: &HeaderMap, state: &str, ticket: &Secret) -> bool {
    let name = format!("{COOKIE}{state}");
    let lines = headers.get_all(header::COOKIE).iter();
    let lines = lines.filter_map(|line| line.to_str().ok());
    let mut cookies = lines
        .flat_map(|line| line.split(';'))
        .filter_map(|cookie| cookie.trim().split_once('='));
    cookies.any(|(given, value)| given == name && Secret::from(value) == *ticket)
}

/// Text for HTML, in an element or in a quoted attribute.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}

/// The value of a query parameter, undecoded: a `state` contains no characters that need decoding.
pub(super) fn parameter(query: &str, name: &str) -> Option<String> {
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let found = pairs.find(|(key, _)| *key == name)?;
    Some(found.1.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    type Told = oneshot::Receiver<Secret>;

    fn pending(caller: &str) -> (PendingSignIns, Registration, Told) {
        let all = PendingSignIns::default();
        all.come_to("https://gw.example/");
        let (tell, told) = oneshot::channel();
        let pending = PendingSignIn {
            caller: Some(caller.to_owned()),
            server: "crm".to_owned(),
            tell,
            state: watch::Sender::new(SignInState::Waiting),
            visit: None,
        };
        let registration = all.register("s1", pending);
        (all, registration, told)
    }

    fn ask(all: &PendingSignIns, method: &Method, uri: &str, cookie: Option<&str>) -> TextResponse {
        let mut headers = HeaderMap::new();
        if let Some(cookie) = cookie {
            headers.insert(header::COOKIE, cookie.parse().unwrap());
        }
        let uri = uri.parse().unwrap();
        all.answer(method, &uri, &headers).expect("it is ours")
    }

    /// Visits the callback like a browser; returns the cookie, and the target of the form.
    fn visit(all: &PendingSignIns, code: &str) -> (String, String) {
        let uri = format!("/oauth/callback?state=s1&code={code}");
        let page = ask(all, &Method::GET, &uri, None);
        let mut headers = page.headers().iter();
        let set = headers.find(|(name, _)| *name == header::SET_COOKIE);
        let set = set.expect("a cookie").1.to_str().unwrap().to_owned();
        assert!(set.ends_with("; HttpOnly; SameSite=Lax; Secure"), "{set}");
        let text = page.into_text();
        let action = text.split("action=\"").nth(1).expect("a form");
        let action = action.split('"').next().unwrap().replace("&amp;", "&");
        let cookie = set.split(';').next().unwrap().to_owned();
        (cookie, format!("/oauth/{action}"))
    }

    #[test]
    fn nothing_is_redeemed_before_the_same_browser_confirms() {
        let (all, _registration, mut told) = pending("eve");
        let (cookie, action) = visit(&all, "c1");
        assert!(told.try_recv().is_err());
        let other = format!("{COOKIE}s1=x");
        for given in [None, Some("a=b"), Some(&*other)] {
            let answer = ask(&all, &Method::POST, &action, given);
            assert_eq!(answer.status(), StatusCode::BAD_REQUEST);
        }
        let bare = "/oauth/confirm?state=s1";
        let answer = ask(&all, &Method::POST, bare, Some(&cookie));
        assert_eq!(answer.status(), StatusCode::BAD_REQUEST);
        assert!(told.try_recv().is_err());
        let both = format!("a=b; {cookie}");
        let answer = ask(&all, &Method::POST, &action, Some(&both));
        assert_eq!(answer.status(), StatusCode::OK);
        let uri = told.try_recv().expect("it is confirmed");
        assert!(uri.expose().contains("code=c1"));
        // A confirmation counts only once.
        let again = ask(&all, &Method::POST, &action, Some(&both));
        assert_eq!(again.status(), StatusCode::BAD_REQUEST);
    }

    /// The caller knows the `state` and may visit the callback too.
    #[test]
    fn the_caller_cannot_confirm_what_another_browser_came_with() {
        let (all, _registration, mut told) = pending("eve");
        let (of_eve, action_of_eve) = visit(&all, "none");
        let (_, action_of_ada) = visit(&all, "adas-code");
        for action in [action_of_eve, action_of_ada] {
            let answer = ask(&all, &Method::POST, &action, Some(&of_eve));
            assert_eq!(answer.status(), StatusCode::BAD_REQUEST);
        }
        assert!(told.try_recv().is_err());
    }

    #[test]
    fn the_page_names_the_caller_and_the_server_as_text() {
        let (all, _registration, _told) = pending("<script>eve & co</script>");
        let page = ask(&all, &Method::GET, "/oauth/callback?state=s1&code=c", None);
        let text = page.into_text();
        let name =
            "<b>&lt;script&gt;eve &amp; co&lt;/script&gt;</b> will use your account at <b>crm</b>";
        assert!(text.contains(name), "{text}");
        assert!(!text.contains("<script>"), "{text}");
    }

    #[test]
    fn a_refusal_needs_no_confirmation() {
        let (all, _registration, mut told) = pending("eve");
        let uri = "/oauth/callback?state=s1&error=access_denied";
        assert_eq!(ask(&all, &Method::GET, uri, None).status(), StatusCode::OK);
        assert!(told.try_recv().is_ok());
    }

    #[test]
    fn a_sign_in_that_is_given_up_is_forgotten() {
        let (all, registration, _told) = pending("eve");
        drop(registration);
        let uri = "/oauth/callback?state=s1&code=c";
        let answer = ask(&all, &Method::GET, uri, None);
        assert_eq!(answer.status(), StatusCode::BAD_REQUEST);
    }
}
