//! `OAuth`: the hook that applications configure to get tokens.

use std::fmt;
use std::sync::{Arc, OnceLock};

use turnbuckle_transport::http::client::{Address, AgentSettings};

use super::challenge::Wanted;
use super::flow_request::{FlowObserver, FlowRequest};
use super::obtain::Cause;
use super::session::Session;
use super::settings::{Grant, KeptRegistration, Offline, Settings};
use super::{
    Assertion, AuthError, Browser, Dpop, Enterprise, FileStore, Problem, Registered, Scopes, Step,
    StoreError, TokenStore,
};
use crate::jose::SigningKey;

/// Gets tokens for a protected server, by the rules of every revision since 2025-03-26.
///
/// Give it to the target of a server. When the server refuses a request, the `OAuth` discovers the
/// authorization server, registers the client, lets the user sign in in their browser, and sends
/// the request again. It renews tokens 30 seconds before they expire, and requests more scopes if
/// the server requires them.
///
/// ```no_run
/// use turnbuckle_auth::client::OAuth;
/// use turnbuckle_client::{Client, HttpTarget};
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let oauth = OAuth::new("my-app").persist_tokens()?;
/// let target = HttpTarget::new("https://example.com/mcp").authorize(oauth.clone());
/// let server = Client::new("my-app", "0.3.0").connect(target).await?;
/// // …
/// oauth.sign_out("https://example.com/mcp").await?;
/// # Ok(()) }
/// ```
///
/// An `OAuth` is for one server: the first that it is used with. Clones share its tokens.
/// [`for_another_server`](Self::for_another_server) makes an `OAuth` with the same settings and its
/// own tokens.
///
/// | the client is | use |
/// |---|---|
/// | run by a user | nothing more, or [`browser`](Self::browser) |
/// | registered by hand | [`client`](Self::client) |
/// | described by a document of its own | [`client_document`](Self::client_document) |
/// | acting for itself | [`client_credentials`](Self::client_credentials) |
/// | used in a company | [`enterprise`](Self::enterprise) |
/// | run by a platform that vouches for it | [`workload`](Self::workload) |
/// | a server that acts for its own callers | [`exchange`](Self::exchange) |
///
/// If no tokens can be obtained, a call fails with an [`AuthError`] as its source. For a server
/// that accepts a fixed token, set a header on the target instead.
#[derive(Clone)]
pub struct OAuth {
    settings: Arc<Settings>,
    session: Arc<OnceLock<Session>>,
}

/// How [`OAuth::sign_in`] and [`OAuth::sign_in_for`] ended without an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SignIn {
    /// New tokens were obtained: the user signed in, or a grant without a user issued them.
    Done,
    /// There were tokens that are still valid or could be renewed. The user was not asked.
    Already,
    /// The server does not require a token.
    NotNeeded,
}

impl OAuth {
    /// Makes an `OAuth` for a client with this name, which users see when they are asked for consent.
    ///
    /// By default the user signs in in the browser of this machine ([`Loopback`](super::Loopback)),
    /// the client registers itself, and tokens are kept in memory.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            settings: Arc::new(Settings::new(name.into())),
            session: Arc::default(),
        }
    }

    fn with(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(Arc::make_mut(&mut self.settings));
        self.session = Arc::default();
        self
    }

    /// Uses a client that is registered by hand at the authorization server, instead of registering
    /// one. Set its issuer with [`Registered::at_issuer`].
    pub fn client(self, client: Registered) -> Self {
        self.with(|settings| settings.registered = Some(client))
    }

    /// Uses the client that is described by a document at this `https` URL (a client ID metadata
    /// document). The URL is the client id at authorization servers that support such documents;
    /// elsewhere the client registers itself.
    pub fn client_document(self, url: impl Into<String>) -> Self {
        self.with(|settings| settings.document = Some(url.into()))
    }

    /// Like [`client_document`](Self::client_document), but the client authenticates with this key,
    /// whose public half is in the document (`private_key_jwt`).
    pub fn client_document_with_key(self, url: impl Into<String>, key: SigningKey) -> Self {
        self.with(|settings| {
            settings.document = Some(url.into());
            settings.document_key = Some(Arc::new(key));
        })
    }

    /// Uses the client credentials grant: the client acts for itself, without a user. The client
    /// must be registered beforehand, with a secret or a key. Use it for services and scheduled
    /// jobs.
    ///
    /// ```
    /// use turnbuckle_auth::client::{OAuth, Registered};
    ///
    /// let client = Registered::new("nightly-report")
    ///     .with_secret("s3cret")
    ///     .at_issuer("https://login.example.com");
    /// let oauth = OAuth::new("nightly-report").client_credentials(client);
    /// # drop(oauth);
    /// ```
    pub fn client_credentials(self, client: Registered) -> Self {
        self.client(client)
            .with(|settings| settings.grant = Grant::ClientCredentials)
    }

    /// Uses enterprise-managed authorization: a company's identity provider decides, and the user
    /// is not asked. Set the client that is registered at the server's authorization server with
    /// [`client`](Self::client).
    pub fn enterprise(self, enterprise: Enterprise) -> Self {
        self.with(|settings| settings.grant = Grant::Enterprise(Arc::new(enterprise)))
    }

    /// Uses workload identity federation: the platform that the client runs on identifies it with
    /// an assertion.
    ///
    /// The assertion is sent to the authorization server that the MCP server names. Set that
    /// authorization server with [`issuer`](Self::issuer), unless you trust the MCP server to name
    /// the right one.
    pub fn workload(self, statement: impl Assertion + 'static) -> Self {
        self.with(|settings| settings.grant = Grant::Workload(Arc::new(statement)))
    }

    /// Exchanges the token of a caller for a token of the server, without asking the user (RFC
    /// 8693). The client must be registered by hand at the authorization server that issues both
    /// tokens; set that authorization server with [`issuer`](Self::issuer). `audience` is the
    /// authorization server's name for the other server, if it is not that server's URL.
    ///
    /// Use a separate `OAuth` for each caller. The exchanged token is kept in memory, separate from
    /// those of other callers, and used until shortly before it expires.
    ///
    /// ```
    /// use turnbuckle_auth::SubjectToken;
    /// use turnbuckle_auth::client::{OAuth, Registered};
    ///
    /// /// The credentials for a server behind this one, on behalf of a caller.
    /// fn for_caller(token: SubjectToken) -> OAuth {
    ///     let client = Registered::new("my-gateway").with_secret("s3cret");
    ///     OAuth::new("my-gateway")
    ///         .exchange(client, token, None)
    ///         .issuer("https://login.example.com")
    /// }
    /// ```
    #[cfg(feature = "server")]
    pub fn exchange(
        self,
        client: Registered,
        subject: crate::SubjectToken,
        audience: Option<String>,
    ) -> Self {
        let exchange = Arc::new(super::settings::Exchange { subject, audience });
        self.client(client)
            .store(super::MemoryStore::new())
            .with(|settings| settings.grant = Grant::Exchange(exchange))
    }

    /// Accepts tokens from this authorization server only, whichever one the MCP server names.
    /// Nothing is sent to another. For a client that is set with [`client`](Self::client), use
    /// [`Registered::at_issuer`] instead.
    ///
    /// ```
    /// use turnbuckle_auth::client::{AssertionFile, OAuth};
    ///
    /// let oauth = OAuth::new("nightly-report")
    ///     .workload(AssertionFile::new("/var/run/secrets/tokens/mcp"))
    ///     .issuer("https://login.example.com");
    /// ```
    pub fn issuer(self, issuer: impl Into<String>) -> Self {
        self.with(|settings| settings.issuer = Some(issuer.into()))
    }

    /// Requests these scopes in addition to those that the server requires. A second call replaces
    /// the first. Texts that are not scope tokens are left out.
    pub fn scopes<'a>(self, scopes: impl IntoIterator<Item = &'a str>) -> Self {
        let scopes: Scopes = scopes.into_iter().collect();
        self.with(|settings| settings.scopes = scopes)
    }

    /// Does not request tokens that outlive the user's presence. By default `offline_access` is
    /// requested if the authorization server offers it, so that the user does not have to sign in
    /// again soon.
    pub fn online_only(self) -> Self {
        self.with(|settings| settings.offline = Offline::DoNotAsk)
    }

    /// Registers the client again at each sign-in, even if the store has a registration. The new one replaces it.
    ///
    /// Use it for one sign-in if the authorization server has forgotten the client, for example because it was
    /// installed again. The user then sees an error such as `invalid_client` on its page, and does not come back.
    /// Call [`sign_out`](Self::sign_out) first, because a sign-in does nothing while there are tokens. Tokens that the
    /// earlier registration got for other servers cannot be renewed any more.
    ///
    /// It has no effect on clients that are registered by hand or described by a document.
    pub fn register_again(self) -> Self {
        self.with(|settings| settings.kept_registration = KeptRegistration::Replace)
    }

    /// Sets whether tokens are bound to a key (DPoP). Defaults to [`Dpop::WhenAsked`].
    pub fn dpop(self, dpop: Dpop) -> Self {
        self.with(|settings| settings.dpop = dpop)
    }

    /// Sends the user to the authorization server in this way. Defaults to
    /// [`Loopback`](super::Loopback), which opens the browser of this machine; use
    /// [`Paste`](super::Paste) on machines without a browser. The user has ten minutes.
    pub fn browser(self, browser: impl Browser + 'static) -> Self {
        self.with(|settings| settings.browser = Arc::new(browser))
    }

    /// Calls a function for each request of a flow, when it is sent and when it is answered. Use it
    /// for logs and for user interfaces that show the flow step by step. URLs are given without
    /// their queries, so they contain no secrets. The function must not block.
    ///
    /// ```
    /// # use turnbuckle_auth::client::OAuth;
    /// let oauth = OAuth::new("inspector")
    ///     .on_request(|request| eprintln!("{}: {}", request.step, request.url));
    /// ```
    pub fn on_request(self, tell: impl Fn(&FlowRequest) + Send + Sync + 'static) -> Self {
        self.with(|settings| settings.observer = FlowObserver::new(tell))
    }

    /// Keeps tokens and registrations in this store. Defaults to a
    /// [`MemoryStore`](super::MemoryStore), which forgets them with the process;
    /// [`persist_tokens`](Self::persist_tokens) keeps them in files.
    pub fn store(self, store: impl TokenStore + 'static) -> Self {
        self.with(|settings| settings.store = Arc::new(store))
    }

    /// Keeps tokens between runs, in files that only their owner can read. With the feature
    /// `keyring` and a keyring on this machine, the files are encrypted with a key from the
    /// keyring. This is [`store`](Self::store) with [`FileStore::open`] and the name of this
    /// client.
    ///
    /// # Errors
    /// [`StoreError`] if there is no folder for the user's data, or it cannot be used.
    pub fn persist_tokens(self) -> Result<Self, StoreError> {
        let store = FileStore::open(&self.settings.name)?;
        Ok(self.store(store))
    }

    /// Connects to authorization servers with these proxies and certificates. The connection to the
    /// MCP server itself is not affected; configure it on the target.
    pub fn http(self, settings: AgentSettings) -> Self {
        self.with(|own| own.http = settings)
    }

    /// Allows authorization servers in private networks and on this machine. Use it for servers in
    /// your own network; link-local addresses stay forbidden. By default such URLs fail with
    /// [`Problem::Forbidden`].
    pub fn allow_private_networks(self) -> Self {
        self.with(|settings| settings.reach.private = true)
    }

    /// Allows sending tokens over plain `http` to other machines. Anyone on the network path can
    /// read and use them, so enable this only in networks that you trust. By default only `https`
    /// and this machine are allowed.
    pub fn danger_allow_plain_http(self) -> Self {
        self.with(|settings| settings.reach.plain = true)
    }

    /// Makes an `OAuth` with the same settings for another server, with its own tokens in the same
    /// store. If the client is already registered at the other server's authorization server, it is
    /// not registered again, except with [`register_again`](Self::register_again).
    pub fn for_another_server(&self) -> Self {
        Self {
            settings: self.settings.clone(),
            session: Arc::default(),
        }
    }

    /// Gets tokens for a server before the first request. Does nothing if there are tokens already,
    /// or if the server does not require any. The result tells which of these was the case.
    ///
    /// You need not call it: the first request signs in by itself. Use it to sign in at a moment
    /// that suits the user, for example when they press a button.
    ///
    /// ```no_run
    /// use turnbuckle_auth::client::{OAuth, SignIn};
    ///
    /// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
    /// let oauth = OAuth::new("my-app").persist_tokens()?;
    /// match oauth.sign_in("https://example.com/mcp").await? {
    ///     SignIn::NotNeeded => println!("the server takes everyone"),
    ///     _ => println!("signed in"),
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// [`AuthError`] if no tokens can be obtained: the server cannot be reached, its metadata is
    /// missing or contradictory, the user declined or did not answer within ten minutes, or this
    /// `OAuth` is for another server. The error names the step, and often says what to do.
    ///
    /// # Cancel safety
    /// Dropping the future does not end the sign-in; dropping the last clone of this `OAuth` does.
    pub async fn sign_in(&self, server: &str) -> Result<SignIn, AuthError> {
        let session = self.session_at(server)?;
        if session.ready().await.is_some() {
            return Ok(SignIn::Already);
        }
        let Some(headers) = session.engine.fetcher.refusal().await? else {
            return Ok(SignIn::NotNeeded);
        };
        let headers = headers.get_all(http::header::WWW_AUTHENTICATE);
        let wanted = Wanted::parse(headers.iter().filter_map(|header| header.to_str().ok()));
        let seen = session.current();
        session.get(Cause::Refused, wanted, seen.as_ref()).await?;
        Ok(SignIn::Done)
    }

    /// Gets tokens for a server with these additional scopes. The user is asked even if there are
    /// tokens already, or if the server answers without any. Use it after a call failed because of
    /// a missing scope, if [`Browser::allows_step_up`] returns false.
    ///
    /// # Errors
    /// [`AuthError`] if no tokens can be obtained. The earlier tokens are kept.
    ///
    /// # Cancel safety
    /// Dropping the future does not end the sign-in; dropping the last clone of this `OAuth` does.
    pub async fn sign_in_for<'a>(
        &self,
        server: &str,
        scopes: impl IntoIterator<Item = &'a str>,
    ) -> Result<SignIn, AuthError> {
        let scopes: Scopes = scopes.into_iter().collect();
        let session = self.session_at(server)?;
        session.load().await;
        // The server may refuse only some requests. In this case its metadata tells where to get tokens.
        let mut wanted = match session.engine.fetcher.refusal().await? {
            Some(headers) => {
                let headers = headers.get_all(http::header::WWW_AUTHENTICATE);
                Wanted::parse(headers.iter().filter_map(|header| header.to_str().ok()))
            }
            None => Wanted::default(),
        };
        wanted.scope = Some(wanted.scope.unwrap_or_default().union(&scopes));
        let seen = session.current();
        session.get(Cause::TooNarrow, wanted, seen.as_ref()).await?;
        Ok(SignIn::Done)
    }

    /// Whether there are valid tokens for a server, after renewing them if they have expired. The
    /// user is never asked. Returns false also if this `OAuth` is for another server.
    pub async fn is_signed_in(&self, server: &str) -> bool {
        match self.session_at(server) {
            Ok(session) => session.ready().await.is_some(),
            Err(_) => false,
        }
    }

    /// Revokes the tokens for a server at the authorization server, and deletes them. Does nothing
    /// if there are no tokens. The registration of the client is kept.
    ///
    /// # Errors
    /// [`AuthError`] if the authorization server cannot be reached or refuses to revoke the tokens.
    /// They are deleted in any case.
    pub async fn sign_out(&self, server: &str) -> Result<(), AuthError> {
        let session = self.session_at(server)?;
        session.load().await;
        let mut tokens = session.drop_tokens().await;
        if tokens.is_none() {
            // Tokens that could not be renewed are no longer in use, but are still stored.
            let kept = session.engine.kept_last().await;
            tokens = kept.map(|(tokens, _)| Arc::new(tokens));
        }
        match tokens {
            Some(tokens) => session.engine.revoke(&tokens).await,
            None => Ok(()),
        }
    }

    /// The protocol extension of this grant, for clients that declare their capabilities. `None`
    /// for sign-in by a user and for grants without an extension.
    pub fn extension(&self) -> Option<&'static str> {
        match self.settings.grant {
            Grant::ClientCredentials => Some("io.modelcontextprotocol/oauth-client-credentials"),
            Grant::Enterprise(_) => {
                Some("io.modelcontextprotocol/enterprise-managed-authorization")
            }
            // The drafts have not settled on names for the others.
            Grant::Code | Grant::Workload(_) => None,
            #[cfg(feature = "server")]
            Grant::Exchange(_) => None,
        }
    }

    fn session_at(&self, server: &str) -> Result<&Session, AuthError> {
        let address = Address::parse(server).map_err(|error| {
            let problem = Problem::Malformed("the server's URL cannot be read".to_owned());
            AuthError::new(Step::Setup, problem).caused_by(error)
        })?;
        self.session(&address)
    }

    /// The session of the server that this `OAuth` is for. A9: tokens are not sent to any other server.
    pub(crate) fn session(&self, address: &Address) -> Result<&Session, AuthError> {
        let session = self
            .session
            .get_or_init(|| Session::new(self.settings.clone(), address.clone()));
        let server = &session.engine.server;
        if server.is_same_origin(address) {
            return Ok(session);
        }
        let problem = Problem::Mismatch {
            what: "the server that the tokens are for",
            expected: server.to_string(),
            found: address.to_string(),
        };
        Err(AuthError::new(Step::Setup, problem)
            .at(address)
            .rule("authorization, \"Token Handling\"")
            .hint("give each server its own, by `for_another_server`"))
    }
}

impl fmt::Debug for OAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OAuth")
            .field("name", &self.settings.name)
            .field("session", &self.session.get())
            .finish_non_exhaustive()
    }
}
