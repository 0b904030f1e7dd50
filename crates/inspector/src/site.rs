//! The inspector's two ports on loopback, and how they are closed.

use std::{future::Future, io, sync::Arc, time::Duration};

use tokio::sync::watch;
use turnbuckle::{
    ExtraRoutes, HttpService,
    transport::http::{BindError, Listener, Settings, serve},
};

use super::{
    door::Door,
    entrance::{ENDPOINT, Entrance},
    guard::{Guard, Token},
    inspector::Inspector,
};

/// The port that is tried first.
const DEFAULT_PORT: u16 = 7251;

/// How many connections are accepted: a browser opens six.
const MAX_CONNECTIONS: usize = 64;

/// How long requests may take at the end: everything that the page waits for is on this machine.
const GRACE: Duration = Duration::from_secs(1);

/// The ports of the page and of the sandbox, open but not served yet.
pub struct Site {
    listener: Listener,
    sandbox: Listener,
    door: Arc<Door>,
    /// The server at the same port.
    beside: Option<HttpService>,
    /// Further routes at the same port.
    more: Option<ExtraRoutes>,
}

/// Why the inspector cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// No port on loopback could be opened.
    #[error("the inspector cannot listen")]
    Bind(#[from] BindError),
    /// The operating system provided no random bytes.
    #[error("could not get random bytes for the key of the page: {0}")]
    NoRandomness(String),
    /// The number of the opened port is unknown.
    #[error("cannot find out the inspector's port")]
    NoAddress(#[source] io::Error),
}

impl Site {
    /// Opens two ports on loopback: the given one, or by default the usual one or else any other.
    pub async fn open(inspector: Arc<Inspector>, port: Option<u16>) -> Result<Self, OpenError> {
        let at = |port: u16| Listener::bind(format!("127.0.0.1:{port}"));
        let listener = match port {
            Some(port) => at(port).await?,
            None => match at(DEFAULT_PORT).await {
                Ok(listener) => listener,
                Err(_) => at(0).await?,
            },
        };
        Self::at(inspector, listener).await
    }

    /// Serves the page at a port on loopback together with a server of ours. The server's endpoint
    /// is `/mcp`. Sessions that the server has opened before are lost.
    pub async fn beside(
        inspector: Arc<Inspector>,
        listener: Listener,
        server: HttpService,
    ) -> Result<Self, OpenError> {
        let site = Self::at(inspector, listener).await?;
        Ok(Self {
            beside: Some(server.whole_site(ENDPOINT)),
            ..site
        })
    }

    /// Adds routes beside a server. They are only for this machine.
    pub fn with_paths(mut self, more: ExtraRoutes) -> Self {
        self.more = Some(more);
        self
    }

    async fn at(inspector: Arc<Inspector>, listener: Listener) -> Result<Self, OpenError> {
        let sandbox = Listener::bind("127.0.0.1:0").await?;
        let guard = Guard {
            token: Token::new().map_err(|error| OpenError::NoRandomness(error.to_string()))?,
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
            beside: None,
            more: None,
        })
    }

    /// The URL of the page, with the key in its fragment, which browsers do not send.
    pub fn url(&self) -> String {
        format!(
            "{}/#token={}",
            self.door.origin,
            self.door.guard.token.as_str()
        )
    }

    /// Serves the page until `stop` is ready, then ends every connection to a server.
    pub async fn serve(self, stop: impl Future<Output = ()>) {
        let alone = Settings::default()
            .with_max_connections(MAX_CONNECTIONS)
            .with_grace(GRACE);
        // A server has more callers than a page, and its requests may take some time at the end.
        let settings = match &self.beside {
            Some(_) => Settings::default(),
            None => alone,
        };
        let (tell, told) = watch::channel(false);
        let ended = |mut told: watch::Receiver<bool>| async move {
            // An error means that the sender is gone, which also means the end.
            let _ = told.wait_for(|is_over| *is_over).await;
        };
        let page = match self.beside.clone() {
            Some(server) => Entrance::Beside(self.door.clone(), server, self.more.clone()),
            None => Entrance::Page(self.door.clone()),
        };
        let apps = Entrance::Apps(self.door.clone());
        let page = serve(self.listener, page, settings, ended(told.clone()));
        let apps = serve(self.sandbox, apps, alone, ended(told));
        let inspector = self.door.inspector.clone();
        let end = async move {
            stop.await;
            inspector.end().await;
            if let Some(server) = &self.beside {
                server.begin_shutdown();
            }
            let _ = tell.send(true);
        };
        // Only requests of the page itself are cut off.
        let _ = tokio::join!(page, apps, end);
    }
}

fn port_of(listener: &Listener) -> Result<u16, OpenError> {
    let address = listener.local_address();
    address
        .map(|address| address.port())
        .ok_or_else(|| OpenError::NoAddress(io::Error::other("the listener has no port")))
}
