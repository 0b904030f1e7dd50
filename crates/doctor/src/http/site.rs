//! A server at a URL: the first request, and the examination that follows from its answer.

use serde_json::{Value, json};
use turnbuckle::{
    Revision,
    protocol::http::header,
    transport::http::client::{Address, AgentSettings},
};
use turnbuckle_command_line::{
    failure::Outcome,
    target::{Options, Server},
};

use super::{endpoint, fault, headers, origin, session};
use crate::{
    authorization, call, cancel,
    connection::{
        Connection, EventsTransport, Exchange, HttpTransport, NotEvents, Spoken, Transport,
    },
    discover::{self, Verdict},
    finding::Finding,
    handshake,
    limits::Limits,
    listen, methods,
    network::{self, is_loopback},
    offer,
    report::Report,
    scope::Scope,
    table::{connect, handshake as greeting, http},
};

/// How many redirects are followed.
const MAX_REDIRECTS: usize = 3;

/// Examines a server at a URL.
pub(crate) async fn examine(
    report: &Report,
    server: &Server,
    url: &str,
    options: &Options,
    scope: Scope,
    limits: Limits,
) -> Outcome {
    report.know(|subject| "http".clone_into(&mut subject.transport));
    let address = match Address::parse(url) {
        Ok(address) => address,
        Err(error) => {
            report.add(Finding::of(&connect::URL, error.to_string()));
            return Ok(());
        }
    };
    let Some(target) = server.http_target(options)? else {
        return Ok(());
    };
    let settings = target
        .settings()
        .clone()
        .without_redirects()
        .with_connect_timeout(limits.probe);
    let site = Site {
        report,
        settings,
        scope,
        limits,
    };
    if network::walk(report, &site.settings, &address, limits)
        .await
        .is_some()
    {
        site.visit(server, options, address).await;
    }
    Ok(())
}

/// Settings for reaching other hosts than the server: the same proxy and certificates, without the server's headers.
fn bare(options: &Options) -> AgentSettings {
    let mut settings = AgentSettings::new();
    if let Some(proxy) = &options.proxy {
        settings = settings.with_proxy(proxy);
    }
    // A file that cannot be read has already been reported as an error.
    if let Some(pem) = options
        .cacert
        .as_ref()
        .and_then(|file| std::fs::read(file).ok())
    {
        settings = settings.with_root_certificates(pem);
    }
    if options.insecure {
        settings = settings.danger_accept_invalid_certs();
    }
    settings
}

struct Site<'r> {
    report: &'r Report,
    settings: AgentSettings,
    scope: Scope,
    limits: Limits,
}

impl<'r> Site<'r> {
    /// Makes the first request, and continues depending on the answer.
    async fn visit(&self, server: &Server, options: &Options, address: Address) {
        let Some(mut transport) = self.transport(&self.settings, address) else {
            return;
        };
        let mut first = self.first(&transport).await;
        for _ in 0..MAX_REDIRECTS {
            let Some(next) = fault::redirect(self.report, &transport.address, &first) else {
                break;
            };
            let Some(followed) = self.transport(&self.settings, next) else {
                return;
            };
            transport = followed;
            first = self.first(&transport).await;
        }
        if fault::is_redirect(&first) {
            return;
        }
        let (report, settings) = (self.report, &self.settings);
        if fault::cannot_talk(&transport, &first, report, settings, self.limits).await {
            return;
        }
        if first.status() == Some(401) {
            let bare = bare(options);
            authorization::look(self.report, &bare, &transport.address, &first, self.limits).await;
            let Some(tokens) = server.tokens(options) else {
                return authorization::needed(self.report, &first);
            };
            let settings = self.settings.clone();
            let settings = settings.with_authorize(std::sync::Arc::new(tokens));
            let Some(signed_in) = self.transport(&settings, transport.address.clone()) else {
                return;
            };
            let again = self.first(&signed_in).await;
            if again.status().is_none_or(|status| status == 401) {
                return authorization::needed(self.report, &first);
            }
            (transport, first) = (signed_in, again);
        }
        if first.status() == Some(403) {
            return authorization::refused(self.report, &first);
        }
        self.eras(transport, first).await;
    }

    fn transport(&self, settings: &AgentSettings, address: Address) -> Option<HttpTransport> {
        match settings.agent(&address) {
            Ok(agent) => Some(HttpTransport::new(agent, address, self.report.wire.clone())),
            Err(error) => {
                self.report
                    .add(Finding::of(&connect::PROXY, error.to_string()));
                None
            }
        }
    }

    fn connection(&self, transport: Transport, spoken: Spoken) -> Connection<'r> {
        Connection::new(transport, spoken, self.limits, self.report)
    }

    /// The first request: `server/discover`, which starts nothing by accident, or the requested revision.
    async fn first(&self, transport: &HttpTransport) -> Exchange {
        self.report
            .step("waiting for an answer to the first request");
        let transport = Transport::Http(Box::new(transport.clone()));
        let limit = self.limits.opening;
        if let Some(revision) = self.scope.modern {
            let mut connection = self.connection(transport, Spoken::Modern(revision));
            return connection
                .ask_within("server/discover", json!({}), limit)
                .await;
        }
        let asked = self.scope.legacy.unwrap_or(Revision::LATEST_LEGACY);
        let mut connection = self.connection(transport, Spoken::Legacy(asked));
        let params = Spoken::initialize(asked.as_str());
        connection.ask_within("initialize", params, limit).await
    }

    async fn eras(&self, transport: HttpTransport, first: Exchange) {
        let mut modern = self.connection(
            Transport::Http(Box::new(transport.clone())),
            Spoken::Modern(self.scope.modern.unwrap_or(Revision::LATEST)),
        );
        let mut is_modern = false;
        if self.scope.modern.is_some() {
            match discover::judge(&modern, first.clone()) {
                Verdict::Modern(result) => {
                    is_modern = true;
                    self.modern(&mut modern, &transport, &result).await;
                }
                Verdict::Broken => return,
                verdict @ Verdict::Not(_) if self.scope.legacy.is_none() => {
                    if !fault::explain(self.report, &transport, &[&first], self.limits).await {
                        discover::missing(&modern, &verdict);
                    }
                    return;
                }
                Verdict::Not(_) => {}
            }
        }
        if let Some(asked) = self.scope.legacy {
            // If the first request opened a session, that session is ended and another one examined.
            let opened = first.head.as_ref();
            if let Some(id) = opened.and_then(|head| head.header(header::SESSION_ID)) {
                modern.spoken = Spoken::Legacy(asked);
                session::end(&modern, &transport, id).await;
            }
            self.legacy(transport, asked, first, is_modern).await;
        }
    }

    async fn modern(
        &self,
        connection: &mut Connection<'r>,
        transport: &HttpTransport,
        result: &Value,
    ) {
        discover::look(connection, result).await;
        headers::look(connection, transport).await;
        if is_loopback(&transport.address) {
            origin::look(connection, transport).await;
        }
        let capabilities = &result["capabilities"];
        let tools = offer::look(connection, capabilities).await;
        methods::look(connection, capabilities).await;
        listen::look(connection, capabilities).await;
        endpoint::look_modern(connection, transport).await;
        if self.scope.is_calling {
            call::look(connection, &tools).await;
        }
    }

    async fn legacy(
        &self,
        transport: HttpTransport,
        asked: Revision,
        first: Exchange,
        is_modern: bool,
    ) {
        let mut connection = self.connection(
            Transport::Http(Box::new(transport.clone())),
            Spoken::Legacy(asked),
        );
        self.report.step("waiting for an answer to `initialize`");
        let opened = handshake::open(&mut connection, asked, self.limits.probe).await;
        let refused = match opened {
            Ok(greeting) => {
                self.session(&mut connection, &transport, &greeting, is_modern)
                    .await;
                return;
            }
            Err(refused) => refused,
        };
        if is_modern {
            handshake::refused(self.report, &refused);
            endpoint::look_without_sessions(&connection, &transport).await;
            return;
        }
        self.report.step("asking for a stream of events");
        let opened = EventsTransport::open(&transport, self.limits.probe).await;
        match opened {
            Ok(events) => self.events(events, &transport, asked).await,
            Err(why) => self.nothing(&transport, &first, &refused, why).await,
        }
    }

    /// All checks of a session over Streamable HTTP.
    async fn session(
        &self,
        connection: &mut Connection<'r>,
        transport: &HttpTransport,
        greeting: &Value,
        is_modern: bool,
    ) {
        let asked = self.scope.legacy.unwrap_or(Revision::LATEST_LEGACY);
        handshake::look(connection, greeting, asked);
        let capabilities = &greeting["capabilities"];
        if !is_modern {
            if is_loopback(&transport.address) {
                origin::look(connection, transport).await;
            }
            let tools = offer::look(connection, capabilities).await;
            if self.scope.is_calling {
                call::look(connection, &tools).await;
            }
        }
        methods::look(connection, capabilities).await;
        cancel::look(connection).await;
        endpoint::look_legacy(connection).await;
        session::look(connection, transport).await;
    }

    /// All checks of a session over HTTP+SSE.
    async fn events(&self, events: EventsTransport, transport: &HttpTransport, asked: Revision) {
        self.report
            .know(|subject| "http+sse".clone_into(&mut subject.transport));
        let events = Transport::Events(Box::new(events));
        let mut connection = self.connection(events, Spoken::Legacy(asked));
        let greeting = match handshake::open(&mut connection, asked, self.limits.opening).await {
            Ok(greeting) => greeting,
            Err(refused) => {
                let (check, said) = if refused.is_silent() {
                    (&greeting::SILENT, "`initialize` is not answered".to_owned())
                } else {
                    let said = format!("`initialize` is answered with {}", refused.came());
                    (&greeting::FAILS, said)
                };
                self.report.add(refused.finding(check, said));
                return;
            }
        };
        handshake::look(&connection, &greeting, asked);
        if is_loopback(&transport.address) {
            origin::look_at_events(&connection, transport).await;
        }
        let capabilities = &greeting["capabilities"];
        let tools = offer::look(&mut connection, capabilities).await;
        methods::look(&mut connection, capabilities).await;
        cancel::look(&mut connection).await;
        if self.scope.is_calling {
            call::look(&mut connection, &tools).await;
        }
    }

    /// No transport has found a server: finds out what answers instead.
    async fn nothing(
        &self,
        transport: &HttpTransport,
        first: &Exchange,
        refused: &Exchange,
        why: NotEvents,
    ) {
        if let NotEvents::NoEndpoint(what) = &why {
            let said = "a stream of events does not begin with the event `endpoint`";
            let finding = Finding::of(&greeting::FAILS, said);
            self.report.add(finding.seen(format!("← {what}")));
            return;
        }
        if fault::explain(self.report, transport, &[refused, first], self.limits).await {
            return;
        }
        let (check, said) = if refused.is_silent() && first.is_silent() {
            (&http::SILENT, "requests are not answered".to_owned())
        } else {
            let said = format!("`initialize` is answered with {}", refused.came());
            (&greeting::FAILS, said)
        };
        let finding = refused.finding(check, said);
        let finding = finding.seen_all(first.evidence());
        self.report.add(match why {
            NotEvents::Other { status, media_type } => {
                finding.seen(format!("GET: HTTP {status} {media_type}"))
            }
            NotEvents::Failed(how) => finding.seen(format!("GET: {how}")),
            NotEvents::NoEndpoint(_) => finding,
        });
    }
}
