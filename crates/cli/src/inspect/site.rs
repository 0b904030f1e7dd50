//! The inspector's two ports on loopback, and their end.

use std::{convert::Infallible, future::Future, io, pin::Pin, sync::Arc, task, time::Duration};

use http::Request;
use hyper::body::Incoming;
use tokio::sync::watch;
use tower_service::Service;
use turnbuckle::transport::http::{BindError, Listener, Settings, serve};

use super::{
    Inspector,
    answer::Answer,
    app_site,
    guard::{Guard, Token},
    route,
};

/// The port that is tried first.
const DEFAULT_PORT: u16 = 7251;

/// 64 connections: a browser opens six.
const MAX_CONNECTIONS: usize = 64;

/// 1 s: whatever the page still waits for is on this machine.
const GRACE: Duration = Duration::from_secs(1);

/// The page and the sandbox, open but not served yet.
pub(crate) struct Site {
    listener: Listener,
    sandbox: Listener,
    door: Arc<Door>,
}

/// What every request needs.
pub(super) struct Door {
    pub(super) inspector: Arc<Inspector>,
    pub(super) guard: Guard,
    /// The origin of tools' pages.
    pub(super) sandbox: String,
    /// The origin of our own.
    origin: String,
}

/// Why there is no inspector.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OpenError {
    #[error("the inspector has no port to listen at")]
    Bind(#[from] BindError),
    #[error("the inspector cannot make a key that nobody guesses: {0}")]
    NoRandomness(getrandom::Error),
    #[error("the inspector's port cannot be told")]
    NoAddress(#[source] io::Error),
}

impl Site {
    /// Takes two ports on loopback: the one asked for or, without one, the usual one or any other.
    pub(crate) async fn open(
        inspector: Arc<Inspector>,
        port: Option<u16>,
    ) -> Result<Self, OpenError> {
        let at = |port: u16| Listener::bind(format!("127.0.0.1:{port}"));
        let listener = match port {
            Some(port) => at(port).await?,
            None => match at(DEFAULT_PORT).await {
                Ok(listener) => listener,
                Err(_) => at(0).await?,
            },
        };
        let sandbox = at(0).await?;
        let guard = Guard {
            token: Token::new().map_err(OpenError::NoRandomness)?,
            port: port_of(&listener)?,
        };
        let origin = format!("http://127.0.0.1:{}", guard.port);
        let door = Door {
            inspector,
            guard,
            sandbox: format!("http://127.0.0.1:{}", port_of(&sandbox)?),
            origin,
        };
        Ok(Self {
            listener,
            sandbox,
            door: Arc::new(door),
        })
    }

    /// Where the page is, with the key: the fragment is never sent to anybody.
    pub(crate) fn url(&self) -> String {
        format!(
            "{}/#token={}",
            self.door.origin,
            self.door.guard.token.as_str()
        )
    }

    /// Serves the page until `stop` is ready, then ends every connection to a server.
    pub(crate) async fn serve(self, stop: impl Future<Output = ()>) {
        let settings = Settings::default()
            .with_max_connections(MAX_CONNECTIONS)
            .with_grace(GRACE);
        let (tell, told) = watch::channel(false);
        let ended = |mut told: watch::Receiver<bool>| async move {
            // A sender that is gone says the same.
            let _ = told.wait_for(|is_over| *is_over).await;
        };
        let page = Entrance::Page(self.door.clone());
        let apps = Entrance::Apps(self.door.clone());
        let page = serve(self.listener, page, settings, ended(told.clone()));
        let apps = serve(self.sandbox, apps, settings, ended(told));
        let inspector = self.door.inspector.clone();
        let end = async move {
            stop.await;
            inspector.end().await;
            let _ = tell.send(true);
        };
        // Requests that are cut off are the page's own.
        let _ = tokio::join!(page, apps, end);
    }
}

fn port_of(listener: &Listener) -> Result<u16, OpenError> {
    let address = listener.local_address();
    address
        .map(|address| address.port())
        .ok_or_else(|| OpenError::NoAddress(io::Error::other("it has no address")))
}

/// What answers at one of the ports.
#[derive(Clone)]
enum Entrance {
    Page(Arc<Door>),
    Apps(Arc<Door>),
}

impl Service<Request<Incoming>> for Entrance {
    type Response = Answer;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Answer, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut task::Context<'_>) -> task::Poll<Result<(), Infallible>> {
        task::Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Incoming>) -> Self::Future {
        match self {
            Self::Page(door) => {
                let door = door.clone();
                Box::pin(async move { Ok(route::answer(&door, request).await) })
            }
            Self::Apps(door) => {
                let (method, path) = (request.method(), request.uri().path());
                let origins = (&*door.sandbox, &*door.origin);
                let headers = request.headers();
                let answer = app_site::serve(&door.inspector, method, path, headers, origins);
                Box::pin(std::future::ready(Ok(answer)))
            }
        }
    }
}
