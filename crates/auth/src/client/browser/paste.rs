//! Lets the user paste the response, for machines without a browser.

use std::fmt;
use std::io::{self, Write as _};
use std::sync::Arc;

use turnbuckle_transport::http::client::{BoxError, BoxFuture};

use super::{AuthorizationRequest, Browser, BrowserVisit};
use crate::Secret;

/// The default redirect URI. Nothing listens there: the page does not load, and the user copies its
/// address.
const REDIRECT_URI: &str = "http://127.0.0.1:8919/callback";

/// The user has 3 tries to paste the right text.
const MAX_TRIES: usize = 3;

type Print = Arc<dyn Fn(&AuthorizationRequest) + Send + Sync>;
type Read = Arc<dyn Fn() -> io::Result<String> + Send + Sync>;

/// Prints the URL, and reads the response that the user pastes. Use it on machines without a
/// browser, for example over SSH.
///
/// By default it prints to standard error and reads a line from standard input. The user opens the
/// URL in any browser, on any machine. After signing in, the browser ends at a page that does not
/// load; the user pastes the address of that page.
///
/// ```
/// use turnbuckle_auth::client::{OAuth, Paste};
///
/// let oauth = OAuth::new("my-app").browser(Paste::new());
/// # drop(oauth);
/// ```
#[derive(Clone)]
pub struct Paste {
    redirect_uri: String,
    print: Print,
    read: Read,
}

impl Paste {
    /// Uses standard error and standard input. If your program reads its own data from standard
    /// input, use [`with`](Self::with).
    pub fn new() -> Self {
        Self::with(print_to_stderr, || {
            let mut line = String::new();
            io::stdin().read_line(&mut line)?;
            Ok(line)
        })
    }

    /// Uses these functions: `print` shows the request to the user, and `read` returns what they
    /// paste, or an empty text at the end of the input. `read` may block, because it runs on its
    /// own thread. The user has three tries.
    pub fn with(
        print: impl Fn(&AuthorizationRequest) + Send + Sync + 'static,
        read: impl Fn() -> io::Result<String> + Send + Sync + 'static,
    ) -> Self {
        Self {
            redirect_uri: REDIRECT_URI.to_owned(),
            print: Arc::new(print),
            read: Arc::new(read),
        }
    }

    /// Sets the redirect URI that the client is registered with. Nothing needs to listen there.
    /// Defaults to `http://127.0.0.1:8919/callback`.
    pub fn redirect_uri(mut self, uri: impl Into<String>) -> Self {
        self.redirect_uri = uri.into();
        self
    }
}

impl Default for Paste {
    fn default() -> Self {
        Self::new()
    }
}

impl Browser for Paste {
    fn prepare<'a>(
        &'a self,
        _known: &'a [String],
    ) -> BoxFuture<'a, Result<Box<dyn BrowserVisit>, BoxError>> {
        let visit: Box<dyn BrowserVisit> = Box::new(self.clone());
        Box::pin(std::future::ready(Ok(visit)))
    }
}

impl BrowserVisit for Paste {
    fn redirect_uri(&self) -> &str {
        &self.redirect_uri
    }

    fn ask(
        self: Box<Self>,
        request: &AuthorizationRequest,
    ) -> BoxFuture<'_, Result<Secret, BoxError>> {
        Box::pin(async move {
            for _ in 0..MAX_TRIES {
                (self.print)(request);
                let read = self.read.clone();
                let pasted = tokio::task::spawn_blocking(move || read()).await??;
                if pasted.is_empty() {
                    return Err("no address was pasted before the input ended".into());
                }
                if request.is_answered_by(&pasted) {
                    return Ok(Secret::new(pasted));
                }
            }
            Err("the pasted text is not the address where the browser ended".into())
        })
    }
}

fn print_to_stderr(request: &AuthorizationRequest) {
    // `eprintln!` would panic if stderr is closed.
    let _ = writeln!(
        io::stderr(),
        "{} wants you to sign in at {}. Open this address in a browser:\n\n  {}\n\n\
         Then paste the whole address of the page where you end, which may not load:",
        request.server(),
        request.issuer(),
        request.url(),
    );
}

impl fmt::Debug for Paste {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Paste")
            .field("redirect_uri", &self.redirect_uri)
            .finish_non_exhaustive()
    }
}
