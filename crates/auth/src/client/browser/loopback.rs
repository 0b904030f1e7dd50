//! Opens the browser of this machine, which is redirected to a local port (RFC 8252, 7.3).

use std::fmt;
use std::io::{self, Write as _};
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use turnbuckle_transport::http::client::{Address, BoxError, BoxFuture};

use super::{AuthorizationRequest, Browser, BrowserVisit, launch::open_in_browser};
use crate::Secret;

/// The default path of the redirect URI.
const PATH: &str = "/callback";

/// The default host of the redirect URI: the address instead of the name `localhost`, which may
/// resolve to another interface (RFC 8252, 8.3).
const HOST: &str = "127.0.0.1";

/// 16 KiB for the request line and headers: codes are long, and cookies of other local servers are
/// included.
const MAX_REQUEST_BYTES: usize = 16 * 1024;

/// 16 connections at a time. Browsers open several in advance and use one.
const MAX_CONNECTIONS: usize = 16;

/// 10 s for a connection to send its request. Connections that were opened in advance send nothing.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

type Announce = Arc<dyn Fn(&AuthorizationRequest) + Send + Sync>;

/// Opens the browser of this machine, and waits for the redirect at a local port. This is the
/// default [`Browser`](super::Browser).
///
/// The URL is also printed to standard error, or given to [`announce`](Self::announce), so that the
/// user can open it by hand if no browser starts.
///
/// ```
/// use turnbuckle_auth::client::{Loopback, OAuth, Registered};
///
/// // A client that was registered by hand with a fixed redirect URI.
/// let oauth = OAuth::new("my-app")
///     .client(Registered::new("my-client-id").at_issuer("https://login.example.com"))
///     .browser(Loopback::new().port(8321));
/// # drop(oauth);
/// ```
#[derive(Clone)]
pub struct Loopback {
    host: &'static str,
    port: u16,
    path: String,
    opening: Opening,
    announce: Announce,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opening {
    Browser,
    Nothing,
}

impl Loopback {
    /// Waits at any free port of 127.0.0.1, with the path `/callback`. The port is opened for each
    /// sign-in and closed after it.
    pub fn new() -> Self {
        Self {
            host: HOST,
            port: 0,
            path: PATH.to_owned(),
            opening: Opening::Browser,
            announce: Arc::new(|request| {
                // `eprintln!` would panic if stderr is closed.
                let _ = writeln!(
                    io::stderr(),
                    "{} wants you to sign in at {}. If no browser opens, open this address:\n\n  {}\n",
                    request.server(),
                    request.issuer(),
                    request.url(),
                );
            }),
        }
    }

    /// Waits at this port, for a client that is registered with a fixed port. The sign-in fails if
    /// another program uses the port. Defaults to any free port.
    pub fn port(mut self, port: u16) -> Self {
        self.port = port;
        self
    }

    /// Waits at this path, for a client that is registered with it. Defaults to `/callback`.
    pub fn path(mut self, path: impl AsRef<str>) -> Self {
        self.path = format!("/{}", path.as_ref().trim_start_matches('/'));
        self
    }

    /// Uses the host name `localhost` in the redirect URI, because some providers accept nothing
    /// else. The port is still opened at 127.0.0.1.
    pub fn localhost(mut self) -> Self {
        self.host = "localhost";
        self
    }

    /// Opens no browser. The user opens the announced URL on this machine. Use
    /// [`Paste`](super::Paste) if the browser is on another machine.
    pub fn without_opening(mut self) -> Self {
        self.opening = Opening::Nothing;
        self
    }

    /// Calls this function with the request instead of printing its URL to standard error. Use it
    /// in programs with a user interface, or if standard error is used for something else.
    pub fn announce(
        mut self,
        announce: impl Fn(&AuthorizationRequest) + Send + Sync + 'static,
    ) -> Self {
        self.announce = Arc::new(announce);
        self
    }

    /// Opens a port. If the client is registered with a port already, that port is tried first.
    async fn bind(&self, known: &[String]) -> io::Result<TcpListener> {
        let known = known.iter().filter_map(|uri| {
            let address = Address::parse(uri).ok()?;
            let uri = address.uri();
            let is_ours = uri.host() == Some(self.host) && uri.path() == self.path;
            uri.port_u16().filter(|_| is_ours && self.port == 0)
        });
        for port in known {
            if let Ok(listener) = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await {
                return Ok(listener);
            }
        }
        TcpListener::bind((Ipv4Addr::LOCALHOST, self.port)).await
    }
}

impl Default for Loopback {
    fn default() -> Self {
        Self::new()
    }
}

impl Browser for Loopback {
    fn prepare<'a>(
        &'a self,
        known: &'a [String],
    ) -> BoxFuture<'a, Result<Box<dyn BrowserVisit>, BoxError>> {
        Box::pin(async move {
            let listener = self.bind(known).await?;
            let port = listener.local_addr()?.port();
            let redirect_uri = format!("http://{}:{port}{}", self.host, self.path);
            let visit: Box<dyn BrowserVisit> = Box::new(Waiting {
                listener,
                redirect_uri,
                loopback: self.clone(),
            });
            Ok(visit)
        })
    }
}

/// A local port that waits for the redirect.
struct Waiting {
    listener: TcpListener,
    redirect_uri: String,
    loopback: Loopback,
}

impl BrowserVisit for Waiting {
    fn redirect_uri(&self) -> &str {
        &self.redirect_uri
    }

    fn ask(
        self: Box<Self>,
        request: &AuthorizationRequest,
    ) -> BoxFuture<'_, Result<Secret, BoxError>> {
        Box::pin(async move {
            (self.loopback.announce)(request);
            if self.loopback.opening == Opening::Browser
                && let Err(error) = open_in_browser(request.url())
            {
                tracing::warn!(%error, "no browser could be opened");
            }
            self.wait(request).await
        })
    }
}

impl Waiting {
    async fn wait(self, request: &AuthorizationRequest) -> Result<Secret, BoxError> {
        let (tell, mut heard) = mpsc::channel(MAX_CONNECTIONS);
        // Dropping this future drops the set, and with it all accepted connections.
        let mut door = JoinSet::new();
        door.spawn(let_in(self.listener, tell));
        while let Some(heard) = heard.recv().await {
            let (mut visitor, target) = heard?;
            let is_answer =
                target.path == self.loopback.path && request.is_answered_by(&target.query);
            let page = if is_answer { DONE } else { NOT_FOUND };
            // The response is valid even if the page cannot be shown.
            let shown = show(&mut visitor, page);
            let _ = tokio::time::timeout(REQUEST_TIMEOUT, shown).await;
            if is_answer {
                return Ok(Secret::new(target.query));
            }
        }
        Err("the port was closed".into())
    }
}

type Visit = io::Result<(TcpStream, Target)>;

/// Accepts connections, several at a time, and passes on those that send a request.
async fn let_in(listener: TcpListener, tell: mpsc::Sender<Visit>) {
    let mut visitors = JoinSet::new();
    loop {
        if visitors.len() >= MAX_CONNECTIONS {
            visitors.join_next().await;
        }
        while visitors.try_join_next().is_some() {}
        let visitor = match listener.accept().await {
            Ok((visitor, _)) => visitor,
            Err(error) => {
                let _ = tell.send(Err(error)).await;
                return;
            }
        };
        let tell = tell.clone();
        visitors.spawn(async move {
            if let Ok(Ok(heard)) = tokio::time::timeout(REQUEST_TIMEOUT, read(visitor)).await {
                let _ = tell.send(Ok(heard)).await;
            }
        });
    }
}

/// The request of a browser to the local port.
struct Target {
    path: String,
    query: String,
}

async fn read(mut visitor: TcpStream) -> io::Result<(TcpStream, Target)> {
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let mut chunk = [0; 2048];
        let count = visitor.read(&mut chunk).await?;
        if count == 0 || head.len() + count > MAX_REQUEST_BYTES {
            return Err(io::ErrorKind::InvalidData.into());
        }
        head.extend_from_slice(chunk.get(..count).unwrap_or_default());
    }
    let line = head.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    let mut words = line.split(' ');
    let (method, target) = (words.next(), words.next().unwrap_or_default());
    if method != Some("GET") {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let (path, query) = (path.to_owned(), query.to_owned());
    Ok((visitor, Target { path, query }))
}

/// The status of an answer and the text of its page.
type Page = (&'static str, &'static str);

const DONE: Page = (
    "200 OK",
    "The answer has arrived. You can close this window and go back to your application.",
);
const NOT_FOUND: Page = ("404 Not Found", "No sign-in is in progress here.");

async fn show(visitor: &mut TcpStream, (status, text): Page) -> io::Result<()> {
    let page = format!(
        "<!doctype html><meta charset=\"utf-8\"><title>{status}</title>\
         <body style=\"font:1.1rem system-ui;margin:4rem\"><p>{text}</p>\
         <script>history.replaceState(null,\"\",location.pathname)</script>"
    );
    let length = page.len();
    // The page's URL contains the code, so the page must not link or redirect anywhere.
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {length}\r\n\
         cache-control: no-store\r\nreferrer-policy: no-referrer\r\n\
         x-content-type-options: nosniff\r\nconnection: close\r\n\r\n"
    );
    visitor.write_all(head.as_bytes()).await?;
    visitor.write_all(page.as_bytes()).await?;
    visitor.shutdown().await
}

impl fmt::Debug for Loopback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loopback")
            .field("host", &self.host)
            .field("port", &self.port)
            .field("path", &self.path)
            .field("opening", &self.opening)
            .finish_non_exhaustive()
    }
}
